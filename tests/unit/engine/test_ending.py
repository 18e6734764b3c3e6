"""The last write of a call: committed before it is answered, however the store takes it; ARCHITECTURE §2, D5."""

import logging
from collections.abc import Sequence

import anyio
import pytest

from tests.unit.engine.fakes import (
    FaultyStore,
    LoopClock,
    Tools,
    call_of,
    catalog_of,
    code_of,
    in_session,
    running,
)
from toolwire.adapters.memory_blobs import MemoryBlobs
from toolwire.core.call import Call
from toolwire.core.errors import ServiceTimeout, StoreUnavailable
from toolwire.core.handler import Emit
from toolwire.core.ports import Del, Op
from toolwire.core.result import Result, failed, text_result
from toolwire.engine.ending import end_of
from toolwire.engine.engine import Submission
from toolwire.engine.follow import follow
from toolwire.engine.offload import INLINE_BYTES
from toolwire.engine.record import Record

pytestmark = pytest.mark.virtual_time

FULL = StoreUnavailable("the disk is full; make room")


class FullBlobs(MemoryBlobs):
    """Blobs on a disk that is full."""

    async def put(self, key: str, data: bytes) -> None:
        raise FULL


def fail_from_the_end_on(store: FaultyStore, failure: Exception = FULL) -> None:
    """Let the store fail as soon as a call's end is written."""

    async def look(ops: Sequence[Op]) -> None:
        if isinstance(ops[0], Del):
            store.before_tx, store.failure = None, failure

    store.before_tx = look


async def test_nobody_reads_an_end_before_it_is_committed():
    store, committing, held = FaultyStore(LoopClock()), anyio.Event(), anyio.Event()

    async def hold(ops: Sequence[Op]) -> None:
        if isinstance(ops[0], Del):
            committing.set()
            await held.wait()

    store.before_tx = hold
    submissions: list[Submission] = []
    ends: list[object] = []

    async def submit(call: Call) -> None:
        submissions.append(await engine.submit(call, catalog_of(Tools())))

    async def read(call: Call) -> None:
        ends.extend([stamped.event async for stamped in follow(engine, "alice", call.id)])

    async with running(store) as engine, anyio.create_task_group() as tasks:
        for call in (call_of(key="k1"), in_session()):
            tasks.start_soon(submit, call)
            await committing.wait()
            tasks.start_soon(read, call)
        await anyio.sleep(10)
        assert (submissions, ends) == ([], [])
        held.set()
    assert len(submissions) == len(ends) == 2


async def test_a_caller_who_leaves_while_the_end_is_committed_does_not_undo_it():
    store, committing, held = FaultyStore(LoopClock()), anyio.Event(), anyio.Event()

    async def hold(ops: Sequence[Op]) -> None:
        if isinstance(ops[0], Del):
            committing.set()
            await held.wait()

    store.before_tx = hold
    async with running(store) as engine:
        call = in_session()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(engine.submit, call, catalog_of(Tools()))
            await committing.wait()
            tasks.cancel_scope.cancel()
            held.set()
        stored = await engine.load("alice", call.id)
        assert stored is not None
        assert stored.result == text_result("done")


async def test_under_a_key_a_store_that_fails_at_the_end_is_tried_until_it_takes_the_result(
    caplog: pytest.LogCaptureFixture,
):
    store, tools = FaultyStore(LoopClock()), Tools()
    fail_from_the_end_on(store)
    async with running(store) as engine:
        call = call_of(key="k1")
        with pytest.raises(ServiceTimeout):
            await engine.submit(call, catalog_of(tools))
        assert engine.find(call.id) is not None
        store.failure = None
        retry = await engine.submit(call_of(key="k1"), catalog_of(tools))
        assert (retry.replayed, retry.record.result) == (True, text_result("done"))
        assert engine.idle
    assert len(tools.calls) == 1
    errors = [record.message for record in caplog.records if record.levelno == logging.ERROR]
    assert errors == [f"cannot commit the end of call {call.id}: the disk is full; make room"]


async def test_while_the_store_fails_the_engine_can_be_stopped_and_the_call_stays_open():
    store = FaultyStore(LoopClock())
    fail_from_the_end_on(store)
    call = call_of(key="k1")
    async with running(store) as engine:
        with pytest.raises(ServiceTimeout):
            await engine.submit(call, catalog_of(Tools()))
    assert [row.key for row in await store.scan("open_call", "alice")] == [call.id]


async def test_without_a_key_a_store_that_fails_at_the_end_makes_the_call_fail_for_its_caller_and_its_record():
    store = FaultyStore(LoopClock())
    fail_from_the_end_on(store)
    async with running(store) as engine:
        call = in_session()
        submission = await engine.submit(call, catalog_of(Tools()))
        assert code_of(submission.record.result) == "agent_service_unavailable"
        assert len(await store.scan("open_call", None)) == 1
        store.failure = None
        await anyio.sleep(2)
        stored = await engine.load("alice", call.id)
        assert stored is not None
        assert stored.result == submission.record.result
        assert list(await store.scan("open_call", None)) == []


@pytest.mark.parametrize("key", [None, "k1"])
async def test_a_result_that_cannot_be_stored_is_a_failure_of_the_tool_and_the_engine_goes_on(
    key: str | None, caplog: pytest.LogCaptureFixture
):
    async def give_surrogate(call: Call, emit: Emit) -> Result:
        return text_result("\ud800")

    async with running() as engine:
        call = call_of(key=key) if key else in_session()
        submission = await engine.submit(call, catalog_of(Tools(give_surrogate)))
        assert code_of(submission.record.result) == "internal_error"
        stored = await engine.load("alice", call.id)
        assert stored is not None
        assert (stored.status, stored.result) == ("failed", submission.record.result)
        assert list(await engine.store.scan("open_call", None)) == []
        assert engine.idle
    assert call.id in caplog.text


async def test_a_store_that_can_take_no_end_at_all_leaves_the_call_open_and_answers(caplog: pytest.LogCaptureFixture):
    store = FaultyStore(LoopClock())
    fail_from_the_end_on(store, ValueError("the store cannot hold this"))
    async with running(store) as engine:
        submission = await engine.submit(call_of(key="k1"), catalog_of(Tools()))
        assert code_of(submission.record.result) == "internal_error"
        assert engine.idle
        assert len(await store.scan("open_call", None)) == 1
        store.failure = None


async def test_a_large_result_whose_blob_cannot_be_written_ends_like_one_whose_record_cannot():
    async def give_much(call: Call, emit: Emit) -> Result:
        return text_result("x" * INLINE_BYTES)

    async with running(blobs=FullBlobs()) as engine:
        call = in_session()
        submission = await engine.submit(call, catalog_of(Tools(give_much)))
        assert code_of(submission.record.result) == "agent_service_unavailable"
        stored = await engine.load("alice", call.id)
        assert stored is not None
        await anyio.sleep(1)
        stored = await engine.load("alice", call.id)
        assert stored is not None
        assert stored.result == submission.record.result


def ended_with(verdict: Result | None, result: Result | None) -> Result:
    record = Record(call_of(clock=(clock := FixedClock())), clock)
    record.verdict = verdict
    return end_of(record, result)


class FixedClock:
    def now(self) -> float:
        return 1000.0


def test_a_call_ends_with_its_result_unless_it_was_stopped_and_has_nothing_better():
    good, bad, verdict, cancelled = text_result("x"), failed("no"), failed("t", "service_timeout"), "cancelled"
    assert ended_with(None, good) == good
    assert ended_with(None, bad) == bad
    assert code_of(ended_with(None, None)) == cancelled
    assert ended_with(verdict, good) == good
    assert ended_with(verdict, bad) == verdict
    assert ended_with(verdict, None) == verdict
