"""What a restart of the gateway finds and does not do twice (gateway.md D6, D29, §6; ARCHITECTURE §2).

`disk.crash()` stops a service as `kill -9` would: from that moment on nothing of it reaches the store.
"""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from tests.unit.gateway.service import Service, open_service
from tests.unit.gateway.world import ManualClock
from toolwire.adapters.memory import MemoryStore
from toolwire.core.call import Caller
from toolwire.core.errors import AgentOffline, StoreUnavailable
from toolwire.core.ports import Op, Put
from toolwire.core.result import Text
from toolwire.gateway.channel import Draft, Party
from toolwire.gateway.delivery import decode_delivery
from toolwire.wire.link import Published, Refused, Skill

KEYED: dict[str, Any] = {"idempotency_key": "user_7:q3"}


class Disk(MemoryStore):
    """A store that outlives the service on it."""

    def __init__(self, clock: ManualClock) -> None:
        super().__init__(clock)
        self.clock = clock
        self.gone = False
        self.loses_ends = False

    async def tx(self, ops: Sequence[Op]) -> None:
        ends_a_call = any(isinstance(op, Put) and op.kind == "call" and op.expires_at is not None for op in ops)
        if self.gone or (self.loses_ends and ends_a_call):
            raise StoreUnavailable("the process is gone")
        await super().tx(ops)

    def crash(self) -> None:
        """The service writes nothing any more."""
        self.gone = True


@asynccontextmanager
async def life(disk: Disk) -> AsyncGenerator[Service]:
    """One process on the disk, which ends by a crash."""
    async with open_service(lambda _: disk, disk.clock) as service:
        try:
            yield service
        finally:
            disk.crash()
    disk.gone = disk.loses_ends = False


async def test_a_call_that_its_agent_still_works_on_is_answered_after_the_restart():
    """The agent re-attaches by itself and says what it holds; the call is not sent again and ends under its key."""
    disk = Disk(ManualClock())
    async with life(disk) as service:
        agent_id, key = await service.agent("research")
        async with service.link(key, "do") as agent:
            service.call(agent_id, "do", **KEYED)
            message = await agent.delivered()
            disk.crash()
    async with life(disk) as service, service.link(key, "do", running=(message.message_id,)) as agent:
        assert await agent.quiet()
        agent.publish(message, text="done")
        assert isinstance(await agent.next(), Published)
        retry = service.call(agent_id, "do", **KEYED)
        assert (await retry.end()).content == (Text("done"),)
        assert await agent.quiet()


async def test_a_taken_call_goes_after_the_restart_to_the_journal_that_took_it():
    """gateway.md §6: not to another one; marked as sent before, so that the journal answers from its memory."""
    disk = Disk(ManualClock())
    async with life(disk) as service:
        agent_id, key = await service.agent("research")
        async with service.link(key, "do", journal="a") as agent:
            service.call(agent_id, "do", **KEYED)
            message = await agent.delivered()
            disk.crash()
    async with life(disk) as service, service.link(key, "do", journal="b") as other:
        assert await other.quiet()
        async with service.link(key, "do", journal="a") as agent:
            frame = await agent.next()
            assert (frame.message, frame.redelivered) == (message, True)
            agent.publish(message, text="done")
            retry = service.call(agent_id, "do", **KEYED)
            assert (await retry.end()).content == (Text("done"),)


@pytest.mark.virtual_time
async def test_a_taken_call_is_lost_when_its_journal_does_not_return_after_the_restart():
    """gateway.md §6: it ends agent_lost; a retry under the key is told outcome_unknown and runs nothing."""
    disk = Disk(ManualClock())
    async with life(disk) as service:
        agent_id, key = await service.agent("research")
        async with service.link(key, "do", journal="a") as agent:
            service.call(agent_id, "do", **KEYED)
            await agent.delivered()
            disk.crash()
    async with life(disk) as service, service.link(key, "do", journal="b") as other:
        await anyio.sleep(31)
        assert await service.call(agent_id, "do", **KEYED).code() == "outcome_unknown"
        assert await other.quiet()


@pytest.mark.virtual_time
async def test_a_repeatable_call_is_sent_to_anybody_when_its_journal_does_not_return():
    """gateway.md §6: declared idempotent."""
    disk = Disk(ManualClock())
    async with life(disk) as service:
        agent_id, key = await service.agent("research")
        async with service.link(key, Skill("look", idempotent=True), journal="a") as agent:
            service.call(agent_id, "look", **KEYED)
            await agent.delivered()
            disk.crash()
    async with life(disk) as service, service.link(key, Skill("look", idempotent=True), journal="b") as other:
        message = await other.delivered(within_s=40)
        other.publish(message, text="seen")
        retry = service.call(agent_id, "look", **KEYED)
        assert (await retry.end()).content == (Text("seen"),)


async def test_a_gateway_that_is_stopped_leaves_its_keyed_calls_to_the_next_one():
    """gateway.md §6: a shutdown is no cancellation; the agent is not told to stop and answers after the restart."""
    disk = Disk(ManualClock())
    async with open_service(lambda _: disk, disk.clock) as service:
        agent_id, key = await service.agent("research")
        async with service.link(key, "do") as agent:
            service.call(agent_id, "do", **KEYED)
            message = await agent.delivered()
    async with life(disk) as service, service.link(key, "do", running=(message.message_id,)) as agent:
        assert await agent.quiet()
        agent.publish(message, text="done")
        retry = service.call(agent_id, "do", **KEYED)
        assert (await retry.end()).content == (Text("done"),)


async def test_an_answer_that_was_committed_before_the_crash_ends_the_call_after_it():
    """gateway.md D6: the reply is on the channel, the call's end is not; nobody has to say it again."""
    disk = Disk(ManualClock())
    async with life(disk) as service:
        agent_id, key = await service.agent("research")
        async with service.link(key, "do") as agent:
            service.call(agent_id, "do", **KEYED)
            disk.loses_ends = True
            message = await agent.delivered()
            party = Party(agent_id, service.owner().owner, agent_id)
            channel = await service.channels.find(message.channel_id, party)
            reply = Draft("agent_reply", {"text": "done"}, in_reply_to=message.message_id)
            await service.channels.publish(
                channel, reply, party
            )  # as over HTTP, where an answer is a commit of its own
            disk.crash()
    async with life(disk) as service:
        retry = service.call(agent_id, "do", **KEYED)
        assert (await retry.end()).content == (Text("done"),)


async def test_an_answer_that_is_not_committed_is_not_acknowledged_and_said_again_after_the_crash():
    """gateway.md D6: over the link an answer and the end of its call are one commit; until then the agent keeps it."""
    disk = Disk(ManualClock())
    async with life(disk) as service:
        agent_id, key = await service.agent("research")
        async with service.link(key, "do") as agent:
            service.call(agent_id, "do", **KEYED)
            disk.loses_ends = True
            message = await agent.delivered()
            agent.publish(message, text="done")
            assert isinstance(await agent.next(), Refused)
            disk.crash()
    async with life(disk) as service, service.link(key, "do", running=(message.message_id,)) as agent:
        agent.publish(message, text="done")
        assert isinstance(await agent.next(), Published)
        retry = service.call(agent_id, "do", **KEYED)
        assert (await retry.end()).content == (Text("done"),)
        assert await agent.quiet()


async def test_an_answer_that_is_sent_again_after_the_restart_changes_nothing():
    """wire/link.py: the same message_id again is answered like the first; the agent may forget it then."""
    disk = Disk(ManualClock())
    async with life(disk) as service:
        agent_id, key = await service.agent("research")
        async with service.link(key, "do") as agent:
            calling = service.call(agent_id, "do", **KEYED)
            message = await agent.delivered()
            agent.publish(message, text="done")
            first = await agent.next()
            await calling.end()
            disk.crash()
    async with life(disk) as service, service.link(key, "do") as agent:
        agent.publish(message, text="something else")
        again = await agent.next()
        assert (again.message_id, again.offset, again.idempotent) == (first.message_id, first.offset, True)


async def test_a_session_goes_on_after_the_restart_with_its_history():
    """gateway.md 41, D12: sessions persist; offsets go on rising."""
    disk = Disk(ManualClock())
    session: dict[str, Any] = {
        "caller": Caller("key_1", "own_1", "gateway", session_id="s"),
        "context_id": "ch_session",
    }
    async with life(disk) as service:
        agent_id, key = await service.agent("talker")
        async with service.link(key, "talk") as agent:
            calling = service.call(agent_id, "talk", **session)
            agent.publish(await agent.delivered(), text="first")
            await calling.end()
            disk.crash()
    async with life(disk) as service, service.link(key, "talk") as agent:
        assert await service.conversations.owns(agent_id, session["caller"], "ch_session")
        calling = service.call(agent_id, "talk", **session)
        message = await agent.delivered()
        assert message.offset == 3
        agent.publish(message, text="second")
        await calling.end()
        channel = await service.channels.find("ch_session", service.owner())
        history = await service.channels.history(channel)
        assert [row.offset for row in history.messages] == [1, 2, 3, 4]


@pytest.mark.virtual_time
async def test_a_call_waits_a_moment_for_an_agent_that_was_attached_before_the_restart():
    """gateway.md §6: up to 5 s."""
    disk = Disk(ManualClock())
    async with life(disk) as service:
        agent_id, key = await service.agent("research")
        async with service.link(key, "do"):
            await service.engine.recorder.flush()
            disk.crash()
    async with life(disk) as service:
        calling = service.call(agent_id, "do")
        await anyio.sleep(4)
        async with service.link(key, "do") as agent:
            agent.publish(await agent.delivered(), text="done")
            assert (await calling.end()).content == (Text("done"),)


@pytest.mark.virtual_time
async def test_a_call_waits_no_longer_than_that_moment():
    """gateway.md §6, D16: then agent_offline, for this call and at once for the next."""
    disk = Disk(ManualClock())
    async with life(disk) as service:
        agent_id, key = await service.agent("research")
        async with service.link(key, "do"):
            await service.engine.recorder.flush()
            disk.crash()
    async with life(disk) as service:
        assert await service.call(agent_id, "do").code(within_s=6) == "agent_offline"
        with pytest.raises(AgentOffline):
            await service.call(agent_id, "do").end()


async def test_an_agent_that_had_left_before_the_restart_is_not_waited_for():
    """gateway.md D16: agent_offline at once."""
    disk = Disk(ManualClock())
    async with life(disk) as service:
        agent_id, key = await service.agent("research")
        async with service.link(key, "do"):
            await service.engine.recorder.flush()
        await service.engine.recorder.flush()
    async with life(disk) as service:
        with pytest.raises(AgentOffline):
            await service.call(agent_id, "do").end()


async def test_an_unanswered_message_on_a_channel_is_delivered_after_the_restart():
    """gateway.md 15, D29: what an owner published waits in the store for its agent."""
    disk = Disk(ManualClock())
    async with life(disk) as service:
        agent_id, key = await service.agent("research")
        channel = await service.channels.create("own_1", (agent_id,))
        receipt = await service.channels.publish(channel, Draft("chat_message", {"message": "hello?"}), service.owner())
        assert receipt.recipients == [agent_id]
        disk.crash()
    async with life(disk) as service, service.link(key) as agent:
        message = await agent.delivered()
        assert message.payload == {"message": "hello?"}
        agent.publish(message, text="hello!")
        await agent.next()
        channel = await service.channels.find(message.channel_id, service.owner())
        answer = await service.channels.wait(channel, receipt.message_id, 5)
        assert answer.payload == {"text": "hello!"}
        assert await disk.get("delivery", agent_id, receipt.message_id) is None


async def test_two_hundred_calls_in_flight_at_the_crash_each_end_once():
    """Issue, "it shows": kill -9 in the middle of 200 calls with keys; none runs twice, none stays open for ever."""
    disk = Disk(ManualClock())
    async with life(disk) as service:
        agent_id, key = await service.agent("echo")
        async with service.link(key, "echo", journal="j") as agent:
            for n in range(200):
                service.call(agent_id, "echo", {"n": n}, idempotency_key=str(n))
            taken = [await agent.delivered() for _ in range(200)]
            for message in taken[:100]:
                agent.publish(message, text="before")
            await agent.quiet()
            disk.crash()
    async with life(disk) as service:
        running = tuple(message.message_id for message in taken[100:150])
        async with service.link(key, "echo", journal="j", running=running) as agent:
            again = [await agent.delivered() for _ in range(50)]
            assert {m.message_id for m in again} == {m.message_id for m in taken[150:]}
            for message in taken[100:]:
                agent.publish(message, text="after")
            retries = [service.call(agent_id, "echo", {"n": n}, idempotency_key=str(n)) for n in range(200)]
            texts = [(await retry.end()).content for retry in retries]
            assert texts.count((Text("before"),)) == 100
            assert texts.count((Text("after"),)) == 100
        assert await disk.scan("open_call", None) == []
        assert await disk.scan("delivery", None) == []


async def test_the_taker_on_record_is_the_one_that_the_message_was_sent_to():
    """gateway.md §6: also where it changed hands between claim and delivery."""
    disk = Disk(ManualClock())
    async with life(disk) as service:
        agent_id, key = await service.agent("research")
        async with service.link(key, Skill("look", idempotent=True), journal="a") as first:
            service.call(agent_id, "look", **KEYED)
            message = await first.delivered()
            async with service.link(key, Skill("look", idempotent=True), journal="b") as second:
                first.close()
                assert (await second.delivered()).message_id == message.message_id
                stored = await disk.get("delivery", agent_id, message.message_id)
                assert stored is not None
                assert decode_delivery(stored.value).taken_by == "b"
