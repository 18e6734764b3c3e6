"""Reads a call's record as it grows; every reader of a call reads this way. It does not write."""

from collections.abc import AsyncGenerator

from toolwire.core.errors import CallNotFound
from toolwire.core.event import Finished, Stamped
from toolwire.engine.engine import Engine


async def follow(engine: Engine, owner: str, call_id: str, after: int = 0) -> AsyncGenerator[Stamped]:
    """The events of a call with `seq > after`, those still kept and then those to come, up to `Finished`.

    The call never waits for its readers: one who is slow misses events (`record.KEPT_EVENTS`), but never the end.
    A call that was claimed and runs nowhere, because it waits for `recover`, has no events and no end yet.

    Raises:
        CallNotFound: this owner has no such call.

    Cancellation: leaves the call alone, as does closing the generator.
    """
    record, stored = engine.find(call_id), None
    if record is None:
        stored = await engine.load(owner, call_id)
        record = engine.find(call_id)  # it may have been claimed while we looked
    if record is None or record.call.caller.owner != owner:
        if stored is None:
            raise CallNotFound(f"no call {call_id!r} here; it may have been forgotten after its retention time")
        if stored.result is not None:
            yield Stamped(call_id, after + 1, stored.completed_at or stored.created_at, Finished(stored.result))
        return
    while True:
        fresh = record.since(after)
        for stamped in fresh:
            after = stamped.seq
            yield stamped
            if isinstance(stamped.event, Finished):
                return
        if fresh:
            continue  # more may have happened while the reader was at it
        if record.result is not None:
            ended_at = record.completed_at or record.created_at
            yield Stamped(call_id, after + 1, ended_at, Finished(record.result))
            return
        await record.news()
