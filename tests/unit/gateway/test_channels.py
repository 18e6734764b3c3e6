"""The message service: publish, read, wait, close, forget (gateway.md 1H and its traps, D29, D30)."""

from collections.abc import Sequence
from typing import Any

import anyio
import pytest

from tests.unit.gateway.service import Service, open_service
from toolwire.adapters.memory import MemoryStore
from toolwire.core.errors import (
    ChannelClosed,
    ChannelNotFound,
    Forbidden,
    IdempotencyKeyReused,
    InvalidParam,
    StoreUnavailable,
    WaitTimeout,
)
from toolwire.core.ports import Append, Leased, Op
from toolwire.gateway.channel import Channel, Draft, Party
from toolwire.gateway.channel_ages import ChannelAges
from toolwire.gateway.channels import MAX_AT_EASE, QUIET_S
from toolwire.wire.link import TERMINAL_TYPES

AGENT = Party("agent_1", "own_1", "agent_1")
OTHER = Party("agent_2", "own_1", "agent_2")


async def new_channel(service: Service, **more: Any) -> Channel:
    return await service.channels.create("own_1", ("agent_1",), **more)


async def say(service: Service, channel: Channel, text: str, party: Party = AGENT, **more: Any):
    draft = Draft(more.pop("type", "note"), {"text": text}, **more)
    return await service.channels.publish(channel, draft, party)


async def test_messages_have_rising_offsets_and_are_read_from_any_of_them():
    """gateway.md 1H, history: since, limit, type."""
    async with open_service() as service:
        channel = await new_channel(service)
        receipts = [await say(service, channel, str(n), type="even" if n % 2 == 0 else "odd") for n in range(6)]
        offsets = [receipt.offset for receipt in receipts]
        assert offsets == sorted(set(offsets))
        page = await service.channels.history(channel, offsets[1], 2)
        assert [row.payload["text"] for row in page.messages] == ["2", "3"]
        assert page.latest_offset == offsets[3]
        evens = await service.channels.history(channel, types=["even"])
        assert [row.payload["text"] for row in evens.messages] == ["0", "2", "4"]
        assert evens.latest_offset == offsets[-1]
        assert (await service.channels.history(channel, offsets[-1])).messages == []


async def test_a_message_that_comes_again_changes_nothing():
    """gateway.md 1H: by its id, and by its idempotency key within the channel."""
    async with open_service() as service:
        channel = await new_channel(service)
        first = await say(service, channel, "a", message_id="m_1", idempotency_key="k_1")
        by_id = await say(service, channel, "b", message_id="m_1")
        by_key = await say(service, channel, "a", idempotency_key="k_1")
        assert (by_id.idempotent, by_id.offset, by_id.message_id) == (True, first.offset, "m_1")
        assert (by_key.idempotent, by_key.offset, by_key.message_id) == (True, first.offset, "m_1")
        assert len((await service.channels.history(channel)).messages) == 1


async def test_two_who_publish_the_same_message_at_once_publish_one():
    async with open_service() as service:
        channel = await new_channel(service)
        offsets: list[int] = []

        async def publish() -> None:
            offsets.append((await say(service, channel, "a", message_id="m_1")).offset)

        async with anyio.create_task_group() as tasks:
            for _ in range(5):
                tasks.start_soon(publish)
        assert len(set(offsets)) == 1
        assert len((await service.channels.history(channel)).messages) == 1


async def test_a_key_for_another_message_and_an_id_of_somebody_else_are_refused():
    """gateway.md 30: same key, changed payload."""
    async with open_service() as service:
        channel = await service.channels.create("own_1", ("agent_1", "agent_2"))
        await say(service, channel, "a", message_id="m_1", idempotency_key="k_1")
        with pytest.raises(IdempotencyKeyReused):
            await say(service, channel, "b", idempotency_key="k_1")
        with pytest.raises(InvalidParam):
            await say(service, channel, "b", OTHER, message_id="m_1")


async def test_a_wait_finds_what_is_there_already():
    """gateway.md 1H, trap b: the reply may land before the wait."""
    async with open_service() as service:
        channel = await new_channel(service)
        await say(service, channel, "part", type="agent_reply_delta", in_reply_to="m_1")
        answer = await say(service, channel, "whole", type="agent_reply", in_reply_to="m_1")
        found = await service.channels.wait(channel, "m_1", 0, types=TERMINAL_TYPES)
        assert found.message_id == answer.message_id
        any_reply = await service.channels.wait(channel, "m_1", 0)
        assert any_reply.payload == {"text": "part"}
        with pytest.raises(WaitTimeout):
            await service.channels.wait(channel, "m_1", 0, since=answer.offset)


async def test_a_wait_blocks_until_the_matching_message_comes():
    """gateway.md 14: matched by in_reply_to and type; other replies do not end it."""
    async with open_service() as service:
        channel = await new_channel(service)
        found: list[str] = []

        async def wait() -> None:
            row = await service.channels.wait(channel, "m_1", 60, types=TERMINAL_TYPES)
            found.append(row.payload["text"])

        with anyio.fail_after(5):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(wait)
                await anyio.wait_all_tasks_blocked()
                await say(service, channel, "other", type="agent_reply", in_reply_to="m_2")
                await say(service, channel, "part", type="agent_reply_delta", in_reply_to="m_1")
                await say(service, channel, "whole", type="agent_reply", in_reply_to="m_1")
        assert found == ["whole"]


@pytest.mark.virtual_time
async def test_a_wait_ends_when_its_time_is_up():
    """gateway.md 1H: 408."""
    async with open_service() as service:
        channel = await new_channel(service)
        began = anyio.current_time()
        with pytest.raises(WaitTimeout):
            await service.channels.wait(channel, "m_1", 60)
        assert anyio.current_time() == began + 60


async def test_a_closed_channel_can_be_read_and_takes_nothing_more():
    """gateway.md 1H: 410; a wait that blocks is told too."""
    async with open_service() as service:
        channel = await new_channel(service)
        await say(service, channel, "a", type="agent_reply", in_reply_to="m_1")
        refused: list[str] = []

        async def wait() -> None:
            try:
                await service.channels.wait(channel, "m_2", 60)
            except ChannelClosed as error:
                refused.append(error.code)

        with anyio.fail_after(5):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(wait)
                await anyio.wait_all_tasks_blocked()
                await service.channels.close(channel)
        assert refused == ["channel_closed"]
        with pytest.raises(ChannelClosed):
            await say(service, channel, "b")
        with pytest.raises(ChannelClosed):
            await service.channels.wait(channel, "m_2", 60)
        assert (await service.channels.wait(channel, "m_1", 0)).payload == {"text": "a"}
        assert len((await service.channels.history(channel)).messages) == 1


async def test_a_single_shot_channel_closes_with_its_first_terminal_reply():
    """gateway.md 1H: single_shot."""
    async with open_service() as service:
        channel = await new_channel(service, single_shot=True)
        await say(service, channel, "part", type="agent_reply_delta", in_reply_to="m_1")
        await say(service, channel, "whole", type="agent_reply", in_reply_to="m_1")
        with pytest.raises(ChannelClosed):
            await say(service, channel, "more")


async def test_a_channel_closes_at_its_deadline():
    """gateway.md 1H: deadline_ms."""
    async with open_service() as service:
        channel = await new_channel(service, deadline=service.clock.at + 10)
        await say(service, channel, "in time")
        service.clock.at += 10
        with pytest.raises(ChannelClosed):
            await say(service, channel, "too late")
        with pytest.raises(ChannelClosed):
            await service.channels.wait(channel, "m_1", 60)


@pytest.mark.parametrize(
    ("party", "error"),
    [(OTHER, Forbidden), (Party("own_2", "own_2"), ChannelNotFound), (Party("bak", "own_3"), ChannelNotFound)],
)
async def test_only_participants_and_the_owner_use_a_channel(party: Party, error: type[Exception]):
    """gateway.md D30, 1H: 403 for an agent that takes no part, 404 for another owner."""
    async with open_service() as service:
        channel = await new_channel(service)
        with pytest.raises(error):
            await service.channels.find(channel.id, party)
        with pytest.raises(error):
            await say(service, channel, "x", party)


@pytest.mark.parametrize("type_", [*TERMINAL_TYPES, "agent_reply_delta"])
async def test_only_agents_answer(type_: str):
    """gateway.md §6: an owner may publish, and not in an agent's name."""
    async with open_service() as service:
        channel = await new_channel(service)
        with pytest.raises(Forbidden):
            await say(service, channel, "x", service.owner(), type=type_, in_reply_to="m_1")


async def test_an_owners_message_reaches_each_participant_and_each_answers_for_itself():
    """gateway.md 15: a real message service; two agents on one channel."""
    async with open_service() as service:
        (one, one_key), (two, two_key) = await service.agent("one"), await service.agent("two")
        async with service.link(one_key, journal="1") as first, service.link(two_key, journal="2") as second:
            channel = await service.channels.create("own_1", (one, two))
            receipt = await say(service, channel, "hello", service.owner(), type="chat_message")
            assert sorted(receipt.recipients) == sorted([one, two])
            first.publish(await first.delivered(), text="from one")
            second.publish(await second.delivered(), text="from two")
            await first.next()
            await second.next()
            history = await service.channels.history(channel, types=["agent_reply"])
            assert {row.publisher_id: row.payload["text"] for row in history.messages} == {
                one: "from one",
                two: "from two",
            }
            await anyio.wait_all_tasks_blocked()
            await service.engine.recorder.flush()
            assert await service.store.scan("delivery", None) == []
            assert not channel.expected


async def test_an_agents_message_reaches_the_other_participants():
    async with open_service() as service:
        (one, one_key), (two, two_key) = await service.agent("one"), await service.agent("two")
        async with service.link(one_key, journal="1") as first, service.link(two_key, journal="2") as second:
            channel = await service.channels.create("own_1", (one, two))
            first.answer(channel.id, None, "chat_message", message="are you there?")
            message = await second.delivered()
            assert (message.publisher_id, message.payload) == (one, {"message": "are you there?"})


@pytest.mark.virtual_time
async def test_the_channel_is_told_when_an_agent_will_not_answer():
    """gateway.md §6, lost calls: nobody waits in vain for a message that is no call."""
    async with open_service() as service:
        agent_id, key = await service.agent("gone")
        channel = await service.channels.create("own_1", (agent_id,))
        async with service.link(key) as agent:
            receipt = await say(service, channel, "hello", service.owner(), type="chat_message")
            await agent.delivered()
        answer = await service.channels.wait(channel, receipt.message_id, 40, types=TERMINAL_TYPES)
        assert (answer.type, answer.publisher_id) == ("agent_reply_error", "gateway")
        assert answer.payload["code"] == "agent_lost"


async def test_a_busy_agent_refuses_a_message_with_agent_busy():
    """gateway.md 53: busy_reject gives the second a terminal agent_busy."""
    async with open_service() as service:
        agent_id, key = await service.agent("single")
        channel = await service.channels.create("own_1", (agent_id,))
        async with service.link(key, mode="busy_reject") as agent:
            await say(service, channel, "one", service.owner(), type="chat_message")
            await agent.delivered()
            second = await say(service, channel, "two", service.owner(), type="chat_message")
            answer = await service.channels.wait(channel, second.message_id, 5, types=TERMINAL_TYPES)
            assert (answer.type, answer.publisher_id) == ("agent_busy", "gateway")


async def test_a_cancel_on_a_channel_is_passed_on_to_the_agent_that_works():
    """gateway.md 1H: chat_cancel."""
    async with open_service() as service:
        agent_id, key = await service.agent("worker")
        channel = await service.channels.create("own_1", (agent_id,))
        async with service.link(key) as agent:
            receipt = await say(service, channel, "work", service.owner(), type="chat_message")
            await agent.delivered()
            draft = Draft("chat_cancel", {"target_message_id": receipt.message_id})
            told = await service.channels.publish(channel, draft, service.owner())
            assert told.recipients == [agent_id]
            assert (await agent.delivered()).payload == {"target_message_id": receipt.message_id}


async def test_messages_of_a_closed_channel_are_not_delivered_any_more():
    async with open_service() as service:
        agent_id, key = await service.agent("late")
        channel = await service.channels.create("own_1", (agent_id,))
        await say(service, channel, "hello", service.owner(), type="chat_message")
        await service.channels.close(channel)
        await service.engine.recorder.flush()
        assert await service.store.scan("delivery", None) == []
        async with service.link(key) as agent:
            assert await agent.quiet()


class FailingStore(MemoryStore):
    """Takes no rows while `failing`, and gives no work while `out_of_reach`."""

    failing = False
    out_of_reach = False

    async def claim(self, queue: str, worker: str, n: int, lease_s: float) -> Sequence[Leased]:
        if self.out_of_reach:
            raise StoreUnavailable("the disk is gone")
        return await super().claim(queue, worker, n, lease_s)

    async def tx(self, ops: Sequence[Op]) -> None:
        if self.failing and any(isinstance(op, Append) for op in ops):
            raise StoreUnavailable("the disk is full")
        await super().tx(ops)


async def test_a_message_that_cannot_be_committed_is_not_on_the_channel():
    """gateway.md D29: committed before it is acknowledged; the same message can be sent again."""
    async with open_service(FailingStore) as service:
        assert isinstance(service.store, FailingStore)
        agent_id, key = await service.agent("late")
        channel = await service.channels.create("own_1", (agent_id,))
        service.store.failing = True
        with pytest.raises(StoreUnavailable):
            await say(service, channel, "a", service.owner(), type="chat_message", message_id="m_1")
        service.store.failing = False
        assert (await service.channels.history(channel)).messages == []
        again = await say(service, channel, "a", service.owner(), type="chat_message", message_id="m_1")
        assert not again.idempotent
        async with service.link(key) as agent:
            assert (await agent.delivered()).message_id == "m_1"
            assert await agent.quiet()


async def test_an_idle_conversation_is_closed_and_a_closed_one_forgotten_after_its_time():
    """gateway.md 1J, D29: 24 h idle, 24 h after close."""
    async with open_service() as service:
        ages = ChannelAges(service.store, service.channels, service.clock)
        channel = await new_channel(service)
        service.clock.at += 23 * 3600
        await say(service, channel, "still here")
        service.clock.at += 2 * 3600
        await ages.look()
        assert not (await service.channels.find(channel.id, AGENT)).is_closed(service.clock.at)
        service.clock.at += 23 * 3600
        await ages.look()
        assert (await service.channels.find(channel.id, AGENT)).is_closed(service.clock.at)
        service.clock.at += 23 * 3600
        await ages.look()
        assert len((await service.channels.history(await service.channels.find(channel.id, AGENT))).messages) == 1
        service.clock.at += 2 * 3600
        await ages.look()
        with pytest.raises(ChannelNotFound):
            await service.channels.find(channel.id, AGENT)
        assert await service.store.read(f"channel/{channel.id}") == []


@pytest.mark.virtual_time
async def test_ages_are_looked_after_every_minute_and_a_store_that_fails_is_left_until_the_next():
    async with open_service(FailingStore) as service:
        assert isinstance(service.store, FailingStore)
        ages = ChannelAges(service.store, service.channels, service.clock)
        channel = await new_channel(service)
        service.tasks.start_soon(ages.keep)
        service.clock.at += 25 * 3600
        service.store.out_of_reach = True
        await anyio.sleep(61)
        assert not (await service.channels.find(channel.id, AGENT)).is_closed(service.clock.at)
        service.store.out_of_reach = False
        await anyio.sleep(60)
        assert (await service.channels.find(channel.id, AGENT)).is_closed(service.clock.at)


async def test_a_channel_past_its_deadline_is_closed_for_good():
    async with open_service() as service:
        ages = ChannelAges(service.store, service.channels, service.clock)
        channel = await new_channel(service, deadline=service.clock.at + 10)
        service.clock.at += 11
        await ages.look()
        assert channel.closed_at == service.clock.at


async def test_what_is_not_used_leaves_the_memory_and_comes_back_when_asked_for():
    async with open_service() as service:
        ages = ChannelAges(service.store, service.channels, service.clock)
        channel = await new_channel(service, metadata={"about": "x"}, single_shot=True, deadline=service.clock.at + 9e5)
        await say(service, channel, "a", message_id="m_1", idempotency_key="k_1")
        service.clock.at += 301
        await ages.look()
        assert service.channels.get(channel.id) is None
        found = await service.channels.find(channel.id, AGENT)
        assert (found.metadata, found.single_shot, found.deadline) == ({"about": "x"}, True, channel.deadline)
        assert (await say(service, found, "a", message_id="m_1")).idempotent
        assert (await say(service, found, "a", idempotency_key="k_1")).idempotent
        assert (await say(service, found, "b")).offset > 1


async def test_of_many_channels_those_in_use_alone_stay_in_memory():
    async with open_service() as service:
        held, waiting, *gone = [await new_channel(service) for _ in range(MAX_AT_EASE)]
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(service.channels.wait, waiting, "m_1", 60)
            await anyio.wait_all_tasks_blocked()
            service.clock.at += QUIET_S + 1
            assert await service.channels.find(held.id, AGENT) is held
            late = [await new_channel(service) for _ in range(MAX_AT_EASE)]
            assert {channel.id for channel in service.channels.in_use()} == {held.id, waiting.id, *(c.id for c in late)}
            await say(service, waiting, "a", type="agent_reply", in_reply_to="m_1")
        assert (await service.channels.find(gone[0].id, AGENT)).created_at == gone[0].created_at
