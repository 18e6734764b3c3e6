"""A delegate has its part in the commit of a durable call's end, and is told what became of it."""

from collections.abc import Callable, Sequence
from functools import partial

import anyio
import pytest

from tests.unit.engine.fakes import Agent, FaultyStore, LoopClock, call_of, catalog_of, in_session, running
from toolwire.core.call import Call
from toolwire.core.errors import StoreUnavailable
from toolwire.core.handler import Emit
from toolwire.core.ports import Op, Put
from toolwire.core.result import Result, text_result

pytestmark = pytest.mark.both_backends

LAST = Put("answer", "agent_1", "a1", b"done")


@pytest.mark.parametrize("make", [partial(call_of, key="k1"), in_session, partial(call_of, watched=True)])
async def test_what_a_delegate_gives_for_the_end_is_committed_with_it(make: Callable[[], Call]):
    store, agent, call = FaultyStore(LoopClock()), Agent(), make()
    agent.last_ops = (LAST,)
    async with running(store) as engine:
        await engine.submit(call, catalog_of(agent, delegate=agent))
        assert agent.over == [(call, True)]
    claim, end = store.written
    assert LAST not in claim
    assert LAST in end


async def test_a_call_that_is_not_durable_has_no_commit_to_take_part_in():
    store, agent = FaultyStore(LoopClock()), Agent()
    agent.last_ops = (LAST,)
    async with running(store) as engine:
        await engine.submit(call_of(), catalog_of(agent, delegate=agent))
    assert agent.over == []
    assert store.puts("answer") == []


async def test_what_cannot_be_committed_now_is_written_behind_with_the_end():
    store, agent = FaultyStore(LoopClock()), Agent()
    agent.last_ops = (LAST,)

    async def fill(ops: Sequence[Op]) -> None:
        if LAST in ops:
            store.before_tx = None
            raise StoreUnavailable("the disk is full; make room")

    store.before_tx = fill
    async with running(store) as engine:
        submission = await engine.submit(in_session(), catalog_of(agent, delegate=agent))
        assert submission.record.result != text_result("done")
        assert agent.over == [(submission.record.call, False), (submission.record.call, True)]
    assert store.puts("answer") == [LAST]


async def test_a_delegate_is_told_when_the_engine_stops_before_the_end_of_a_call():
    store, started = FaultyStore(LoopClock()), anyio.Event()

    async def hold(call: Call, emit: Emit) -> Result:
        started.set()
        await anyio.sleep_forever()
        raise AssertionError

    agent, call = Agent(hold), call_of(key="k1")
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks, running(store) as engine:
            catalog = catalog_of(agent, delegate=agent)

            async def submit() -> None:
                await engine.submit(call, catalog)

            tasks.start_soon(submit)
            await started.wait()
    assert agent.over == [(call, False)]
    assert [row.key for row in await store.scan("open_call", "alice")] == [call.id]
