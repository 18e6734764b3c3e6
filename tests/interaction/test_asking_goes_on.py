"""2026-07-28: the repeat of a request that asked is a request like any other (mcp.md 1.2, MRTR rules)."""

import time
from typing import Any

import pytest

from tests.interaction.answering import Asked, form
from tests.interaction.bench import Gate
from tests.interaction.cells import talking
from tests.interaction.requirements import HTTP_2026, STDIO_2026, Cell, proves
from tests.interaction.test_asking_repeats import NAME, answered, asked_for, by_question, text
from toolwire.sdk import ToolContext
from toolwire.server import Server

on_both = pytest.mark.parametrize("cell", [HTTP_2026, STDIO_2026])
ANSWER = {"who": form(name="Ann")}


def slow(gate: Gate) -> Server:
    """A server of bodies that are held after their question."""
    server = Server("bench")

    @server.tool
    async def work(ctx: ToolContext) -> str:
        """Ask in the middle."""
        ctx.progress("begun", 1)
        name = await ctx.elicit("Who?", NAME, key="who")
        ctx.progress("answered", 2)
        await gate.hold()
        return f"{name.content} {ctx.deadline > time.time()}"

    @server.tool
    async def twice(ctx: ToolContext) -> str:
        """Use a key twice."""
        await ctx.elicit("Who?", NAME, key="who")
        return str(await ctx.elicit("Who else?", NAME, key="who"))

    @server.prompt
    async def about(ctx: ToolContext) -> str:
        """Ask in the middle."""
        ctx.progress("begun", 1)
        name = await ctx.elicit("Who?", NAME, key="who")
        ctx.progress("answered", 2)
        await gate.hold()
        return f"{name.content}"

    return server


def with_token(params: Any, token: str) -> Any:
    return {**params, "_meta": {"progressToken": token}}


@proves("mrtr.request")
@on_both
@pytest.mark.parametrize(("method", "name"), [("tools/call", "work"), ("prompts/get", "about")])
async def test_each_request_hears_of_its_own_part_under_its_own_token(cell: Cell, method: str, name: str):
    async with talking(cell, slow) as talk:
        talk.gate.release.set()
        client = Asked(talk, by_question)
        begun, asks = await talk.say(method, client.enveloped(with_token({"name": name}, "one")))
        assert (begun["params"]["progressToken"], begun["params"]["message"]) == ("one", "begun")
        state = asks["result"]["requestState"]
        sent = {**client.enveloped(with_token({"name": name}, "two")), "requestState": state, "inputResponses": ANSWER}
        went_on, done = await talk.say(method, sent, 2)
        assert (went_on["params"]["progressToken"], went_on["params"]["message"]) == ("two", "answered")
        assert "Ann" in str(done["result"])


@proves("mrtr.request")
@on_both
@pytest.mark.parametrize(("method", "name"), [("tools/call", "work"), ("prompts/get", "about")])
async def test_who_goes_away_or_cancels_after_the_question_ends_the_body(cell: Cell, method: str, name: str):
    async with talking(cell, slow) as talk:
        client = Asked(talk, by_question)
        first = await asked_for(client, {"name": name}, method)
        sent = {**client.enveloped({"name": name}), "requestState": first["requestState"], "inputResponses": ANSWER}
        answer = await talk.begin(method, sent, 2)
        await talk.gate.until(entered=1)
        if answer is None:
            await talk.tell("notifications/cancelled", {"requestId": 2})
        else:
            answer.leave()
        await talk.gate.until(cancelled=1)


@proves("mrtr.request")
@on_both
async def test_a_body_sees_the_deadline_of_the_request_that_it_works_for(cell: Cell):
    async with talking(cell, slow) as talk:
        talk.gate.release.set()
        client, params = Asked(talk, by_question), {"name": "work"}
        first = await asked_for(client, params)
        assert text(await answered(client, params, first["requestState"], ANSWER)) == "{'name': 'Ann'} True"


@proves("mrtr.rounds")
@on_both
async def test_a_key_that_is_used_twice_is_the_authors_mistake(cell: Cell):
    async with talking(cell, slow) as talk:
        client, params = Asked(talk, by_question), {"name": "twice"}
        first = await asked_for(client, params)
        assert (await answered(client, params, first["requestState"], ANSWER))["result"]["isError"] is True
