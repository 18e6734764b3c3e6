"""The latest bytes of a terminal, for those who look at it: each reads on from where it is, and is not waited for.

A reader that is too slow is told that it has missed some. It holds no more than a fixed number of bytes.
"""

from typing import Final, NamedTuple

import anyio

KEPT_BYTES: Final = 256 * 1024


class Piece(NamedTuple):
    """Bytes for a reader. `missed` says that others came before them, which are not kept any more."""

    data: bytes
    missed: bool


class Tail:
    """The bytes of one terminal."""

    def __init__(self, kept: int = KEPT_BYTES) -> None:
        self._kept = kept
        self._data = bytearray()
        self._start = 0
        self._news = anyio.Event()
        self.is_closed = False

    @property
    def end(self) -> int:
        """How many bytes there were ever."""
        return self._start + len(self._data)

    def append(self, data: bytes) -> None:
        """Something was printed."""
        self._data += data
        if len(self._data) > 2 * self._kept:
            self._start += len(self._data) - self._kept
            del self._data[: -self._kept]
        self._wake()

    def close(self) -> None:
        """Nothing will be printed any more: readers end."""
        self.is_closed = True
        self._wake()

    def latest(self) -> bytes:
        """What is kept."""
        return bytes(self._data[-self._kept :])

    def follow(self) -> "Follower":
        """Read what is kept, and all that comes."""
        return Follower(self, max(self._start, self.end - self._kept))

    async def after(self, offset: int) -> bytes | None:
        """What came after the first `offset` bytes, as far as it is kept; `None` at the end."""
        while offset >= self.end:
            if self.is_closed:
                return None
            await self._news.wait()
        return bytes(self._data[max(offset - self._start, 0) :])

    def _wake(self) -> None:
        self._news.set()
        self._news = anyio.Event()


class Follower:
    """One reader. A cancelled `next` has missed nothing."""

    def __init__(self, tail: Tail, offset: int) -> None:
        self._tail = tail
        self._offset = offset

    @property
    def is_behind(self) -> bool:
        """Whether there are bytes that it has not read."""
        return self._tail.end > self._offset

    async def next(self) -> Piece | None:
        """The next bytes, when they come; `None` when the terminal is gone."""
        data = await self._tail.after(self._offset)
        if data is None:
            return None
        missed = self._tail.end - len(data) > self._offset
        self._offset = self._tail.end
        return Piece(data, missed)
