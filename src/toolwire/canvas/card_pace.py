"""How fast a card may ask; it answers nothing."""

import math
from typing import Final

import anyio

RATE: Final = 200.0
"""Requests of one card in a second, in the long run (cards.md §3)."""
BURST: Final = 400.0
"""Requests at once, after a rest."""


class Pace:
    """The requests that one card has left."""

    def __init__(self) -> None:
        self._left = BURST
        self._at = anyio.current_time()

    def wait_ms(self) -> int:
        """Count one request: 0 if it may be answered, else when there will be room for it again."""
        now = anyio.current_time()
        self._left, self._at = min(BURST, self._left + (now - self._at) * RATE), now
        if self._left >= 1:
            self._left -= 1
            return 0
        return math.ceil((1 - self._left) / RATE * 1000)
