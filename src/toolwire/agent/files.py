"""Files as an agent's tool has them: those that came along with a call, and those that it returns; no HTTP is here."""

import mimetypes
import os
from base64 import b64encode
from collections.abc import AsyncGenerator, AsyncIterable
from contextlib import aclosing
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from secrets import token_hex
from typing import Any, Final, Protocol, TypeAlias

import anyio
import msgspec
from anyio import to_thread
from msgspec import Struct

from toolwire.core import result as core
from toolwire.core.filenames import safe_filename
from toolwire.sdk.result import ToolError
from toolwire.wire.link import FILE_URI

MAX_READ_BYTES: Final = 100 * 1024 * 1024
PIECE_BYTES: Final = 256 * 1024
OCTETS: Final = "application/octet-stream"

Returned: TypeAlias = core.Link | core.Image | core.Embedded
"""What a file becomes in an answer."""


class NewFile(Struct, frozen=True):
    """A file on its way to the gateway; `size` is in bytes."""

    filename: str
    content_type: str
    size: int


class FilePlace(Protocol):
    """Where an agent's files are: its gateway, or a bench."""

    def stream(self, file: "AttachedFile") -> AsyncGenerator[bytes]:
        """The content of a file, piece by piece.

        Raises:
            ToolError: it cannot be had.
        """
        ...

    async def add(self, new: NewFile, pieces: AsyncIterable[bytes]) -> str:
        """Keep a file; its id.

        Raises:
            ToolError: it is not taken.
        """
        ...


@dataclass(frozen=True)
class AttachedFile:
    """A file that came along with the call; `download_url` needs no key, and is renewed where it has expired.

    Attributes:
        file_id: its id at the gateway.
        filename: its name, without a path.
        content_type: what it is said to be.
        size: in bytes.
        download_url: where its content is.
        expires_at: until when, as RFC 3339.
    """

    file_id: str
    filename: str | None = None
    content_type: str | None = None
    size: int | None = None
    download_url: str | None = None
    expires_at: str | None = None
    place: FilePlace | None = field(default=None, repr=False, compare=False)

    async def read(self, max_bytes: int = MAX_READ_BYTES, accept: str = "*/*") -> bytes:
        """The whole content.

        Args:
            max_bytes: what is larger is not read.
            accept: the type it must have, such as "application/pdf" or "image/*".

        Raises:
            ToolError: it is larger, of another type, or cannot be had; the caller's model may read why.
        """
        return b"".join([piece async for piece in self.stream(max_bytes, accept)])

    async def stream(self, max_bytes: int | None = None, accept: str = "*/*") -> AsyncGenerator[bytes]:
        """The content piece by piece, for files that do not fit into memory; the parameters are those of `read`.

        Raises:
            ToolError: as `read`; also in the middle, when it turns out larger or shorter than was said.
        """
        shown = self.filename or self.file_id
        if not fnmatch(_plain_type(self.content_type or OCTETS), accept):
            raise ToolError(f"the file {shown!r} is {self.content_type or 'of unknown type'}; send {accept}")
        if max_bytes is not None and self.size is not None and self.size > max_bytes:
            raise ToolError(f"the file {shown!r} has {self.size} bytes; send one of at most {max_bytes}")
        if self.place is None:
            raise ToolError(f"the file {shown!r} cannot be read: there is no gateway here that has it")
        size = 0
        async with aclosing(self.place.stream(self)) as pieces:
            async for piece in pieces:
                size += len(piece)
                if max_bytes is not None and size > max_bytes:
                    raise ToolError(f"the file {shown!r} has more than {max_bytes} bytes; send a smaller one")
                yield piece
        if self.size is not None and size != self.size:
            raise ToolError(f"the file {shown!r} came with {size} of its {self.size} bytes; try again")

    async def save(self, path: str | os.PathLike[str], max_bytes: int | None = None, accept: str = "*/*") -> Path:
        """Write the content to a file, which is there as a whole or not at all.

        Args:
            path: the file, or a folder that is there; in it the name is the file's own, made safe.
            max_bytes: as of `read`.
            accept: as of `read`.

        Returns:
            Where it is.

        Raises:
            ToolError: as `read`.
            OSError: it cannot be written.
        """
        target = Path(path)
        if await anyio.Path(target).is_dir():
            target = target / safe_filename(self.filename or self.file_id)
        new = anyio.Path(target.with_name(f".{token_hex(8)}.part"))
        try:
            async with await new.open("wb") as file, aclosing(self.stream(max_bytes, accept)) as pieces:
                async for piece in pieces:
                    await file.write(piece)
            await new.replace(target)
        except BaseException:
            with anyio.CancelScope(shield=True):
                await new.unlink(missing_ok=True)
            raise
        return target


class _Described(Struct, frozen=True):
    """A file as a `chat_message` tells of it (gateway.md 1H)."""

    file_id: str
    filename: str | None = None
    content_type: str | None = None
    size: int | None = None
    download_url: str | None = None
    expires_at: str | None = None


def attached_files(value: Any, place: FilePlace | None) -> tuple[AttachedFile, ...]:
    """The files that a message tells of; none where it tells of something else."""
    if not value:
        return ()
    try:
        described = msgspec.convert(value, tuple[_Described, ...])
    except msgspec.ValidationError:
        return ()
    return tuple(AttachedFile(**msgspec.structs.asdict(file), place=place) for file in described)


async def returned_file(
    data: bytes | str | os.PathLike[str], name: str | None, content_type: str | None, place: FilePlace | None
) -> Returned:
    """What a tool returns for a file; see `Ctx.file`.

    Raises:
        TypeError: `data` is neither bytes nor a path.
        ValueError: bytes without a name.
        OSError: the file cannot be read.
        ToolError: the gateway does not take it.
    """
    if isinstance(data, bytes | bytearray | memoryview):
        if name is None:
            raise ValueError("ctx.file(bytes) needs a name: ctx.file(data, 'report.pdf')")
        content = bytes(data)
        new = _new(name, content_type, len(content))
        return await _returned(new, _pieces(content), place)
    if not isinstance(data, str | os.PathLike):  # pyright: ignore[reportUnnecessaryIsInstance] -- authors do not all check types
        raise TypeError(f"ctx.file(data) takes bytes or a path, not {type(data).__name__}")
    path = Path(data)
    size = (await to_thread.run_sync(path.stat)).st_size
    return await _returned(_new(name or path.name, content_type, size), _file_pieces(path), place)


def _new(name: str, content_type: str | None, size: int) -> NewFile:
    filename = safe_filename(name)
    return NewFile(filename, content_type or mimetypes.guess_type(filename)[0] or OCTETS, size)


async def _returned(new: NewFile, pieces: AsyncIterable[bytes], place: FilePlace | None) -> Returned:
    if place is not None:
        file_id = await place.add(new, pieces)
        return core.Link(uri=FILE_URI + file_id, name=new.filename, mime_type=new.content_type, size=new.size)
    blob = b64encode(b"".join([piece async for piece in pieces])).decode()
    if new.content_type.startswith("image/"):
        return core.Image(data=blob, mime_type=new.content_type)
    return core.Embedded(core.ResourceContents(f"file:///{new.filename}", new.content_type, blob=blob))


async def _pieces(content: bytes) -> AsyncGenerator[bytes]:
    for start in range(0, len(content), PIECE_BYTES):
        yield content[start : start + PIECE_BYTES]


async def _file_pieces(path: Path) -> AsyncGenerator[bytes]:
    async with await anyio.open_file(path, "rb") as file:
        while piece := await file.read(PIECE_BYTES):
            yield piece


def _plain_type(content_type: str) -> str:
    return content_type.partition(";")[0].strip().lower()
