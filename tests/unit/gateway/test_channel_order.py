"""What an agent says in a conversation is heard in the order in which it said it (gateway.md 17, D20)."""

from collections.abc import Sequence

import anyio

from tests.unit.gateway.service import open_service
from tests.unit.gateway.world import ManualClock
from toolwire.adapters.memory import MemoryStore
from toolwire.core.call import Caller
from toolwire.core.ports import Append, Op
from toolwire.wire.link import Publish


class Dawdling(MemoryStore):
    """Tells whoever wrote "first" that it is written only after it has told whoever wrote "second"."""

    def __init__(self, clock: ManualClock) -> None:
        super().__init__(clock)
        self.told_second = anyio.Event()

    async def tx(self, ops: Sequence[Op]) -> None:
        await super().tx(ops)
        written = b"".join(op.value for op in ops if isinstance(op, Append))
        if b"first" in written:
            await self.told_second.wait()
        elif b"second" in written:
            self.told_second.set()


async def test_progress_in_a_session_comes_in_its_order_however_the_store_wakes_who_waits():
    """gateway.md 17, 41, D20."""
    async with open_service(Dawdling) as service:
        agent_id, key = await service.agent("research")
        async with service.link(key, "work") as agent:
            calling = service.call(agent_id, "work", caller=Caller("key_1", "own_1", "gateway", session_id="s_1"))
            message = await agent.delivered()
            texts = ("first", "second", "third")
            agent.say(
                *(
                    Publish(ref, message.channel_id, "agent_reply_delta", {"text": text}, None, message.message_id)
                    for ref, text in enumerate(texts, 1)
                )
            )
            agent.publish(message, text="done")
            await calling.end()
            assert calling.steps() == [(0, "first"), (1, "second"), (2, "third")]
