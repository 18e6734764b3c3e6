"""What a tool may say and ask while it works; gateway.md 41 and "Author's API" of §6, sdk.md §4.5."""

import threading
from typing import Any

import pytest

from tests.unit.agent.rig import Gateway, chat, gateway_of_agent, row
from toolwire.agent import Agent, Ctx
from toolwire.wire.link import Publish, Read, Refused, Rows

pytestmark = pytest.mark.both_backends


async def answer(gateway: Gateway, name: str, **arguments: Any) -> Publish:
    message_id = f"msg_{name}_{len(gateway.replies())}"
    gateway.deliver(chat(message_id, name, **arguments))
    return await gateway.reply(message_id)


async def test_what_is_said_and_how_far_it_is_go_ahead_of_the_answer_in_order() -> None:
    agent = Agent("talker")

    @agent.tool
    async def talk(ctx: Ctx) -> str:
        await ctx.say("Hel")
        ctx.say("lo")
        await ctx.progress("page 3", 3, 10)
        ctx.progress("page 3 again", 3)
        ctx.log.info("page %s is the last", 3)
        return "Hello"

    async with gateway_of_agent(agent) as gateway:
        await answer(gateway, "talk")
        assert gateway.deltas() == [
            {"text": "Hel"},
            {"text": "lo"},
            {"text": "", "progress": {"progress": 3, "total": 10, "message": "page 3"}},
            {"text": "", "progress": {"progress": 4, "message": "page 3 again"}},
            {"text": "", "log": {"level": "info", "text": "page 3 is the last", "logger": "toolwire.tool"}},
        ]
        assert [type(frame) for frame in gateway.seen] == [Publish] * 6
        assert {frame.in_reply_to for frame in gateway.seen if isinstance(frame, Publish)} == {"msg_talk_0"}


async def test_a_sync_tool_talks_from_its_thread() -> None:
    agent = Agent("talker")

    @agent.tool
    def talk(ctx: Ctx) -> str:
        ctx.say("on my way")
        ctx.progress("half", 1, 2)
        return threading.current_thread().name

    async with gateway_of_agent(agent) as gateway:
        reply = await answer(gateway, "talk")
        assert reply.payload["text"] != threading.current_thread().name
        assert [delta["text"] for delta in gateway.deltas()] == ["on my way", ""]


async def test_the_context_knows_the_message() -> None:
    agent = Agent("curious")
    seen: list[Ctx] = []

    @agent.tool
    async def look(ctx: Ctx) -> str:
        seen.append(ctx)
        return "seen"

    async with gateway_of_agent(agent) as gateway:
        message = chat("msg_1", "look", "ch_9")
        message.payload["metadata"] = {"deadline": 1_900_000_000.5}
        message.payload["attachments"] = [
            {"file_id": "file_1", "filename": "a.pdf", "size": 3, "download_url": "https://files/1", "etag": "x"}
        ]
        gateway.deliver(message)
        await gateway.reply("msg_1")
    [ctx] = seen
    assert (ctx.channel_id, ctx.call_id, ctx.deadline) == ("ch_9", "call_1", 1_900_000_000.5)
    assert ctx.metadata["task_id"] == "call_1"
    [file] = ctx.attachments
    assert (file.file_id, file.filename, file.content_type, file.size) == ("file_1", "a.pdf", None, 3)
    assert file.download_url == "https://files/1"
    assert not ctx.cancelled


async def test_attachments_of_another_form_are_none() -> None:
    agent = Agent("curious")

    @agent.tool
    async def count(ctx: Ctx) -> int:
        return len(ctx.attachments)

    async with gateway_of_agent(agent) as gateway:
        message = chat("msg_1", "count")
        message.payload["attachments"] = ["file_1"]
        gateway.deliver(message)
        assert (await gateway.reply("msg_1")).payload == {"text": "0"}


async def test_history_is_what_was_said_before_without_partial_answers() -> None:
    agent = Agent("historian")

    @agent.tool
    async def recall(ctx: Ctx) -> list[str]:
        return [row.payload["text"] for row in await ctx.history(limit=3)]

    rows = [
        row(
            f"msg_{offset}",
            "agent_reply_delta" if offset % 2 else "chat_message",
            {"text": str(offset)},
            "ch_1",
            offset,
        )
        for offset in range(1, 1300)
    ]
    async with gateway_of_agent(agent) as gateway:
        message = row("msg_x", "chat_message", {"tool": {"name": "recall", "arguments": {}}}, "ch_1", 1200)
        gateway.deliver(message)
        await gateway.until(lambda: any(isinstance(frame, Read) for frame in gateway.seen))
        [read] = [frame for frame in gateway.seen if isinstance(frame, Read)]
        assert (read.channel_id, read.since, read.limit) == ("ch_1", 699, 500)
        found = [row for row in rows if row.offset > read.since][: read.limit]
        gateway.give(Rows(read.ref, tuple(found)))
        assert (await gateway.reply("msg_x")).payload == {"text": '["1194","1196","1198"]'}


async def test_history_goes_back_page_by_page_and_survives_a_broken_link() -> None:
    agent = Agent("historian")

    @agent.tool
    async def recall(ctx: Ctx) -> int:
        return len(await ctx.history(limit=20))

    async with gateway_of_agent(agent) as gateway:
        gateway.deliver(row("msg_x", "chat_message", {"tool": {"name": "recall"}}, "ch_1", 700))

        def reads() -> list[Read]:
            return [frame for frame in gateway.seen if isinstance(frame, Read)]

        await gateway.until(lambda: len(reads()) == 1)
        gateway.worker.detached()
        gateway.attach()
        await gateway.until(lambda: len(reads()) == 2)
        gateway.give(Rows(reads()[1].ref, (row("msg_a", "chat_message", {}, "ch_1", 650),)))
        gateway.give(Rows(reads()[1].ref, ()))
        await gateway.until(lambda: len(reads()) == 3)
        assert [read.since for read in reads()] == [199, 199, 0]
        gateway.give(Rows(reads()[2].ref, (row("msg_b", "chat_message", {}, "ch_1", 2),)))
        assert (await gateway.reply("msg_x")).payload == {"text": "2"}


async def test_history_that_the_gateway_refuses_is_an_error_the_author_can_catch() -> None:
    agent = Agent("historian")

    @agent.tool
    async def recall(ctx: Ctx) -> int:
        return len(await ctx.history())

    async with gateway_of_agent(agent) as gateway:
        for number, code in enumerate(("channel_not_found", "no_such_code")):
            gateway.deliver(row(f"msg_{number}", "chat_message", {"tool": {"name": "recall"}}, "ch_1", 5))
            await gateway.until(lambda: any(isinstance(frame, Read) for frame in gateway.seen))
            read = next(frame for frame in gateway.seen if isinstance(frame, Read))
            gateway.seen.remove(read)
            gateway.give(Refused(code, "no channel here", read.ref))
            payload = (await gateway.reply(f"msg_{number}")).payload
            assert payload["is_error"] is True
            assert "no channel here" in payload["text"]


async def test_a_context_made_by_hand_belongs_to_no_channel() -> None:
    ctx = Ctx()
    await ctx.say("x")
    ctx.progress("y")
    assert (ctx.channel_id, ctx.attachments, ctx.cancelled) == ("", (), False)
    assert await ctx.history() == []


async def test_a_slow_link_holds_up_who_talks_but_not_who_answers() -> None:
    agent = Agent("flood")
    said = 0

    @agent.tool
    async def flood(ctx: Ctx) -> str:
        nonlocal said
        for _ in range(100):
            await ctx.say("x" * 100_000)
            said += 1
        return "done"

    @agent.tool
    async def quick() -> str:
        return "quick"

    async with gateway_of_agent(agent) as gateway:
        gateway.deliver(chat("msg_1", "flood"))
        gateway.deliver(chat("msg_2", "quick"))
        await gateway.reply("msg_2")
        assert said < 100
        await gateway.reply("msg_1")
        assert said == 100
        assert len(gateway.deltas()) == 100


async def test_more_than_a_link_takes_is_not_put_on_it(caplog: pytest.LogCaptureFixture) -> None:
    agent = Agent("loud")

    @agent.tool
    async def shout(ctx: Ctx) -> str:
        await ctx.say("x" * (41 * 1024 * 1024))
        return "done"

    async with gateway_of_agent(agent) as gateway:
        assert (await answer(gateway, "shout")).payload == {"text": "done"}
        assert gateway.deltas() == []
    assert "which no link takes" in caplog.text
