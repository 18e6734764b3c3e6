"""The engine's only timers: one task that wakes for whatever is due; it does not know what a deadline means."""

import heapq
import itertools
import logging
from collections.abc import Callable
from typing import Protocol

import anyio

from toolwire.core.ports import Clock
from toolwire.engine.signal import Signal

logger = logging.getLogger("toolwire.engine")

TICK_S = 0.05
"""How long something may take at most before it costs a timer; half of that never costs one. Most calls are over by
then."""
MIN_COMPACTED = 256
"""Timers kept before cancelled ones among them are looked for."""


class Watched(Protocol):
    """Something that may be over before anybody need look at it."""

    @property
    def over(self) -> bool:
        """Whether it has ended by itself."""
        ...

    def still_going(self) -> None:
        """Called once, when it has not ended within a tick: now it may set timers and start watchers."""
        ...


class Timer:
    """A callback at a moment of the loop's monotonic clock; `cancel()` makes it do nothing."""

    __slots__ = ("callback", "when")

    def __init__(self, when: float, callback: Callable[[], None]) -> None:
        self.when = when
        self.callback: Callable[[], None] | None = callback

    def cancel(self) -> None:
        """Forget the callback."""
        self.callback = None


class Patience:
    """Sets a signal at a moment, unless it was set before; a `Watched` that makes no timer within the first tick.

    Args:
        keeper: keeps the time.
        signal: what is set.
        until: Unix seconds.
        clock: says when that is.
        watcher: looked at besides, when the signal is not set within the first tick.
    """

    __slots__ = ("_clock", "_keeper", "_signal", "_timer", "_until", "_watcher")

    def __init__(
        self, keeper: "Timekeeper", signal: Signal, until: float, clock: Clock, watcher: Watched | None = None
    ) -> None:
        self._keeper = keeper
        self._signal = signal
        self._until = until
        self._clock = clock
        self._watcher = watcher
        self._timer: Timer | None = None
        keeper.soon(self)

    @property
    def over(self) -> bool:
        """Whether the signal is set."""
        return self._signal.is_set

    def still_going(self) -> None:
        """See `Watched`."""
        self._timer = self._keeper.after(max(0.0, self._until - self._clock.now()), self._signal.set)
        if self._watcher is not None:
            self._watcher.still_going()

    def end(self) -> None:
        """Nobody waits any more."""
        self._keeper.forget(self)
        if self._timer is not None:
            self._timer.cancel()


class Timekeeper:
    """Calls back at given moments, and looks once at what has not ended soon.

    A call that is over within a tick costs an entry of a dict here: no timer, no scope with a deadline.
    """

    def __init__(self) -> None:
        self._fresh: dict[Watched, None] = {}
        self._older: dict[Watched, None] = {}
        self._stirred = False
        self._heap: list[tuple[float, int, Timer]] = []
        self._compact_at = MIN_COMPACTED
        self._count = itertools.count()
        self._wake: anyio.Event | None = None

    def soon(self, item: Watched) -> None:
        """Have `item.still_going()` called unless it is over by the next tick."""
        self._fresh[item] = None
        if self._wake is not None:
            self._stirred = True
            self._wake.set()

    def forget(self, item: Watched) -> None:
        """`item` is over: let go of it now, so that its memory serves the next one; optional, and fine at any time."""
        if self._fresh.pop(item, self) is self:
            self._older.pop(item, None)

    def at(self, when: float, callback: Callable[[], None]) -> Timer:
        """Call `callback` at `when` (monotonic seconds of the event loop); it must not block or raise."""
        timer = Timer(when, callback)
        if len(self._heap) >= self._compact_at:
            self._compact()
        heapq.heappush(self._heap, (when, next(self._count), timer))
        if self._wake is not None:
            self._wake.set()
        return timer

    def after(self, seconds: float, callback: Callable[[], None]) -> Timer:
        """Call `callback` in `seconds`."""
        return self.at(anyio.current_time() + seconds, callback)

    @property
    def kept(self) -> int:
        """How many timers are kept, cancelled ones among them."""
        return len(self._heap)

    async def keep(self) -> None:
        """Keep time until cancelled."""
        while True:
            await self._pause()
            self._look()
            self._fire(anyio.current_time())

    async def _pause(self) -> None:
        if not (self._fresh or self._older):
            while self._heap and self._heap[0][2].callback is None:
                heapq.heappop(self._heap)
            self._wake = anyio.Event()
            with anyio.CancelScope(deadline=self._heap[0][0] if self._heap else float("inf")):
                await self._wake.wait()
            self._wake = None
        if self._fresh or self._older or self._stirred:  # what has woken us may be forgotten by now: two wakes a tick
            self._stirred = False
            await anyio.sleep(TICK_S / 2)

    def _look(self) -> None:
        """Ask once what has not ended; in a frame of its own, so that nothing of it is kept until the next time.

        What came since the last time is not asked yet: it may have come just now.
        """
        older, self._older, self._fresh = self._older, self._fresh, {}
        for item in older:
            if not item.over:
                _guarded(item.still_going)

    def _fire(self, now: float) -> None:
        due: list[Timer] = []
        while self._heap and self._heap[0][0] <= now:
            due.append(heapq.heappop(self._heap)[2])
        for timer in due:
            callback, timer.callback = timer.callback, None
            if callback is not None:
                _guarded(callback)

    def _compact(self) -> None:
        """Let go of cancelled timers: one whose moment is far away would stay until then."""
        self._heap = [entry for entry in self._heap if entry[2].callback is not None]
        heapq.heapify(self._heap)
        self._compact_at = max(MIN_COMPACTED, 2 * len(self._heap))


def _guarded(callback: Callable[[], None]) -> None:
    """Somebody's mistake must not stop the clock of everybody else."""
    try:
        callback()
    except Exception:
        logger.exception("a timer's callback failed")
