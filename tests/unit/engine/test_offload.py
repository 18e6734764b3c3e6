"""How records become rows, whatever the values in them, and where large results lie."""

from collections.abc import Sequence

import pytest

from toolwire.adapters.memory_blobs import MemoryBlobs
from toolwire.core.call import Call, Caller
from toolwire.core.ports import Enqueue, Op, Put
from toolwire.core.result import Image, Result, text_result
from toolwire.engine.offload import EXPIRING_BLOBS, INLINE_BYTES, encode_record, pack, unpack
from toolwire.engine.record import CallRecord

pytestmark = pytest.mark.both_backends

HUGE = 2**64
EXPIRES_AT = 1_800_000_000.0


def record_of(arguments: dict[str, object], result: Result | None = None) -> CallRecord:
    call = Call("call_1", Caller("alice", "alice", "mcp"), "echo", arguments, deadline=1.0)
    return CallRecord(call, "completed", 0.0, 1.0, result)


def row_in(ops: Sequence[Op]) -> bytes:
    put = ops[0]
    assert isinstance(put, Put)
    assert (put.kind, put.owner, put.key, put.expires_at) == ("call", "alice", "call_1", EXPIRES_AT)
    return put.value


@pytest.mark.parametrize("number", [0, -(2**63), 2**64 - 1, HUGE, -HUGE, 10**300, 0.1, 1e300, None])
async def test_a_record_keeps_numbers_of_any_size(number: float | None):
    record = record_of({"n": number}, Result(structured={"n": number}))
    ops = await pack(record, MemoryBlobs(), EXPIRES_AT)
    assert await unpack(row_in(ops), MemoryBlobs()) == record


async def test_an_open_call_with_a_huge_integer_is_read_back():
    record = record_of({"n": HUGE})
    assert await unpack(encode_record(record), MemoryBlobs()) == record


@pytest.mark.parametrize("number", [0, HUGE])
async def test_a_large_result_lies_in_a_blob_that_is_due_when_its_record_expires(number: int):
    blobs = MemoryBlobs()
    record = record_of({}, Result(structured={"n": number, "text": "x" * INLINE_BYTES}))
    ops = await pack(record, blobs, EXPIRES_AT)
    row = row_in(ops)
    assert len(row) < 1000
    assert ops[1:] == (Enqueue(EXPIRING_BLOBS, "results/call_1", EXPIRES_AT, b""),)
    assert (await unpack(row, blobs)).result == record.result


async def test_a_small_result_stays_in_its_row_however_large_the_arguments_are():
    record = record_of({"text": "x" * INLINE_BYTES}, text_result("done"))
    ops = await pack(record, MemoryBlobs(), EXPIRES_AT)
    assert len(ops) == 1
    assert await unpack(row_in(ops), MemoryBlobs()) == record


async def test_a_picture_of_a_megabyte_comes_back_whole():
    blobs = MemoryBlobs()
    record = record_of({}, Result(content=(Image("QUJD" * 262_144, "image/png"),)))
    ops = await pack(record, blobs, EXPIRES_AT)
    assert (await unpack(row_in(ops), blobs)).result == record.result


async def test_a_result_whose_blob_is_gone_is_said_to_be_lost():
    record = record_of({}, text_result("x" * INLINE_BYTES))
    ops = await pack(record, MemoryBlobs(), EXPIRES_AT)
    found = await unpack(row_in(ops), MemoryBlobs())
    assert found.status == "failed"
    assert found.result is not None
    assert found.result.error is not None
    assert found.result.error.code == "outcome_unknown"
