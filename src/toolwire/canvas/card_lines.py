"""Who waits for room at a copy of a card, first come, first served; it calls nothing (cards.md decision 37)."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio

MAX_IN_FLIGHT = 16
"""Calls that one copy has at once; more wait in line."""


class _Line:
    def __init__(self, places: int) -> None:
        self.room = anyio.Semaphore(places)
        self.users = 0


class CardLines:
    """The lines at all copies: one at each, and one for each tool that wants less company."""

    def __init__(self) -> None:
        self._lines: dict[tuple[str, str], _Line] = {}

    @asynccontextmanager
    async def turn(self, card: str, tool: str, concurrency: int, patience_s: float) -> AsyncGenerator[bool]:
        """Wait in line, then have room while the block lasts; says whether there was any in time.

        Args:
            card: the copy.
            tool: what is called of it.
            concurrency: how many calls that tool has at once.
            patience_s: for how long to wait, in seconds.
        """
        key = (card, tool if concurrency < MAX_IN_FLIGHT else "")
        line = self._lines.get(key)
        if line is None:
            line = self._lines[key] = _Line(concurrency if key[1] else MAX_IN_FLIGHT)
        line.users += 1
        try:
            with anyio.move_on_after(patience_s) as waiting:
                await line.room.acquire()
            try:
                yield not waiting.cancelled_caught
            finally:
                if not waiting.cancelled_caught:
                    line.room.release()
        finally:
            line.users -= 1
            if not line.users:
                del self._lines[key]
