"""Takes up the calls that were claimed and not ended when the process stopped; it does not run anything twice.

What may be done with such a call is a property of its provider: one that keeps a journal is waited for again, one
that is repeatable may run again, and for all others the honest end is `outcome_unknown`.
"""

from collections.abc import Callable

from toolwire.core.call import Call
from toolwire.core.errors import OutcomeUnknown
from toolwire.core.handler import Emit, Handler
from toolwire.core.result import Result
from toolwire.engine.claims import Claim, decode_claim, scope_of
from toolwire.engine.engine import Engine
from toolwire.engine.offload import unpack
from toolwire.engine.record import Record

ResumeWith = Callable[[Call], Handler | None]
"""The handler that waits for the end of a call claimed before the restart; `None` when nobody can."""


async def recover(engine: Engine, resume_with: ResumeWith) -> int:
    """Adopt every open call; says how many there were. Call it once, inside `engine.running()`, before serving.

    Raises:
        StoreUnavailable: the store cannot be read.
    """
    count, after = 0, ""
    while True:
        opened = await engine.store.scan("open_call", None, after)
        for row in opened:
            after = row.key
            # A call that became a task on its way, and one of an earlier version, has its record beside it.
            stored = await unpack(row.value, engine.blobs) if row.value else await engine.load(row.owner, row.key)
            if stored is None:
                continue
            record = Record(stored.call, engine.clock, stored.created_at)
            record.started_at = stored.started_at
            engine.endings.taken_up(record)
            engine.adopt(record, resume_with(stored.call) or _unknown, await _claim_of(engine, stored.call))
            count += 1
        if not opened:
            return count


async def _claim_of(engine: Engine, call: Call) -> Claim | None:
    """The claim of a call's key, unless the key has expired and stands for a later call by now."""
    kept = None if call.idempotency_key is None else await engine.store.get("claim", "", scope_of(call))
    claim = None if kept is None else decode_claim(kept.value)
    return None if claim is None or claim.call_id != call.id else claim


async def _unknown(call: Call, emit: Emit) -> Result:
    raise OutcomeUnknown(
        f"the server stopped while {call.tool!r} ran, so its outcome is unknown; check before you call it again"
    )
