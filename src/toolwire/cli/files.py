"""`toolwire file put`, `get` and `remove`; who may do what is the gateway's to say."""

import mimetypes
import os
from collections.abc import Iterator
from pathlib import Path
from secrets import token_hex
from typing import Annotated, Any, BinaryIO
from urllib.parse import quote

import httpx2
from cyclopts import Parameter

from toolwire.cli.failure import DONE, Failed, misused
from toolwire.cli.output import print_json, print_text, say
from toolwire.cli.parameters import HostFlags, JsonFlag
from toolwire.cli.rest import Rest, data_of
from toolwire.cli.target import target_of
from toolwire.core.filenames import safe_filename

HERE = HostFlags()
PIECE_BYTES = 256 * 1024
SILENCE_S = 60.0
OCTETS = "application/octet-stream"


def put(
    path: Annotated[Path, Parameter(help="The file.")],
    /,
    *,
    name: Annotated[str | None, Parameter(help="What it is called, instead of its own name.")] = None,
    content_type: Annotated[
        str | None, Parameter(name="--type", help="Its media type, instead of what its name says.")
    ] = None,
    host: HostFlags = HERE,
    json: JsonFlag = False,
) -> int:
    """Upload a file and print its id, to be sent along with calls as `attachments: [{file_id}]`.

    With `--json`: `{"file_id", "filename", "content_type", "size", "expires_at"}`.
    """
    filename = name or path.name
    kind = content_type or mimetypes.guess_type(filename)[0] or OCTETS
    with opened(path) as file, Rest(target_of(host)) as rest:
        body = {"filename": filename, "content_type": kind}
        announced = rest.ask("POST", "/api/v1/files/presign-upload", body)
        size = os.fstat(file.fileno()).st_size
        headers = {"content-type": kind, "content-length": str(size)}
        url = str(announced["upload_url"])
        try:
            sent = httpx2.put(url, content=pieces(file, size), headers=headers, timeout=SILENCE_S, trust_env=False)
        except httpx2.HTTPError as error:
            raise Failed(f"the file cannot be uploaded: {error or type(error).__name__}", "no_host") from None
        kept = data_of(sent, url.partition("?")[0])
    told = {word: kept[word] for word in ("file_id", "filename", "content_type", "size", "expires_at")}
    if json:
        print_json(told)
    else:
        print_text(told["file_id"])
    return DONE


def get(
    file_id: Annotated[str, Parameter(help="The file's id.")],
    /,
    *,
    to: Annotated[Path | None, Parameter(help="File or folder to write to, instead of its name here.")] = None,
    host: HostFlags = HERE,
    json: JsonFlag = False,
) -> int:
    """Download a file.

    With `--json`: `{"file_id", "filename", "content_type", "size", "path"}`.
    """
    with Rest(target_of(host)) as rest:
        shown = rest.ask("GET", f"/api/v1/files/{quote(file_id, safe='')}")
    target = Path() if to is None else to
    if target.is_dir():
        target = target / safe_filename(shown["filename"])
    if to is None and target.exists():
        raise misused(f"{str(target)!r} is here already; name another place with --to")
    new = target.with_name(f".{token_hex(8)}.part")
    try:
        _download(shown["download_url"], new)
        new.replace(target)
    except OSError as error:
        raise Failed(f"{str(target)!r} cannot be written: {error.strerror}", "usage") from None
    finally:
        new.unlink(missing_ok=True)
    if json:
        told: dict[str, Any] = {word: shown[word] for word in ("file_id", "filename", "content_type", "size")}
        print_json({**told, "path": str(target)})
    else:
        print_text(str(target))
    return DONE


def remove(
    file_id: Annotated[str, Parameter(help="The file's id.")],
    /,
    *,
    host: HostFlags = HERE,
    json: JsonFlag = False,
) -> int:
    """Remove a file, which makes room for others.

    With `--json`: `{"file_id", "removed": true}`.
    """
    with Rest(target_of(host)) as rest:
        rest.ask("DELETE", f"/api/v1/files/{quote(file_id, safe='')}")
    if json:
        print_json({"file_id": file_id, "removed": True})
    else:
        say(f"{file_id} is removed")
    return DONE


def opened(path: Path) -> BinaryIO:
    """A file, to be read.

    Raises:
        Failed: it cannot be, or has no end, as a device or a pipe has none.
    """
    try:
        if path.exists() and not path.is_file():
            raise misused(f"{str(path)!r} is a folder, a pipe or a device; name a file")
        return path.open("rb")
    except OSError as error:
        raise misused(f"the file {str(path)!r} cannot be read: {error.strerror}") from None


def pieces(file: BinaryIO, size: int) -> Iterator[bytes]:
    """The first `size` bytes of a file, which may grow meanwhile, as a log does.

    Raises:
        Failed: it has become shorter.
    """
    while size > 0:
        piece = file.read(min(PIECE_BYTES, size))
        if not piece:
            raise Failed("the file became shorter while it was uploaded; try again", "usage")
        size -= len(piece)
        yield piece


def _download(url: str, path: Path) -> None:
    try:
        with httpx2.stream("GET", url, timeout=SILENCE_S, trust_env=False) as response:
            if response.status_code != 200:
                response.read()
                data_of(response, url.partition("?")[0])
            with path.open("wb") as file:
                for piece in response.iter_bytes():
                    file.write(piece)
    except httpx2.HTTPError as error:
        raise Failed(f"the file cannot be downloaded: {error or type(error).__name__}", "no_host") from None
