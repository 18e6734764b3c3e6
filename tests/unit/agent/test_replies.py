"""Replies until the gateway has them; gateway.md §3 (reply sent again under a stable message id)."""

import json

import anyio
import pytest

from tests.unit.agent.rig import chat, gateway_of
from toolwire.agent.context import Inbound
from toolwire.core.result import Result, text_result
from toolwire.wire.link import Publish, Refused, call_id_of

pytestmark = pytest.mark.both_backends


async def echo(inbound: Inbound) -> Result:
    return text_result(call_id_of(inbound.message.message_id))


async def test_a_reply_too_large_for_the_gateway_is_replaced_by_one_that_says_so() -> None:
    async with gateway_of({"work": echo}) as gateway:
        gateway.acknowledges = False
        gateway.deliver(chat("msg_1"))
        first = await gateway.reply("msg_1")
        gateway.give(Refused("payload_too_large", "at most 10 bytes", first.ref))
        second = await gateway.reply("msg_1", count=2)
        assert second.payload["code"] == "invalid_agent_response"
        assert "at most 10 bytes" in second.payload["text"]
        gateway.give(Refused("payload_too_large", "at most 10 bytes", second.ref))
        assert gateway.worker.held == 0


async def test_a_reply_that_nobody_wants_any_more_is_dropped() -> None:
    async with gateway_of({"work": echo}) as gateway:
        gateway.acknowledges = False
        gateway.deliver(chat("msg_1"))
        reply = await gateway.reply("msg_1")
        gateway.give(Refused("channel_closed", "the channel is closed", reply.ref))
        assert gateway.worker.held == 0


async def test_replies_larger_than_a_link_takes_are_not_put_on_it() -> None:
    async def work(inbound: Inbound) -> Result:
        return text_result("x" * (41 * 1024 * 1024))

    async with gateway_of({"work": work}) as gateway:
        gateway.deliver(chat("msg_1"))
        assert (await gateway.reply("msg_1")).payload["code"] == "invalid_agent_response"


@pytest.mark.virtual_time
async def test_a_reply_that_the_gateway_cannot_take_now_is_offered_again_later() -> None:
    async with gateway_of({"work": echo}) as gateway:
        gateway.acknowledges = False
        gateway.deliver(chat("msg_1"))
        for count in range(1, 6):
            reply = await gateway.reply("msg_1", count)
            gateway.give(Refused("agent_service_unavailable", "the store is full", reply.ref))
        gateway.acknowledges = True
        await anyio.sleep(60)
        replies = gateway.replies("msg_1")
        assert len(replies) == 6
        assert len({(reply.ref, reply.message_id) for reply in replies}) == 1
        assert gateway.worker.held == 0


@pytest.mark.virtual_time
async def test_a_reply_is_not_offered_for_ever_to_a_gateway_that_refuses_it() -> None:
    async with gateway_of({"work": echo}) as gateway:
        gateway.acknowledges = False
        gateway.deliver(chat("msg_1"))
        began = anyio.current_time()
        count = 1
        while anyio.current_time() < began + 880:
            reply = await gateway.reply("msg_1", count)
            gateway.give(Refused("conflict", "not now", reply.ref))
            count += 1
        assert gateway.worker.held == 1
        await anyio.sleep(40)
        gateway.give(Refused("conflict", "not now", gateway.replies("msg_1")[-1].ref))
        assert gateway.worker.held == 0


async def test_the_frames_of_one_turn_go_out_together() -> None:
    async with gateway_of({"work": echo}) as gateway:
        gateway.worker.detached()
        for number in range(50):
            gateway.deliver(chat(f"msg_{number}"))
        await anyio.wait_all_tasks_blocked()
        gateway.attach()
        data = await gateway.worker.outgoing.take()
        assert len(json.loads(data)) == 50


async def test_a_publication_is_what_the_gateway_decodes() -> None:
    async with gateway_of({"work": echo}) as gateway:
        gateway.deliver(chat("msg_1"))
        assert isinstance(await gateway.reply("msg_1"), Publish)
