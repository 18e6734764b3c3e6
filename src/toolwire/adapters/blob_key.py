"""What a blob key may look like; it does not store anything."""

import re

_KEY = re.compile(r"(?!.*(?:^|/)\.)[A-Za-z0-9._-]{1,200}(?:/[A-Za-z0-9._-]{1,200})*")
MAX_KEY_BYTES = 512


def check_blob_key(key: str) -> None:
    """Refuse keys that a file system or a bucket could read as something else than a name.

    Keys are ours, such as `results/call_…`: segments of letters, digits, `.`, `_` and `-`, none of which begins with a
    dot, joined by `/`. A name given by a user does not belong into one, and none may be the directory of another.

    Raises:
        ValueError: the key is not of that shape, or longer than `MAX_KEY_BYTES`.
    """
    if len(key) > MAX_KEY_BYTES or _KEY.fullmatch(key) is None:
        raise ValueError(f"{key[:80]!r} is no blob key: use letters, digits, '.', '_' and '-', with '/' between parts")
