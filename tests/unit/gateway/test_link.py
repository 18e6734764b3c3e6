"""The agent link: who may attach, what is refused, and what becomes of messages when links come and go.

Covers gateway.md §3, §6 (Agents, lost calls), D18, D30 and the faults of an agent that dies, repeats itself or raves.
"""

from collections.abc import Sequence
from typing import Any

import anyio
import pytest

from tests.unit.gateway.service import open_service
from toolwire.adapters.memory import MemoryStore
from toolwire.core.errors import AgentOffline, StoreUnavailable
from toolwire.core.ports import Op, Put
from toolwire.core.result import TOOL_FAILED, Text
from toolwire.gateway.delivery import decode_delivery
from toolwire.wire.link import Drain, Hello, Publish, Published, Read, Refused, Registration, Skill, Welcome


def hello(journal: str = "journal_1", protocol: int = 1, **registration: Any) -> Hello:
    return Hello(protocol, journal, Registration("agent", **registration))


@pytest.mark.parametrize(("kind", "status"), [(None, 401), ("bak", 403), ("oag", 403)])
async def test_only_an_agents_own_key_opens_the_link(kind: Any, status: int):
    """gateway.md §3: agk_ attaches, and neither opens the caller surfaces nor the other way round."""
    async with open_service() as service:
        agent_id, _ = await service.agent("research")
        secret = "agk_" + "0" * 64
        if kind is not None:
            _, secret = await service.keys.create(kind, "own_1", None if kind == "oag" else agent_id)
        async with service.socket(secret) as agent:
            with anyio.fail_after(5):
                await agent.closed.wait()
            assert [event["type"] for event in agent.events] == [
                "websocket.http.response.start",
                "websocket.http.response.body",
            ]
            assert agent.events[0]["status"] == status


async def test_hello_is_welcomed_and_registers_the_skills():
    """gateway.md 4: the registration counts its skills; the tools are there at once."""
    async with open_service() as service:
        agent_id, key = await service.agent("research")
        async with service.socket(key) as agent:
            agent.say(hello(skills=(Skill("one"), Skill("two"))))
            assert await agent.next() == Welcome(agent_id, {"created": 2, "updated": 0, "deactivated": 0})
            assert [entry.tool.name for entry in service.agents.catalog(agent_id)] == ["one", "two"]


@pytest.mark.virtual_time
async def test_a_link_that_does_not_say_hello_is_closed():
    async with open_service() as service:
        _, key = await service.agent("silent")
        async with service.socket(key) as agent:
            with anyio.fail_after(11):
                await agent.closed.wait()
            assert agent.events[-1]["type"] == "websocket.close"


@pytest.mark.parametrize(
    ("first", "code"),
    [
        ("{", "invalid_request"),
        ("[]", "invalid_request"),
        ('{"frame":"drain"}', "invalid_request"),
        ('{"frame":"hello","protocol":2,"journal":"j","registration":{"name":"a"}}', "invalid_request"),
        ('{"frame":"hello","protocol":1,"journal":"","registration":{"name":"a"}}', "invalid_request"),
        ('{"frame":"hello","protocol":1,"journal":"%s","registration":{"name":"a"}}' % ("j" * 129), "invalid_request"),
        ('{"frame":"hello","protocol":1,"journal":"j","registration":{"name":"a","skills":[{"name":"a b"}]}}',
         "invalid_param"),
    ],
)  # fmt: skip
async def test_a_bad_hello_is_refused_with_a_reason_and_the_link_closed(first: str, code: str):
    """gateway.md D28: a registration that cannot be taken is refused whole."""
    async with open_service() as service:
        agent_id, key = await service.agent("odd")
        async with service.socket(key) as agent:
            agent.raw(first)
            refused = await agent.next()
            assert isinstance(refused, Refused)
            assert refused.code == code
            with anyio.fail_after(5):
                await agent.closed.wait()
            assert agent.events[-1]["code"] == 1008
            assert not service.presence.desk(agent_id).online


async def test_another_delivery_mode_than_the_registered_one_is_a_conflict():
    """gateway.md 53, §6: immutable per registration."""
    async with open_service() as service:
        _, key = await service.agent("research")
        async with service.link(key, mode="queue"):
            pass
        async with service.socket(key) as agent:
            agent.say(hello(delivery_mode="push"))
            assert (await agent.next()).code == "conflict"


async def test_frames_that_are_none_are_refused_one_by_one_and_the_good_ones_taken():
    """A fault: something invalid; the link and the other calls on it go on."""
    async with open_service() as service:
        agent_id, key = await service.agent("research")
        async with service.link(key, "web_search") as agent:
            calling = service.call(agent_id, "web_search")
            message = await agent.delivered()
            agent.raw("no json")
            assert (await agent.next()).ref is None
            agent.raw(
                '[{"frame":"publish","ref":7,"channel_id":5},{"frame":"publish","ref":8,"type":"agent_reply",'
                f'"channel_id":"{message.channel_id}","in_reply_to":"{message.message_id}","payload":{{"text":"ok"}}}}]'
            )
            frames = [await agent.next(), await agent.next()]
            assert [(type(frame), frame.ref) for frame in frames] == [(Refused, 7), (Published, 8)]
            assert (await calling.end()).content == (Text("ok"),)


async def test_an_agent_that_sends_only_rubbish_is_let_go():
    async with open_service() as service:
        agent_id, key = await service.agent("research")
        async with service.link(key) as agent:
            for _ in range(17):
                agent.raw("rubbish")
            with anyio.fail_after(5):
                await agent.closed.wait()
            assert not service.presence.desk(agent_id).online


async def test_an_agent_reads_and_writes_its_own_channels_alone():
    """gateway.md D30: unknown and foreign channels, over the link."""
    async with open_service() as service:
        agent_id, key = await service.agent("mine")
        _, spy_key = await service.agent("spy")
        async with service.link(key, "talk") as agent, service.link(spy_key, journal="spy") as spy:
            calling = service.call(agent_id, "talk")
            message = await agent.delivered()
            spy.publish(message, text="forged")
            spy.say(Read(70, message.channel_id), Read(71, "ch_unknown"))
            spy.answer("ch_unknown", None, text="to nobody")
            codes = sorted([(await spy.next()).code for _ in range(4)])
            assert codes == ["channel_not_found", "channel_not_found", "forbidden", "forbidden"]
            agent.publish(message, text="true")
            assert (await calling.end()).content == (Text("true"),)


@pytest.mark.parametrize(
    ("kind", "payload", "code", "text"),
    [
        ("agent_reply", {"text": "no luck", "is_error": True}, TOOL_FAILED, "no luck"),
        ("agent_reply_error", {"text": "it broke"}, TOOL_FAILED, "it broke"),
        ("agent.refuse", {"text": "I will not"}, TOOL_FAILED, "I will not"),
        ("agent_busy", {"text": "later"}, "agent_busy", "later"),
        ("agent_reply", {"text": "?", "is_error": True, "code": "outcome_unknown"}, "outcome_unknown", "?"),
        ("agent_reply", {"text": 5}, "invalid_agent_response", None),
        ("agent_reply", {"content": [{"type": "image", "data": "%%", "mimeType": "image/png"}]},
         "invalid_agent_response", None),
    ],
)  # fmt: skip
async def test_what_an_agent_answers_badly_ends_the_call_in_the_right_way(
    kind: str, payload: dict[str, Any], code: str, text: str | None
):
    """gateway.md D17, D18, §6: the agent's failures are results; busy, unknown and malformed are errors."""
    async with open_service() as service:
        agent_id, key = await service.agent("odd")
        async with service.link(key, "do") as agent:
            calling = service.call(agent_id, "do")
            agent.publish(await agent.delivered(), kind, **payload)
            result = await calling.end()
            assert result.error is not None
            assert result.error.code == code
            if text is not None:
                assert result.content == (Text(text),)


async def test_deliveries_go_to_the_link_with_the_fewest_in_flight_and_out_in_one_write():
    """ARCHITECTURE §2, hot path: frames that are ready together leave together."""
    async with open_service() as service:
        agent_id, key = await service.agent("pair")
        async with service.link(key, "do", journal="a") as one, service.link(key, "do", journal="b") as two:
            before = len(one.events) + len(two.events)
            for n in range(6):
                service.call(agent_id, "do", {"n": n})
            got = [[(await agent.delivered()).message_id for _ in range(3)] for agent in (one, two)]
            assert len({*got[0], *got[1]}) == 6
            assert len(one.events) + len(two.events) - before == 2


async def test_a_taken_message_comes_again_only_to_the_journal_that_took_it():
    """gateway.md §6, lost calls: dies mid-call; another process waits in vain; the same journal gets it again."""
    async with open_service() as service:
        agent_id, key = await service.agent("research")
        async with service.link(key, "do", journal="a") as agent:
            calling = service.call(agent_id, "do")
            message = await agent.delivered()
        async with service.link(key, "do", journal="b") as other:
            assert await other.quiet()
            async with service.link(key, "do", journal="a") as again:
                frame = await again.next()
                assert (frame.message, frame.redelivered) == (message, True)
                again.publish(message, text="done")
                assert (await calling.end()).content == (Text("done"),)


async def test_a_message_that_the_agent_still_holds_is_not_sent_again():
    """wire/link.py: `running` names what need not be sent again."""
    async with open_service() as service:
        agent_id, key = await service.agent("research")
        async with service.link(key, "do") as agent:
            calling = service.call(agent_id, "do")
            message = await agent.delivered()
        async with service.link(key, "do", running=(message.message_id,)) as agent:
            assert await agent.quiet()
            agent.publish(message, text="done")
            assert (await calling.end()).content == (Text("done"),)


async def test_work_that_nobody_waits_for_any_more_is_cancelled_on_attaching():
    """gateway.md D19: the call ended while the agent was away."""
    async with open_service() as service:
        _, key = await service.agent("research")
        async with service.link(key, "do", running=("msg_gone",)) as agent:
            cancel = await agent.delivered()
            assert (cancel.type, cancel.payload) == ("chat_cancel", {"target_message_id": "msg_gone"})


@pytest.mark.virtual_time
async def test_a_call_is_lost_when_its_journal_does_not_come_back_in_time():
    """gateway.md §6: agent_lost after the lease, before the call's own deadline; an answer after that is dropped."""
    async with open_service() as service:
        agent_id, key = await service.agent("research")
        async with service.link(key, "do") as agent:
            calling = service.call(agent_id, "do")
            message = await agent.delivered()
        assert await calling.code(within_s=31) == "agent_lost"
        async with service.link(key, "do") as agent:
            agent.publish(message, text="too late")
            assert (await agent.next()).code in ("channel_closed", "channel_not_found")


async def test_a_repeatable_call_goes_on_at_once_with_whoever_is_there():
    """gateway.md §6: declared idempotent or read-only, so sending it again does no harm."""
    async with open_service() as service:
        agent_id, key = await service.agent("research")
        tool = Skill("look", annotations={"readOnlyHint": True})
        async with service.link(key, tool, journal="b") as other:
            async with service.link(key, tool, journal="a") as agent:
                callings = [service.call(agent_id, "look") for _ in range(2)]
                await agent.delivered()
                await other.delivered()
            frame = await other.next()
            assert frame.redelivered
            assert frame.message.message_id in [c.call.id.replace("call_", "msg_") for c in callings]


class FailingStore(MemoryStore):
    """Cannot write who takes a message while `failing`."""

    failing = False

    async def tx(self, ops: Sequence[Op]) -> None:
        if self.failing and any(isinstance(op, Put) and op.kind == "delivery" for op in ops):
            raise StoreUnavailable("the disk is full")
        await super().tx(ops)


async def test_a_durable_message_whose_taker_cannot_be_recorded_is_not_sent():
    """gateway.md §6: it must not be anywhere that the store does not know of; the call fails in clear words."""
    async with open_service(FailingStore) as service:
        assert isinstance(service.store, FailingStore)
        agent_id, key = await service.agent("research")
        tool = Skill("look", idempotent=True)
        async with service.link(key, tool, journal="a") as first:
            calling = service.call(agent_id, "look", idempotency_key="1")
            await first.delivered()
            async with service.link(key, tool, journal="b") as second:
                service.store.failing = True
                first.close()
                assert await calling.code() == "agent_service_unavailable"
                assert await second.quiet()


async def test_another_link_of_the_same_journal_takes_over():
    """A half-open connection must not keep what its agent could answer on a new one."""
    async with open_service() as service:
        agent_id, key = await service.agent("research")
        async with service.link(key, "do") as old:
            calling = service.call(agent_id, "do")
            message = await old.delivered()
            async with service.link(key, "do", running=(message.message_id,)) as new:
                with anyio.fail_after(5):
                    await old.closed.wait()
                assert old.events[-1]["code"] == 4409
                new.publish(message, text="done")
                assert (await calling.end()).content == (Text("done"),)
                assert service.presence.desk(agent_id).online


async def test_a_draining_agent_finishes_what_it_has_and_gets_no_more():
    """gateway.md §3: graceful drain."""
    async with open_service() as service:
        agent_id, key = await service.agent("research")
        async with service.link(key, "do") as agent:
            calling = service.call(agent_id, "do")
            message = await agent.delivered()
            agent.say(Drain())
            await agent.quiet()
            with pytest.raises(AgentOffline):
                await service.call(agent_id, "do").end()
            agent.publish(message, text="done")
            assert (await calling.end()).content == (Text("done"),)


async def test_an_agent_that_is_removed_is_detached_and_its_calls_end():
    async with open_service() as service:
        agent_id, key = await service.agent("research")
        async with service.link(key, "do") as agent:
            calling = service.call(agent_id, "do")
            await agent.delivered()
            await service.agents.remove(agent_id)
            assert await calling.code() == "agent_not_found"
            with anyio.fail_after(5):
                await agent.closed.wait()


async def test_a_link_ends_with_its_key():
    """A revoked key opens nothing from now on, and keeps nothing open; the agent's other key is as good as before."""
    async with open_service() as service:
        agent_id, key = await service.agent("research")
        record, other = await service.keys.create("agk", "own_1", agent_id)
        async with service.link(key, "do", journal="one") as kept, service.link(other, "do", journal="two") as ended:
            await service.keys.revoke("own_1", record.key_id)
            with anyio.fail_after(5):
                await ended.closed.wait()
            assert ended.events[-1]["type"] == "websocket.close"
            calling = service.call(agent_id, "do")
            kept.publish(await kept.delivered(), text="here")
            assert (await calling.end()).content == (Text("here"),)


async def test_a_key_that_is_revoked_before_hello_attaches_nobody():
    async with open_service() as service:
        agent_id, _ = await service.agent("research")
        record, key = await service.keys.create("agk", "own_1", agent_id)
        async with service.socket(key) as agent:
            await anyio.wait_all_tasks_blocked()
            await service.keys.revoke("own_1", record.key_id)
            agent.say(hello(skills=(Skill("do"),)))
            with anyio.fail_after(5):
                await agent.closed.wait()
            assert not service.presence.desk(agent_id).online


async def test_an_answer_that_is_too_large_is_refused_alone_and_another_may_take_its_place():
    """gateway.md §6: `reply_limit_bytes`; the agent is told, so that it can say something else."""
    async with open_service(reply_limit_bytes=1000) as service:
        agent_id, key = await service.agent("wordy")
        async with service.link(key, "do") as agent:
            calls = [service.call(agent_id, "do") for _ in range(2)]
            large, small = [await agent.delivered() for _ in calls]
            agent.say(
                Publish(1, large.channel_id, "agent_reply", {"text": "x" * 1000}, None, large.message_id),
                Publish(2, small.channel_id, "agent_reply", {"text": "x" * 900}, None, small.message_id),
            )
            refused = await agent.next()
            assert (refused.code, refused.ref) == ("payload_too_large", 1)
            assert (await calls[1].end()).content == (Text("x" * 900),)
            agent.publish(large, text="in short")
            assert (await calls[0].end()).content == (Text("in short"),)


async def test_an_agent_that_does_not_read_is_let_go():
    """Every buffer is bounded: what is written for an agent that takes nothing does not grow for ever."""
    async with open_service() as service:
        _, key = await service.agent("deaf")
        async with service.link(key) as agent:
            agent.deaf = True
            for _ in range(600):
                agent.say(*[Hello(1, "j", Registration("x")) for _ in range(50)])
            with anyio.fail_after(5):
                await agent.closed.wait()
            assert agent.events[-1]["reason"] == "the agent does not read what it is sent"


async def test_a_flood_of_messages_to_commit_is_taken_a_piece_at_a_time():
    """Backpressure: all of them arrive, in order, though only so many are being committed at once."""
    async with open_service() as service:
        agent_id, key = await service.agent("chatty")
        async with service.link(key) as agent:
            channel = await service.channels.create("own_1", (agent_id,))
            for n in range(1200):
                agent.answer(channel.id, None, "note", text=str(n))
            for _ in range(1200):
                assert isinstance(await agent.next(), Published)
            history = await service.channels.history(channel, 700, 500)
            assert [row.payload["text"] for row in history.messages] == [str(n) for n in range(700, 1200)]


@pytest.mark.parametrize("extensions", [None, {}])
async def test_where_the_server_cannot_refuse_with_a_status_the_socket_is_closed(extensions: Any):
    async with open_service() as service:
        events: list[Any] = []

        async def receive() -> dict[str, Any]:
            return {"type": "websocket.connect"}

        async def send(event: Any) -> None:
            events.append(event)

        scope: dict[str, Any] = {"type": "websocket", "headers": [], "extensions": extensions}
        await service.links(scope, receive, send)
        assert events == [{"type": "websocket.close", "code": 1008, "reason": "unauthorized"}]


async def test_a_second_hello_is_refused_and_the_link_goes_on():
    async with open_service() as service:
        agent_id, key = await service.agent("research")
        async with service.link(key, "do") as agent:
            agent.say(hello())
            assert (await agent.next()).code == "invalid_request"
            assert service.presence.desk(agent_id).online


async def test_a_long_answer_leaves_in_messages_of_bounded_size():
    """wire/link.py: many frames go into several WebSocket messages, none lost."""
    async with open_service() as service:
        agent_id, key = await service.agent("research")
        async with service.link(key, "do") as agent:
            for n in range(8):
                service.call(agent_id, "do", {"n": n, "pad": "x" * 200_000})
            got = [(await agent.delivered()).payload["tool"]["arguments"]["n"] for _ in range(8)]
            assert sorted(got) == list(range(8))
            assert max(len(event.get("text", "")) for event in agent.events) < 1024 * 1024


async def test_a_durable_call_is_on_record_before_its_message_is_sent():
    """gateway.md D6, §6: what journal may have a message is committed before the message goes there."""
    async with open_service() as service:
        agent_id, key = await service.agent("research")
        async with service.link(key, "do", journal="a") as agent:
            service.call(agent_id, "do", idempotency_key="1")
            message = await agent.delivered()
            stored = await service.store.get("delivery", agent_id, message.message_id)
            assert stored is not None
            assert decode_delivery(stored.value).taken_by == "a"
