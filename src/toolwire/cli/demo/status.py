"""What the demo agent tells of itself: calls counted as they end, and a snapshot to show.

It draws nothing and measures no time; the agent says what ended and when.
"""

from collections import Counter, deque
from typing import Final

import msgspec

CHART_MINUTES: Final = 30
"""Minutes the counts by minute go back, the current one included."""

RECENT_CALLS: Final = 8
"""Calls remembered one by one."""


class EndedCall(msgspec.Struct, frozen=True):
    """A call that was answered.

    Attributes:
        tool: Its tool's name.
        ended_at: Unix seconds.
        duration_s: From its arrival to its end.
        ok: Whether the answer was a result rather than an error.
    """

    tool: str
    ended_at: float
    duration_s: float
    ok: bool = True


class Status(msgspec.Struct, frozen=True):
    """The agent at one moment.

    Attributes:
        name: The agent's name.
        version: Its version.
        agent_id: Its id at the gateway.
        gateway_url: Where it is attached.
        now: The moment, Unix seconds.
        started_at: When the agent started, Unix seconds.
        answered: Calls answered since then, failed ones among them.
        failed: Those answered with an error.
        per_minute: Calls that ended in each of the last `CHART_MINUTES` minutes, the current one last.
        recent: The last calls, the newest first.
    """

    name: str
    version: str
    agent_id: str
    gateway_url: str
    now: float
    started_at: float
    answered: int = 0
    failed: int = 0
    per_minute: tuple[int, ...] = (0,) * CHART_MINUTES
    recent: tuple[EndedCall, ...] = ()


class Activity:
    """Counts ended calls; its size does not grow with their number. For use from the event loop's thread alone."""

    def __init__(self) -> None:
        self._answered = 0
        self._failed = 0
        self._minutes: Counter[int] = Counter()
        self._recent: deque[EndedCall] = deque(maxlen=RECENT_CALLS)

    def record(self, ended: EndedCall) -> None:
        """Adds a call that has just ended."""
        minute = int(ended.ended_at // 60)
        self._answered += 1
        self._failed += not ended.ok
        self._minutes[minute] += 1
        self._recent.appendleft(ended)
        for old in [known for known in self._minutes if known <= minute - CHART_MINUTES]:
            del self._minutes[old]

    def status(self, base: Status) -> Status:
        """`base`, which tells who and when, with the counts as of `base.now`."""
        last = int(base.now // 60)
        return msgspec.structs.replace(
            base,
            answered=self._answered,
            failed=self._failed,
            per_minute=tuple(self._minutes[minute] for minute in range(last - CHART_MINUTES + 1, last + 1)),
            recent=tuple(self._recent),
        )
