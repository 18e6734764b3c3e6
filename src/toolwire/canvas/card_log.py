"""What cards say of themselves, and what is said of them: lines of a copy, or of a package, the latest of them."""

from collections import deque

from msgspec import Struct

from toolwire.core.jsontypes import JsonObject
from toolwire.core.ports import Clock
from toolwire.surfaces.feed import Feed
from toolwire.wire.card_messages import MAX_LOG_CHARS, LogLevel
from toolwire.wire.rest import rfc3339

KEPT_LINES = 500
"""Of one copy, and of one package."""


class LogLine(Struct, frozen=True):
    """One line. `at` is Unix seconds, UTC."""

    at: float
    level: LogLevel
    text: str


class CardLog:
    """The lines of all cards, in memory.

    Args:
        clock: tells the time.
        feed: is told of a copy's lines.
    """

    def __init__(self, clock: Clock, feed: Feed) -> None:
        self._clock = clock
        self._feed = feed
        self._lines: dict[str, deque[LogLine]] = {}

    def write(self, about: str, level: LogLevel, text: str, workspace: str | None = None) -> None:
        """A line about a card or a package.

        Args:
            about: its id.
            level: how bad it is.
            text: the line; what is too long is cut.
            workspace: where the card stands, for its readers.
        """
        cut = text if len(text) <= MAX_LOG_CHARS else text[: MAX_LOG_CHARS - 1] + "…"
        line = LogLine(self._clock.now(), level, cut)
        self._lines.setdefault(about, deque(maxlen=KEPT_LINES)).append(line)
        if workspace is not None:
            self._feed.tell(workspace, "log", {"card": about, "line": shown_line(line)})

    def read(self, *about: str) -> list[LogLine]:
        """The lines about any of these, the oldest first."""
        return sorted((line for one in about for line in self._lines.get(one, ())), key=lambda line: line.at)

    def forget(self, about: str) -> None:
        """The card or package is gone."""
        self._lines.pop(about, None)


def shown_line(line: LogLine) -> JsonObject:
    """A line as the REST surface shows it."""
    return {"at": rfc3339(line.at), "level": line.level, "text": line.text}
