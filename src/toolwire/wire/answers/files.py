"""Answers on files; their contents go beside them.

Spec: gateway.md 22-24.
"""

from msgspec import Struct

from toolwire.wire.answers.times import Time


class AnnouncedFile(Struct, frozen=True, kw_only=True):
    """A file that may be uploaded once to `upload_url`, with this content type. Times in seconds."""

    file_id: str
    filename: str
    content_type: str
    upload_url: str
    upload_expires_in: int
    download_url: str
    download_expires_in: int
    max_bytes: int


class UploadedFile(Struct, frozen=True, kw_only=True):
    """A file that has been uploaded; `size` is in bytes."""

    file_id: str
    filename: str
    content_type: str
    size: int
    created_at: Time
    expires_at: Time


class File(UploadedFile, frozen=True, kw_only=True):
    """A file and an address that gives its content to whoever has it, for `download_expires_in` seconds."""

    download_url: str
    download_expires_in: int


class FilePage(Struct, frozen=True, kw_only=True):
    """An owner's files, the oldest first; `more` says that there are others after the last of these. Sizes in bytes."""

    files: list[UploadedFile]
    more: bool
    stored_bytes: int
    limit_bytes: int
