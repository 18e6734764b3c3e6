"""The record of one call: its numbered events and its end; it does not store itself."""

import logging
from collections import deque
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import TypeAlias

import anyio
from msgspec import Struct

from toolwire.core.asking import Asker
from toolwire.core.call import Call
from toolwire.core.event import Event, Finished, Log, Progress, Stamped
from toolwire.core.handler import Delegate
from toolwire.core.ports import Clock
from toolwire.core.result import Result
from toolwire.core.tasking import MakeTask
from toolwire.engine.deadline import Timer, Watched
from toolwire.engine.signal import Signal

logger = logging.getLogger("toolwire.engine")

KEPT_EVENTS = 256
"""Events before the end that a record keeps for late readers; older ones are dropped, the end never is."""

STORED_EVENTS = 32
STORED_TEXT_CHARS = 8 * 1024
"""What of the latest progress and log lines stays in a stored record, for people."""

Listener = Callable[[Stamped], None]
"""Told of every event as it happens; must not block. What it raises is logged and goes no further."""

Observer: TypeAlias = "Callable[[Record], None]"
"""Told of every call as it begins to run, whatever it is, or when it has ended (`at_end`); as a listener."""


class Told(Struct, frozen=True, omit_defaults=True):
    """A line of a record that people read; see `core.event.Stamped`."""

    seq: int
    at: float
    event: Progress | Log


class CallRecord(Struct, frozen=True, omit_defaults=True):
    """A record as it is stored. `status` is one of gateway.md 54; times are Unix seconds, UTC.

    `result` is `None` while the call runs, and when the result lies in the blob named by `result_blob`. `told` are the
    latest lines before the end. `started_at` is when somebody took the call, where that is known. What a call that is
    `confidential` said is shown to nobody but its caller.
    """

    call: Call
    status: str
    created_at: float
    completed_at: float | None = None
    result: Result | None = None
    result_blob: str | None = None
    taken_by: str | None = None
    told: tuple[Told, ...] = ()
    confidential: bool = False
    started_at: float | None = None


def status_of(result: Result) -> str:
    """The status that a result leaves a call in (gateway.md 54 and §6)."""
    if result.error is None:
        return "completed"
    return {"service_timeout": "timeout", "cancelled": "canceled"}.get(result.error.code, "failed")


class Record:
    """A call that is running here, or one read back from the store after its end.

    `replayed` and `joined` are questions about a submission, not about the record: see `engine.Submission`.

    Attributes:
        make_asker: makes the `asker` of a call that nobody else has given one, should it ever ask.
        make_task: makes a task of the call, where its tool asks for that; found by `core.tasking.task_maker_of`.
        confidential: what it said is shown to nobody but its caller; see `core.confidential`.
        events: the latest `KEPT_EVENTS` of them; `None` until there is one.
        seq: the number of the last event.
        started_at: when somebody took the call, see `core.taking`; Unix seconds.
        when_taken: told once when somebody takes the call; must not raise.
        ending_at: when a durable call has ended, as the store has it.
        delegate: whoever takes part in the commit of the end, if somebody does.
        scope: what the handler runs in; `None` until it does.
        claimed_as: what its key's claim is called, where that is known here.
        key_ttl_s: how long its key stands for it, where that is known here.
        slow: told once when the call is not over within a tick of its beginning.
        verdict: what the call ends with when its handler was stopped.
        timer: rings at the call's last moment, unless the call is over within a tick.
        watcher: looked at with the record, when the call is not over within a tick.
    """

    # Most calls never have most of this: as the class's, it costs them nothing.
    completed_at: float | None = None
    started_at: float | None = None
    when_taken: "Callable[[Record], None] | None" = None
    ending_at: float | None = None
    result: Result | None = None
    events: deque[Stamped] | None = None
    listeners: list[Listener] | None = None
    enders: list[Observer] | None = None
    delegate: Delegate | None = None
    scope: anyio.CancelScope | None = None
    verdict: Result | None = None
    timer: Timer | None = None
    make_asker: "Callable[[Record], Asker] | None" = None
    make_task: MakeTask | None = None
    slow: "Callable[[Record], None] | None" = None
    watcher: Watched | None = None
    key_ttl_s: float | None = None
    claimed_as = ""
    confidential = False
    seq = 0
    _asker: Asker | None = None
    _last_progress = float("-inf")
    _waiting: list[Signal] | None = None
    _news: anyio.Event | None = None

    def __init__(self, call: Call, clock: Clock, created_at: float | None = None) -> None:
        self.call = call
        self.clock = clock
        self.created_at = clock.now() if created_at is None else created_at

    @property
    def over(self) -> bool:
        """Whether the call has ended."""
        return self.result is not None

    @property
    def asker(self) -> Asker | None:
        """What asks the client behind the call; found by `core.asking.asker_of`."""
        if self._asker is None and self.make_asker is not None and self.result is None:
            self._asker = self.make_asker(self)
        return self._asker

    @asker.setter
    def asker(self, asker: Asker | None) -> None:
        self._asker = asker

    def still_going(self) -> None:
        """See `deadline.Watched`."""
        if self.slow is not None:
            self.slow(self)
        if self.watcher is not None:
            self.watcher.still_going()

    def emit(self, event: Event) -> None:
        """Append an event and tell the listeners. Progress that would not rise is raised by one."""
        if self.result is not None:
            return
        if isinstance(event, Progress):
            if event.progress <= self._last_progress:
                event = Progress(self._last_progress + 1, event.total, event.message)
            self._last_progress = event.progress
        self._append(event)

    def taken(self, at: float | None = None) -> float:
        """Somebody works on the call since `at` (Unix seconds), or from now on; see `core.taking`."""
        self.started_at = max(self.created_at, self.clock.now() if at is None else at)
        told, self.when_taken = self.when_taken, None
        if told is not None and self.result is None:
            told(self)
        return self.started_at

    def finish(self, result: Result) -> None:
        """End the call, once; a second end changes nothing."""
        if self.result is not None:
            return
        self.result = result
        self.completed_at = self.clock.now() if self.ending_at is None else self.ending_at
        if self.listeners is not None:
            self._append(Finished(result))
            self.listeners = None
        if self.enders is not None:
            self._tell(self.enders)
            self.enders = None
        if self.timer is not None:
            self.timer.cancel()
        waiting, self._waiting = self._waiting, None
        for signal in waiting or ():
            signal.set()
        if self._news is not None:
            self._news.set()

    def stop(self, verdict: Result) -> None:
        """Make a running call end with `verdict`: its handler is cancelled. After the end it does nothing."""
        if self.result is None and self.verdict is None:
            self.verdict = verdict
            if self.scope is not None:
                self.scope.cancel()

    def begins(self, observers: Sequence[Observer]) -> None:
        """Tell those who look at all calls of this one."""
        self._tell(tuple(observers))

    def listen(self, listener: Listener) -> None:
        """Tell `listener` of every event from now on, until the end."""
        if self.listeners is None:
            self.listeners = []
        self.listeners.append(listener)

    def at_end(self, observer: Observer) -> None:
        """Tell `observer` when the call has ended; for those who want nothing of what is on the way there."""
        if self.enders is None:
            self.enders = []
        self.enders.append(observer)

    def unlisten(self, listener: Listener) -> None:
        """Tell `listener` nothing more; fine when the call is over."""
        if self.listeners is not None:
            self.listeners.remove(listener)

    @contextmanager
    def heard_by(self, listener: Listener) -> Generator[None]:
        """Tell `listener` of every event until the block ends."""
        self.listen(listener)
        try:
            yield
        finally:
            self.unlisten(listener)

    def since(self, seq: int) -> Sequence[Stamped]:
        """The kept events with a higher number than `seq`."""
        newer: list[Stamped] = []
        for stamped in reversed(self.events or ()):
            if stamped.seq <= seq:
                break
            newer.append(stamped)
        newer.reverse()
        return newer

    async def news(self) -> None:
        """Wait for the next event, or for the end."""
        if self._news is None:
            self._news = anyio.Event()
        await self._news.wait()

    def waiter(self) -> Signal:
        """A signal of the asker's own that is set at the end."""
        signal = Signal()
        if self.result is not None:
            signal.set()
        elif self._waiting is None:
            self._waiting = [signal]
        else:
            self._waiting.append(signal)
        return signal

    def waits_no_more(self, waiter: Signal) -> None:
        """Let go of a signal that `waiter` gave; fine when the call is over."""
        if self._waiting is not None:
            self._waiting.remove(waiter)

    @property
    def waited_for(self) -> int:
        """How many wait for the end."""
        return len(self._waiting or ())

    async def wait(self) -> Result:
        """The end, when it comes."""
        if self.result is None:
            waiter = self.waiter()
            try:
                await waiter.wait()
            finally:
                self.waits_no_more(waiter)
        assert self.result is not None
        return self.result

    def stored(self) -> CallRecord:
        """The record as it goes into the store."""
        status = "running" if self.result is None else status_of(self.result)
        return self.stored_as(status, self.completed_at, self.result)

    def stored_as(self, status: str, completed_at: float | None, result: Result | None) -> CallRecord:
        """The record as it goes into the store with an end that it has not had yet."""
        call, told, secret = self.call, self.told(), self.confidential
        if self.claimed_as and not call.claimed_as:
            call = call.at_rest(self.claimed_as)
        return CallRecord(
            call, status, self.created_at, completed_at, result,
            told=told, confidential=secret, started_at=self.started_at,
        )  # fmt: skip

    def told(self) -> tuple[Told, ...]:
        """The latest of its lines that people read."""
        if self.events is None:
            return ()
        lines: list[Told] = []
        left = STORED_TEXT_CHARS
        for stamped in reversed(self.events):
            event = stamped.event
            if not isinstance(event, Progress | Log):
                continue
            left -= len((event.message or "") if isinstance(event, Progress) else event.text)
            if left < 0 or len(lines) == STORED_EVENTS:
                break
            lines.append(Told(stamped.seq, stamped.at, event))
        lines.reverse()
        return tuple(lines)

    def _tell(self, observers: Sequence[Observer]) -> None:
        for observer in observers:
            try:
                observer(self)
            except Exception:  # as for listeners
                logger.exception("an observer of call %s failed", self.call.id)

    def _append(self, event: Event) -> None:
        self.seq += 1
        stamped = Stamped(self.call.id, self.seq, self.clock.now(), event)
        if self.events is None:
            self.events = deque(maxlen=KEPT_EVENTS)
        self.events.append(stamped)
        if self._news is not None:
            self._news.set()
            self._news = None
        for listener in tuple(self.listeners or ()):
            try:
                listener(stamped)
            except Exception:  # a listener's mistake is neither the provider's nor the other readers'
                logger.exception("a listener of call %s failed", self.call.id)
