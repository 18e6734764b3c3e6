"""Up to 2025-11-25: what a server asks goes out on the stream of the request, and comes back as a response."""

from typing import Any

import anyio
import pytest

from tests.interaction.answering import ABLE, Asked, by_method, form
from tests.interaction.bench import JSON_ONLY, OLD, Gate, Peer
from tests.interaction.cells import Talk, talking
from tests.interaction.requirements import HTTP_2025, STDIO_2025, Cell, proves
from tests.interaction.test_asking import curious
from tests.interaction.test_resume import back
from toolwire.sdk import ToolContext
from toolwire.server import Server

on_both = pytest.mark.parametrize("cell", [HTTP_2025, STDIO_2025])


class Conversation:
    """One request under way whose messages are read one by one."""

    def __init__(self, talk: Talk, id_: Any = 1) -> None:
        self.talk = talk
        self.id = id_
        self.answer: Any = None

    async def begin(self, tool: str, **more: Any) -> None:
        self.answer = await self.talk.begin("tools/call", {"name": tool}, self.id, **more)

    async def message(self) -> Any:
        """The next message; `None` at the end of a stream."""
        if self.answer is None:
            assert self.talk.lines is not None
            return await self.talk.lines.message()
        with anyio.fail_after(self.answer.patience_s):
            await self.answer.started.wait()
        return await self.answer.frame()


@proves("asking.own-stream")
@on_both
async def test_two_calls_that_ask_at_once_are_told_apart(cell: Cell):
    async with talking(cell, curious, ABLE) as talk:
        client = Asked(talk, by_method())
        one, two = Conversation(talk, 1), Conversation(talk, 2)
        await one.begin("greet")
        first = await one.message()
        await two.begin("greet")
        second = await two.message()
        assert (first["method"], second["method"]) == ("elicitation/create", "elicitation/create")
        assert first["id"] != second["id"]
        await client.send({"jsonrpc": "2.0", "id": second["id"], "result": form(name="Two")})
        assert "Two" in str(await two.message())
        await client.send({"jsonrpc": "2.0", "id": first["id"], "result": form(name="One")})
        assert "One" in str(await one.message())


@proves("asking.own-stream")
@on_both
async def test_a_response_that_answers_nothing_changes_nothing(cell: Cell):
    async with talking(cell, curious, ABLE) as talk:
        client, call = Asked(talk, by_method()), Conversation(talk)
        await call.begin("greet")
        question = await call.message()
        for id_ in ("ask_unknown", 1, question["id"] + "x"):
            assert await client.send({"jsonrpc": "2.0", "id": id_, "result": form(name="Eve")}) in (0, 202)
        await client.send({"jsonrpc": "2.0", "id": question["id"], "result": form(name="Ann")})
        assert "Ann" in str(await call.message())
        await client.send({"jsonrpc": "2.0", "id": question["id"], "result": form(name="Eve")})
        assert (await client.text("greet")).startswith("accept")


@proves("asking.foreign", HTTP_2025)
async def test_only_the_session_that_was_asked_can_answer():
    async with talking(HTTP_2025, curious, ABLE) as talk:
        client, call = Asked(talk, by_method()), Conversation(talk)
        assert talk.peer is not None
        other = await Peer(talk.peer.client, OLD).session(ABLE)
        await call.begin("greet")
        question = await call.message()
        reply = {"jsonrpc": "2.0", "id": question["id"], "result": form(name="Eve")}
        assert await client.send(reply, mcp_session_id=other.more["mcp_session_id"]) == 202
        assert await client.send(reply, mcp_session_id="") == 202
        assert await client.send(reply, mcp_session_id="unknown") == 404
        assert await client.send({**reply, "result": form(name="Ann")}) == 202
        assert "Ann" in str(await call.message())


@proves("asking.withdrawn")
@on_both
async def test_a_cancelled_call_withdraws_its_question(cell: Cell):
    async with talking(cell, curious, ABLE) as talk:
        call = Conversation(talk)
        await call.begin("greet")
        question = await call.message()
        await talk.tell("notifications/cancelled", {"requestId": 1})
        withdrawn = await call.message()
        assert (withdrawn["method"], withdrawn["params"]["requestId"]) == ("notifications/cancelled", question["id"])
        if cell is HTTP_2025:
            assert await call.message() is None


@proves("asking.withdrawn")
@on_both
async def test_a_call_whose_time_is_up_withdraws_its_question(cell: Cell):
    async with talking(cell, curious, ABLE) as talk:
        call = Conversation(talk)
        params = {"name": "on_a_thread", "_meta": {"toolwire/timeout_ms": 1}}
        call.answer = await talk.begin("tools/call", params)
        question = await call.message()
        told = [await call.message(), await call.message()]
        assert question["id"] in [note["params"]["requestId"] for note in told if "params" in note]
        assert [message["result"]["isError"] for message in told if "result" in message] == [True]


@proves("asking.refused")
@on_both
async def test_a_client_that_answers_with_an_error_fails_the_call_alone(cell: Cell):
    async with talking(cell, curious, ABLE) as talk:
        client = Asked(talk, lambda method, params: {"code": -1, "message": "the user said no"})
        said = await client.say("tools/call", {"name": "greet"})
        assert said["result"]["isError"] is True
        assert "the user said no" in said["result"]["content"][0]["text"]
        client.answer = by_method()
        assert (await client.text("greet")).startswith("accept")


def paged(gate: Gate) -> Server:
    """A server that sends people to a page."""
    server = Server("bench")

    @server.tool
    async def sign_in(ctx: ToolContext) -> str:
        """Send a person to sign in."""
        visit = await ctx.elicit_url("Sign in", "https://example.com/in")
        ctx.page_done(visit)
        return visit.action

    return server


@proves("asking.page")
@on_both
async def test_the_end_of_a_page_is_told_by_its_id(cell: Cell):
    async with talking(cell, paged, ABLE) as talk:
        client, call = Asked(talk, by_method(elicit={"action": "accept"})), Conversation(talk)
        await call.begin("sign_in")
        question = await call.message()
        await client.respond(question)
        done = await call.message()
        assert done["method"] == "notifications/elicitation/complete"
        assert done["params"] == {"elicitationId": question["params"]["elicitationId"]}
        assert (await call.message())["result"]["content"][0]["text"] == "accept"


@proves("asking.page", HTTP_2025)
async def test_a_client_without_a_stream_is_sent_to_the_page_by_the_error():
    async with talking(HTTP_2025, paged, ABLE) as talk:
        assert talk.peer is not None
        message = await talk.peer.call("sign_in", accept=JSON_ONLY)
        error = message["error"]
        assert (error["code"], error["data"]["code"]) == (-32042, "url_elicitation_required")
        [page] = error["data"]["elicitations"]
        assert page.pop("elicitationId")
        assert page == {"mode": "url", "message": "Sign in", "url": "https://example.com/in"}


@proves("asking.declared", HTTP_2025)
async def test_without_a_session_or_a_stream_nobody_can_be_asked():
    async with talking(HTTP_2025, curious, ABLE) as talk:
        assert talk.peer is not None
        for more in ({"mcp_session_id": ""}, {"accept": JSON_ONLY}):
            error = (await talk.peer.call("greet", **more))["error"]
            assert (error["code"], error["data"]["code"]) == (-32021, "missing_client_capability")
        assert talk.era == OLD


@proves("asking.own-stream", HTTP_2025)
async def test_the_same_key_again_is_asked_the_same_on_its_own_stream():
    async with talking(HTTP_2025, curious, ABLE) as talk:
        client, one, two = Asked(talk, by_method()), Conversation(talk, 1), Conversation(talk, 2)
        await one.begin("greet", idempotency_key="k1")
        first = await one.message()
        one.answer.leave()
        await two.begin("greet", idempotency_key="k1")
        second = await two.message()
        assert (second["params"], second["id"] == first["id"]) == (first["params"], False)
        await client.respond(second)
        assert "Ann" in str(await two.message())
        # Of the first stream's question nothing is left.
        assert await client.send({"jsonrpc": "2.0", "id": first["id"], "result": form(name="Eve")}) == 202


@proves("asking.own-stream", HTTP_2025)
async def test_a_client_that_lost_the_stream_is_asked_again_when_it_comes_back():
    async with talking(HTTP_2025, curious, ABLE) as talk:
        client, call = Asked(talk, by_method()), Conversation(talk)
        assert talk.peer is not None
        await call.begin("greet")
        first = await call.message()
        call.answer.leave()
        again = await back(talk.peer, call.answer.ids[0])
        second = await again.frame()
        assert second == first
        await client.respond(second)
        assert "Ann" in str(await again.frame())
