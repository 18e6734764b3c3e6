"""One terminal reply for each message, whatever happens; gateway.md 41, §3 (the SDK's guarantees), §6 (lost calls)."""

import errno
import json
import logging
from pathlib import Path

import anyio
import pytest

from tests.unit.agent.rig import chat, gateway_of, row
from toolwire.agent.context import Inbound
from toolwire.agent.journal import Answer, MemoryJournal
from toolwire.agent.journal_file import FileJournal
from toolwire.agent.worker import Body, Limits
from toolwire.core.result import Embedded, Image, ResourceContents, Result, Text, failed, text_result
from toolwire.wire.link import Deliver, Drain, Published, Refused, call_id_of

pytestmark = pytest.mark.both_backends


async def echo(inbound: Inbound) -> Result:
    return text_result(call_id_of(inbound.message.message_id))


async def test_the_answer_goes_to_the_channel_of_its_message() -> None:
    async with gateway_of({"work": echo}) as gateway:
        gateway.deliver(chat("msg_1", channel_id="ch_7"))
        reply = await gateway.reply("msg_1")
        assert reply.channel_id == "ch_7"
        assert reply.in_reply_to == "msg_1"
        assert reply.type == "agent_reply"
        assert reply.payload == {"text": "call_1"}
        assert reply.message_id is not None
        assert gateway.worker.held == 0


async def test_blocks_and_structured_content_travel_beside_the_text() -> None:
    async def work(inbound: Inbound) -> Result:
        blocks = (Text("seen"), Image("AAAA", "image/png"), Embedded(ResourceContents("x://y", text="body")))
        return Result(blocks, structured={"n": 1})

    async with gateway_of({"work": work}) as gateway:
        gateway.deliver(chat("msg_1"))
        payload = (await gateway.reply("msg_1")).payload
        assert payload["text"] == "seen"
        assert payload["structured"] == {"n": 1}
        assert payload["content"] == [
            {"type": "text", "text": "seen"},
            {"type": "image", "data": "AAAA", "mimeType": "image/png"},
            {"type": "resource", "resource": {"uri": "x://y", "text": "body"}},
        ]


async def test_structured_null_is_not_the_same_as_none_given() -> None:
    async def work(inbound: Inbound) -> Result:
        return Result((Text(""),), structured=None)

    async with gateway_of({"work": work, "plain": echo}) as gateway:
        gateway.deliver(chat("msg_1"))
        gateway.deliver(chat("msg_2", "plain"))
        assert (await gateway.reply("msg_1")).payload == {"text": "", "structured": None}
        assert "structured" not in (await gateway.reply("msg_2")).payload


async def test_a_failure_of_the_tool_is_an_error_that_a_model_may_read() -> None:
    async def work(inbound: Inbound) -> Result:
        return failed("no such city")

    async with gateway_of({"work": work}) as gateway:
        gateway.deliver(chat("msg_1"))
        reply = await gateway.reply("msg_1")
        assert (reply.type, reply.payload) == ("agent_reply", {"text": "no such city", "is_error": True})
        gateway.deliver(chat("msg_2", "other"))
        assert (await gateway.reply("msg_2")).payload["code"] == "tool_not_found"


async def test_a_refusal_is_a_type_of_its_own() -> None:
    async def work(inbound: Inbound) -> Result:
        return failed("not on Sundays", data={"refused": True})

    async with gateway_of({"work": work}) as gateway:
        gateway.deliver(chat("msg_1"))
        reply = await gateway.reply("msg_1")
        assert (reply.type, reply.payload) == ("agent.refuse", {"text": "not on Sundays"})


async def test_an_exception_is_told_by_reference_and_its_traceback_stays_in_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def work(inbound: Inbound) -> Result:
        raise ValueError("password is hunter2")

    async with gateway_of({"work": work}) as gateway:
        gateway.deliver(chat("msg_1"))
        payload = (await gateway.reply("msg_1")).payload
        assert payload["is_error"] is True
        assert "hunter2" not in json.dumps(payload)
        reference = payload["text"].split()[-1]
        assert reference in caplog.text
        assert "hunter2" in caplog.text


async def test_an_answer_that_is_no_json_is_answered_as_invalid() -> None:
    async def work(inbound: Inbound) -> Result:
        return Result((Text("x"),), structured={"at": object()})

    async with gateway_of({"work": work}) as gateway:
        gateway.deliver(chat("msg_1"))
        assert (await gateway.reply("msg_1")).payload["code"] == "invalid_agent_response"


async def test_a_message_that_comes_again_while_at_work_is_not_begun_again() -> None:
    begun = 0
    release = anyio.Event()

    async def work(inbound: Inbound) -> Result:
        nonlocal begun
        begun += 1
        await release.wait()
        return text_result("once")

    async with gateway_of({"work": work}) as gateway:
        gateway.deliver(chat("msg_1"))
        await anyio.wait_all_tasks_blocked()
        gateway.deliver(chat("msg_1"))
        release.set()
        await gateway.reply("msg_1")
        await anyio.wait_all_tasks_blocked()
        assert begun == 1
        assert len(gateway.replies()) == 1


async def test_a_message_that_comes_again_after_its_answer_gets_the_same_answer() -> None:
    begun = 0

    async def work(inbound: Inbound) -> Result:
        nonlocal begun
        begun += 1
        return text_result(f"answer {begun}")

    async with gateway_of({"work": work}) as gateway:
        gateway.deliver(chat("msg_1"))
        first = await gateway.reply("msg_1")
        gateway.deliver(chat("msg_1"))
        again = await gateway.reply("msg_1", count=2)
        assert begun == 1
        assert (again.message_id, again.payload) == (first.message_id, first.payload)


async def test_an_answer_given_while_detached_is_sent_on_the_next_link() -> None:
    release = anyio.Event()

    async def work(inbound: Inbound) -> Result:
        await release.wait()
        return text_result("late")

    async with gateway_of({"work": work}) as gateway:
        gateway.deliver(chat("msg_1"))
        await anyio.wait_all_tasks_blocked()
        gateway.worker.detached()
        assert gateway.worker.hello().running == ("msg_1",)
        release.set()
        await anyio.wait_all_tasks_blocked()
        assert gateway.replies() == []
        assert gateway.worker.hello().running == ("msg_1",)
        gateway.attach()
        assert (await gateway.reply("msg_1")).payload == {"text": "late"}
        assert gateway.worker.hello().running == ()


async def test_an_answer_is_sent_again_under_its_id_until_the_gateway_has_it() -> None:
    async with gateway_of({"work": echo}) as gateway:
        gateway.acknowledges = False
        gateway.deliver(chat("msg_1"))
        first = await gateway.reply("msg_1")
        gateway.worker.detached()
        gateway.attach()
        again = await gateway.reply("msg_1", count=2)
        assert again.message_id == first.message_id
        gateway.give(Published(again.ref, again.message_id or "", 5))
        gateway.worker.detached()
        gateway.attach()
        await anyio.wait_all_tasks_blocked()
        assert len(gateway.replies("msg_1")) == 2


async def test_a_message_that_is_cancelled_at_work_stops_and_is_refused() -> None:
    stopped: list[bool] = []

    async def work(inbound: Inbound) -> Result:
        try:
            await anyio.sleep_forever()
        finally:
            stopped.append(inbound.cancelled)
        return text_result("never")

    async with gateway_of({"work": work}) as gateway:
        gateway.deliver(chat("msg_1"))
        await anyio.wait_all_tasks_blocked()
        gateway.cancel("msg_1")
        gateway.cancel("msg_1")
        reply = await gateway.reply("msg_1")
        assert (reply.type, reply.payload) == ("agent.refuse", {"text": "cancelled", "code": "cancelled"})
        assert stopped == [True]
        gateway.deliver(chat("msg_1"))
        assert (await gateway.reply("msg_1", count=2)).message_id == reply.message_id


async def test_a_message_that_is_cancelled_before_its_turn_is_never_begun() -> None:
    begun: list[str] = []
    release = anyio.Event()

    async def work(inbound: Inbound) -> Result:
        begun.append(call_id_of(inbound.message.message_id))
        await release.wait()
        return text_result("ok")

    async with gateway_of({"work": work}, limits=Limits(calls=1)) as gateway:
        for number in (1, 2, 3):
            gateway.deliver(chat(f"msg_{number}"))
        await anyio.wait_all_tasks_blocked()
        gateway.cancel("msg_2")
        assert (await gateway.reply("msg_2")).type == "agent.refuse"
        release.set()
        await gateway.reply("msg_3")
        assert begun == ["call_1", "call_3"]


async def test_a_message_that_was_cancelled_before_it_came_is_never_begun() -> None:
    async with gateway_of({"work": echo}) as gateway:
        gateway.cancel("msg_1")
        gateway.deliver(chat("msg_1"))
        assert (await gateway.reply("msg_1")).type == "agent.refuse"
        gateway.deliver(chat("msg_2"))
        assert (await gateway.reply("msg_2")).type == "agent_reply"
        gateway.cancel("msg_2")
        gateway.deliver(chat("msg_2"))
        assert (await gateway.reply("msg_2", count=2)).type == "agent_reply"


async def test_what_is_not_for_an_agent_is_passed_over() -> None:
    async with gateway_of({"work": echo}) as gateway:
        gateway.deliver(row("msg_0", "system.note", {}))
        gateway.deliver(row("msg_x", "chat_cancel", {"target_message_id": 7}))
        gateway.give(Refused("invalid_request", "what was that?"))
        gateway.give(Published(999, "msg_unknown", 1))
        gateway.attach()
        gateway.deliver(chat("msg_1"))
        await gateway.reply("msg_1")


async def test_a_thousand_messages_at_once_are_all_answered_a_hundred_at_a_time() -> None:
    begun: list[int] = []
    at_once = most = 0
    release = anyio.Event()

    async def work(inbound: Inbound) -> Result:
        nonlocal at_once, most
        begun.append(int(call_id_of(inbound.message.message_id).removeprefix("call_")))
        at_once += 1
        most = max(most, at_once)
        await release.wait()
        at_once -= 1
        return text_result(call_id_of(inbound.message.message_id))

    async with gateway_of({"work": work}) as gateway:
        for number in range(1000):
            gateway.deliver(chat(f"msg_{number}"))
        await anyio.wait_all_tasks_blocked()
        assert (at_once, gateway.worker.held) == (100, 1000)
        assert sorted(begun) == list(range(100))
        release.set()
        await gateway.until(lambda: len(gateway.replies()) == 1000)
        assert most == 100
        assert {reply.in_reply_to for reply in gateway.replies()} == {f"msg_{number}" for number in range(1000)}


async def test_blocking_bodies_have_places_of_their_own() -> None:
    release = anyio.Event()

    async def wait(inbound: Inbound) -> Result:
        await release.wait()
        return text_result("waited")

    bodies = {"block": Body(wait, lane="block"), "other": Body(echo, lane="other"), "work": Body(echo)}
    async with gateway_of(bodies, limits=Limits(calls=1, threads=2)) as gateway:
        for number in range(5):
            gateway.deliver(chat(f"msg_{number}", "block"))
        gateway.deliver(chat("msg_8", "other"))
        gateway.deliver(chat("msg_9"))
        await gateway.reply("msg_8")
        await gateway.reply("msg_9")
        assert len(gateway.replies()) == 2
        release.set()
        await gateway.until(lambda: len(gateway.replies()) == 7)


async def test_a_full_waiting_room_is_busy_and_the_message_may_come_again() -> None:
    release = anyio.Event()

    async def work(inbound: Inbound) -> Result:
        await release.wait()
        return text_result("ok")

    async with gateway_of({"work": work}, limits=Limits(calls=1, waiting=1)) as gateway:
        for number in (1, 2, 3):
            gateway.deliver(chat(f"msg_{number}"))
        assert (await gateway.reply("msg_3")).type == "agent_busy"
        release.set()
        await gateway.reply("msg_2")
        gateway.deliver(chat("msg_3"))
        assert (await gateway.reply("msg_3", count=2)).type == "agent_reply"


async def test_what_a_dead_process_began_is_told_as_unknown_unless_it_may_be_repeated(tmp_path: Path) -> None:
    dead = FileJournal(tmp_path / "j")
    for name in ("msg_1", "msg_2"):
        await dead.begin(name)
    await dead.close()
    bodies = {"work": Body(echo), "again": Body(echo, repeatable=True)}
    journal = FileJournal(tmp_path / "j")
    async with gateway_of(bodies, journal) as gateway:
        gateway.give(Deliver("dlv_1", chat("msg_1"), redelivered=True))
        gateway.give(Deliver("dlv_2", chat("msg_2", "again"), redelivered=True))
        gateway.give(Deliver("dlv_3", chat("msg_3"), redelivered=True))
        unknown = await gateway.reply("msg_1")
        assert (unknown.payload["is_error"], unknown.payload["code"]) == (True, "outcome_unknown")
        assert (await gateway.reply("msg_2")).payload == {"text": "call_2"}
        assert (await gateway.reply("msg_3")).payload == {"text": "call_3"}
        assert gateway.worker.hello().journal == dead.id
    await journal.close()


class UnwritableJournal(MemoryJournal):
    def __init__(self, begins: bool) -> None:
        super().__init__()
        self.begins = begins

    async def begin(self, message_id: str) -> None:
        if not self.begins:
            raise OSError(errno.ENOSPC, "no space left on device")

    async def finish(self, message_id: str, answer: Answer) -> None:
        raise OSError(errno.ENOSPC, "no space left on device")


async def test_nothing_is_begun_that_the_journal_cannot_remember() -> None:
    async with gateway_of({"work": echo}, UnwritableJournal(begins=False)) as gateway:
        gateway.deliver(chat("msg_1"))
        assert (await gateway.reply("msg_1")).payload["code"] == "agent_service_unavailable"


async def test_an_answer_that_the_journal_cannot_remember_is_sent_all_the_same() -> None:
    async with gateway_of({"work": echo}, UnwritableJournal(begins=True)) as gateway:
        gateway.deliver(chat("msg_1"))
        assert (await gateway.reply("msg_1")).payload == {"text": "call_1"}


async def test_draining_waits_for_everything_that_was_taken() -> None:
    release = anyio.Event()

    async def work(inbound: Inbound) -> Result:
        await release.wait()
        return text_result("finished")

    async with gateway_of({"work": work}) as gateway, anyio.create_task_group() as tasks:
        gateway.deliver(chat("msg_1"))
        await anyio.wait_all_tasks_blocked()
        drained = anyio.Event()

        async def drain() -> None:
            await gateway.worker.drain()
            drained.set()

        tasks.start_soon(drain)
        await gateway.until(lambda: Drain() in gateway.seen)
        gateway.worker.detached()
        gateway.attach()
        await gateway.until(lambda: gateway.seen.count(Drain()) == 2)
        assert not drained.is_set()
        release.set()
        await gateway.reply("msg_1")
        with anyio.fail_after(5):
            await drained.wait()


async def test_what_is_at_work_when_the_worker_ends_is_given_up_unanswered(caplog: pytest.LogCaptureFixture) -> None:
    taken: list[Inbound] = []

    async def work(inbound: Inbound) -> Result:
        taken.append(inbound)
        await anyio.sleep_forever()
        return text_result("never")

    with caplog.at_level(logging.ERROR):
        async with gateway_of({"work": work}) as gateway:
            gateway.deliver(chat("msg_1"))
            await anyio.wait_all_tasks_blocked()
    assert gateway.replies() == []
    assert gateway.worker.unfinished == 1
    assert taken[0].cancelled
    assert caplog.text == ""
