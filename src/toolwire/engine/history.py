"""The calls of one owner, those that have ended and those that run here; it changes none."""

from collections.abc import AsyncGenerator, Sequence
from typing import Final, TypeAlias

from toolwire.core.ids import first_id, id_time
from toolwire.core.ports import Stored
from toolwire.engine.engine import Engine
from toolwire.engine.offload import decode_record, unpack
from toolwire.engine.record import CallRecord, Record

Found: TypeAlias = Record | CallRecord

_PAGE: Final = 200
_DENSE: Final = 500
"""Rows of one look backwards at most, unless more than that are of one millisecond."""
_FIRST_SPAN_S: Final = 60.0
_LEAST_SPAN_S: Final = 0.001


async def calls_of(engine: Engine, owner: str, after: str = "") -> AsyncGenerator[Found]:
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


async def latest_calls(engine: Engine, owner: str, before: str, since: float = 0.0) -> AsyncGenerator[Found]:
    """The calls of an owner whose ids come before `before`, begun at `since` (Unix seconds) or later, the latest first.

    As in `calls_of`, but large results are left where they lie: such a record has a `result_blob` and no result.

    Raises:
        StoreUnavailable: the store cannot be read.
    """
    await engine.recorder.caught_up()
    running = {
        record.call.id: record
        for record in engine.under_way()
        if record.call.caller.owner == owner and first_id("call", since) <= record.call.id < before
    }
    async for row in _rows_before(engine, owner, before, since):
        for call_id in sorted((one for one in running if one > row.key), reverse=True):
            yield running.pop(call_id)
        running.pop(row.key, None)
        yield decode_record(row.value)
    for call_id in sorted(running, reverse=True):
        yield running[call_id]


async def _rows_before(engine: Engine, owner: str, before: str, since: float) -> AsyncGenerator[Stored]:
    """The store reads forwards alone, so it is asked for one span of time after the other, as long as there are few."""
    at = id_time(before)
    end_s, end = (engine.clock.now() if at is None else at) + _LEAST_SPAN_S, before
    span_s = _FIRST_SPAN_S
    while end_s > since:
        start_s = max(since, end_s - span_s)
        rows = await _rows_between(engine, owner, first_id("call", start_s), end, whole=span_s <= _LEAST_SPAN_S)
        if rows is None:
            span_s = max(_LEAST_SPAN_S, span_s / 4)
            continue
        for row in reversed(rows):
            yield row
        end_s, end = start_s, first_id("call", start_s)
        if len(rows) < _DENSE // 4:
            span_s *= 4


async def _rows_between(engine: Engine, owner: str, start: str, end: str, *, whole: bool) -> Sequence[Stored] | None:
    """The rows of a span, or `None` where they are more than one look takes in, unless it has to be the `whole`."""
    found: list[Stored] = []
    after = start
    while rows := await engine.store.scan("call", owner, after, _DENSE + 1):
        inside = [row for row in rows if row.key < end]
        found += inside
        if len(inside) < len(rows):
            break
        if len(found) > _DENSE and not whole:
            return None
        after = rows[-1].key
    return found
