"""Contents that go and come in pieces, and where one goes on that has broken off; it opens no connection.

Spec: RFC 9110, section 14 (one range).
"""

from collections.abc import AsyncGenerator, AsyncIterable, Generator, Iterable
from pathlib import Path
from typing import Any, Final, TypeAlias, cast

import anyio
from msgspec import Struct

from toolwire.client.asks import ApiError, Ask
from toolwire.wire.answers.files import File

PIECE_BYTES: Final = 256 * 1024

Content: TypeAlias = bytes | Path | Iterable[bytes] | AsyncIterable[bytes]
"""What is sent: bytes, a file of this machine, or pieces; an `AsyncIterable` goes with an `AsyncClient` alone."""


class Pull(Struct, frozen=True):
    """A content, in pieces. `ask` says where it is; bytes before `start` are left out."""

    ask: Ask[File]
    start: int


class Pulling:
    """One reader of a content, over as many connections as it takes.

    Args:
        pull: what is read.
    """

    def __init__(self, pull: Pull) -> None:
        self._pull = pull
        self._next = pull.start
        self._end: int | None = None
        self.has_read = False
        """Whether a piece has come since the last `again`."""

    @property
    def where(self) -> Ask[File]:
        """Asks where the content is now."""
        return self._pull.ask

    @property
    def is_over(self) -> bool:
        """Whether everything has come."""
        return self._end is not None and self._next >= self._end

    def again(self, file: File) -> Ask[bytes]:
        """The request for what has not come yet."""
        self._end, self.has_read = file.size, False
        headers = {"accept-encoding": "identity"}
        if self._next:
            headers["range"] = f"bytes={self._next}-"
        return Ask(method="GET", path=file.download_url, answers=bytes, headers=headers, signed=True)

    def check(self, status: int) -> None:
        """An answer is the one that was asked for.

        Raises:
            ApiError: it is another.
        """
        if status != (206 if self._next else 200):
            raise ApiError("the host does not give the part of the file that is wanted", "no_toolwire", status)

    def take(self, piece: bytes) -> bytes:
        """Count a piece that has come."""
        self._next += len(piece)
        self.has_read = True
        return piece


def sent_by_waiting(content: Any) -> Any:
    """A content as a client that waits sends it.

    Raises:
        TypeError: it comes asynchronously.
    """
    if isinstance(content, Path):
        return _pieces(content)
    if isinstance(content, AsyncIterable):
        raise TypeError("the content comes asynchronously; send it with an AsyncClient")
    return content


def sent_by_awaiting(content: Any) -> Any:
    """A content as a client that awaits sends it; the pieces of an `Iterable` are taken where the loop runs."""
    if isinstance(content, Path):
        return _awaited_pieces(content)
    if isinstance(content, Iterable) and not isinstance(content, bytes):
        return _each(cast(Iterable[bytes], content))
    return cast(Any, content)


def _pieces(path: Path) -> Generator[bytes]:
    with path.open("rb") as file:
        while piece := file.read(PIECE_BYTES):
            yield piece


async def _awaited_pieces(path: Path) -> AsyncGenerator[bytes]:
    async with await anyio.open_file(path, "rb") as file:
        while piece := await file.read(PIECE_BYTES):
            yield piece


async def _each(pieces: Iterable[bytes]) -> AsyncGenerator[bytes]:
    for piece in pieces:
        yield piece
