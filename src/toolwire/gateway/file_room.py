"""How much room an owner's files have, while content comes in; it stores and counts nothing for good."""

from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterable

from toolwire.core.errors import PayloadTooLarge


class Arriving:
    """Pieces on their way in, counted, and refused once they are too many.

    Args:
        pieces: what comes in.
        file_limit: how many bytes they may have.
        room: how many the owner had left when they began.
        arriving: by owner, how many are on their way in now, in all uploads together.
        owner: whose they are.
    """

    def __init__(
        self, pieces: AsyncIterable[bytes], file_limit: int, room: int, arriving: Counter[str], owner: str
    ) -> None:
        self._pieces = pieces
        self._file_limit = file_limit
        self._room = room
        self._arriving = arriving
        self._owner = owner
        self.size = 0

    def check(self, more: int) -> None:
        """Refuse `more` bytes that are too many.

        Raises:
            PayloadTooLarge: for a file, or for what its owner has left.
        """
        if self.size + more > self._file_limit:
            raise PayloadTooLarge(f"a file has at most {self._file_limit} bytes", max_bytes=self._file_limit)
        if self._arriving[self._owner] + more > self._room:
            raise no_room(self._room)

    def over(self) -> None:
        """They are stored and counted, or given up."""
        self._arriving[self._owner] -= self.size
        if self._arriving[self._owner] <= 0:
            del self._arriving[self._owner]
        self.size = 0

    async def __aiter__(self) -> AsyncGenerator[bytes]:
        async for piece in self._pieces:
            self.check(len(piece))
            self.size += len(piece)
            self._arriving[self._owner] += len(piece)
            if piece:
                yield piece


def no_room(room: int) -> PayloadTooLarge:
    """The refusal of a file for which its owner has only `room` bytes."""
    return PayloadTooLarge(
        "the owner's files have no room for this one; remove some, or raise owner_files_limit_bytes",
        max_bytes=room,
        limit="owner_files_limit_bytes",
    )
