"""How records become rows, whatever the values in them; and what happens to a record that cannot become one."""

import msgspec
import pytest

from toolwire.adapters.memory import MemoryStore
from toolwire.adapters.memory_blobs import MemoryBlobs
from toolwire.core.call import Call, Caller
from toolwire.core.ports import Op, Put
from toolwire.core.result import Result, text_result
from toolwire.engine.offload import INLINE_BYTES, encode_record, pack, unpack
from toolwire.engine.record import CallRecord
from toolwire.engine.recorder import Recorder

pytestmark = pytest.mark.both_backends

HUGE = 2**64


class FixedClock:
    def now(self) -> float:
        return 1_800_000_000.0


def record_of(arguments: dict[str, object], result: Result | None = None) -> CallRecord:
    call = Call("call_1", Caller("alice", "alice", "mcp"), "echo", arguments, deadline=1.0)
    return CallRecord(call, "completed", 0.0, 1.0, result)


@pytest.mark.parametrize("number", [0, -(2**63), 2**64 - 1, HUGE, -HUGE, 10**300])
async def test_a_record_keeps_integers_of_any_size(number: int):
    record = record_of({"n": number}, Result(structured={"n": number}))
    assert await unpack(await pack(record, MemoryBlobs()), MemoryBlobs()) == record


@pytest.mark.parametrize("number", [0, HUGE])
async def test_a_large_result_lies_in_a_blob_whatever_is_in_it(number: int):
    blobs = MemoryBlobs()
    record = record_of({}, Result(structured={"n": number, "text": "x" * INLINE_BYTES}))
    row = await pack(record, blobs)
    assert len(row) < 1000
    assert (await unpack(row, blobs)).result == record.result


async def test_an_open_call_with_a_huge_integer_is_read_back():
    record = record_of({"n": HUGE})
    assert await unpack(encode_record(record), MemoryBlobs()) == record


async def test_a_record_that_cannot_be_encoded_is_given_up_and_the_others_are_written(
    caplog: pytest.LogCaptureFixture,
):
    store = MemoryStore(FixedClock())
    recorder = Recorder(store)

    def surrogate() -> tuple[Op, ...]:
        return (Put("call", "alice", "bad", encode_record(record_of({}, text_result("\ud800")))),)

    recorder.add(lambda: (Put("call", "alice", "before", msgspec.msgpack.encode(1)),))
    recorder.add(surrogate)
    recorder.add(lambda: (Put("call", "alice", "after", msgspec.msgpack.encode(1)),))
    await recorder.flush()
    assert [row.key for row in await store.scan("call", "alice")] == ["after", "before"]
    assert "cannot be encoded" in caplog.text
