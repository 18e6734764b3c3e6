"""Makes a task of a call that is under way, or has somebody watch it; whether that should be is not decided here."""

from contextlib import suppress
from functools import partial

import anyio
from msgspec.structs import replace

from toolwire.core.call import Call, TaskTerms
from toolwire.core.errors import StoreUnavailable
from toolwire.core.ports import Del, Put
from toolwire.core.result import failed
from toolwire.engine.engine import TIMEOUT_TEXT, Engine
from toolwire.engine.offload import encode_record
from toolwire.engine.record import Record


async def promote(engine: Engine, record: Record, terms: TaskTerms) -> None:
    """Commit a running call as a task; from then on it goes on without the request that brought it.

    Raises:
        StoreUnavailable: it cannot be committed, and is no task.
    """
    await _commit_as(engine, record, replace(record.call, watched=True, task=terms))


async def watch(engine: Engine, record: Record) -> None:
    """Commit a running call as one that somebody besides its request wants the end of.

    Raises:
        StoreUnavailable: it cannot be committed, and is not watched.
    """
    await _commit_as(engine, record, replace(record.call, watched=True))


async def _commit_as(engine: Engine, record: Record, call: Call) -> None:
    before = record.call
    row, owner = encode_record(replace(record.stored(), call=call)), call.caller.owner
    record.call = call  # should it end while this is written, its end is committed, too
    try:
        with anyio.CancelScope(shield=True):  # a cancelled body would not know whether its call is a task
            await engine.store.tx([Put("open_call", owner, call.id, row)])
    except BaseException:
        record.call = before
        raise
    with anyio.CancelScope(shield=True), suppress(StoreUnavailable):
        if await engine.store.get("call", owner, call.id) is not None:  # it had ended before that
            await engine.store.tx([Del("open_call", owner, call.id)])
    if record.over:
        return
    record.slow = None
    if record.timer is not None:
        record.timer.cancel()
    left = max(0.0, engine.last_moment(record) - engine.clock.now())
    record.timer = engine.timekeeper.after(left, partial(record.stop, failed(TIMEOUT_TEXT, "service_timeout")))
