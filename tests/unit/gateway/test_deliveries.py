"""Messages fetched over HTTP: leases, heartbeats, redelivery (gateway.md §3 and §6, Agents)."""

from collections.abc import Sequence

import anyio
import pytest

from tests.unit.gateway.service import Service, open_service
from toolwire.adapters.memory import MemoryStore
from toolwire.core.errors import AgentOffline, StoreUnavailable
from toolwire.core.ports import Op, Put
from toolwire.core.result import Text
from toolwire.gateway.channel import Draft, Party
from toolwire.gateway.deliveries import Fetched
from toolwire.gateway.delivery import decode_delivery
from toolwire.wire.link import Message, Registration, Skill


async def polled_agent(service: Service, *skills: Skill) -> str:
    agent_id, _ = await service.agent("bash")
    await service.agents.sync(agent_id, Registration("bash", skills=skills or (Skill("do"),)))
    return agent_id


async def read(service: Service, agent_id: str, journal: str = "j", limit: int = 10) -> Sequence[Fetched]:
    return await service.deliveries.read(agent_id, journal, limit, 0)


async def reply(service: Service, message: Message, agent_id: str, text: str) -> None:
    channel = await service.channels.find(message.channel_id, Party(agent_id, "own_1", agent_id))
    draft = Draft("agent_reply", {"text": text}, in_reply_to=message.message_id)
    await service.channels.publish(channel, draft, Party(agent_id, "own_1", agent_id))


async def test_a_reader_gets_a_call_and_its_published_reply_is_the_result():
    """gateway.md §6: read, publish, acknowledge."""
    async with open_service() as service:
        agent_id = await polled_agent(service)
        await read(service, agent_id)
        calling = service.call(agent_id, "do", {"n": 1})
        with anyio.fail_after(5):
            [fetched] = await service.deliveries.read(agent_id, "j", 10, 30)
        assert fetched.message.payload["tool"] == {"name": "do", "arguments": {"n": 1}}
        assert not fetched.redelivered
        assert fetched.lease_until == service.clock.at + 30
        await reply(service, fetched.message, agent_id, "done")
        assert service.deliveries.ack(agent_id, "j", [fetched.delivery_id]) == [fetched.delivery_id]
        assert (await calling.end()).content == (Text("done"),)
        assert await read(service, agent_id) == []


async def test_a_waiting_reader_is_woken_by_a_call():
    async with open_service() as service:
        agent_id = await polled_agent(service)
        got: list[Fetched] = []

        async def reader() -> None:
            got.extend(await service.deliveries.read(agent_id, "j", 10, 30))

        with anyio.fail_after(5):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(reader)
                await anyio.wait_all_tasks_blocked()
                service.call(agent_id, "do")
        assert len(got) == 1


@pytest.mark.virtual_time
async def test_a_reader_that_finds_nothing_waits_as_long_as_it_asked_to():
    async with open_service() as service:
        agent_id = await polled_agent(service)
        began = anyio.current_time()
        assert await service.deliveries.read(agent_id, "j", 10, 7) == []
        assert anyio.current_time() == began + 7


@pytest.mark.virtual_time
async def test_a_poller_counts_as_there_until_it_has_been_silent_for_too_long():
    """gateway.md §3, D16: 45 s without a read or renewal, then agent_offline at once."""
    async with open_service() as service:
        agent_id = await polled_agent(service)
        await read(service, agent_id)
        await anyio.sleep(44)
        calling = service.call(agent_id, "do")
        await anyio.wait_all_tasks_blocked()
        [fetched] = await read(service, agent_id)
        await reply(service, fetched.message, agent_id, "done")
        await calling.end()
        await anyio.sleep(46)
        with pytest.raises(AgentOffline):
            await service.call(agent_id, "do").end()


@pytest.mark.virtual_time
async def test_a_lapsed_lease_gives_the_message_to_the_same_journal_alone():
    """gateway.md §6, lost calls: the journal gets it again, marked; another one does not."""
    async with open_service() as service:
        agent_id = await polled_agent(service)
        await read(service, agent_id)
        calling = service.call(agent_id, "do")
        await anyio.wait_all_tasks_blocked()
        [first] = await read(service, agent_id)
        await anyio.sleep(31)
        assert await read(service, agent_id, "another") == []
        [again] = await read(service, agent_id)
        assert (again.message, again.redelivered) == (first.message, True)
        assert again.delivery_id != first.delivery_id
        assert service.deliveries.renew(agent_id, "j", [first.delivery_id]) == []
        await reply(service, again.message, agent_id, "done")
        assert (await calling.end()).content == (Text("done"),)


@pytest.mark.virtual_time
async def test_a_message_whose_reader_never_returns_is_lost():
    """gateway.md §6: agent_lost when the journal does not come back within another lease."""
    async with open_service() as service:
        agent_id = await polled_agent(service)
        await read(service, agent_id)
        calling = service.call(agent_id, "do", deadline=service.clock.at + 90)
        await anyio.wait_all_tasks_blocked()
        await read(service, agent_id)
        assert await calling.code(within_s=61) == "agent_lost"


@pytest.mark.virtual_time
async def test_a_repeatable_message_whose_lease_lapsed_goes_to_anybody():
    """gateway.md §6: declared idempotent."""
    async with open_service() as service:
        agent_id = await polled_agent(service, Skill("look", idempotent=True))
        await read(service, agent_id)
        calling = service.call(agent_id, "look")
        await anyio.wait_all_tasks_blocked()
        await read(service, agent_id)
        await anyio.sleep(31)
        [again] = await read(service, agent_id, "another")
        await reply(service, again.message, agent_id, "seen")
        assert (await calling.end()).content == (Text("seen"),)


@pytest.mark.virtual_time
async def test_renewing_holds_a_message_for_as_long_as_it_goes_on():
    """gateway.md §6: renewing is the heartbeat; 5 × 20 s is more than any lease."""
    async with open_service() as service:
        agent_id = await polled_agent(service)
        await read(service, agent_id)
        calling = service.call(agent_id, "do", idempotency_key="1")
        await anyio.wait_all_tasks_blocked()
        [fetched] = await read(service, agent_id)
        for _ in range(5):
            await anyio.sleep(20)
            assert service.deliveries.renew(agent_id, "j", [fetched.delivery_id, "msg_x.1"]) == [
                (fetched.delivery_id, service.clock.at + 30)
            ]
        await reply(service, fetched.message, agent_id, "done")
        service.clock.at += 100
        retry = service.call(agent_id, "do", idempotency_key="1")
        assert (await retry.end()).content == (Text("done"),)
        assert await calling.code() == "service_timeout"


async def test_a_message_given_back_comes_again_at_once_three_times_at_most():
    """gateway.md §6: nack delivers again at once; the fourth time the call is lost."""
    async with open_service() as service:
        agent_id = await polled_agent(service)
        await read(service, agent_id)
        calling = service.call(agent_id, "do")
        await anyio.wait_all_tasks_blocked()
        for redelivered in (False, True, True, True):
            [fetched] = await read(service, agent_id)
            assert fetched.redelivered is redelivered
            assert service.deliveries.nack(agent_id, "j", [fetched.delivery_id]) == [fetched.delivery_id]
        assert await read(service, agent_id) == []
        assert await calling.code() == "agent_lost"


async def test_a_message_given_back_goes_to_whoever_is_there():
    """gateway.md §6: a nack says that it was not begun, so another journal may take it."""
    async with open_service() as service:
        agent_id = await polled_agent(service)
        await read(service, agent_id)
        calling = service.call(agent_id, "do")
        await anyio.wait_all_tasks_blocked()
        [fetched] = await read(service, agent_id)
        service.deliveries.nack(agent_id, "j", [fetched.delivery_id])
        [again] = await read(service, agent_id, "another")
        await reply(service, again.message, agent_id, "done")
        await calling.end()


async def test_of_a_poller_and_a_link_each_message_goes_to_one():
    """A fault: both at once, no message twice; a link is served first."""
    async with open_service() as service:
        agent_id, key = await service.agent("both")
        await service.agents.sync(agent_id, Registration("both", skills=(Skill("do"),)))
        await read(service, agent_id)
        waiting = service.call(agent_id, "do", {"n": 1})
        await anyio.wait_all_tasks_blocked()
        async with service.link(key, "do", journal="link") as agent:
            first = await agent.delivered()
            assert first.payload["tool"]["arguments"] == {"n": 1}
            sent = service.call(agent_id, "do", {"n": 2})
            second = await agent.delivered()
            assert await read(service, agent_id) == []
            agent.publish(first, text="1")
            agent.publish(second, text="2")
            await waiting.end()
            await sent.end()
        polled = service.call(agent_id, "do", {"n": 3})
        await anyio.wait_all_tasks_blocked()
        [fetched] = await read(service, agent_id)
        await reply(service, fetched.message, agent_id, "3")
        await polled.end()


async def test_a_cancelled_call_is_told_to_the_reader_that_has_it():
    """gateway.md D19: chat_cancel also reaches those who fetch."""
    async with open_service() as service:
        agent_id = await polled_agent(service)
        await read(service, agent_id)
        calling = service.call(agent_id, "do")
        await anyio.wait_all_tasks_blocked()
        [fetched] = await read(service, agent_id)
        calling.leave()
        await anyio.wait_all_tasks_blocked()
        [cancel] = await read(service, agent_id)
        assert cancel.message.type == "chat_cancel"
        assert cancel.message.payload == {"target_message_id": fetched.message.message_id}


class FailingStore(MemoryStore):
    """Cannot write deliveries while `failing`."""

    failing = False

    async def tx(self, ops: Sequence[Op]) -> None:
        if self.failing and any(isinstance(op, Put) and op.kind == "delivery" for op in ops):
            raise StoreUnavailable("the disk is full")
        await super().tx(ops)


async def test_who_takes_a_durable_message_is_committed_before_it_is_given_out():
    """gateway.md §6: after a crash only that journal may get it; what cannot be recorded is not given out."""
    async with open_service() as service:
        agent_id = await polled_agent(service)
        await read(service, agent_id)
        service.call(agent_id, "do", idempotency_key="1")
        await anyio.wait_all_tasks_blocked()
        [fetched] = await read(service, agent_id)
        stored = await service.store.get("delivery", agent_id, fetched.message.message_id)
        assert stored is not None
        assert decode_delivery(stored.value).taken_by == "j"


async def test_a_message_whose_taker_cannot_be_recorded_stays_for_the_next_read():
    """A fault: a store that is full."""
    async with open_service(FailingStore) as service:
        agent_id = await polled_agent(service)
        await read(service, agent_id)
        service.call(agent_id, "do", idempotency_key="1")
        await anyio.wait_all_tasks_blocked()
        assert isinstance(service.store, FailingStore)
        service.store.failing = True
        with pytest.raises(StoreUnavailable):
            await read(service, agent_id)
        service.store.failing = False
        [fetched] = await read(service, agent_id, "another")
        assert fetched.message.type == "chat_message"
