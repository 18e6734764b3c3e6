"""A key that nobody has used costs no look into the store, and takes nothing when its call is refused (§6, Order)."""

import pytest

from tests.unit.engine.fakes import Agent, FaultyStore, LoopClock, Tools, call_of, catalog_of, in_session, running
from toolwire.core.errors import AgentOffline, StoreUnavailable
from toolwire.core.result import text_result

pytestmark = pytest.mark.both_backends

FULL = StoreUnavailable("the disk is full; make room")


async def test_a_new_key_is_claimed_without_a_look():
    store, tools = FaultyStore(LoopClock()), Tools()
    store.unreadable = FULL
    async with running(store) as engine:
        submission = await engine.submit(call_of(key="k1"), catalog_of(tools))
        assert (submission.replayed, submission.record.result) == (False, text_result("done"))


async def test_a_refusal_under_a_new_key_is_a_refusal_and_takes_nothing():
    store, agent = FaultyStore(LoopClock()), Agent()
    agent.refusal = AgentOffline("nobody is there")
    async with running(store) as engine:
        with pytest.raises(AgentOffline):
            await engine.submit(call_of(key="k1"), catalog_of(agent, delegate=agent))
        assert (engine.idle, store.written) == (True, [])


async def test_a_delegate_is_told_of_a_call_whose_key_stands_for_another():
    store, agent = FaultyStore(LoopClock()), Agent()
    async with running(store) as engine:
        first = await engine.submit(call_of(key="k1"), catalog_of(agent, delegate=agent))
        repeat = call_of(key="k1")
        second = await engine.submit(repeat, catalog_of(agent, delegate=agent))
        assert (second.replayed, second.record.call.id) == (True, first.record.call.id)
    assert agent.unclaimed == [repeat]
    assert len(agent.calls) == 1


async def test_a_known_key_wins_over_a_refusal():
    store, agent = FaultyStore(LoopClock()), Agent()
    async with running(store) as engine:
        first = await engine.submit(call_of(key="k1"), catalog_of(agent, delegate=agent))
        agent.refusal = AgentOffline("nobody is there")
        again = await engine.submit(call_of(key="k1"), catalog_of(agent, delegate=agent))
        assert (again.replayed, again.record.call.id) == (True, first.record.call.id)
    assert agent.unclaimed == []


async def test_in_a_conversation_a_key_is_looked_up_first_so_that_a_repeat_takes_no_place_in_it():
    store, agent = FaultyStore(LoopClock()), Agent()
    async with running(store) as engine:
        await engine.submit(in_session(key="k1"), catalog_of(agent, delegate=agent))
        again = await engine.submit(in_session(key="k1"), catalog_of(agent, delegate=agent))
        assert again.replayed
    assert agent.unclaimed == []


async def test_on_a_store_that_cannot_be_read_a_key_that_may_be_known_is_never_run_and_a_new_one_is_the_stores_word():
    """What is claimed without a look is new by the store's own word: its write says that nothing lay there."""
    store, tools = FaultyStore(LoopClock()), Tools()
    async with running(store) as engine:
        await engine.submit(call_of(key="known"), catalog_of(tools))
        store.unreadable = FULL
        for call in (call_of(key="known"), in_session(key="known"), in_session(key="new")):
            with pytest.raises(StoreUnavailable):
                await engine.submit(call, catalog_of(tools))
        assert engine.idle
        assert len(tools.calls) == 1
        submission = await engine.submit(call_of(key="new"), catalog_of(tools))
        assert (submission.replayed, len(tools.calls)) == (False, 2)


async def test_on_a_store_that_can_be_neither_read_nor_written_no_key_is_run():
    store, tools = FaultyStore(LoopClock()), Tools()
    store.unreadable = store.failure = FULL
    async with running(store) as engine:
        for call in (call_of(key="k1"), in_session(key="k2")):
            with pytest.raises(StoreUnavailable):
                await engine.submit(call, catalog_of(tools))
        assert engine.idle
    assert tools.calls == []
