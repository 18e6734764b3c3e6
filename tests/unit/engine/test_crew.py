"""Calls under keys are served by tasks that serve others before and after; none feels that: gateway.md D6."""

from collections.abc import Sequence
from contextvars import ContextVar

import anyio
import pytest

from tests.unit.engine.fakes import Agent, FaultyStore, LoopClock, Tools, call_of, catalog_of, code_of, running
from toolwire.core.call import Call
from toolwire.core.errors import ServiceTimeout, StoreUnavailable
from toolwire.core.handler import Emit
from toolwire.core.ports import Op
from toolwire.core.result import Result, text_result
from toolwire.engine.catalog import Catalog
from toolwire.engine.crew import MAX_IDLE
from toolwire.engine.engine import Engine

pytestmark = pytest.mark.both_backends


left_behind: ContextVar[str | None] = ContextVar("left_behind", default=None)
"""The key of the last call that ran in this task."""


class Bodies:
    """Bodies of calls that note the key of the call before, in the same task; those of `held` wait to be let go."""

    def __init__(self) -> None:
        self.before: list[str | None] = []
        self.held: set[str] = set()
        self.started = anyio.Event()
        self.let_go = anyio.Event()

    async def body(self, call: Call, emit: Emit) -> Result:
        self.before.append(left_behind.get())
        left_behind.set(call.idempotency_key)
        if call.idempotency_key in self.held:
            self.started.set()
            await self.let_go.wait()
        return text_result(str(call.idempotency_key))

    def agents(self) -> Catalog:
        """A catalogue of tools that a delegate carries elsewhere."""
        agent = Agent(self.body)
        return catalog_of(agent, delegate=agent)


async def result_of(engine: Engine, call: Call, catalog: Catalog) -> Result:
    with anyio.fail_after(5):
        result = (await engine.submit(call, catalog)).record.result
    assert result is not None
    return result


async def test_calls_that_go_elsewhere_are_served_by_one_task_after_the_other():
    bodies = Bodies()
    async with running() as engine:
        catalog = bodies.agents()
        for key in ("k1", "k2", "k3"):
            assert await result_of(engine, call_of(key=key), catalog) == text_result(key)
            await anyio.wait_all_tasks_blocked()
    assert bodies.before == [None, "k1", "k2"]


async def test_an_authors_code_has_a_task_of_its_own():
    bodies = Bodies()
    async with running() as engine:
        catalog = catalog_of(Tools(bodies.body))
        for key in ("k1", "k2", "k3"):
            assert await result_of(engine, call_of(key=key), catalog) == text_result(key)
            await anyio.wait_all_tasks_blocked()
    assert bodies.before == [None] * 3


async def test_a_cancelled_call_leaves_the_next_ones_alone():
    bodies, call = Bodies(), call_of(key="held")
    bodies.held.add("held")
    store = FaultyStore(LoopClock())
    results: list[Result] = []
    async with running(store) as engine:
        catalog = bodies.agents()

        async def submit() -> None:
            results.append(await result_of(engine, call, catalog))

        assert await result_of(engine, call_of(key="k1"), catalog) == text_result("k1")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(submit)
            await bodies.started.wait()
            engine.cancel(call.id, "enough")
        assert await result_of(engine, call_of(key="k2"), catalog) == text_result("k2")
    assert code_of(results[0]) == "cancelled"
    assert list(await store.scan("open_call", None)) == []


async def test_a_refused_claim_leaves_the_next_ones_alone():
    store, bodies = FaultyStore(LoopClock()), Bodies()
    async with running(store) as engine:
        catalog = bodies.agents()
        assert await result_of(engine, call_of(key="k1"), catalog) == text_result("k1")
        store.failure = StoreUnavailable("the disk is full; make room")
        for key in ("k2", "k3"):
            with pytest.raises(StoreUnavailable):
                await engine.submit(call_of(key=key), catalog)
        store.failure = None
        for key in ("k1", "k2"):
            assert await result_of(engine, call_of(key=key), catalog) == text_result(key)
        assert engine.idle


async def test_a_raising_courier_fails_its_own_call_alone():
    async def fall(call: Call, emit: Emit) -> Result:
        if call.idempotency_key == "bad":
            raise RuntimeError("a bug")
        return text_result("fine")

    async with running() as engine:
        agent = Agent(fall)
        catalog = catalog_of(agent, delegate=agent)
        assert code_of(await result_of(engine, call_of(key="bad"), catalog)) == "internal_error"
        assert await result_of(engine, call_of(key="good"), catalog) == text_result("fine")


async def test_more_calls_at_once_than_may_rest_are_all_served():
    bodies = Bodies()
    count = MAX_IDLE + 20
    async with running() as engine:
        catalog = bodies.agents()
        for round_number in range(2):
            with anyio.fail_after(5):
                async with anyio.create_task_group() as tasks:
                    for number in range(count):
                        tasks.start_soon(engine.submit, call_of(key=f"{round_number}.{number}"), catalog)
        assert engine.idle
    assert len(bodies.before) == 2 * count


async def test_a_request_whose_time_is_up_before_the_claim_is_told_so_and_the_call_goes_on():
    store, bodies, let_go, call = FaultyStore(LoopClock()), Bodies(), anyio.Event(), call_of(key="k1", timeout_s=0.2)

    async def hold(ops: Sequence[Op]) -> None:
        store.before_tx = None
        await let_go.wait()

    async with running(store) as engine:
        catalog = bodies.agents()
        store.before_tx = hold
        with anyio.fail_after(5), pytest.raises(ServiceTimeout) as timeout:
            await engine.submit(call, catalog)
        assert timeout.value.data["task_id"] == call.id
        let_go.set()
        repeated = call_of(key="k1")
        assert await result_of(engine, repeated, catalog) == text_result("k1")
        with anyio.fail_after(5):
            assert (await engine.submit(call_of(key="k1"), catalog)).record.call.id == call.id
    assert len(bodies.before) == 1


async def test_a_caller_that_leaves_before_the_claim_holds_leaves_the_call_running():
    store, bodies, asked, let_go = FaultyStore(LoopClock()), Bodies(), anyio.Event(), anyio.Event()
    call = call_of(key="k1")

    async def hold(ops: Sequence[Op]) -> None:
        store.before_tx = None
        asked.set()
        await let_go.wait()

    async with running(store) as engine:
        catalog = bodies.agents()
        store.before_tx = hold
        with anyio.fail_after(5):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(engine.submit, call, catalog)
                await asked.wait()
                tasks.cancel_scope.cancel()
        let_go.set()
        assert await result_of(engine, call_of(key="k1"), catalog) == text_result("k1")
    assert len(bodies.before) == 1


async def test_a_caller_that_waits_in_vain_again_and_again_leaves_nothing_behind():
    bodies = Bodies()
    bodies.held.add("held")
    async with running() as engine:
        catalog = bodies.agents()
        for _ in range(3):
            with anyio.fail_after(5), pytest.raises(ServiceTimeout):
                await engine.submit(call_of(key="held", timeout_s=0.1), catalog)
        (record,) = engine.under_way()
        assert record.waited_for == 0
        bodies.let_go.set()
        assert await result_of(engine, call_of(key="held"), catalog) == text_result("held")
    assert len(bodies.before) == 1
