"""Delivery modes: how many calls an agent gets at once (gateway.md 53)."""

from typing import Any

import pytest

from tests.unit.gateway.service import open_service
from toolwire.core.call import Caller
from toolwire.core.result import Text


async def test_one_busy_reject_agent_takes_one_call_at_a_time():
    """gateway.md 53: the second call is refused before its claim and may be sent again under the same key."""
    async with open_service() as service:
        agent_id, key = await service.agent("single")
        async with service.link(key, "do", mode="busy_reject") as agent:
            first = service.call(agent_id, "do", idempotency_key="1")
            message = await agent.delivered()
            assert await service.call(agent_id, "do", idempotency_key="2").code() == "agent_busy"
            agent.publish(message, text="done")
            await first.end()
            second = service.call(agent_id, "do", idempotency_key="2")
            agent.publish(await agent.delivered(), text="done too")
            assert (await second.end()).content == (Text("done too"),)


async def test_of_two_calls_at_once_a_busy_reject_agent_gets_one():
    """gateway.md 53: also while both are being claimed; agent_busy is never stored under a key."""
    async with open_service() as service:
        agent_id, key = await service.agent("single")
        async with service.link(key, "do", mode="busy_reject") as agent:
            callings = [service.call(agent_id, "do", idempotency_key=str(n)) for n in range(2)]
            agent.publish(await agent.delivered(), text="done")
            codes = sorted([await calling.code() or "" for calling in callings])
            assert codes == ["", "agent_busy"]
            [refused] = [c for c in callings if await c.code() == "agent_busy"]
            again = service.call(agent_id, "do", idempotency_key=refused.call.idempotency_key)
            agent.publish(await agent.delivered(), text="done")
            assert await again.code() is None


async def test_a_queue_agent_gets_one_message_of_a_session_at_a_time():
    """gateway.md 53: serial per session, in order; other sessions are not held up."""
    async with open_service() as service:
        agent_id, key = await service.agent("serial")
        async with service.link(key, "do", mode="queue") as agent:
            session = Caller("key_1", "own_1", "gateway", session_id="session_1")
            one = [service.call(agent_id, "do", {"n": n}, context_id="ch_1", caller=session) for n in range(3)]
            other = service.call(agent_id, "do", {"n": 9}, context_id="ch_2")
            seen = [await agent.delivered(), await agent.delivered()]
            assert sorted(message.channel_id for message in seen) == ["ch_1", "ch_2"]
            assert await agent.quiet()
            by_channel = {message.channel_id: message for message in seen}
            agent.publish(by_channel["ch_2"], text="9")
            assert (await other.end()).content == (Text("9"),)
            agent.publish(by_channel["ch_1"], text="0")
            for n in (1, 2):
                message = await agent.delivered()
                assert message.payload["tool"]["arguments"] == {"n": n}
                agent.publish(message, text=str(n))
            assert [(await calling.end()).content for calling in one] == [(Text("0"),), (Text("1"),), (Text("2"),)]


@pytest.mark.virtual_time
async def test_a_call_that_no_agent_had_taken_is_delivered_when_one_attaches():
    """gateway.md §6: not yet taken means simply delivered; here it stood in line behind one that got lost."""
    async with open_service() as service:
        agent_id, key = await service.agent("serial")
        session = Caller("key_1", "own_1", "gateway", session_id="session_1")
        more: dict[str, Any] = {"context_id": "ch_1", "caller": session}
        async with service.link(key, "do", mode="queue", journal="a") as agent:
            first = service.call(agent_id, "do", {"n": 1}, **more)
            await agent.delivered()
            second = service.call(agent_id, "do", {"n": 2}, **more)
            await agent.quiet()
        assert await first.code(within_s=31) == "agent_lost"
        async with service.link(key, "do", mode="queue", journal="b") as agent:
            message = await agent.delivered()
            agent.publish(message, text="two")
            assert (await second.end()).content == (Text("two"),)
