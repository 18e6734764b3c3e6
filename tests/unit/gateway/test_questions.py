"""An agent asks and its owner answers: agent.input_required and user.continue (gateway.md 1H)."""

import pytest

from tests.unit.gateway.service import open_service
from toolwire.core.errors import Forbidden
from toolwire.gateway.channel import Draft, Party
from toolwire.wire.link import Published


async def test_a_user_continue_reaches_the_agent_that_asked_and_only_owners_say_it():
    async with open_service() as service:
        agent_id, key = await service.agent("worker")
        async with service.link(key) as agent:
            calling = service.call(agent_id, "message", {"message": "work"})
            message = await agent.delivered()
            agent.publish(message, "agent.input_required", text="may I?")
            asked = await agent.next()
            assert isinstance(asked, Published)
            channel = service.channels.get(message.channel_id)
            assert channel is not None
            draft = Draft("user.continue", {"approve": True}, in_reply_to=asked.message_id)
            told = await service.channels.publish(channel, draft, service.owner())
            assert told.recipients == [agent_id]
            assert (await agent.delivered()).payload == {"approve": True}
            with pytest.raises(Forbidden, match="only the channel's owner"):
                await service.channels.publish(channel, draft, Party(agent_id, "own_1", agent_id))
            with pytest.raises(Forbidden, match="only agents"):
                await service.channels.publish(channel, Draft("agent.input_required", {}), service.owner())
            agent.publish(message, text="done")
            await calling.end()
            assert calling.steps() == [(0, "may I?")]
