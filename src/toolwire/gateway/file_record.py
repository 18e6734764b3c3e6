"""What is kept of a file, and what may be said of one; it stores nothing.

Spec: gateway.md 19, 22, 23.
"""

import re

import msgspec
from msgspec import Struct

from toolwire.core.errors import InvalidParam

MAX_FILE_ID_LEN = 128
MAX_FILENAME_LEN = 512
MAX_CONTENT_TYPE_LEN = 255

_TOKEN = r"[A-Za-z0-9!#$&^_.+-]+"
_CONTENT_TYPE = re.compile(rf'{_TOKEN}/{_TOKEN}(\s*;\s*{_TOKEN}=({_TOKEN}|"[^"\\\x00-\x1f\x7f]*"))*')


class FileRecord(Struct, frozen=True, omit_defaults=True):
    """A file: announced, and there once it is uploaded.

    `uploader` is the principal that announced it: an owner, a calling key, an agent. `blob` is where its content lies;
    `None` until it is uploaded. Times are Unix seconds, UTC: until `expires_at` it may be uploaded, later be read.
    """

    file_id: str
    owner: str
    uploader: str
    filename: str
    content_type: str
    created_at: float
    expires_at: float
    size: int = 0
    blob: str | None = None


encode_file = msgspec.msgpack.Encoder().encode
decode_file = msgspec.msgpack.Decoder(FileRecord).decode


def check_filename(name: str, param: str) -> None:
    """Refuse what is no file's name; one with a path or odd characters is taken, and made safe where it is used.

    Raises:
        InvalidParam: it is empty or too long; `param` names it.
    """
    if not 1 <= len(name) <= MAX_FILENAME_LEN:
        raise InvalidParam(f"a filename has 1 to {MAX_FILENAME_LEN} characters, not {len(name)}", param=param)


def check_content_type(content_type: str, param: str) -> None:
    """Refuse what is no media type.

    Raises:
        InvalidParam: it is not of the form `type/subtype`, or too long; `param` names it.
    """
    if len(content_type) > MAX_CONTENT_TYPE_LEN or not _CONTENT_TYPE.fullmatch(content_type):
        raise InvalidParam(
            f"content_type is a media type such as application/pdf, of {MAX_CONTENT_TYPE_LEN} characters at most, "
            f"not {content_type[:80]!r}",
            param=param,
        )
