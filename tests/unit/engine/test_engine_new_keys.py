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
