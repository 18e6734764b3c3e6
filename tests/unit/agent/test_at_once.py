"""A body that never waits answers where its message is taken: no task, no scope, and all guarantees of any other."""

import time
from contextvars import ContextVar
from pathlib import Path

import pytest

from tests.unit.agent.rig import Gateway, chat, gateway_of, gateway_of_agent
from toolwire.agent import Agent, Ctx
from toolwire.agent.at_once import SLOW_S
from toolwire.agent.context import Inbound
from toolwire.agent.journal import MemoryJournal
from toolwire.agent.journal_file import FileJournal
from toolwire.agent.worker import Body, Limits
from toolwire.core.result import Result, text_result

pytestmark = pytest.mark.both_backends

told: ContextVar[str] = ContextVar("told", default="nothing")


async def read_and_set(inbound: Inbound) -> Result:
    before = told.get()
    told.set("something")
    return text_result(before)


PROMPT = Body(read_and_set, is_prompt=True)


def answered(gateway: Gateway) -> int:
    """How many messages are answered, whether or not the gateway has been told."""
    return len(tuple(gateway.worker.hello().running))


async def test_messages_are_answered_as_they_are_taken_and_sent_together() -> None:
    async with gateway_of({"work": PROMPT}) as gateway:
        gateway.acknowledges = False
        for number in range(3):
            gateway.deliver(chat(f"msg_{number}"))
        assert answered(gateway) == 3
        assert gateway.seen == []
        await gateway.until(lambda: len(gateway.replies()) == 3)


async def test_context_variables_do_not_go_from_one_message_to_the_next() -> None:
    async with gateway_of({"work": PROMPT}) as gateway:
        for number in range(2):
            gateway.deliver(chat(f"msg_{number}"))
            assert (await gateway.reply(f"msg_{number}")).payload == {"text": "nothing"}


async def test_a_message_that_comes_again_is_answered_from_the_journal() -> None:
    calls: list[str] = []

    async def work(inbound: Inbound) -> Result:
        calls.append(inbound.message.message_id)
        return text_result("done")

    async with gateway_of({"work": Body(work, is_prompt=True)}) as gateway:
        gateway.deliver(chat("msg_1"))
        first = await gateway.reply("msg_1")
        gateway.deliver(chat("msg_1"))
        again = await gateway.reply("msg_1", count=2)
        assert (again.message_id, again.payload) == (first.message_id, first.payload)
    assert calls == ["msg_1"]


async def test_a_body_that_fails_or_says_what_is_no_json_is_answered_for() -> None:
    async def fail(inbound: Inbound) -> Result:
        raise LookupError("of the body")

    async def babble(inbound: Inbound) -> Result:
        return Result(structured={"a": object()})

    bodies = {"fail": Body(fail, is_prompt=True), "babble": Body(babble, is_prompt=True)}
    async with gateway_of(bodies) as gateway:
        gateway.deliver(chat("msg_1", "fail"))
        assert "its author finds the reason" in (await gateway.reply("msg_1")).payload["text"]
        gateway.deliver(chat("msg_2", "babble"))
        assert (await gateway.reply("msg_2")).payload["code"] == "invalid_agent_response"
        gateway.deliver(chat("msg_2", "babble"))
        assert (await gateway.reply("msg_2", count=2)).payload["code"] == "invalid_agent_response"


async def test_a_journal_that_has_to_be_waited_for_is(tmp_path: Path) -> None:
    journal = FileJournal(tmp_path / "journal")
    async with gateway_of({"work": PROMPT}, journal) as gateway:
        gateway.acknowledges = False
        gateway.deliver(chat("msg_1"))
        assert journal.lookup("msg_1") is None
        await gateway.reply("msg_1")
        assert journal.lookup("msg_1") is not None
    await journal.close()


async def test_a_message_that_was_cancelled_before_it_came_is_not_begun() -> None:
    async with gateway_of({"work": PROMPT}) as gateway:
        gateway.cancel("msg_1")
        gateway.deliver(chat("msg_1"))
        assert (await gateway.reply("msg_1")).type == "agent.refuse"


async def test_after_a_body_that_took_long_the_next_lets_its_answer_leave_first() -> None:
    async def work_hard(inbound: Inbound) -> Result:
        until = time.perf_counter() + 2 * SLOW_S
        while time.perf_counter() < until:
            pass
        return text_result("done")

    journal = MemoryJournal()
    async with gateway_of({"work": Body(work_hard, is_prompt=True)}, journal) as gateway:
        gateway.deliver(chat("msg_1"))
        gateway.deliver(chat("msg_2"))
        assert journal.lookup("msg_1") is not None
        assert journal.lookup("msg_2") is None
        await gateway.reply("msg_2")
        gateway.deliver(chat("msg_3"))
        assert journal.lookup("msg_3") is not None


async def test_nobody_is_overtaken_where_all_places_are_taken() -> None:
    async def wait(inbound: Inbound) -> Result:
        await inbound.channel.room()
        return text_result("waited")

    async with gateway_of({"wait": wait, "work": PROMPT}, limits=Limits(calls=1)) as gateway:
        gateway.deliver(chat("msg_1", "wait"))
        gateway.deliver(chat("msg_2", "wait"))
        gateway.deliver(chat("msg_3"))
        await gateway.until(lambda: len(gateway.replies()) == 3)
        assert [reply.in_reply_to for reply in gateway.replies()] == ["msg_1", "msg_2", "msg_3"]


async def test_a_tool_without_an_await_is_such_a_body_and_may_tell_its_progress() -> None:
    agent = Agent("test")

    @agent.tool
    async def greet(ctx: Ctx, name: str) -> str:
        ctx.progress("half", 1, 2)
        return f"hello {name}"

    async with gateway_of_agent(agent) as gateway:
        gateway.acknowledges = False
        gateway.deliver(chat("msg_1", greet.name, name="Ada"))
        assert answered(gateway) == 1
        assert (await gateway.reply("msg_1")).payload == {"text": "hello Ada"}
        assert gateway.deltas() == [{"text": "", "progress": {"progress": 1, "total": 2, "message": "half"}}]
