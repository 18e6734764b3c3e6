"""A tool that lets its client hang up, and questions to a client that was away (SEP-1699; mcp.md 1.2, resumability)."""

import json
from typing import Any

import anyio
import pytest
from msgspec import Struct

from tests.interaction.bench import BOTH, JSON_ONLY, SSE_ONLY, Gate, headers
from tests.interaction.cells import CELLS, Talk, talking
from tests.interaction.requirements import ALL, HTTP_2025, Cell, proves
from tests.interaction.test_resume import back, steps_of, text_of
from tests.interaction.transport import Answer
from toolwire.sdk import ToolContext
from toolwire.server import Server


class Name(Struct):
    """What the form asks for."""

    name: str


def polled(gate: Gate) -> Server:
    """A server whose tools let go of their clients."""
    server = Server("bench", "1.0")

    @server.tool
    async def close(ctx: ToolContext, again: bool = False) -> str:
        """Close the stream, and wait."""
        await ctx.close_stream(retry_after_s=2.5)
        await gate.hold()
        if again:
            await ctx.progress("half", 1, 2)
            await ctx.close_stream()
            await gate.hold()
        return "done"

    @server.tool
    def close_in_thread(ctx: ToolContext) -> str:
        """Close the stream from a thread."""
        ctx.close_stream()
        return "done"

    @server.tool
    async def ask(ctx: ToolContext) -> str:
        """Close the stream, then ask."""
        await ctx.close_stream(retry_after_s=1)
        await gate.hold()
        found = await ctx.elicit("Who are you?", Name)
        return f"hello {found.content.name}" if found.content is not None else "hello"

    return server


async def closed(talk: Talk, name: str = "close", **arguments: Any) -> Answer:
    """Call a tool and read its stream to the end, which comes before the answer."""
    assert talk.peer is not None
    params = {"name": name, "arguments": arguments, "_meta": {"progressToken": 1}}
    answer = await talk.peer.ask("tools/call", params, "id")
    assert answer.headers["content-type"] == SSE_ONLY
    assert await answer.frames() == []
    assert not answer.ended.is_set(), "the call goes on"
    return answer


@proves("stream.closed", HTTP_2025)
@pytest.mark.parametrize("meta", [{}, {"progressToken": 1}], ids=["deaf", "telling"])
@pytest.mark.parametrize("accept", [BOTH, SSE_ONLY])
async def test_a_tool_closes_its_stream_and_the_client_comes_back_for_the_rest(meta: Any, accept: str):
    async with talking(HTTP_2025, polled) as talk:
        assert talk.peer is not None
        answer = await talk.peer.ask("tools/call", {"name": "close", "_meta": meta}, "id", accept=accept)
        assert await answer.frames() == []
        assert answer.retry_ms == 2500
        again = await back(talk.peer, answer.ids[-1])
        talk.gate.release.set()
        [last] = await again.frames()
        assert (last["id"], text_of(last)) == ("id", "done")
        with anyio.fail_after(5):
            await answer.ended.wait()


@proves("stream.closed", HTTP_2025)
async def test_a_tool_closes_the_stream_of_who_has_come_back_too():
    async with talking(HTTP_2025, polled) as talk:
        answer = await closed(talk, again=True)
        assert talk.peer is not None
        second = await back(talk.peer, answer.ids[-1])
        talk.gate.release.set()
        assert steps_of(await second.frames()) == [1]
        last = (await (await back(talk.peer, second.ids[-1])).frames())[-1]
        assert text_of(last) == "done"


@proves("stream.closed", HTTP_2025)
async def test_who_comes_back_after_the_end_gets_the_answer():
    async with talking(HTTP_2025, polled) as talk:
        answer = await closed(talk)
        talk.gate.release.set()
        with anyio.fail_after(5):
            await answer.ended.wait()
        assert talk.peer is not None
        assert text_of((await (await back(talk.peer, answer.ids[-1])).frames())[-1]) == "done"


@proves("stream.closed")
@pytest.mark.parametrize("cell", [cell for cell in CELLS if cell in ALL and cell is not HTTP_2025])
async def test_elsewhere_closing_the_stream_changes_nothing(cell: Cell):
    async with talking(cell, polled) as talk:
        talk.gate.release.set()
        for meta in ({}, {"progressToken": 1}):
            *told, last = await talk.say("tools/call", {"name": "close", "arguments": {"again": True}, "_meta": meta})
            assert len(told) == len(meta)
            assert text_of(last) == "done"


@proves("stream.closed", HTTP_2025)
@pytest.mark.parametrize("more", [{"accept": JSON_ONLY}, {"mcp_protocol_version": "2025-06-18"}])
async def test_who_cannot_come_back_waits_for_the_answer(more: Any):
    async with talking(HTTP_2025, polled) as talk:
        assert talk.peer is not None
        answer = talk.peer.start("tools/call", {"name": "close", "_meta": {"progressToken": 1}}, **more)
        await talk.gate.until(entered=1)
        await anyio.sleep(0.1)  # the first look at a call that is not over at once
        assert not answer.started.is_set()
        talk.gate.release.set()
        await answer.body()
        assert text_of(await answer.message()) == "done"


@proves("stream.closed", HTTP_2025)
async def test_a_call_that_is_over_at_once_is_answered_at_once():
    async with talking(HTTP_2025, polled) as talk:
        assert text_of((await talk.say("tools/call", {"name": "close_in_thread"}))[-1]) == "done"


async def reply(talk: Talk, question: Any) -> None:
    """Answer a question of the server's."""
    assert talk.peer is not None
    result = {"action": "accept", "content": {"name": "Ada"}}
    sent = json.dumps({"jsonrpc": "2.0", "id": question["id"], "result": result}).encode()
    answer = await talk.peer.client.ask("POST", "/mcp", headers(talk.era, **talk.peer.more), sent)
    assert answer.status == 202


@proves("resume.asked")
async def test_a_question_waits_for_a_client_that_is_away_and_is_asked_once_more_if_it_was_missed():
    async with talking(HTTP_2025, polled, can={"elicitation": {}}) as talk:
        answer = await closed(talk, "ask")
        primed = answer.ids[-1]
        talk.gate.release.set()
        await talk.gate.until(finished=1)
        assert talk.peer is not None
        first = await back(talk.peer, primed)
        question = await first.frame()
        assert (question["method"], question["params"]["message"]) == ("elicitation/create", "Who are you?")
        first.leave()
        second = await back(talk.peer, primed)
        assert await second.frame() == question
        third = await back(talk.peer, second.ids[-1])
        await reply(talk, question)
        [last] = await third.frames()
        assert text_of(last) == "hello Ada"
        assert text_of((await (await back(talk.peer, primed)).frames())[-1]) == "hello Ada", "nothing is asked any more"


@proves("resume.asked")
async def test_many_notifications_do_not_push_a_question_out():
    def offer(gate: Gate) -> Server:
        server = Server("bench", "1.0")

        @server.tool
        async def ask_and_tell(ctx: ToolContext) -> str:
            """Tell much while a question is open."""

            async def tell() -> None:
                for number in range(1000):
                    await ctx.progress("more", number + 1)

            names: list[str] = []
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(tell)
                found = await ctx.elicit("Who are you?", Name)
                names += [] if found.content is None else [found.content.name]
            return f"hello {names[0]}"

        return server

    async with talking(HTTP_2025, offer, can={"elicitation": {}}) as talk:
        assert talk.peer is not None
        params = {"name": "ask_and_tell", "_meta": {"progressToken": 1}}
        answer = talk.peer.start("tools/call", params)
        answer.stop_reading()
        await anyio.wait_all_tasks_blocked()
        answer.go_on_reading()
        await answer.started.wait()
        frame = await answer.frame()
        while frame["method"] != "elicitation/create":
            frame = await answer.frame()
        await reply(talk, frame)
        assert text_of((await answer.frames())[-1]) == "hello Ada"
