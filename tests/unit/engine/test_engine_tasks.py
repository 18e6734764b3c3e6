"""Calls that are tasks: times of their own, and a record that is kept (mcp.md 1.4; ARCHITECTURE.md, durability)."""

from collections.abc import Sequence
from typing import Any

import anyio
import msgspec
import pytest

from tests.unit.engine.fakes import FaultyStore, HeldTools, LoopClock, Tools, call_of, catalog_of, code_of, running
from toolwire.adapters.memory import MemoryStore
from toolwire.core.call import Call, TaskTerms
from toolwire.core.errors import StoreUnavailable
from toolwire.core.handler import Emit
from toolwire.core.ports import Op
from toolwire.core.result import Result, text_result
from toolwire.engine.engine import Engine, Limits
from toolwire.engine.promote import promote
from toolwire.engine.record import Record
from toolwire.engine.recover import recover

HOUR_S = 3600.0
FORGETFUL = Limits(history_ttl_s=0)


def task_of(timeout_s: float = HOUR_S, kept_s: float = 2 * HOUR_S, **more: Any) -> Call:
    """A call that is a task and whose request does not wait."""
    now = LoopClock().now()
    return call_of(timeout_s=0.0, watched=True, task=TaskTerms(now + timeout_s, now + kept_s), **more)


class Promoting(Tools):
    """A tool whose calls become tasks half-way, then wait to be let go."""

    def __init__(self) -> None:
        super().__init__(self._work)
        self.engine: Engine | None = None
        self.is_task = anyio.Event()
        self.let_go = anyio.Event()

    async def _work(self, call: Call, emit: Emit) -> Result:
        assert self.engine is not None
        record = self.engine.find(call.id)
        assert isinstance(record, Record)
        now = self.engine.clock.now()
        await promote(self.engine, record, TaskTerms(now + HOUR_S, now + 2 * HOUR_S))
        self.is_task.set()
        await self.let_go.wait()
        return text_result("done")


@pytest.mark.both_backends
async def test_a_task_is_in_the_store_before_it_is_named_and_its_end_before_it_is_told():
    tools = HeldTools()
    async with running(limits=FORGETFUL) as engine:
        call = task_of()
        submission = await engine.begin(call, catalog_of(tools))
        stored = await engine.load("alice", call.id)
        assert stored is not None
        assert (stored.status, stored.call.task) == ("running", call.task)
        tools.let_go.set()
        await submission.record.wait()
        stored = await engine.load("alice", call.id)
        assert stored is not None
        assert (stored.status, stored.result) == ("completed", text_result("done"))


@pytest.mark.virtual_time
async def test_a_task_has_its_own_deadline_and_not_that_of_its_request():
    tools = HeldTools()
    async with running(limits=Limits(keyed_deadline_s=60.0)) as engine:
        submission = await engine.begin(task_of(HOUR_S, key="k1"), catalog_of(tools))
        assert code_of(await submission.record.wait()) == "service_timeout"
        assert anyio.current_time() == pytest.approx(HOUR_S)
        assert tools.cancelled


@pytest.mark.virtual_time
@pytest.mark.parametrize("limits", [FORGETFUL, Limits(history_ttl_s=10.0)])
async def test_a_task_is_known_until_its_time_is_up_however_early_it_ended(limits: Limits):
    async with running(limits=limits) as engine:
        call = task_of(HOUR_S, 2 * HOUR_S)
        await (await engine.begin(call, catalog_of(Tools()))).record.wait()
        await anyio.sleep_until(2 * HOUR_S - 1)
        assert await engine.load("alice", call.id) is not None
        await anyio.sleep_until(2 * HOUR_S + 1)
        assert await engine.load("alice", call.id) is None
        await anyio.sleep(600)  # for the sweep
        assert await engine.store.scan("call", None) == []


@pytest.mark.both_backends
async def test_a_task_that_is_cancelled_ends_so_for_good():
    tools = HeldTools()
    async with running() as engine:
        call = task_of()
        record = (await engine.begin(call, catalog_of(tools))).record
        await tools.started.wait()
        assert engine.cancel(call.id, "the client said so")
        assert code_of(await record.wait()) == "cancelled"
        assert not engine.cancel(call.id, "again")
        stored = await engine.load("alice", call.id)
        assert stored is not None
        assert stored.status == "canceled"


@pytest.mark.both_backends
async def test_a_task_that_is_cut_off_stays_open_and_is_taken_up_again():
    tools, store = HeldTools(), MemoryStore(LoopClock())
    call = task_of()
    async with running(store, limits=FORGETFUL) as engine:
        await engine.begin(call, catalog_of(tools))
        await tools.started.wait()
    async with running(store, limits=FORGETFUL) as engine:
        stored = await engine.load("alice", call.id)
        assert stored is not None
        assert stored.result is None
        again = Tools()
        assert await recover(engine, lambda _: again.call) == 1
        record = engine.find(call.id)
        assert record is not None
        assert await record.wait() == text_result("done")
        assert again.calls == [call]


@pytest.mark.both_backends
@pytest.mark.parametrize("more", [{}, {"key": "k1"}])
async def test_a_running_call_becomes_a_task_that_is_committed(more: dict[str, Any]):
    tools, store = Promoting(), FaultyStore(LoopClock())
    async with running(store, limits=FORGETFUL) as engine:
        tools.engine = engine
        call = call_of(timeout_s=60.0, **more)
        record = (await engine.begin(call, catalog_of(tools))).record
        await tools.is_task.wait()
        stored = await engine.load("alice", call.id)
        assert stored is not None
        assert stored.call.task == record.call.task is not None
        assert record.call.outlives_request
        tools.let_go.set()
        assert await record.wait() == text_result("done")
        stored = await engine.load("alice", call.id)
        assert stored is not None
        assert stored.result == text_result("done")
        assert await store.scan("open_call", None) == []
        assert engine.idle


@pytest.mark.virtual_time
async def test_a_call_that_has_become_a_task_goes_on_beyond_its_request():
    tools = Promoting()
    async with running() as engine:
        tools.engine = engine
        record = (await engine.begin(call_of(timeout_s=60.0), catalog_of(tools))).record
        assert code_of(await record.wait()) == "service_timeout"
        assert anyio.current_time() == pytest.approx(HOUR_S)


@pytest.mark.both_backends
async def test_a_call_that_has_become_a_task_and_is_cut_off_stays_open():
    tools, store = Promoting(), MemoryStore(LoopClock())
    async with running(store) as engine:
        tools.engine = engine
        call = call_of()
        await engine.begin(call, catalog_of(tools))
        await tools.is_task.wait()
    assert [row.key for row in await store.scan("open_call", None)] == [call.id]


@pytest.mark.both_backends
async def test_a_call_that_cannot_be_committed_becomes_no_task():
    tools, store = Promoting(), FaultyStore(LoopClock())
    async with running(store) as engine:
        tools.engine, store.failure = engine, StoreUnavailable("the disk is full")
        record = (await engine.begin(call_of(), catalog_of(tools))).record
        assert code_of(await record.wait()) == "agent_service_unavailable"
        assert record.call.task is None
        store.failure = None


@pytest.mark.both_backends
async def test_a_call_that_ends_while_it_becomes_a_task_has_its_end_in_the_store():
    tools, store, committing = HeldTools(), FaultyStore(LoopClock()), anyio.Event()

    async def hold(ops: Sequence[Op]) -> None:
        if not committing.is_set():
            committing.set()
            tools.let_go.set()
            await anyio.wait_all_tasks_blocked()

    async with running(store, limits=FORGETFUL) as engine, anyio.create_task_group() as tasks:
        call = call_of()
        record = (await engine.begin(call, catalog_of(tools))).record
        await tools.started.wait()
        store.before_tx, now = hold, engine.clock.now()
        tasks.start_soon(promote, engine, record, TaskTerms(now + HOUR_S, now + 2 * HOUR_S))
        await committing.wait()
        assert await record.wait() == text_result("done")
    stored = await store.scan("call", None)
    assert [msgspec.json.decode(row.value)["status"] for row in stored] == ["completed"]
    assert await store.scan("open_call", None) == []


@pytest.mark.both_backends
async def test_hundreds_of_tasks_are_each_their_own():
    async with running() as engine:
        catalog = catalog_of(Tools())
        calls = [task_of() for _ in range(500)]
        records = [(await engine.begin(call, catalog)).record for call in calls]
        assert {code_of(await record.wait()) for record in records} == {None}
        assert engine.idle
