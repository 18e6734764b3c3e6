"""How a file's content goes out over HTTP: headers, and the part of it that was asked for; it decides no access.

Spec: gateway.md D15; RFC 9110 section 14 (one range; a request for several gets the whole), RFC 6266 and RFC 8187.
"""

import re
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Final
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from toolwire.gateway.file_record import FileRecord
from toolwire.gateway.files import Files

_RANGE: Final = re.compile(r"bytes=(?P<first>[0-9]{0,18})-(?P<last>[0-9]{0,18})")
_PLAIN: Final = re.compile(r"[^A-Za-z0-9 ._()-]")


def disposition(filename: str) -> str:
    """The value of `Content-Disposition`: save it under this name, given in ASCII and, where that differs, whole."""
    plain = _PLAIN.sub("_", filename)
    value = f'attachment; filename="{plain}"'
    return value if plain == filename else f"{value}; filename*=UTF-8''{quote(filename, safe='')}"


def wanted_part(header: str | None, size: int) -> tuple[int, int] | None:
    """The bytes that a `Range` header asks for, as start and end (not included); `None` for all of them.

    Raises:
        ValueError: they begin after the end.
    """
    found = _RANGE.fullmatch(header.strip()) if header is not None else None
    if found is None or not (found["first"] or found["last"]):
        return None
    if not found["first"]:
        length = min(int(found["last"]), size)
        first, end = size - length, size
    else:
        first, end = int(found["first"]), size
        if found["last"]:
            if int(found["last"]) < first:
                return None
            end = min(int(found["last"]) + 1, size)
    if first >= end:
        raise ValueError(f"bytes from {first} are none of {size}")
    return first, end


async def content_answer(files: Files, record: FileRecord, request: Request) -> Response:
    """The answer to a GET or HEAD of a file's content.

    Raises:
        BlobNotFound, StoreUnavailable: the content cannot be read.
    """
    headers = {
        "content-type": record.content_type,
        "content-disposition": disposition(record.filename),
        "content-security-policy": "sandbox; default-src 'none'",
        "cross-origin-resource-policy": "same-site",
        "accept-ranges": "bytes",
        "etag": f'"{record.file_id}"',
    }
    asked = request.headers.get("range") if request.headers.get("if-range") in (None, headers["etag"]) else None
    try:
        part = wanted_part(asked, record.size)
    except ValueError:
        return Response(status_code=416, headers={"content-range": f"bytes */{record.size}"})
    start, end = part or (0, record.size)
    if part is not None:
        headers["content-range"] = f"bytes {start}-{end - 1}/{record.size}"
    headers["content-length"] = str(end - start)
    status = 200 if part is None else 206
    if request.method == "HEAD":
        return Response(status_code=status, headers=headers)
    pieces = files.content(record) if part is None else files.content(record, start, end)
    first = await anext(pieces, b"")  # so that what cannot be read is refused, and not broken off
    return StreamingResponse(_with(first, pieces), status, headers)


async def _with(first: bytes, pieces: AsyncGenerator[bytes]) -> AsyncGenerator[bytes]:
    async with aclosing(pieces):
        yield first
        async for piece in pieces:
            yield piece
