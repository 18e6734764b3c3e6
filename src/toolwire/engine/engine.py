"""Submit, cancel, recover: the life of a call; it does not know how calls come in or what runs them.

Two rules (ARCHITECTURE.md, one idea): what is refused before the claim raises a `ToolwireError`; what ends badly after
the claim is a `Result` with an error, in the record.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import TypeAlias

import anyio
from anyio.abc import TaskGroup, TaskStatus
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
from toolwire.core.result import failed
from toolwire.engine.attaching import attached
from toolwire.engine.catalog import Catalog, Entry
from toolwire.engine.claims import Claim, Submission, encode_claim, fingerprint_of, scope_of
from toolwire.engine.course import CUT_OFF, TIMEOUT_TEXT, Course
from toolwire.engine.crew import Crew, Work
from toolwire.engine.deadline import Patience, Timekeeper, Watched
from toolwire.engine.ending import Endings, Limits
from toolwire.engine.held_keys import HeldKeys
from toolwire.engine.offload import encode_record, unpack
from toolwire.engine.prompt_calls import PromptCalls
from toolwire.engine.record import CallRecord, Listener, Record
from toolwire.engine.recorder import Recorder
from toolwire.engine.replays import Replays
from toolwire.engine.retention import sweep_for_ever

ClaimIt: TypeAlias = Callable[[Work, Listener | None, Watched | None], Awaitable[Submission]]

MAX_CLAIM_TRIES = 5

STOPPING = "the server is stopping; try again in a moment"


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
        self._keys = HeldKeys(self.limits.joins)
        self._replays = Replays(self._keys, store, clock, self.load)
        self._course = Course(store, clock, self.limits, self.timekeeper, self.endings, self._keys)
        self._tasks: TaskGroup | None = None
        self._crew: Crew | None = None
        self.observers = self._course.observers
        self.last_moment = self._course.last_moment
        self.prompt_calls = PromptCalls(clock, self.endings, self.observers)

    @asynccontextmanager
    async def running(self) -> AsyncGenerator["Engine"]:
        """Keep time and write records until the block ends; then end what still runs and write the rest.

        A call that outlives its request is cut off but not ended: it stays open in the store, for `recover`.
        """
        self._course.begin()
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
                        self._crew = crew = Crew(calls, self._course)
                        task_status.started()
                        await stop.wait()
                        self._tasks, self._crew, self.recorder.stopping = None, None, True
                        crew.stop()
                        calls.cancel_scope.cancel()
                    await self.recorder.flush()
                    upkeep.cancel_scope.cancel()
        finally:
            self._tasks = self._crew = None
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
            watcher: looked at when the call is not over within a tick.

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
            return await self._submit_detached(call, catalog, listener, watcher)
        if self.recorder.full and not await self.recorder.room(call.deadline - self.clock.now()):
            raise ServiceTimeout(TIMEOUT_TEXT, task_id=call.id, retryable=False)
        if call.attachments:
            call = await attached(call, catalog)
        record, entry, ops = self._admit(call, catalog, listener)
        record.watcher = watcher
        if durable:
            await self._commit(record, self._claiming_ops(record, ops))
        elif ops:
            self.recorder.add(lambda: ops)
        await self._course.run(record, entry.handler, entry.is_prompt and not durable)
        return Submission(record)

    async def begin(self, call: Call, catalog: Catalog, listener: Listener | None = None) -> Submission:
        """As `submit`, in a task of the engine's own; comes back before it runs, and waits for nothing."""
        if call.durable:
            return await self._known_or_claimed(call, catalog, listener, None, self._claim)
        record, entry, _ = self._admit(await attached(call, catalog), catalog, listener)
        self.start(record, entry.handler)
        return Submission(record)

    async def knows(self, call: Call) -> bool:
        """Whether the key of a call stands for one that runs or has ended, which counts then, whatever this one says.

        Raises:
            IdempotencyKeyReused: it stands for something else.
            StoreUnavailable: the store cannot be read.
        """
        if call.idempotency_key is None:
            return False
        return isinstance(await self._replays.look(scope_of(call), fingerprint_of(call)), Submission)

    @property
    def idle(self) -> bool:
        """Whether no call is under way here: who stops the engine now cuts nothing off."""
        return not (self._course.live or self._keys)

    def find(self, call_id: str) -> Record | None:
        """A call that is running here."""
        return self._course.live.get(call_id)

    def under_way(self) -> Sequence[Record]:
        """All calls that are running here."""
        return tuple(self._course.live.values())

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
        record = self._course.live.get(call_id)
        if record is None:
            return False
        record.stop(failed(f"cancelled: {reason}", "cancelled"))
        return True

    def start(self, record: Record, handler: Handler) -> None:
        """Run a claimed call in a task of the engine's own.

        Raises:
            ServiceUnavailable: the engine is stopping; the call stays open, for `recover`.
        """
        if self._tasks is None:
            self._course.live.pop(record.call.id, None)
            record.finish(failed(CUT_OFF, "agent_service_unavailable"))
            raise ServiceUnavailable(STOPPING)
        self._course.live[record.call.id] = record
        self._tasks.start_soon(self._course.run, record, handler)

    def adopt(self, record: Record, handler: Handler, claim: Claim | None) -> None:
        """Go on with a claimed call, and let repeats under its key join it.

        Raises:
            ServiceUnavailable: as `start`.
        """
        if claim is not None:
            record.key_ttl_s = claim.ttl_s
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

    async def _submit_detached(
        self, call: Call, catalog: Catalog, listener: Listener | None, watcher: Watched | None
    ) -> Submission:
        """A call that goes on when its request has ended: known by its key, run in a task of its own."""
        submission = await self._known_or_claimed(call, catalog, listener, watcher, self._claim_and_wait)
        record = submission.record
        if submission.replayed:
            await self._wait(record, call.deadline, watcher)
        if not record.over:
            keyed = call.idempotency_key is not None
            raise ServiceTimeout(TIMEOUT_TEXT, task_id=record.call.id, retryable=keyed)
        return submission

    async def _known_or_claimed(
        self, call: Call, catalog: Catalog, listener: Listener | None, watcher: Watched | None, claim_it: ClaimIt
    ) -> Submission:
        if call.idempotency_key is None:
            record, entry, ops = self._admit(await attached(call, catalog), catalog, listener)
            return await claim_it(self._work(record, entry, ops), listener, watcher)
        fingerprint, scope = fingerprint_of(call), scope_of(call)
        # Most keys are new. One on a channel of its own is claimed without a look, and looked up if that fails.
        looks = call.caller.session_id is not None or call.continues
        tries = 0
        while tries < MAX_CLAIM_TRIES:
            if looks:
                known = await self._replays.look(scope, fingerprint)
            else:
                known = (await self._replays.join(scope, fingerprint) if scope in self._keys else None) or 0
            if isinstance(known, Submission):
                return known
            now = self.clock.now()
            ttl_s = catalog.key_ttl_s or self.limits.idempotency_ttl_s
            claim = Claim(call.id, call.caller.owner, fingerprint, now, now + ttl_s)
            try:
                call = await attached(call, catalog) if call.attachments else call
                record, entry, ops = self._admit(call, catalog, listener)
            except ToolwireError:
                if looks:
                    raise
                looks = True  # a known key wins over every refusal (gateway.md §6, order)
                continue
            try:
                return await claim_it(self._work(record, entry, ops, claim, scope, known), listener, watcher)
            except StoreConflict:  # the key is known, or another process claimed it between our look and our write
                tries, looks = tries + 1, True
                if entry.delegate is not None:
                    entry.delegate.unclaim(call)
        raise Conflict("this idempotency_key is being claimed elsewhere; send the same call again", retry_after_ms=1000)

    def _work(
        self,
        record: Record,
        entry: Entry,
        ops: Sequence[Op],
        claim: Claim | None = None,
        scope: str = "",
        version: int = 0,
    ) -> Work:
        """All that claims a call."""
        if claim is not None:
            record.key_ttl_s, record.claimed_as = claim.ttl_s, scope
            # A pending record outlives its TTL until its call ends (D7).
            ends = max(claim.expires_at, self._course.last_moment(record) + 60)
            ops = [*ops, Put("claim", "", scope, encode_claim(claim), version, ends)]
        return Work(record, entry.handler, self._claiming_ops(record, ops), claim, scope)

    def _claiming_ops(self, record: Record, ops: Sequence[Op]) -> list[Op]:
        try:
            row = encode_record(record.stored())
        except (TypeError, ValueError, RecursionError) as error:
            raise InvalidParam(f"these arguments cannot be kept as JSON: {error}", param="arguments") from None
        call = record.call
        return [*ops, *self.endings.claim_ops(record), Put("open_call", call.caller.owner, call.id, row)]

    async def _claim(self, work: Work, listener: Listener | None, watcher: Watched | None) -> Submission:
        """Claim a call and have it run."""
        if work.claim is None:
            await self._commit(work.record, work.ops)
            self.start(work.record, work.handler)
            return Submission(work.record)
        with self._keys.claiming(work.scope):
            await self._commit(work.record, work.ops)
            self.start(work.record, work.handler)
            self._keys.hold(work.scope, work.claim, work.record)
        return Submission(work.record, work.claim)

    async def _claim_and_wait(self, work: Work, listener: Listener | None, watcher: Watched | None) -> Submission:
        """Have the crew claim, run and end a call; comes back with its end, or at its deadline."""
        record = work.record
        if self._crew is None:
            raise ServiceUnavailable(STOPPING)
        if work.claim is not None:
            self._keys.begin_claim(work.scope)
        self._course.live[record.call.id] = record
        self._crew.take(work, record.delegate is not None)
        try:
            await self._wait(record, record.call.deadline, watcher)
        finally:
            if listener is not None:
                record.unlisten(listener)
        if work.refusal is not None:
            raise work.refusal
        return Submission(record, work.claim)

    async def _wait(self, record: Record, deadline: float, watcher: Watched | None) -> None:
        """Wait for the end, at most until `deadline` (Unix seconds)."""
        if record.over:
            return
        ended = record.waiter()
        patience = Patience(self.timekeeper, ended, deadline, self.clock, watcher)
        try:
            await ended.wait()
        finally:
            patience.end()
            record.waits_no_more(ended)

    async def _commit(self, record: Record, ops: Sequence[Op]) -> None:
        """Claim a call: from here on it is run here, or `recover` finds it open."""
        call = record.call
        self._course.live[call.id] = record
        try:
            with anyio.CancelScope(shield=True):  # a cancelled caller would not know whether the call is claimed
                await self.store.tx(ops)
        except BaseException:
            self._course.unclaim(record)
            raise
