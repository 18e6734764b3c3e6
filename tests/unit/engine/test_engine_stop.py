"""What stopping does to calls under way: what was promised stays open for the next start; gateway.md D6, §6."""

from collections.abc import Sequence

import anyio
import pytest

from tests.unit.engine.fakes import (
    FaultyStore,
    HeldTools,
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
from toolwire.core.errors import StoreUnavailable
from toolwire.core.handler import Emit
from toolwire.core.ports import Op
from toolwire.core.result import Result, text_result
from toolwire.engine.engine import CUT_OFF, Engine, Submission

pytestmark = pytest.mark.both_backends


def engine_over(store: FaultyStore) -> Engine:
    """An engine that does not run yet, so that it can be asked when it has stopped."""
    return Engine(store, MemoryBlobs(), LoopClock())


@pytest.mark.parametrize("how", ["key", "watched"])
async def test_a_call_that_outlives_its_request_is_cut_off_and_stays_open(how: str):
    store, tools = FaultyStore(LoopClock()), HeldTools()
    call = call_of(key="k1") if how == "key" else call_of(watched=True)
    engine, submissions = engine_over(store), list[Submission]()

    async def submit() -> None:
        submissions.append(await engine.submit(call, catalog_of(tools)))

    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            async with engine.running():
                tasks.start_soon(submit)
                await tools.started.wait()
            assert engine.recorder.stopping
    assert tools.cancelled
    assert [row.key for row in await store.scan("open_call", "alice")] == [call.id]
    stored = await engine.load("alice", call.id)
    assert stored is not None
    assert stored.status == "running"
    (submission,) = submissions  # whoever still waits is told, and nothing of it is stored
    assert code_of(submission.record.result) == "agent_service_unavailable"
    assert submission.record.result is not None
    assert CUT_OFF in repr(submission.record.result)
    assert engine.idle


async def test_a_result_that_comes_while_stopping_is_committed():
    store = FaultyStore(LoopClock())
    started = anyio.Event()

    async def finish_anyway(call: Call, emit: Emit) -> Result:
        started.set()
        with anyio.CancelScope(shield=True):
            await anyio.wait_all_tasks_blocked()
        return text_result("done all the same")

    call = call_of(key="k1")
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks, running(store) as engine:
            tasks.start_soon(engine.submit, call, catalog_of(Tools(finish_anyway)))
            await started.wait()
    stored = await engine.load("alice", call.id)
    assert stored is not None
    assert stored.result == text_result("done all the same")
    assert list(await store.scan("open_call", None)) == []


async def test_records_of_plain_calls_are_written_before_the_engine_has_stopped():
    store = FaultyStore(LoopClock())
    calls = [call_of() for _ in range(10)]
    async with running(store) as engine:
        for call in calls:
            await engine.submit(call, catalog_of(Tools()))
    assert sorted(row.key for row in await store.scan("call", "alice")) == sorted(call.id for call in calls)


async def test_an_engine_whose_user_is_cancelled_stops_in_the_same_order():
    store, tools = FaultyStore(LoopClock()), HeldTools()
    engine = engine_over(store)
    keyed, plain, session = call_of(key="k1"), call_of(), in_session()
    with anyio.fail_after(5), anyio.CancelScope() as scope:
        async with engine.running(), anyio.create_task_group() as tasks:
            tasks.start_soon(engine.submit, keyed, catalog_of(tools))
            tasks.start_soon(engine.submit, plain, catalog_of(HeldTools()))
            tasks.start_soon(engine.submit, session, catalog_of(HeldTools()))
            await anyio.wait_all_tasks_blocked()
            scope.cancel()
            await anyio.sleep_forever()
    assert tools.cancelled
    assert [row.key for row in await store.scan("open_call", "alice")] == [keyed.id]
    statuses = {call.id: await engine.load("alice", call.id) for call in (keyed, plain, session)}
    assert [stored and stored.status for stored in statuses.values()] == ["running", "canceled", "canceled"]
    assert engine.idle


async def test_a_call_whose_claim_is_committed_while_the_engine_stops_stays_open():
    store, tools, asked, let_go = FaultyStore(LoopClock()), Tools(), anyio.Event(), anyio.Event()
    call, engine, submissions = call_of(key="k1"), engine_over(store), list[Submission]()

    async def hold(ops: Sequence[Op]) -> None:
        store.before_tx = None
        asked.set()
        await let_go.wait()

    async def submit() -> None:
        submissions.append(await engine.submit(call, catalog_of(tools)))

    async def let_go_when_stopping() -> None:
        await anyio.wait_all_tasks_blocked()
        assert engine.recorder.stopping
        let_go.set()

    store.before_tx = hold
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks, engine.running():
            tasks.start_soon(submit)
            await asked.wait()
            tasks.start_soon(let_go_when_stopping)
    assert tools.calls == []
    assert [row.key for row in await store.scan("open_call", "alice")] == [call.id]
    (submission,) = submissions
    assert code_of(submission.record.result) == "agent_service_unavailable"
    assert engine.idle


async def test_a_store_that_fails_at_the_end_does_not_keep_the_engine_from_stopping(caplog: pytest.LogCaptureFixture):
    store = FaultyStore(LoopClock())
    with anyio.fail_after(5):
        async with running(store) as engine:
            await engine.submit(call_of(), catalog_of(Tools()))
            store.failure = StoreUnavailable("the disk is full; make room")
    assert store.puts("call") == []
    assert "cannot write records" in caplog.text


async def test_nobody_waits_for_a_recorder_that_has_stopped():
    async with running() as engine:
        pass
    engine.recorder.add(tuple[Op, ...])
    with anyio.fail_after(5):
        assert await engine.load("alice", "call_unknown") is None


async def test_an_error_of_the_user_comes_out_after_everything_was_written():
    store = FaultyStore(LoopClock())
    with pytest.RaisesGroup(pytest.RaisesExc(RuntimeError, match="mine")):
        async with running(store) as engine:
            await engine.submit(call_of(), catalog_of(Tools()))
            raise RuntimeError("mine")
    assert len(store.puts("call")) == 1


async def test_a_mistake_in_the_engines_own_upkeep_ends_it_rather_than_going_unseen():
    store = FaultyStore(LoopClock())
    store.failure = RuntimeError("a bug in an adapter")
    with pytest.RaisesGroup(pytest.RaisesExc(RuntimeError, match="adapter"), flatten_subgroups=True):
        async with running(store) as engine:
            await engine.submit(call_of(), catalog_of(Tools()))
            with anyio.fail_after(5):
                await anyio.sleep_forever()


async def test_an_engine_can_be_started_again():
    store = FaultyStore(LoopClock())
    async with running(store) as engine:
        pass
    async with engine.running():
        assert not engine.recorder.stopping
        call = call_of()
        await engine.submit(call, catalog_of(Tools()))
        assert await engine.load("alice", call.id) is not None
