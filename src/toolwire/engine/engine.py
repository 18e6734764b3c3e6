"""Submit, cancel, recover: the life of a call; it does not know how calls come in or what runs them.

Two rules (ARCHITECTURE.md, one idea): what is refused before the claim raises a `ToolwireError`; what ends badly after
the claim is a `Result` with an error, in the record.
"""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from functools import partial

import anyio
from anyio.abc import TaskGroup, TaskStatus
from anyio.lowlevel import checkpoint_if_cancelled
from msgspec.structs import replace

from toolwire.core.call import MAX_DEPTH, Call
from toolwire.core.errors import (
    Conflict,
    InvalidParam,
    ServiceTimeout,
    ServiceUnavailable,
    StoreConflict,
    ToolwireError,
)
from toolwire.core.handler import Handler
from toolwire.core.ports import Blobs, Clock, Op, Put, Store
from toolwire.core.result import Result, failed
from toolwire.engine.attaching import attached
from toolwire.engine.catalog import Catalog, Entry
from toolwire.engine.claims import Claim, Submission, check_same, decode_claim, encode_claim, fingerprint_of, scope_of
from toolwire.engine.deadline import Timekeeper, Watched
from toolwire.engine.ending import Endings, Limits, as_repeated, end_of
from toolwire.engine.held_keys import HeldKeys
from toolwire.engine.offload import encode_record, unpack
from toolwire.engine.prompt_calls import PromptCalls, failure_of
from toolwire.engine.record import CallRecord, Listener, Observer, Record
from toolwire.engine.recorder import Recorder
from toolwire.engine.retention import sweep_for_ever

MAX_CLAIM_TRIES = 5

TIMEOUT_TEXT = "Agent reply timeout"
"""The words of a time-out, fixed by the gateway's contract (gateway.md 42)."""
STOPPING = "the server is stopping; try again in a moment"
CUT_OFF = "the server stopped before the call had ended; send it again with the same key in a moment"


class Engine:
    """Runs calls and keeps their records. Use `running()` around everything else. `observers` are told of each call."""

    def __init__(self, store: Store, blobs: Blobs, clock: Clock, limits: Limits | None = None) -> None:
        self.store = store
        self.blobs = blobs
        self.clock = clock
        self.limits = limits or Limits()
        self.timekeeper = Timekeeper()
        self.recorder = Recorder(store)
        self.endings = Endings(store, blobs, clock, self.limits, self.recorder)
        self._live: dict[str, Record] = {}
        self._keys = HeldKeys(self.limits.joins)
        self._tasks: TaskGroup | None = None
        self.observers: list[Observer] = []
        self.prompt_calls = PromptCalls(clock, self.endings, self.observers)
        self._new_scope = anyio.CancelScope

    @asynccontextmanager
    async def running(self) -> AsyncGenerator["Engine"]:
        """Keep time and write records until the block ends; then end what still runs and write the rest.

        A call that outlives its request is cut off but not ended: it stays open in the store, for `recover`.
        """
        self._new_scope = type(anyio.CancelScope())  # the event loop's own class: asking for it each time costs 1 µs
        async with anyio.create_task_group() as group:
            stop, stopped = anyio.Event(), anyio.Event()
            await group.start(self._keep_running, stop, stopped)
            try:
                yield self
            finally:
                stop.set()
                with anyio.CancelScope(shield=True):
                    await stopped.wait()

    async def _keep_running(
        self, stop: anyio.Event, stopped: anyio.Event, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED
    ) -> None:
        """Own all tasks of the engine. Whoever uses it may be cancelled; these end in order, the recorder last."""
        try:
            with anyio.CancelScope(shield=True):
                async with anyio.create_task_group() as upkeep:
                    upkeep.start_soon(self.timekeeper.keep)
                    upkeep.start_soon(self.recorder.write)
                    upkeep.start_soon(sweep_for_ever, self.store, self.blobs)
                    async with anyio.create_task_group() as calls:
                        self._tasks, self.recorder.stopping = calls, False
                        task_status.started()
                        await stop.wait()
                        self._tasks, self.recorder.stopping = None, True
                        calls.cancel_scope.cancel()
                    await self.recorder.flush()
                    upkeep.cancel_scope.cancel()
        finally:
            self._tasks = None
            stopped.set()

    @property
    def ready(self) -> bool:
        """Whether a plain call would be taken now, and need not wait for room."""
        return self._tasks is not None and not self.recorder.full

    async def submit(
        self, call: Call, catalog: Catalog, listener: Listener | None = None, watcher: Watched | None = None
    ) -> Submission:
        """Run a call, or find the one that its idempotency key stands for, and wait for the end.

        Args:
            call: what to run.
            catalog: the tools of the endpoint that it came to.
            listener: told of the call's events while this waits; not of those of a call that was there already.
            watcher: of a plain call: looked at when it is not over within a tick.

        Raises:
            ToolwireError: it was refused before the claim, or (`ServiceTimeout`) the request's time is up while the
                call goes on under its key.

        Cancellation: the call is cancelled with its caller unless it outlives its request.
        """
        if self._tasks is None:
            raise ServiceUnavailable(STOPPING)
        if call.depth > MAX_DEPTH:
            raise Conflict(f"calls nest deeper than {MAX_DEPTH}; look for arrows that form a loop")
        durable = call.durable
        if durable and call.outlives_request:
            return await self._submit_detached(call, catalog, listener)
        if self.recorder.full and not await self.recorder.room(call.deadline - self.clock.now()):
            raise ServiceTimeout(TIMEOUT_TEXT, task_id=call.id, retryable=False)
        if call.attachments:
            call = await attached(call, catalog)
        record, entry, ops = self._admit(call, catalog, listener)
        record.watcher = watcher
        if durable:
            await self._commit(record, ops)
        elif ops:
            self.recorder.add(lambda: ops)
        await self._run(record, entry.handler, entry.is_prompt and not durable)
        return Submission(record)

    async def begin(self, call: Call, catalog: Catalog, listener: Listener | None = None) -> Submission:
        """As `submit`, in a task of the engine's own; comes back before it runs, and waits for nothing."""
        if call.durable:
            return await self._known_or_claimed(call, catalog, listener)
        record, entry, _ = self._admit(await attached(call, catalog), catalog, listener)
        self.start(record, entry.handler)
        return Submission(record)

    @property
    def idle(self) -> bool:
        """Whether no call is under way here: who stops the engine now cuts nothing off."""
        return not (self._live or self._keys)

    def find(self, call_id: str) -> Record | None:
        """A call that is running here."""
        return self._live.get(call_id)

    def under_way(self) -> Sequence[Record]:
        """All calls that are running here."""
        return tuple(self._live.values())

    async def load(self, owner: str, call_id: str) -> CallRecord | None:
        """A call's record from the store, with its result; that of a plain call once it has ended.

        Raises:
            StoreUnavailable: the store cannot be read.
        """
        stored = await self.store.get("call", owner, call_id) or await self.store.get("open_call", owner, call_id)
        if stored is None or not stored.value:  # it may have ended between the two looks, or is still to be written
            await self.recorder.caught_up()
            stored = await self.store.get("call", owner, call_id)
        return None if stored is None else await unpack(stored.value, self.blobs)

    def cancel(self, call_id: str, reason: str) -> bool:
        """End a running call as cancelled; says whether there was one."""
        record = self._live.get(call_id)
        if record is None:
            return False
        record.stop(failed(f"cancelled: {reason}", "cancelled"))
        return True

    def last_moment(self, record: Record) -> float:
        """Unix seconds at which a call ends, whoever still waits for it."""
        if record.call.task is not None:
            return record.call.task.ends_by
        if record.call.outlives_request:
            return max(record.call.deadline, record.created_at + self.limits.keyed_deadline_s)
        return record.call.deadline

    def start(self, record: Record, handler: Handler) -> None:
        """Run a claimed call in a task of the engine's own.

        Raises:
            ServiceUnavailable: the engine is stopping; the call stays open, for `recover`.
        """
        if self._tasks is None:
            self._live.pop(record.call.id, None)
            record.finish(failed(CUT_OFF, "agent_service_unavailable"))
            raise ServiceUnavailable(STOPPING)
        self._live[record.call.id] = record
        self._tasks.start_soon(self._run, record, handler)

    def adopt(self, record: Record, handler: Handler, claim: Claim | None) -> None:
        """Go on with a claimed call, and let repeats under its key join it.

        Raises:
            ServiceUnavailable: as `start`.
        """
        self.start(record, handler)
        if claim is not None:
            self._keys.hold(scope_of(record.call), claim, record)

    def _admit(self, call: Call, catalog: Catalog, listener: Listener | None) -> tuple[Record, Entry, Sequence[Op]]:
        """All that may refuse a call before its claim, and what its provider has committed with that."""
        entry = catalog.find(call.tool)
        arguments = entry.check(call.arguments)
        if arguments is not call.arguments:
            call = replace(call, arguments=arguments)
        ops: Sequence[Op] = ()
        if entry.delegate is not None:
            entry.delegate.ready(call, entry.tool)
            ops = entry.delegate.claim_ops(call, entry.tool)
        record = Record(call, self.clock)
        record.delegate = entry.delegate
        if listener is not None:
            record.listen(listener)
        return record, entry, ops

    async def _submit_detached(self, call: Call, catalog: Catalog, listener: Listener | None) -> Submission:
        """A call that goes on when its request has ended: known by its key, run in a task of its own."""
        submission = await self._known_or_claimed(call, catalog, listener)
        record = submission.record
        try:
            if not record.over:
                with anyio.move_on_after(max(0.0, call.deadline - self.clock.now())):
                    await record.wait()
        finally:
            if listener is not None and not submission.replayed:
                record.unlisten(listener)
        if not record.over:
            keyed = call.idempotency_key is not None
            raise ServiceTimeout(TIMEOUT_TEXT, task_id=record.call.id, retryable=keyed)
        return submission

    async def _known_or_claimed(self, call: Call, catalog: Catalog, listener: Listener | None) -> Submission:
        if call.idempotency_key is None:
            return await self._claim(*self._admit(await attached(call, catalog), catalog, listener))
        fingerprint, scope = fingerprint_of(call), scope_of(call)
        # Most keys are new. One on a channel of its own is claimed without a look, and looked up if that fails.
        looks = call.caller.session_id is not None or call.continues
        tries = 0
        while tries < MAX_CLAIM_TRIES:
            known = await self._look(scope, fingerprint) if looks else await self._join(scope, fingerprint) or 0
            if isinstance(known, Submission):
                return known
            now = self.clock.now()
            claim = Claim(call.id, call.caller.owner, fingerprint, now, now + self.limits.idempotency_ttl_s)
            try:
                call = await attached(call, catalog) if call.attachments else call
                record, entry, ops = self._admit(call, catalog, listener)
            except ToolwireError:
                if looks:
                    raise
                looks = True  # a known key wins over every refusal (gateway.md §6, order)
                continue
            try:
                return await self._claim(record, entry, ops, claim, known)
            except StoreConflict:  # the key is known, or another process claimed it between our look and our write
                tries, looks = tries + 1, True
                if entry.delegate is not None:
                    entry.delegate.unclaim(call)
        raise Conflict("this idempotency_key is being claimed elsewhere; send the same call again", retry_after_ms=1000)

    async def _join(self, scope: str, fingerprint: str) -> Submission | None:
        """The call that runs here under a key, if one does."""
        held = await self._keys.join(scope, fingerprint)
        return None if held is None else Submission(held[1], held[0], replayed=True)

    async def _look(self, scope: str, fingerprint: str) -> Submission | int:
        """The call that a key stands for; if it stands for none any more, the version of its claim, 0 without one."""
        while True:
            joined = await self._join(scope, fingerprint)
            if joined is not None:
                return joined
            stored = await self.store.get("claim", "", scope)
            if stored is not None and scope not in self._keys:
                found = await self._replay(decode_claim(stored.value), fingerprint)
                if found is not None:
                    return found
            if scope not in self._keys:  # else somebody here was faster while we looked
                return 0 if stored is None else stored.version

    async def _replay(self, claim: Claim, fingerprint: str) -> Submission | None:
        """The record of an ended call under a key, or `None` when the key is free again."""
        if claim.expires_at <= self.clock.now():
            return None
        check_same(claim, fingerprint)
        stored = await self.load(claim.owner, claim.call_id)
        if stored is None:
            return None
        record = Record(stored.call, self.clock, stored.created_at)
        record.finish(as_repeated(stored.result))
        record.completed_at = stored.completed_at
        return Submission(record, claim, replayed=True)

    async def _claim(
        self, record: Record, entry: Entry, ops: Sequence[Op], claim: Claim | None = None, version: int = 0
    ) -> Submission:
        if claim is None:
            await self._commit(record, ops)
            self.start(record, entry.handler)
            return Submission(record)
        scope = scope_of(record.call)
        # A pending record outlives its TTL until its call ends (D7).
        ends = max(claim.expires_at, self.last_moment(record) + 60)
        with self._keys.claiming(scope):
            await self._commit(record, [*ops, Put("claim", "", scope, encode_claim(claim), version, ends)])
            self.start(record, entry.handler)
            self._keys.hold(scope, claim, record)
        return Submission(record, claim)

    async def _commit(self, record: Record, ops: Sequence[Op]) -> None:
        """Claim a call: from here on it is run here, or `recover` finds it open."""
        call, owner = record.call, record.call.caller.owner
        try:
            row = encode_record(record.stored())
        except (TypeError, ValueError, RecursionError) as error:
            raise InvalidParam(f"these arguments cannot be kept as JSON: {error}", param="arguments") from None
        self._live[call.id] = record
        try:
            with anyio.CancelScope(shield=True):  # a cancelled caller would not know whether the call is claimed
                await self.store.tx([*ops, *self.endings.claim_ops(record), Put("open_call", owner, call.id, row)])
        except BaseException:
            del self._live[call.id]
            record.finish(failed("the call was not claimed; send it again", "conflict"))
            raise

    async def _run(self, record: Record, handler: Handler, prompt: bool = False) -> None:
        """Run the handler in place and end the record, whatever happens; one that never waits needs no scope."""
        call = record.call
        durable = call.durable
        self._live[call.id] = record
        result: Result | None = None
        if self.observers:
            record.begins(self.observers)
        try:
            if prompt:
                result = await handler(call, record.emit)
            else:
                record.slow = self._set_timer
                self.timekeeper.soon(record)
                with self._new_scope() as scope:
                    record.scope = scope
                    if durable:
                        await checkpoint_if_cancelled()  # its claim has taken time: perhaps nobody wants it any more
                    if record.verdict is None:
                        result = await handler(call, record.emit)
        except Exception as error:  # noqa: BLE001 -- it is the end of the call, and logged as that
            result = failure_of(call, error)
        finally:
            if record.call.durable:  # it may have become a task
                await self._end_durably(record, result)
            else:
                self._release(record, end_of(record, result))
                self.endings.note(record)

    async def _end_durably(self, record: Record, result: Result | None) -> None:
        """Commit the end before anybody may read it; only a call that was cut off stays open, for `recover`."""
        ended, committed = failed(CUT_OFF, "agent_service_unavailable"), False
        call, delegate = record.call, record.delegate
        try:
            if result is not None or record.verdict is not None or not call.outlives_request:
                ended = await self.endings.commit(record, end_of(record, result), self._keys.scope_held_by(record))
                committed = True
        finally:
            self._release(record, ended)
            if delegate is not None:
                delegate.ended(call, committed)
            self.endings.tell(call)

    def _set_timer(self, record: Record) -> None:
        """A call that is not over within a tick gets a timer for its last moment."""
        left = self.last_moment(record) - self.clock.now()
        verdict = failed(TIMEOUT_TEXT, "service_timeout")
        record.timer = self.timekeeper.after(max(0.0, left), partial(record.stop, verdict))

    def _release(self, record: Record, result: Result) -> None:
        self.timekeeper.forget(record)
        self._live.pop(record.call.id, None)
        if record.call.idempotency_key is not None:
            self._keys.release(record)
        record.finish(result)
