"""An author's unit test without a gateway; gateway.md §3 ("unit test")."""

import time
from typing import Any

import anyio
import pytest

from toolwire.agent import Agent, Ctx, Image, Refuse, ToolError
from toolwire.core.event import Progress
from toolwire.core.result import Text
from toolwire.testing import Harness

agent = Agent("research")


@agent.tool
async def web_search(ctx: Ctx, query: str, max_results: int = 5) -> dict[str, Any]:
    await ctx.say("searching …")
    await ctx.progress("half", 1, 2)
    return {"query": query, "max_results": max_results}


@agent.tool
def fail(ctx: Ctx, how: str) -> str:
    ctx.say("uh")
    if how == "refuse":
        raise Refuse("no")
    if how == "bug":
        raise KeyError("secret")
    raise ToolError("cannot")


@agent.tool
async def look(ctx: Ctx) -> Any:
    history = [row.payload for row in await ctx.history()]
    return [history, [file.file_id for file in ctx.attachments], ctx.deadline, ctx.channel_id[:3]]


@agent.tool
def draw() -> Image:
    return Image(b"\x89PNG")


@agent.on_message
def reply(text: str) -> str:
    return text.upper()


def test_a_plain_test_calls_a_tool_and_sees_what_was_said() -> None:
    answered = Harness(agent).call("web_search", query="otters")
    assert answered.text == '{"query":"otters","max_results":5}'
    assert answered.result.structured == {"query": "otters", "max_results": 5}
    assert answered.said == ("searching …",)
    assert answered.progress == (Progress(2, 2, "half"),)
    assert not answered.is_error


async def test_an_async_test_calls_a_tool_too() -> None:
    answered = await Harness(agent).acall("web_search", query="otters", max_results=1)
    assert answered.result.structured == {"query": "otters", "max_results": 1}
    with pytest.raises(RuntimeError, match="acall"):
        Harness(agent).call("web_search", query="otters")
    assert (await Harness(agent).amessage("hi")).text == "HI"


def test_failures_are_seen_as_a_caller_would() -> None:
    harness = Harness(agent)
    assert harness.call("fail", how="error").reply.payload == {"text": "cannot", "is_error": True}
    refused = harness.call("fail", how="refuse")
    assert (refused.reply.type, refused.text, refused.said) == ("agent.refuse", "no", ("uh",))
    bug = harness.call("fail", how="bug")
    assert bug.is_error
    assert "secret" not in bug.text
    assert harness.call("nope").reply.payload["code"] == "tool_not_found"
    assert harness.call("web_search").reply.payload["code"] == "invalid_param"


def test_the_surroundings_are_the_test_s_to_give() -> None:
    deadline = time.time() + 60
    history = [{"message": "hello"}, {"text": "hi"}]
    harness = Harness(agent, history=history, attachments=[{"file_id": "file_1"}], deadline=deadline)
    answered = harness.call("look")
    assert answered.text == f'[[{{"message":"hello"}},{{"text":"hi"}}],["file_1"],{deadline!r},"ch_"]'
    assert harness.message("hi").text == "HI"


def test_a_picture_is_a_block() -> None:
    [block] = Harness(agent).call("draw").result.content
    assert not isinstance(block, Text)


async def test_a_cancelled_call_tells_its_tool() -> None:
    contexts: list[Ctx] = []
    slow = Agent("slow")

    @slow.tool
    async def wait(ctx: Ctx) -> str:
        contexts.append(ctx)
        await anyio.sleep_forever()
        return "never"

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(Harness(slow).acall, "wait")
        await anyio.wait_all_tasks_blocked()
        tasks.cancel_scope.cancel()
    assert contexts[0].cancelled


def test_what_a_tool_logs_is_seen_and_is_no_part_of_the_answer() -> None:
    bench = Agent("bench")

    @bench.tool
    async def work(ctx: Ctx) -> str:
        """Work."""
        ctx.log.warning("%s left", 1)
        await ctx.close_stream()
        await ctx.say("half")
        return "done"

    answered = Harness(bench).call("work")
    assert [(line.level, line.text) for line in answered.logged] == [("warning", "1 left")]
    assert (answered.said, answered.text) == (("half",), "done")
