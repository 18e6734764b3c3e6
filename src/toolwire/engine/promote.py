"""Makes a task of a call that is under way; whether it should be one is not decided here."""

from functools import partial

import anyio
from msgspec.structs import replace

from toolwire.core.call import TaskTerms
from toolwire.core.errors import StoreConflict
from toolwire.core.ports import Put
from toolwire.core.result import failed
from toolwire.engine.engine import TIMEOUT_TEXT, Engine
from toolwire.engine.offload import encode_record, unpack
from toolwire.engine.record import Record


async def promote(engine: Engine, record: Record, terms: TaskTerms) -> None:
    """Commit a running call as a task; from then on it goes on without the request that brought it.

    Raises:
        StoreUnavailable: it cannot be committed, and is no task.
    """
    before, call = record.call, replace(record.call, watched=True, task=terms)
    row = encode_record(replace(record.stored(), call=call))
    owner = call.caller.owner
    known = await engine.store.get("call", owner, call.id) if before.durable else None
    if known is not None and (await unpack(known.value, engine.blobs)).status != "running":
        return  # it has ended
    claim = Put("call", owner, call.id, row, 0 if known is None else known.version)
    record.call = call  # should it end while this is written, its end is committed, too
    try:
        with anyio.CancelScope(shield=True):  # a cancelled body would not know whether its call is a task
            await engine.store.tx([claim, Put("open_call", owner, call.id, b"")])
    except StoreConflict:
        return  # its end is in the store already
    except BaseException:
        record.call = before
        raise
    if record.over:
        return
    record.slow = None
    if record.timer is not None:
        record.timer.cancel()
    left = max(0.0, terms.ends_by - engine.clock.now())
    record.timer = engine.timekeeper.after(left, partial(record.stop, failed(TIMEOUT_TEXT, "service_timeout")))
