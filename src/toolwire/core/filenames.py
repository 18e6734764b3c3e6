"""File names that strangers give, made safe to show and to save under; it does not touch a file system."""

import re
import unicodedata

MAX_FILENAME_BYTES = 255
"""What file systems take, in UTF-8."""
FALLBACK = "file"

_RESERVED = re.compile(r"(?i)(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?")
_TO_REPLACE = str.maketrans(dict.fromkeys('<>:"|?*', "_"))
_INVISIBLE = ("Cc", "Cf", "Cs", "Zl", "Zp", "Cn")
"""Control and format characters (among them those that turn the reading direction), halves of characters, line ends."""


def safe_filename(name: str) -> str:
    r"""A name without path, control characters, or anything that a file system reads as more than a name.

    Of `../../etc/pass\x00wd` it leaves `passwd`. What has nothing left becomes `file`.
    """
    last = re.split(r"[/\\]", name.strip().rstrip("/\\"))[-1]
    visible = "".join(char for char in last if unicodedata.category(char) not in _INVISIBLE)
    plain = unicodedata.normalize("NFC", visible).translate(_TO_REPLACE).strip().lstrip(".").strip().rstrip(". ")
    if _RESERVED.fullmatch(plain):
        plain = f"_{plain}"
    return _cut(plain) or FALLBACK


def _cut(name: str) -> str:
    if len(name.encode()) <= MAX_FILENAME_BYTES:
        return name
    stem, dot, ending = name.rpartition(".")
    if not dot or len(ending.encode()) > 20:
        stem, dot, ending = name, "", ""
    room = MAX_FILENAME_BYTES - len((dot + ending).encode())
    return stem.encode()[:room].decode(errors="ignore").rstrip() + dot + ending
