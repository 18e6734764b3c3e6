"""Submit, cancel, recover: the life of a call; it does not know how calls come in or what runs them.

Two rules (ARCHITECTURE.md, one idea): what is refused before the claim raises a `ToolwireError`; what ends badly after
the claim is a `Result` with an error, in the record.
"""

import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager

import anyio
from anyio.abc import TaskGroup
from msgspec import Struct
from msgspec.structs import replace

from toolwire.core.call import MAX_DEPTH, Call
from toolwire.core.errors import Conflict, ServiceTimeout, ServiceUnavailable, StoreConflict, ToolwireError
from toolwire.core.handler import Handler
from toolwire.core.ports import Blobs, Clock, Del, Op, Put, Store
from toolwire.core.result import Result, failed
from toolwire.engine.catalog import Catalog, Entry
from toolwire.engine.claims import Claim, check_same, decode_claim, encode_claim, fingerprint_of, scope_of
from toolwire.engine.deadline import Timekeeper
from toolwire.engine.offload import encode_record, pack, unpack
from toolwire.engine.record import CallRecord, Listener, Record, status_of
from toolwire.engine.recorder import Recorder
from toolwire.engine.retention import sweep_for_ever

logger = logging.getLogger("toolwire.engine")

MAX_CLAIM_TRIES = 5

TIMEOUT_TEXT = "Agent reply timeout"
"""The words of a time-out, fixed by the gateway's contract (gateway.md 42)."""


class Limits(Struct, frozen=True):
    """How long things are kept and may take, all in seconds. With `history_ttl_s` 0, plain calls leave no record."""

    keyed_deadline_s: float = 600.0
    idempotency_ttl_s: float = 24 * 3600.0
    history_ttl_s: float = 24 * 3600.0


class Submission(Struct, frozen=True):
    """What became of a call that was handed in.

    `claim` is set under an idempotency key. `replayed` says that the record was there already, ended or running.
    """

    record: Record
    claim: Claim | None = None
    replayed: bool = False


class Engine:
    """Runs calls and keeps their records. Use `running()` around everything else."""

    def __init__(self, store: Store, blobs: Blobs, clock: Clock, limits: Limits | None = None) -> None:
        self.store = store
        self.blobs = blobs
        self.clock = clock
        self.limits = limits or Limits()
        self.timekeeper = Timekeeper()
        self.recorder = Recorder(store)
        self._live: dict[str, Record] = {}
        self._claims: dict[str, tuple[Claim, Record]] = {}
        self._tasks: TaskGroup | None = None

    @asynccontextmanager
    async def running(self) -> AsyncGenerator["Engine"]:
        """Keep time and write records until the block ends; then end what still runs and write the rest."""
        async with anyio.create_task_group() as tasks:
            self._tasks = tasks
            tasks.start_soon(self.timekeeper.keep)
            tasks.start_soon(self.recorder.write)
            tasks.start_soon(sweep_for_ever, self.store)
            try:
                yield self
            finally:
                self._tasks = None
                with anyio.CancelScope(shield=True), anyio.move_on_after(5):
                    await self.recorder.flush()
                tasks.cancel_scope.cancel()

    async def submit(self, call: Call, catalog: Catalog, listener: Listener | None = None) -> Submission:
        """Run a call, or find the one that its idempotency key stands for, and wait for the end.

        Raises:
            ToolwireError: it was refused before the claim, or (`ServiceTimeout`) the request's time is up while the
                call goes on under its key.

        Cancellation: the call is cancelled with its caller unless it outlives its request.
        """
        if call.depth > MAX_DEPTH:
            raise Conflict(f"calls nest deeper than {MAX_DEPTH}; look for arrows that form a loop")
        if call.outlives_request:
            return await self._submit_detached(call, catalog, listener)
        call, entry = self._admit(call, catalog)
        if self.recorder.full:
            await self.recorder.room()
        record = Record(call, self.clock)
        if listener is not None:
            record.listen(listener)
        ops = entry.delegate.claim_ops(call, entry.tool) if entry.delegate is not None else ()
        if call.durable:
            await self.store.tx([*ops, *self._open_ops(record)])
        elif ops:
            self.recorder.add(lambda: ops)
        await self._run(record, entry.handler)
        return Submission(record)

    def find(self, call_id: str) -> Record | None:
        """A call that is running here."""
        return self._live.get(call_id)

    async def load(self, owner: str, call_id: str) -> CallRecord | None:
        """A call's record from the store, with its result."""
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
        if record.call.outlives_request:
            return max(record.call.deadline, record.created_at + self.limits.keyed_deadline_s)
        return record.call.deadline

    def start(self, record: Record, handler: Handler) -> None:
        """Run a claimed call in a task of the engine's own."""
        if self._tasks is None:
            raise ServiceUnavailable("the gateway is shutting down; try again in a moment")
        self._live[record.call.id] = record
        self._tasks.start_soon(self._run, record, handler)

    def adopt(self, record: Record, handler: Handler, claim: Claim | None) -> None:
        """Go on with a call that was claimed before a restart."""
        if claim is not None:
            scope = scope_of(record.call)
            self._claims[scope] = (claim, record)
        self.start(record, handler)

    def _admit(self, call: Call, catalog: Catalog) -> tuple[Call, Entry]:
        entry = catalog.find(call.tool)
        arguments = entry.check(call.arguments)
        if arguments is not call.arguments:
            call = replace(call, arguments=arguments)
        if entry.delegate is not None:
            entry.delegate.ready(call, entry.tool)
        return call, entry

    async def _submit_detached(self, call: Call, catalog: Catalog, listener: Listener | None) -> Submission:
        """A call that goes on when its request has ended: known by its key, run in a task of its own."""
        submission = await self._known_or_claimed(call, catalog, listener)
        record = submission.record
        if not record.over:
            with anyio.move_on_after(max(0.0, call.deadline - self.clock.now())):
                await record.wait()
        if not record.over:
            keyed = call.idempotency_key is not None
            raise ServiceTimeout(TIMEOUT_TEXT, task_id=record.call.id, retryable=keyed)
        return submission

    async def _known_or_claimed(self, call: Call, catalog: Catalog, listener: Listener | None) -> Submission:
        if call.idempotency_key is None:
            return await self._claim(call, catalog, listener, None)
        fingerprint = fingerprint_of(call)
        scope = scope_of(call)
        for _ in range(MAX_CLAIM_TRIES):
            stored = None if scope in self._claims else await self.store.get("claim", "", scope)
            live = self._claims.get(scope)
            if live is not None:
                claim, record = live
                check_same(claim, fingerprint)
                return Submission(record, claim, replayed=True)
            if stored is not None:
                submission = await self._replay(decode_claim(stored.value), fingerprint)
                if submission is not None:
                    return submission
                if scope in self._claims:
                    continue
            now = self.clock.now()
            claim = Claim(call.id, call.caller.owner, fingerprint, now, now + self.limits.idempotency_ttl_s)
            try:
                return await self._claim(
                    call, catalog, listener, (scope, claim, 0 if stored is None else stored.version)
                )
            except StoreConflict:
                continue  # another process claimed the key between our look and our write: look again
        raise Conflict("this idempotency_key is being claimed elsewhere; send the same call again", retry_after_ms=1000)

    async def _replay(self, claim: Claim, fingerprint: str) -> Submission | None:
        """The record of an ended call under a key, or `None` when the key is free again."""
        if claim.expires_at <= self.clock.now():
            return None
        check_same(claim, fingerprint)
        stored = await self.load(claim.owner, claim.call_id)
        if stored is None:
            return None
        record = Record(stored.call, self.clock, stored.created_at)
        record.finish(stored.result or failed("the call was begun and nobody can say how it ended", "outcome_unknown"))
        return Submission(record, claim, replayed=True)

    async def _claim(
        self, call: Call, catalog: Catalog, listener: Listener | None, keyed: tuple[str, Claim, int] | None
    ) -> Submission:
        call, entry = self._admit(call, catalog)
        record = Record(call, self.clock)
        if listener is not None:
            record.listen(listener)
        ops = list(entry.delegate.claim_ops(call, entry.tool)) if entry.delegate is not None else []
        ops += self._open_ops(record)
        scope, claim = "", None
        if keyed is not None:
            scope, claim, version = keyed
            # A pending record outlives its TTL until its call ends (D7).
            ends = max(claim.expires_at, self.last_moment(record) + 60)
            ops.append(Put("claim", "", scope, encode_claim(claim), expect=version, expires_at=ends))
            self._claims[scope] = (claim, record)
        try:
            await self.store.tx(ops)
        except BaseException as error:
            self._forget_claim(scope)
            record.finish(self._not_claimed(error))
            raise
        self.start(record, entry.handler)
        return Submission(record, claim)

    @staticmethod
    def _not_claimed(error: BaseException) -> Result:
        if isinstance(error, ToolwireError):
            return failed(error.message, error.code, error.data)
        return failed("the call was not claimed; send it again", "conflict")

    def _forget_claim(self, scope: str) -> None:
        self._claims.pop(scope, None)

    def _open_ops(self, record: Record) -> list[Op]:
        call = record.call
        return [
            Put("call", call.caller.owner, call.id, encode_record(record.stored())),
            Put("open_call", call.caller.owner, call.id, b""),
        ]

    async def _run(self, record: Record, handler: Handler) -> None:
        """Run the handler in place and end the record, whatever happens."""
        call = record.call
        self._live[call.id] = record
        self.timekeeper.soon(_Deadline(record, self))
        result: Result | None = None
        try:
            with anyio.CancelScope() as scope:
                record.scope = scope
                result = await self._attempt(handler, record)
        finally:
            self._live.pop(call.id, None)
            if result is None:
                result = record.verdict or failed("cancelled", "cancelled")
            if not call.durable:
                record.finish(result)
                if self.limits.history_ttl_s > 0:
                    self.recorder.add(lambda: self._closing_ops(record))
            else:
                with anyio.CancelScope(shield=True):
                    await self._finish_durably(record, result)

    async def _attempt(self, handler: Handler, record: Record) -> Result:
        try:
            return await handler(record.call, record.emit)
        except ToolwireError as error:
            return failed(error.message, error.code, error.data or None)
        except Exception:
            logger.exception("call %s of %r failed inside its provider", record.call.id, record.call.tool)
            return failed(f"the tool failed inside the server (reference {record.call.id})", "internal_error")

    def _closing_ops(self, record: Record) -> Sequence[Op]:
        call = record.call
        expires = self.clock.now() + self.limits.history_ttl_s
        return (Put("call", call.caller.owner, call.id, encode_record(record.stored()), expires_at=expires),)

    async def _finish_durably(self, record: Record, result: Result) -> None:
        """Commit the end before anybody may read it. A store that fails now leaves the call open, for recovery."""
        call = record.call
        now = self.clock.now()
        scope = scope_of(call) if call.idempotency_key is not None else ""
        ended = CallRecord(call, status_of(result), record.created_at, now, result)
        ops: list[Op] = [Del("open_call", call.caller.owner, call.id)]
        if scope and result.error is not None and result.error.code == "agent_busy":
            ops.append(Del("claim", "", scope))
        kept_s = max(self.limits.history_ttl_s, self.limits.idempotency_ttl_s if scope else 0.0)
        try:
            if kept_s > 0:
                row = await pack(ended, self.blobs)
                ops.append(Put("call", call.caller.owner, call.id, row, expires_at=now + kept_s))
            else:
                ops.append(Del("call", call.caller.owner, call.id))
            await self.store.tx(ops)
        except (StoreConflict, ServiceUnavailable) as error:
            logger.error("cannot commit the end of call %s: %s", call.id, error.message)
            result = failed("the end of the call could not be stored; ask again later", "agent_service_unavailable")
        except (TypeError, ValueError, OverflowError, RecursionError):
            logger.exception("the result of call %s of %r cannot be encoded", call.id, call.tool)
            result = failed(f"the tool gave what no wire can carry (reference {call.id})", "internal_error")
        finally:
            self._forget_claim(scope)
            record.finish(result)


class _Deadline:
    """Ends a record when its time is up; costs nothing for calls that end within a tick."""

    __slots__ = ("engine", "record")

    def __init__(self, record: Record, engine: Engine) -> None:
        self.record = record
        self.engine = engine

    @property
    def over(self) -> bool:
        return self.record.over

    def still_going(self) -> None:
        left = self.engine.last_moment(self.record) - self.engine.clock.now()
        self.record.timer = self.engine.timekeeper.after(max(0.0, left), self._expire)

    def _expire(self) -> None:
        self.record.stop(failed(TIMEOUT_TEXT, "service_timeout"))
