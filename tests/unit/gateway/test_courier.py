"""A call's way to an agent and back (gateway.md 1H, 1I, 14, 39-42, D12, D13, D16, D19)."""

import gc
from typing import Any

import anyio
import pytest

from tests.unit.gateway.service import Service, open_service
from toolwire.core.call import Caller
from toolwire.core.errors import AgentOffline, ChannelNotFound, ServiceTimeout
from toolwire.core.result import Text
from toolwire.gateway.delivery import Delivery
from toolwire.wire.link import Published, Read, Refused, Rows


def in_session(principal: str = "key_1", session: str = "session_1") -> Caller:
    return Caller(principal, "own_1", "gateway", session_id=session)


async def test_a_call_becomes_a_chat_message_and_its_reply_the_result():
    """gateway.md 14, 1I: one chat_message with the tool in its payload, one agent_reply, one result."""
    async with open_service() as service:
        agent_id, key = await service.agent("research")
        async with service.link(key, "web_search") as agent:
            calling = service.call(agent_id, "web_search", {"query": "x"})
            message = await agent.delivered()
            assert message.type == "chat_message"
            assert message.message_id == calling.call.id.replace("call_", "msg_")
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
                    "deadline": calling.call.deadline,
                },
            }
            ref = agent.publish(message, text="found")
            result = await calling.end()
            assert result.content == (Text("found"),)
            published = await agent.next()
            assert (published.ref, published.offset, published.idempotent) == (ref, 2, False)


async def test_a_call_to_an_agent_that_is_not_attached_fails_at_once():
    """gateway.md D16: agent_offline before the claim, not a time-out."""
    async with open_service() as service:
        agent_id, key = await service.agent("research")
        async with service.link(key, "web_search"):
            pass
        with pytest.raises(AgentOffline):
            await service.call(agent_id, "web_search").end()


async def test_a_call_of_the_fallback_tool_is_a_plain_chat_message():
    """gateway.md X1: without tools the agent is talked to."""
    async with open_service() as service:
        agent_id, key = await service.agent("talker")
        async with service.link(key) as agent:
            calling = service.call(agent_id, "message", {"message": "how are you?"})
            message = await agent.delivered()
            assert message.payload["message"] == "how are you?"
            assert "tool" not in message.payload
            agent.publish(message, text="fine")
            assert (await calling.end()).content == (Text("fine"),)


async def test_deltas_reach_the_caller_as_rising_progress_and_thoughts_do_not():
    """gateway.md 17, 1H, D20: the documented delta, ours with progress, and the frame of a real agent."""
    async with open_service() as service:
        agent_id, key = await service.agent("writer")
        async with service.link(key, "write") as agent:
            calling = service.call(agent_id, "write")
            message = await agent.delivered()
            said = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "two"}}
            thought = {"sessionUpdate": "agent_thought_chunk", "content": {"type": "text", "text": "hm"}}
            agent.publish(message, "agent_reply_delta", text="one")
            agent.publish(message, "agent_reply_delta", session_key="s", update=said)
            agent.publish(message, "agent_reply_delta", session_key="s", update=thought)
            agent.publish(message, "agent_reply_delta", text="", progress={"progress": 7, "message": "page 7"})
            agent.publish(message, "agent_reply_delta", text="three")
            agent.publish(message, text="one two three")
            await calling.end()
            assert calling.steps() == [(0, "one"), (1, "two"), (7, "page 7"), (8, "three")]


async def test_each_call_has_a_channel_of_its_own_that_closes_with_the_answer():
    """gateway.md 39: single-shot channels; an answer that comes again is recognised, another message is refused."""
    async with open_service() as service:
        agent_id, key = await service.agent("research")
        async with service.link(key, "web_search") as agent:
            first, second = service.call(agent_id, "web_search"), service.call(agent_id, "web_search")
            one, two = await agent.delivered(), await agent.delivered()
            assert one.channel_id != two.channel_id
            agent.publish(one, text="answer")
            agent.publish(one, text="another answer")
            agent.publish(one, "agent_reply_delta", text="more")
            agent.publish(two, text="answer")
            assert (await first.end()).content == (Text("answer"),)
            assert (await second.end()).content == (Text("answer"),)
            frames = [await agent.next() for _ in range(4)]
            answers = sorted(frames, key=lambda frame: frame.ref)
            assert [type(frame) for frame in answers] == [Published, Published, Refused, Published]
            assert answers[1].idempotent
            assert answers[1].message_id == answers[0].message_id
            assert answers[2].code == "channel_closed"


async def test_calls_of_a_session_share_a_channel_that_the_agent_can_read():
    """gateway.md 41, D13: one channel, turns matched by in_reply_to however they interleave, history by the agent."""
    async with open_service() as service:
        agent_id, key = await service.agent("research")
        async with service.link(key, "web_search") as agent:
            more: dict[str, Any] = {"caller": in_session(), "context_id": "ch_session"}
            first = service.call(agent_id, "web_search", {"query": "1"}, **more)
            one = await agent.delivered()
            second = service.call(agent_id, "web_search", {"query": "2"}, **more)
            two = await agent.delivered()
            assert (one.channel_id, two.channel_id) == ("ch_session", "ch_session")
            agent.publish(two, text="for two")
            assert (await second.end()).content == (Text("for two"),)
            agent.publish(one, text="for one")
            assert (await first.end()).content == (Text("for one"),)
            agent.say(Read(99, "ch_session"))
            frames = [await agent.next() for _ in range(3)]
            [rows] = [frame for frame in frames if isinstance(frame, Rows)]
            assert [(row.offset, row.type, row.in_reply_to) for row in rows.messages] == [
                (1, "chat_message", None),
                (2, "chat_message", None),
                (3, "agent_reply", two.message_id),
                (4, "agent_reply", one.message_id),
            ]


@pytest.mark.virtual_time
async def test_a_call_that_times_out_is_cancelled_at_the_agent_and_its_late_answer_refused():
    """gateway.md 42, D19: the seed's words; chat_cancel; nothing is left that the agent could still publish on."""
    async with open_service() as service:
        agent_id, key = await service.agent("slow")
        async with service.link(key, "think") as agent:
            calling = service.call(agent_id, "think")
            message = await agent.delivered()
            result = await calling.end(within_s=100)
            assert result.error is not None
            assert (result.error.code, result.error.message) == ("service_timeout", "Agent reply timeout")
            cancel = await agent.delivered()
            assert cancel.type == "chat_cancel"
            assert cancel.payload == {"target_message_id": message.message_id}
            agent.publish(message, text="late")
            refused = await agent.next()
            assert refused.code == "channel_closed"


@pytest.mark.virtual_time
async def test_a_late_answer_in_a_session_is_kept_and_the_session_goes_on():
    """gateway.md D13: a time-out does not poison the session."""
    async with open_service() as service:
        agent_id, key = await service.agent("slow")
        async with service.link(key, "think") as agent:
            more: dict[str, Any] = {"caller": in_session(), "context_id": "ch_session"}
            calling = service.call(agent_id, "think", **more)
            message = await agent.delivered()
            assert await calling.code(within_s=100) == "service_timeout"
            await agent.delivered()  # the chat_cancel
            agent.publish(message, text="late")
            assert isinstance(await agent.next(), Published)
            service.clock.at += 100
            again = service.call(agent_id, "think", **more)
            agent.publish(await agent.delivered(), text="in time")
            assert (await again.end()).content == (Text("in time"),)
            channel = service.channels.get("ch_session")
            assert channel is not None
            history = await service.channels.history(channel)
            assert [row.payload.get("text") for row in history.messages] == [None, "late", None, "in time"]


@pytest.mark.virtual_time
async def test_a_keyed_call_goes_on_after_its_request_and_the_retry_gets_the_late_answer():
    """gateway.md D5, D19, §6 (time-outs): no chat_cancel, one delivery, the answer kept."""
    async with open_service() as service:
        agent_id, key = await service.agent("slow")
        async with service.link(key, "think") as agent:
            more: dict[str, Any] = {"idempotency_key": "user_7:q3"}
            calling = service.call(agent_id, "think", **more)
            message = await agent.delivered()
            assert message.payload["metadata"]["deadline"] == service.clock.at + 600
            with pytest.raises(ServiceTimeout):
                await calling.end(within_s=100)
            agent.publish(message, text="late")
            assert isinstance(await agent.next(), Published)
            retry = service.call(agent_id, "think", **more)
            assert (await retry.end()).content == (Text("late"),)
            assert await agent.quiet()


async def test_a_caller_who_leaves_cancels_the_call_at_the_agent():
    """gateway.md D21, §6: chat_cancel names the message."""
    async with open_service() as service:
        agent_id, key = await service.agent("slow")
        async with service.link(key, "think") as agent:
            calling = service.call(agent_id, "think")
            message = await agent.delivered()
            calling.leave()
            cancel = await agent.delivered()
            assert (cancel.type, cancel.payload) == ("chat_cancel", {"target_message_id": message.message_id})


async def test_a_thousand_calls_at_once_get_each_its_own_answer():
    """A fault: 1,000 calls at once, answered in the reverse order."""
    async with open_service() as service:
        agent_id, key = await service.agent("echo")
        async with service.link(key, "echo") as agent:
            calls = [service.call(agent_id, "echo", {"n": n}) for n in range(1000)]
            messages = [await agent.delivered() for _ in calls]
            for message in reversed(messages):
                agent.publish(message, text=str(message.payload["tool"]["arguments"]["n"]))
            for n, calling in enumerate(calls):
                assert (await calling.end()).content == (Text(str(n)),)


async def test_a_conversation_goes_on_under_the_context_of_an_earlier_call():
    """gateway.md D12: a single-shot channel that its caller continues becomes a conversation, with all of its rows."""
    async with open_service() as service:
        agent_id, key = await service.agent("talker")
        async with service.link(key, "talk") as agent:
            first = service.call(agent_id, "talk", context_id="ch_talk")
            agent.publish(await agent.delivered(), text="first")
            await first.end()
            assert await service.conversations.owns(agent_id, service.caller, "ch_talk")
            second = service.call(agent_id, "talk", context_id="ch_talk")
            message = await agent.delivered()
            assert (message.channel_id, message.offset) == ("ch_talk", 3)
            agent.publish(message, text="second")
            await second.end()
            channel = service.channels.get("ch_talk")
            assert channel is not None
            history = await service.channels.history(channel)
            assert [row.payload.get("text") for row in history.messages] == [None, "first", None, "second"]


async def test_many_may_go_on_in_a_conversation_at_the_same_moment():
    """gateway.md D12, D13: the first of them opens it, with the rows so far; none is refused for being second."""
    async with open_service() as service:
        agent_id, key = await service.agent("talker")
        async with service.link(key, "talk") as agent:
            first = service.call(agent_id, "talk", context_id="ch_talk")
            agent.publish(await agent.delivered(), text="first")
            await first.end()
            asked = service.conversations.owns
            async with anyio.create_task_group() as tasks:
                for _ in range(4):
                    tasks.start_soon(asked, agent_id, service.caller, "ch_talk")
            more: dict[str, Any] = {"context_id": "ch_talk", "continues": True}
            keyed: list[dict[str, Any]] = [{}, {"idempotency_key": "k1"}, {}, {"idempotency_key": "k2"}]
            callings = [service.call(agent_id, "talk", **more, **one) for one in keyed]
            for _ in callings:
                agent.publish(await agent.delivered(), text="another")
            assert [await calling.code() for calling in callings] == [None] * 4
            channel = service.channels.get("ch_talk")
            assert channel is not None
            rows = (await service.channels.history(channel)).messages
            assert sum(row.type == "agent_reply" for row in rows) == 5
            assert [row.offset for row in rows] == sorted({row.offset for row in rows})


@pytest.mark.parametrize(
    ("caller", "agent"),
    [
        (Caller("key_2", "own_1", "gateway"), "talker"),
        (Caller("key_1", "own_2", "gateway"), "talker"),
        (Caller("key_1", "own_1", "gateway"), "other"),
    ],
)
async def test_a_conversation_is_its_callers_and_its_agents_alone(caller: Caller, agent: str):
    """gateway.md D12, D30."""
    async with open_service() as service:
        agent_id, key = await service.agent("talker")
        other_id, _ = await service.agent("other")
        async with service.link(key, "talk") as linked:
            calling = service.call(agent_id, "talk", context_id="ch_talk")
            linked.publish(await linked.delivered(), text="first")
            await calling.end()
        asked = agent_id if agent == "talker" else other_id
        assert not await service.conversations.owns(asked, caller, "ch_talk")
        assert not await service.conversations.owns(agent_id, service.caller, "ch_unknown")


async def test_a_session_has_a_channel_before_its_first_call_and_none_after_it_was_closed():
    """gateway.md D12: created lazily; closed, it is over."""
    async with open_service() as service:
        agent_id, key = await service.agent("talker")
        async with service.link(key, "talk") as agent:
            assert await service.conversations.owns(agent_id, in_session(), "ch_session")
            calling = service.call(agent_id, "talk", caller=in_session(), context_id="ch_session")
            agent.publish(await agent.delivered(), text="first")
            await calling.end()
            channel = service.channels.get("ch_session")
            assert channel is not None
            await service.channels.close(channel)
            assert not await service.conversations.owns(agent_id, in_session(), "ch_session")


async def test_a_session_that_ends_lets_its_calls_be_answered_and_takes_no_more():
    """gateway.md D12: DELETE closes the channel; the call under way keeps its answer, also one with a key."""
    async with open_service() as service:
        agent_id, key = await service.agent("talker")
        async with service.link(key, "talk") as agent:
            calling = service.call(agent_id, "talk", caller=in_session(), context_id="ch_session", idempotency_key="k")
            message = await agent.delivered()
            await service.conversations.end("ch_session")
            await service.conversations.end("ch_never_used")
            agent.answer("ch_session", None, "note", text="too late")
            assert (await agent.next()).code == "channel_closed"
            agent.publish(message, "agent_reply_delta", text="nearly")
            agent.publish(message, text="done")
            assert (await calling.end()).content == (Text("done"),)
            assert not await service.conversations.owns(agent_id, in_session(), "ch_session")


async def test_what_an_agent_says_of_another_message_ends_no_call():
    """gateway.md 14: matched by in_reply_to alone; the agent is told that it named nothing."""
    async with open_service() as service:
        agent_id, key = await service.agent("confused")
        async with service.link(key, "talk") as agent:
            calling = service.call(agent_id, "talk")
            message = await agent.delivered()
            agent.publish(message, "agent_reply", text="right")
            await calling.end()
            again = service.call(agent_id, "talk")
            other = await agent.delivered()
            agent.answer(other.channel_id, None, text="to nothing")
            agent.answer(other.channel_id, message.message_id, text="to another channel's")
            assert [(await agent.next()).code for _ in range(2)] == ["invalid_param", "invalid_param"]
            agent.publish(other, text="at last")
            assert (await again.end()).content == (Text("at last"),)


async def test_plain_calls_leave_a_transcript_and_nothing_in_memory():
    """gateway.md 41, D29: written behind; memory is bounded by what is in use."""
    async with open_service() as service:
        agent_id, key = await service.agent("echo")
        async with service.link(key, "echo") as agent:
            for n in range(3):
                calling = service.call(agent_id, "echo", context_id=f"ch_{n}")
                agent.publish(await agent.delivered(), text=str(n))
                await calling.end()
                await _written(service)
        assert service.channels.get("ch_0") is None
        channel = await service.channels.find("ch_0", service.owner())
        history = await service.channels.history(channel)
        assert [row.type for row in history.messages] == ["chat_message", "agent_reply"]
        assert channel.is_closed(service.clock.now())


async def test_what_a_plain_call_has_left_can_be_read_as_soon_as_it_is_over():
    """gateway.md 41: whoever asks before the transcript is written waits for that."""
    async with open_service() as service:
        agent_id, key = await service.agent("echo")
        async with service.link(key, "echo") as agent:
            calling = service.call(agent_id, "echo", context_id="ch_1")
            agent.publish(await agent.delivered(), text="done")
            await calling.end()
            assert service.channels.get("ch_1") is None
            history = await service.channels.history(await service.channels.find("ch_1", service.owner()))
            assert [row.payload.get("text") for row in history.messages] == [None, "done"]


async def test_a_transcript_that_cannot_be_kept_costs_neither_the_answer_nor_another_transcript():
    async with open_service() as service:
        agent_id, key = await service.agent("echo")
        async with service.link(key, "echo") as agent:
            for n, size in enumerate((1, 2**70, 3)):  # which MessagePack has no word for
                calling = service.call(agent_id, "echo", {"size": size}, context_id=f"ch_{n}")
                agent.publish(await agent.delivered(), text="done")
                assert (await calling.end()).content == (Text("done"),)
            for n in (0, 2):
                await service.channels.find(f"ch_{n}", service.owner())
            with pytest.raises(ChannelNotFound):
                await service.channels.find("ch_1", service.owner())


async def test_a_call_that_is_over_leaves_nothing_for_the_collector():
    async with open_service() as service:
        agent_id, agent_key = await service.agent("echo")
        async with service.link(agent_key, "echo") as agent:
            gc.collect()
            gc.disable()
            try:
                for key in ("k1", None):
                    calling = service.call(agent_id, "echo", context_id=f"ch_{key}", idempotency_key=key)
                    agent.publish(await agent.delivered(), text="done")
                    await calling.end()
                del calling
                await _written(service)
                assert [one for one in gc.get_objects() if type(one) is Delivery] == []
            finally:
                gc.enable()


async def _written(service: Service) -> None:
    await anyio.wait_all_tasks_blocked()
    await service.engine.recorder.flush()
