"""What has expired goes, large results with their records; gateway.md D7 (sweep), D29."""

import anyio
import pytest

from tests.unit.engine.fakes import FaultyStore, LoopClock, Tools, call_of, catalog_of, in_session, running
from toolwire.adapters.memory_blobs import MemoryBlobs
from toolwire.core.call import Call
from toolwire.core.errors import BlobNotFound, StoreUnavailable
from toolwire.core.handler import Emit
from toolwire.core.ports import Enqueue
from toolwire.core.result import Result, text_result
from toolwire.engine.engine import Limits
from toolwire.engine.offload import EXPIRING_BLOBS, INLINE_BYTES
from toolwire.engine.retention import BLOBS_AT_ONCE, LEASE_S, SWEEP_EVERY_S, sweep

pytestmark = pytest.mark.virtual_time


async def give_much(call: Call, emit: Emit) -> Result:
    return text_result("x" * INLINE_BYTES)


async def is_there(blobs: MemoryBlobs, key: str) -> bool:
    try:
        async for _ in blobs.open(key):
            pass
    except BlobNotFound:
        return False
    return True


async def test_a_large_result_lasts_as_long_as_its_record_and_no_longer():
    store, blobs = FaultyStore(LoopClock()), MemoryBlobs()
    async with running(store, limits=Limits(history_ttl_s=3600.0), blobs=blobs) as engine:
        call = in_session()
        await engine.submit(call, catalog_of(Tools(give_much)))
        await anyio.sleep(3599)
        stored = await engine.load("alice", call.id)
        assert stored is not None
        assert stored.result == text_result("x" * INLINE_BYTES)
        await anyio.sleep(SWEEP_EVERY_S + 1)
        assert await engine.load("alice", call.id) is None
        assert not await is_there(blobs, f"results/{call.id}")


async def test_expired_records_are_swept_now_and_then():
    store = FaultyStore(LoopClock())
    async with running(store, limits=Limits(history_ttl_s=10.0)) as engine:
        await engine.submit(call_of(), catalog_of(Tools()))
        await anyio.sleep(SWEEP_EVERY_S * 2)
        assert await store.sweep() == 0


async def test_a_store_that_fails_is_swept_the_next_time(caplog: pytest.LogCaptureFixture):
    store, blobs = FaultyStore(LoopClock()), MemoryBlobs()
    await blobs.put("results/call_1", b"x")
    async with running(store, blobs=blobs) as engine:
        await store.tx([Enqueue(EXPIRING_BLOBS, "results/call_1", engine.clock.now(), b"")])
        store.failure = StoreUnavailable("the disk is full; make room")
        await anyio.sleep(SWEEP_EVERY_S + 1)
        assert await is_there(blobs, "results/call_1")
        store.failure = None
        await anyio.sleep(SWEEP_EVERY_S)
        assert not await is_there(blobs, "results/call_1")
    assert [record.message for record in caplog.records] == [
        "cannot sweep expired records: the disk is full; make room"
    ]


async def test_any_number_of_blobs_goes_and_those_that_are_not_due_stay():
    store, blobs = FaultyStore(LoopClock()), MemoryBlobs()
    now = store.clock.now()
    for n in range(2 * BLOBS_AT_ONCE + 1):
        await blobs.put(f"results/call_{n}", b"x")
        await store.tx([Enqueue(EXPIRING_BLOBS, f"results/call_{n}", now if n else now + 1, b"")])
    await sweep(store, blobs)
    left = [n for n in range(2 * BLOBS_AT_ONCE + 1) if await is_there(blobs, f"results/call_{n}")]
    assert left == [0]
    await anyio.sleep(1)
    await sweep(store, blobs)
    assert not await is_there(blobs, "results/call_0")
    await anyio.sleep(LEASE_S + 1)
    assert list(await store.claim(EXPIRING_BLOBS, "anybody", 1, LEASE_S)) == []
