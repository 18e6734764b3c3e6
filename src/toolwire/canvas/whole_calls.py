"""The latest calls of each arrow as they were, with all that went through: in memory, for whoever looks soon enough.

The store keeps previews alone, and an arrow that is not recorded keeps nothing anywhere (cards.md decision 38).
"""

from collections import OrderedDict, deque
from typing import Any, Final

import msgspec
from msgspec import UNSET, Struct

from toolwire.core.jsontypes import JsonObject
from toolwire.core.result import Audio, Content, Image, Result, Text

KEPT_CALLS: Final = 50
"""Of one arrow."""
KEPT_BYTES: Final = 64 * 1024 * 1024
"""Of all arrows together, about; those that still run are kept whatever they hold."""
MAX_LINES: Final = 200
"""Lines of progress of one call, the latest."""

_encode = msgspec.json.Encoder().encode


class ProgressLine(Struct, frozen=True):
    """A line of a call's progress. `at` is Unix seconds, UTC."""

    at: float
    text: str


class WholeCall:
    """A call as it was: its arguments without secrets, how far it was when, and how it ended.

    Attributes:
        arguments: what the tool got.
        hidden: JSON pointers to what was taken out of them.
        progress: the latest lines.
        result: its end, `None` while it runs.
    """

    __slots__ = ("arguments", "hidden", "n_bytes", "progress", "result")

    def __init__(self, arguments: JsonObject, hidden: tuple[str, ...]) -> None:
        self.arguments = arguments
        self.hidden = hidden
        self.progress: deque[ProgressLine] = deque(maxlen=MAX_LINES)
        self.result: Result | None = None
        self.n_bytes = 0

    def say(self, line: ProgressLine) -> None:
        """A line more."""
        self.progress.append(line)


class WholeCalls:
    """The whole calls of all arrows.

    Args:
        kept_bytes: how much of them is kept.
    """

    def __init__(self, kept_bytes: int = KEPT_BYTES) -> None:
        self._kept_bytes = kept_bytes
        self._running: dict[tuple[str, str], WholeCall] = {}
        self._ended: OrderedDict[tuple[str, str], WholeCall] = OrderedDict()
        self._order: dict[str, deque[str]] = {}
        self._n_bytes = 0

    def begin(self, arrow_id: str, call_id: str, arguments: JsonObject, hidden: tuple[str, ...]) -> WholeCall:
        """A call that runs from now on."""
        whole = self._running[arrow_id, call_id] = WholeCall(arguments, hidden)
        return whole

    def end(self, arrow_id: str, call_id: str, result: Result) -> None:
        """A call has ended; it pushes out the oldest where they are too many or too much."""
        whole = self._running.pop((arrow_id, call_id), None)
        if whole is None:
            return
        whole.result, whole.n_bytes = result, _size(whole.arguments) + _result_size(result)
        self._ended[arrow_id, call_id] = whole
        self._n_bytes += whole.n_bytes
        order = self._order.setdefault(arrow_id, deque())
        order.append(call_id)
        if len(order) > KEPT_CALLS:
            self._drop(arrow_id)
        while self._n_bytes > self._kept_bytes:
            self._drop(next(iter(self._ended))[0])

    def get(self, arrow_id: str, call_id: str) -> WholeCall | None:
        """A call, if it is still kept."""
        return self._running.get((arrow_id, call_id)) or self._ended.get((arrow_id, call_id))

    def forget(self, arrow_id: str) -> None:
        """Let go of an arrow's calls that have ended."""
        while arrow_id in self._order:
            self._drop(arrow_id)

    def _drop(self, arrow_id: str) -> None:
        """Let go of the oldest call of an arrow."""
        order = self._order[arrow_id]
        self._n_bytes -= self._ended.pop((arrow_id, order.popleft())).n_bytes
        if not order:
            del self._order[arrow_id]


def _result_size(result: Result) -> int:
    structured = 0 if result.structured is UNSET else _size(result.structured)
    return structured + sum(_part_size(part) for part in result.content)


def _part_size(part: Content) -> int:
    if isinstance(part, Text):
        return len(part.text.encode("utf-8", "replace"))
    if isinstance(part, Image | Audio):
        return len(part.data)
    return _size(part)


def _size(value: Any) -> int:
    try:
        return len(_encode(value))
    except (TypeError, ValueError, RecursionError):
        return 0
