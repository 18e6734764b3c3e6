"""What happens to a call from its claim to its end; it does not decide which calls come to that."""

from functools import partial

import anyio
from anyio.lowlevel import checkpoint_if_cancelled

from toolwire.core.handler import Handler
from toolwire.core.ports import Clock, Store
from toolwire.core.result import Result, failed
from toolwire.engine.crew import Member, Work
from toolwire.engine.deadline import Timekeeper
from toolwire.engine.ending import Endings, Guard, Limits, end_of
from toolwire.engine.held_keys import HeldKeys
from toolwire.engine.prompt_calls import failure_of
from toolwire.engine.record import Observer, Record

TIMEOUT_TEXT = "Agent reply timeout"
"""The words of a time-out, fixed by the gateway's contract (gateway.md 42)."""
CUT_OFF = "the server stopped before the call had ended; send it again with the same key in a moment"


class Course:
    """Runs claimed calls, in the task of their request (`run`) or by the crew, as its `crew.Steps`.

    Attributes:
        live: the calls under way, by id.
        observers: told of each as it begins to run.
        new_scope: makes a cancel scope.
    """

    def __init__(
        self, store: Store, clock: Clock, limits: Limits, timekeeper: Timekeeper, endings: Endings, keys: HeldKeys
    ) -> None:
        self._store = store
        self._clock = clock
        self._limits = limits
        self._timekeeper = timekeeper
        self._endings = endings
        self._keys = keys
        self.live: dict[str, Record] = {}
        self.observers: list[Observer] = []
        self._scope_class = anyio.CancelScope

    def begin(self) -> None:
        """The loop runs that the calls will run on."""
        self._scope_class = type(anyio.CancelScope())  # its own class: asking for it each time costs 1 µs

    def new_scope(self, *, shield: bool = False) -> anyio.CancelScope:
        """See `crew.Steps`."""
        return self._scope_class(shield=shield)

    def last_moment(self, record: Record) -> float:
        """Unix seconds at which a call ends, whoever still waits for it."""
        if record.call.task is not None:
            return record.call.task.ends_by
        if record.call.outlives_request:
            return max(record.call.deadline, record.created_at + self._limits.keyed_deadline_s)
        return record.call.deadline

    async def run(self, record: Record, handler: Handler, prompt: bool = False) -> None:
        """Run the handler in place and end the record, whatever happens; one that never waits needs no scope."""
        call = record.call
        durable = call.durable
        self.live[call.id] = record
        result: Result | None = None
        if self.observers:
            record.begins(self.observers)
        try:
            if prompt:
                result = await handler(call, record.emit)
            else:
                record.slow = self._set_timer
                self._timekeeper.soon(record)
                with self._scope_class() as scope:
                    record.scope = scope
                    if durable:
                        await checkpoint_if_cancelled()  # its claim has taken time: perhaps nobody wants it any more
                    if record.verdict is None:
                        result = await handler(call, record.emit)
        except Exception as error:  # noqa: BLE001 - logged there
            result = failure_of(call, error)
        finally:
            if durable or (record.call is not call and record.call.durable):  # it may have become a task
                await self._end_durably(record, result)
            else:
                self.release(record, end_of(record, result))
                self._endings.note(record)

    def unclaim(self, record: Record) -> None:
        """A call could not be claimed."""
        del self.live[record.call.id]
        record.finish(failed("the call was not claimed; send it again", "conflict"))

    async def claim(self, work: Work, guard: Member) -> bool:
        """See `crew.Steps`."""
        record = work.record
        try:
            with guard:
                await self._store.tx(work.ops)
            if work.claim is not None:
                self._keys.hold(work.scope, work.claim, record)
        except Exception as error:  # noqa: BLE001 - whoever waits for the call raises it
            work.refusal = error
            self.unclaim(record)
        finally:
            if work.claim is not None:
                self._keys.end_claim(work.scope)
        return work.refusal is None

    async def handle(self, work: Work) -> None:
        """See `crew.Steps`."""
        record = work.record
        if self.observers:
            record.begins(self.observers)
        record.slow = self._set_timer
        self._timekeeper.soon(record)
        try:
            work.result = await work.handler(record.call, record.emit)
        except Exception as error:  # noqa: BLE001 - logged there
            self.fail(work, error)

    def fail(self, work: Work, error: Exception) -> None:
        """See `crew.Steps`."""
        work.result = failure_of(work.record.call, error)

    async def end(self, work: Work, guard: Member) -> None:
        """See `crew.Steps`."""
        await self._end_durably(work.record, work.result, guard)

    async def _end_durably(self, record: Record, result: Result | None, guard: Guard | None = None) -> None:
        """Commit the end before anybody may read it; only a call that was cut off stays open, for `recover`."""
        ended, committed = failed(CUT_OFF, "agent_service_unavailable"), False
        call, delegate = record.call, record.delegate
        try:
            if result is not None or record.verdict is not None or not call.outlives_request:
                scope = self._keys.scope_held_by(record)
                ended = await self._endings.commit(record, end_of(record, result), scope, guard)
                committed = True
        finally:
            self.release(record, ended)
            if delegate is not None:
                delegate.ended(call, committed)
            self._endings.tell(call)

    def _set_timer(self, record: Record) -> None:
        """A call that is not over within a tick gets a timer for its last moment."""
        left = self.last_moment(record) - self._clock.now()
        verdict = failed(TIMEOUT_TEXT, "service_timeout")
        record.timer = self._timekeeper.after(max(0.0, left), partial(record.stop, verdict))

    def release(self, record: Record, result: Result) -> None:
        """A call is over."""
        self._timekeeper.forget(record)
        self.live.pop(record.call.id, None)
        if record.call.idempotency_key is not None:
            self._keys.release(record)
        record.finish(result)
