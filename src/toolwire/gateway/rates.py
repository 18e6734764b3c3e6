"""How often a credential may call an agent: a steady pace with room for bursts (GCRA); it counts no calls.

Each pair of credential and agent has a pace of its own: an agent's slow day is not another agent's, nor another
caller's (gateway.md 49, X21). Paces are this process' alone.
"""

import time
from collections.abc import Callable
from typing import Final

from toolwire.core.errors import RateLimited
from toolwire.gateway.keys import KeyKind

MINUTE_S: Final = 60.0
MAX_PACES: Final = 16_384
"""Pairs that are remembered; beyond that those that have rested longest are forgotten, which costs them nothing."""


class Pace:
    """The pace of one credential with one agent.

    A minute's worth may come at once; after that one request each `interval_s`.
    """

    __slots__ = ("_interval_s", "_now", "free_at")

    def __init__(self, per_minute: int, now: Callable[[], float] = time.monotonic) -> None:
        self._interval_s = MINUTE_S / per_minute
        self._now = now
        self.free_at = 0.0

    def take(self) -> None:
        """One request more.

        Raises:
            RateLimited: it comes too soon; `retry_after_ms` says how much. It does not count.
        """
        early_s = self._take()
        if early_s > 0:
            wait_ms = max(1, round(early_s * 1000))
            raise RateLimited(
                f"too many requests with this credential; try again in {wait_ms / 1000:g} s", retry_after_ms=wait_ms
            )

    def may_take(self) -> bool:
        """As `take`; `False` where that refuses."""
        return self._take() <= 0

    def _take(self) -> float:
        """By how many seconds a request comes too soon; it counts if it does not."""
        now = self._now()
        free_at = self.free_at if self.free_at > now else now
        early_s = free_at + self._interval_s - now - MINUTE_S
        if early_s > 1e-9:
            return early_s
        self.free_at = free_at + self._interval_s
        return 0.0


class Rates:
    """All paces.

    Args:
        per_minute: of a `bak_` key or an OAuth token, with each agent; 0 for as many as it likes.
        owner_per_minute: of an `oag_` key.
        now: monotonic seconds.
    """

    def __init__(self, per_minute: int, owner_per_minute: int, now: Callable[[], float] = time.monotonic) -> None:
        self._per_minute = per_minute
        self._owner_per_minute = owner_per_minute
        self._now = now
        self._paces: dict[tuple[str, str], Pace] = {}

    def of(self, credential_id: str, kind: KeyKind | str, agent_id: str) -> Pace | None:
        """The pace of a credential with an agent; `None` where it may call as often as it likes."""
        per_minute = self._owner_per_minute if kind == "oag" else self._per_minute
        if per_minute == 0:
            return None
        pace = self._paces.get((credential_id, agent_id))
        if pace is None:
            if len(self._paces) >= MAX_PACES:
                self._forget_rested()
            pace = self._paces[credential_id, agent_id] = Pace(per_minute, self._now)
        return pace

    def _forget_rested(self) -> None:
        by_rest = sorted(self._paces, key=lambda pair: self._paces[pair].free_at)
        for pair in by_rest[: len(by_rest) // 2]:
            del self._paces[pair]
