"""The calls of one owner, those that have ended and those that run here; it changes none."""

from collections.abc import AsyncGenerator

from toolwire.engine.engine import Engine
from toolwire.engine.offload import unpack
from toolwire.engine.record import CallRecord, Record

_PAGE = 200


async def calls_of(engine: Engine, owner: str, after: str = "") -> AsyncGenerator[Record | CallRecord]:
    """The calls of an owner whose ids come after `after`, in the order of their ids, which is that of their age.

    A plain call is there once it has ended. What begins or ends meanwhile may be missing, and none is there twice.

    Raises:
        StoreUnavailable: the store cannot be read.
    """
    running = {record.call.id: record for record in engine.under_way() if record.call.caller.owner == owner}
    waiting = sorted(call_id for call_id in running if call_id > after)
    while rows := await engine.store.scan("call", owner, after, _PAGE):
        for row in rows:
            while waiting and waiting[0] <= row.key:
                call_id = waiting.pop(0)
                if call_id != row.key:
                    yield running[call_id]
            yield await unpack(row.value, engine.blobs)
        after = rows[-1].key
    for call_id in waiting:
        yield running[call_id]
