"""A call's way to an agent and back (gateway.md 14, 39, 1H, 1I)."""

import anyio
import pytest

from tests.unit.gateway.service import open_service
from toolwire.core.errors import AgentOffline
from toolwire.core.result import Text


async def test_a_call_becomes_a_chat_message_and_its_reply_the_result():
    """gateway.md 14, 1I: one chat_message with the tool in its payload, one agent_reply, one result."""
    async with open_service() as service:
        agent_id, key = await service.agent("research")
        async with service.link(key, "web_search") as agent, anyio.create_task_group() as tasks:
            call = service.call_of(agent_id, "web_search", {"query": "x"})
            results = []

            async def caller():
                results.append(await service.submit(call))

            tasks.start_soon(caller)
            message = await agent.delivered()
            assert message.type == "chat_message"
            assert message.message_id == call.id.replace("call_", "msg_")
            assert message.offset == 1
            assert message.publisher_id == "gateway"
            assert message.payload == {
                "message": 'web_search {"query":"x"}',
                "tool": {"name": "web_search", "arguments": {"query": "x"}},
                "channel_id": message.channel_id,
                "context_id": message.channel_id,
                "metadata": {
                    "target_agent_id": agent_id,
                    "delivery_principal": f"agent:{agent_id}",
                    "protocol": "mcp",
                    "deadline": call.deadline,
                },
            }
            ref = agent.publish(message, text="found")
            published = await agent.next()
            assert (published.ref, published.offset, published.idempotent) == (ref, 2, False)
        assert [result.content for result in results] == [(Text("found"),)]


async def test_a_call_to_an_agent_that_is_not_attached_fails_at_once():
    """gateway.md D16: agent_offline, not a time-out."""
    async with open_service() as service:
        agent_id, key = await service.agent("research")
        async with service.link(key, "web_search"):
            pass
        with pytest.raises(AgentOffline), anyio.fail_after(5):
            await service.submit(service.call_of(agent_id, "web_search"))
