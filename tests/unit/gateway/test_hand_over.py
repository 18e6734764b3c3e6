"""An answer over the link and the end of its call are one commit, and nothing on the channel loses its place by it."""

from collections.abc import Sequence
from typing import Any

import anyio
import pytest

from tests.unit.gateway.service import Service, open_service
from tests.unit.gateway.world import ManualClock
from toolwire.adapters.memory import MemoryStore
from toolwire.core.errors import StoreUnavailable
from toolwire.core.event import Progress
from toolwire.core.ports import Op, Put
from toolwire.core.result import Text
from toolwire.gateway.channel import Party
from toolwire.wire.link import Message, Publish, Published, Refused

KEYED: dict[str, Any] = {"idempotency_key": "user_7:q3"}


class Ledger(MemoryStore):
    """A store that keeps what was committed, and holds or refuses the ends of calls when it is told to."""

    def __init__(self, clock: ManualClock) -> None:
        super().__init__(clock)
        self.clock = clock
        self.commits: list[list[str]] = []
        self.refused = 0
        self.hold: anyio.Event | None = None

    async def tx(self, ops: Sequence[Op]) -> None:
        kinds = [f"{type(op).__name__} {getattr(op, 'kind', '')}" for op in ops]
        if any(isinstance(op, Put) and op.kind == "call" and op.expires_at is not None for op in ops):
            if self.hold is not None:
                await self.hold.wait()
            if self.refused:
                self.refused -= 1
                raise StoreUnavailable("the disk is full; make room")
        await super().tx(ops)
        self.commits.append(kinds)


async def rows_of(service: Service, agent_id: str, message: Message) -> list[tuple[int, str]]:
    party = Party(agent_id, service.owner().owner, agent_id)
    channel = await service.channels.find(message.channel_id, party)
    return [(row.offset, row.type) for row in (await service.channels.history(channel)).messages]


async def test_a_keyed_call_is_two_commits_its_claim_and_its_end():
    store = Ledger(ManualClock())
    async with open_service(lambda _: store, store.clock) as service:
        agent_id, key = await service.agent("research")
        async with service.link(key, "do") as agent:
            calling = service.call(agent_id, "do", **KEYED)
            message = await agent.delivered()
            agent.publish(message, text="done")
            assert (await calling.end()).content == (Text("done"),)
            assert isinstance(await agent.next(), Published)
            claim, end = [kinds for kinds in store.commits if kinds != ["Put attached"]][-2:]
            assert sum("Put transcript" in kinds for kinds in store.commits) == 1
            assert {"Put claim", "Put open_call", "Put delivery"} == set(claim)
            assert {"Del delivery", "Put transcript", "Del open_call", "Put call"} == set(end)
            assert await rows_of(service, agent_id, message) == [(1, "chat_message"), (2, "agent_reply")]


async def test_an_answer_is_acknowledged_and_on_its_channel_when_it_is_committed_and_not_before():
    store = Ledger(ManualClock())
    store.hold = anyio.Event()
    async with open_service(lambda _: store, store.clock) as service:
        agent_id, key = await service.agent("research")
        async with service.link(key, "do") as agent:
            calling = service.call(agent_id, "do", **KEYED)
            message = await agent.delivered()
            agent.publish(message, text="done")
            assert await agent.quiet()
            assert await rows_of(service, agent_id, message) == [(1, "chat_message")]
            store.hold.set()
            assert isinstance(await agent.next(), Published)
            assert (await calling.end()).content == (Text("done"),)


@pytest.mark.virtual_time
async def test_while_the_store_fails_the_agent_is_told_so_once_and_learns_by_sending_it_again():
    store = Ledger(ManualClock())
    store.refused = 3
    async with open_service(lambda _: store, store.clock) as service:
        agent_id, key = await service.agent("research")
        async with service.link(key, "do") as agent:
            calling = service.call(agent_id, "do", **KEYED)
            message = await agent.delivered()
            agent.publish(message, text="done")
            refused = await agent.next()
            assert isinstance(refused, Refused)
            assert refused.code == "agent_service_unavailable"
            assert (await calling.end()).content == (Text("done"),)
            agent.publish(message, text="done")
            again = await agent.next()
            assert (again.offset, again.idempotent) == (2, True)
            assert await rows_of(service, agent_id, message) == [(1, "chat_message"), (2, "agent_reply")]


async def test_an_answer_that_is_said_again_meanwhile_is_acknowledged_as_the_same():
    store = Ledger(ManualClock())
    store.hold = anyio.Event()
    async with open_service(lambda _: store, store.clock) as service:
        agent_id, key = await service.agent("research")
        async with service.link(key, "do") as agent:
            calling = service.call(agent_id, "do", **KEYED)
            message = await agent.delivered()
            reply = Publish(1, message.channel_id, "agent_reply", {"text": "done"}, "msg_1", message.message_id)
            agent.say(reply, Publish(2, *_fields(reply)))
            assert await agent.quiet()
            store.hold.set()
            told = [await agent.next(), await agent.next()]
            assert sorted((frame.ref, frame.offset, frame.idempotent) for frame in told) == [
                (1, 2, False),
                (2, 2, True),
            ]
            assert (await calling.end()).content == (Text("done"),)


async def test_what_was_said_before_the_answer_stands_before_it():
    store = Ledger(ManualClock())
    async with open_service(lambda _: store, store.clock) as service:
        agent_id, key = await service.agent("research")
        async with service.link(key, "do") as agent:
            calling = service.call(agent_id, "do", **KEYED)
            message = await agent.delivered()
            said = [
                Publish(1, message.channel_id, "agent_reply_delta", {"text": "half"}, None, message.message_id),
                Publish(2, message.channel_id, "note", {"text": "by the way"}),
                Publish(3, message.channel_id, "agent_reply", {"text": "done"}, None, message.message_id),
            ]
            agent.say(*said)
            assert (await calling.end()).content == (Text("done"),)
            assert [event.message for event in calling.heard if isinstance(event, Progress)] == ["half"]
            kinds = ["chat_message", "agent_reply_delta", "note", "agent_reply"]
            assert await rows_of(service, agent_id, message) == list(enumerate(kinds, start=1))


async def test_an_agent_that_takes_no_part_is_refused_at_once():
    store = Ledger(ManualClock())
    async with open_service(lambda _: store, store.clock) as service:
        agent_id, key = await service.agent("research")
        _, foreign = await service.agent("other")
        async with service.link(key, "do") as agent, service.link(foreign, "do") as other:
            service.call(agent_id, "do", **KEYED)
            other.publish(await agent.delivered(), text="mine")
            refused = await other.next()
            assert isinstance(refused, Refused)
            assert refused.code == "forbidden"


def _fields(frame: Publish) -> tuple[Any, ...]:
    return frame.channel_id, frame.type, frame.payload, frame.message_id, frame.in_reply_to
