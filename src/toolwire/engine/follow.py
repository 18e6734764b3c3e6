"""Reads a call's record as it grows; every reader of a call reads this way. It does not write."""

import contextlib
from collections.abc import AsyncGenerator
from contextlib import aclosing

import anyio

from toolwire.core.errors import CallNotFound
from toolwire.core.event import Finished, Stamped
from toolwire.engine.engine import Engine
from toolwire.engine.record import Record

BUFFERED_EVENTS = 256
"""How far a slow reader may lag behind; beyond that it misses events (never the end), the call never waits for it."""


async def follow(engine: Engine, owner: str, call_id: str, after: int = 0) -> AsyncGenerator[Stamped]:
    """The events of a call with `seq > after`, those still kept and then those to come, up to `Finished`.

    Raises:
        CallNotFound: this owner has no such call.

    Cancellation: leaves the call alone. Close the generator (`aclosing`) when you stop early.
    """
    record = engine.find(call_id)
    if record is not None and record.call.caller.owner == owner:
        async with aclosing(_live(record, after)) as stamps:
            async for stamped in stamps:
                yield stamped
        return
    stored = await engine.load(owner, call_id)
    if stored is None:
        raise CallNotFound(f"no call {call_id!r} here; it may have been forgotten after its retention time")
    if stored.result is not None:
        yield Stamped(call_id, after + 1, stored.completed_at or stored.created_at, Finished(stored.result))


async def _live(record: Record, after: int) -> AsyncGenerator[Stamped]:
    send, receive = anyio.create_memory_object_stream[Stamped](BUFFERED_EVENTS)

    def listen(stamped: Stamped) -> None:
        with contextlib.suppress(anyio.WouldBlock):
            send.send_nowait(stamped)

    record.listen(listen)
    seen = after
    for stamped in tuple(record.events or ()):
        if stamped.seq > seen:
            seen = stamped.seq
            yield stamped
    with send, receive:
        while not record.over or receive.statistics().current_buffer_used:
            stamped = await receive.receive()
            if stamped.seq > seen:
                seen = stamped.seq
                yield stamped
                if isinstance(stamped.event, Finished):
                    return
    if record.result is not None:
        yield Stamped(record.call.id, seen + 1, record.completed_at or record.created_at, Finished(record.result))
