"""A card's progress as people and agents get it: one short line, four times a second at most (cards.md 35, 36).

The first comes at once; of those that come too fast the latest is told when its time is there (decisions 27, 28).
"""

from collections.abc import Callable

from toolwire.card.texts import one_line, visible
from toolwire.engine.deadline import Timekeeper, Timer
from toolwire.wire.card_messages import MAX_PROGRESS_CHARS

LEAST_GAP_S = 0.25


class Progressing:
    """The progress of one call.

    Args:
        timekeeper: calls back.
        tell: gets each line that is told.
    """

    def __init__(self, timekeeper: Timekeeper, tell: Callable[[str], None]) -> None:
        self._timekeeper = timekeeper
        self._tell = tell
        self._waiting: str | None = None
        self._timer: Timer | None = None
        self._over = False

    def say(self, message: str) -> None:
        """The card says how far it is; after the end, and without words, it does nothing."""
        line = one_line(visible(message, len(message), multiline=True), MAX_PROGRESS_CHARS)
        if self._over or not line:
            return
        if self._timer is None:
            self._tell(line)
            self._timer = self._timekeeper.after(LEAST_GAP_S, self._gap_over)
        else:
            self._waiting = line

    def end(self) -> None:
        """The call ends now: what still waits is told first."""
        if self._over:
            return
        self._over = True
        if self._timer is not None:
            self._timer.cancel()
        if self._waiting is not None:
            self._tell(self._waiting)

    def _gap_over(self) -> None:
        self._timer, waiting, self._waiting = None, self._waiting, None
        if waiting is not None and not self._over:
            self._tell(waiting)
            self._timer = self._timekeeper.after(LEAST_GAP_S, self._gap_over)
