"""Writes down how calls end; it does not decide when they do.

What must be committed before it is answered is (`Endings.commit`), the rest is written behind (`Endings.note`). A
`Witness` takes part in what is committed.
"""

import logging
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Protocol, TypeAlias

import anyio
from msgspec import Struct

from toolwire.core.call import Call
from toolwire.core.errors import ToolwireError
from toolwire.core.ports import Blobs, Clock, Del, Op, Put, Store
from toolwire.core.result import Result, failed
from toolwire.engine.offload import encode_record, pack
from toolwire.engine.record import CallRecord, Record, status_of
from toolwire.engine.recorder import RETRY_S, Recorder

logger = logging.getLogger("toolwire.engine")

NEVER_STORED = frozenset(
    {"agent_busy", "agent_offline", "agent_service_unavailable", "consent_required", "tool_not_found"}
)
"""The ends that free the key they were called under, because the agent has begun nothing (gateway.md D5): it was busy,
was not there after all, could not be handed the call, or has no longer a tool that its owner has accepted. They are
what refuses other calls before their claim, noticed a moment later; what an agent itself reports has none of these
codes.
"""


def as_repeated(result: Result | None) -> Result:
    """What a later repeat is told: of a call that was lost nobody can say how it ended (gateway.md §6)."""
    if result is None or (result.error is not None and result.error.code == "agent_lost"):
        message = "the call was begun and nobody can say how it ended; check before you call again"
        return failed(message, "outcome_unknown")
    return result


class TaskLimits(Struct, frozen=True):
    """How long tasks may take and are kept, all in seconds.

    `timeout_s` is for a task whose tool says nothing else. `ttl_s` is for how long a task is known after its time-out,
    whenever it ends. `poll_s` is how often its client is asked to look at most.
    """

    timeout_s: float = 24 * 3600.0
    ttl_s: float = 3600.0
    poll_s: float = 1.0


class Limits(Struct, frozen=True):
    """How long things are kept and may take, all in seconds.

    With `history_ttl_s` 0, a call leaves no record when it has ended, unless it was made under a key or is a task.
    `joins` says that a repeat under the key of a running call waits for that.
    """

    keyed_deadline_s: float = 600.0
    idempotency_ttl_s: float = 24 * 3600.0
    history_ttl_s: float = 24 * 3600.0
    tasks: TaskLimits = TaskLimits()
    joins: bool = True


def end_of(record: Record, result: Result | None) -> Result:
    """What a call ends with: its result, but its verdict where it was stopped and has nothing better to say."""
    if record.verdict is not None and (result is None or result.error is not None):
        return record.verdict
    return result or failed("cancelled", "cancelled")


Guard: TypeAlias = AbstractContextManager[object, bool | None]


class Witness(Protocol):
    """Whoever tells others of durable calls: what it gives is committed with their claim and their end, or not at all.

    None of this may wait, and nothing may raise.
    """

    def claim_ops(self, record: Record) -> Sequence[Op]:
        """What belongs into the transaction that claims a call which somebody watches."""
        ...

    def end_ops(self, ended: CallRecord) -> Sequence[Op]:
        """What belongs into the transaction that ends a call; asked anew when that failed."""
        ...

    def taken_up(self, record: Record) -> None:
        """A call that somebody watches goes on after a restart."""
        ...

    def ended(self, call: Call) -> None:
        """The call has ended, or the process is about to."""
        ...


class Endings:
    """The last write of every call.

    Attributes:
        witness: takes part in it; may be set before the first call comes.
    """

    def __init__(self, store: Store, blobs: Blobs, clock: Clock, limits: Limits, recorder: Recorder) -> None:
        self._store = store
        self._blobs = blobs
        self._clock = clock
        self._limits = limits
        self._recorder = recorder
        self.witness: Witness | None = None

    def claim_ops(self, record: Record) -> Sequence[Op]:
        """What else is committed with the claim of a call."""
        return () if self.witness is None or not record.call.watched else self.witness.claim_ops(record)

    def taken_up(self, record: Record) -> None:
        """A call that was claimed before a restart goes on."""
        if self.witness is not None and record.call.watched:
            self.witness.taken_up(record)

    def tell(self, call: Call) -> None:
        """A durable call has ended."""
        if self.witness is not None:
            self.witness.ended(call)

    def note(self, record: Record) -> None:
        """Write the record of a plain call that has ended, some time soon.

        It is encoded now: of what waits to be written there are thousands, and as rows they keep nothing else alive, so
        that each call gets the memory of the one before, which is still in the processor's cache.
        """
        ttl_s, call = self._limits.history_ttl_s, record.call
        if ttl_s <= 0:
            return
        try:
            row = encode_record(record.stored())
        except Exception:  # arguments or results of an unforeseen kind cost their own record, not the answer
            logger.exception("dropped the record of call %s of %r, which cannot be encoded", call.id, call.tool)
            return
        self._recorder.add(Put("call", call.caller.owner, call.id, row, None, self._clock.now() + ttl_s))

    async def commit(self, record: Record, result: Result, scope: str | None, guard: Guard | None = None) -> Result:
        """Commit the end of a durable call; says how it has ended, which a store that fails may change.

        A call that outlives its request is tried again for as long as it takes. One that does not ends as failed at
        once, so that what its caller is told is what the record will say when the store is back.

        Args:
            record: the call, not ended yet.
            result: how it ends.
            scope: where the claim lies that the call holds, if it does.
            guard: keeps the caller from being cancelled while it is entered; without one a scope does.

        Cancellation: while it waits for a store that fails; the call then stays open in it.
        """
        call, delegate = record.call, record.delegate
        more = () if delegate is None else delegate.end_ops(call)
        unstored, reported = False, False
        while True:
            try:
                with guard or anyio.CancelScope(shield=True):
                    await self._store.tx([*more, *await self._ops(record, result, scope)])
                return result
            except ToolwireError as error:
                if not reported:
                    logger.error("cannot commit the end of call %s: %s", call.id, error.message)
                    reported = True
                    if delegate is not None:
                        delegate.ended(call, committed=False)
            except Exception:
                logger.exception("the result of call %s of %r cannot be stored", call.id, call.tool)
                if unstored:
                    return result
                result = failed(f"the tool gave what cannot be stored (reference {call.id})", "internal_error")
                unstored = True
                continue
            if not call.outlives_request:
                return await self._give_up(record, more)
            await anyio.sleep(RETRY_S)

    async def _give_up(self, record: Record, more: Sequence[Op]) -> Result:
        result = failed("the end of the call could not be stored; try again later", "agent_service_unavailable")
        ops = [*more, *await self._ops(record, result, None)]
        self._recorder.add(lambda: ops)
        return result

    async def _ops(self, record: Record, result: Result, scope: str | None) -> Sequence[Op]:
        call, now, ttl_s = record.call, self._clock.now(), self._limits.history_ttl_s
        if call.idempotency_key is not None:
            ttl_s = max(ttl_s, record.key_ttl_s or self._limits.idempotency_ttl_s)
        ops: list[Op] = [Del("open_call", call.caller.owner, call.id)]
        if scope is not None and result.error is not None and result.error.code in NEVER_STORED:
            ops.append(Del("claim", "", scope))
        expires_at = now + ttl_s
        if call.task is not None:
            expires_at = max(expires_at, call.task.kept_until)
        elif ttl_s <= 0:
            return [*ops, Del("call", call.caller.owner, call.id)]
        record.ending_at = now
        ended = record.stored_as(status_of(result), now, result)
        if self.witness is not None:
            ops += self.witness.end_ops(ended)
        return [*ops, *await pack(ended, self._blobs, expires_at)]
