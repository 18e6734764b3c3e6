"""What a server asks of the client behind a call, written once and asked on every cell (mcp.md 1.2)."""

from dataclasses import dataclass
from typing import Any, Literal

import pytest

from tests.interaction.answering import ABLE, Answering, Asked, by_method, form
from tests.interaction.bench import Gate
from tests.interaction.cells import EVERY_CELL, talking
from tests.interaction.requirements import Cell, proves
from toolwire.sdk import AskForm, AskModel, AskRoots, ToolContext
from toolwire.server import Server

on_every_cell = pytest.mark.parametrize("cell", EVERY_CELL)


@dataclass
class Person:
    """Who somebody is."""

    name: str
    mood: Literal["good", "bad"] = "good"
    age: int | None = None


def curious(gate: Gate) -> Server:
    """A server that asks."""
    server = Server("bench")

    @server.tool
    async def greet(ctx: ToolContext) -> str:
        """Ask for a name."""
        said = await ctx.elicit("Who are you?", Person)
        return f"{said.action}: {said.content}"

    @server.tool
    async def everything(ctx: ToolContext) -> str:
        """Ask for one thing after the other."""
        said = await ctx.sample("Say something", 10, system="Be short")
        roots = await ctx.roots()
        visit = await ctx.elicit_url("Sign in, please", "https://example.com/sign-in")
        ctx.page_done(visit)
        return f"{said.text} by {said.model}, {said.stop_reason}; {[root.uri for root in roots]}; {visit.action}"

    @server.tool
    async def together(ctx: ToolContext) -> str:
        """Ask for three things at once."""
        found = await ctx.ask_all({"who": AskForm("Who?", Person), "what": AskModel("What?"), "where": AskRoots()})
        return f"{found['who'].content.name}, {found['what'].text}, {len(found['where'])}"

    @server.tool
    def on_a_thread(ctx: ToolContext) -> str:
        """Ask from a thread."""
        return f"{ctx.wait(ctx.elicit('Who?', Person)).content}"

    @server.prompt
    async def about(ctx: ToolContext) -> str:
        """Ask for what it is about."""
        return f"About {(await ctx.elicit('About whom?', Person)).content}"

    @server.resource("notes://mine")
    async def mine(ctx: ToolContext) -> str:
        """Ask whose it is."""
        return f"Of {(await ctx.elicit('Whose?', Person)).content}"

    return server


@proves("asking.each")
@on_every_cell
async def test_a_tool_asks_for_a_form_and_gets_a_person(cell: Cell):
    async with talking(cell, curious, ABLE) as talk:
        client = Asked(talk, by_method())
        assert await client.text("greet") == "accept: Person(name='Ann', mood='good', age=None)"
        [(_, method, params)] = client.questions
        assert (method, params["message"]) == ("elicitation/create", "Who are you?")
        assert params["requestedSchema"] == {
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "mood": {"type": "string", "enum": ["good", "bad"], "default": "good"},
                "age": {"type": "integer"},
            },
            "required": ["name"],
        }


@proves("asking.each")
@on_every_cell
async def test_a_tool_asks_the_model_and_for_roots_and_to_visit_a_page(cell: Cell):
    async with talking(cell, curious, ABLE) as talk:
        client = Asked(talk, by_method(elicit={"action": "accept"}))
        assert await client.text("everything") == "a sample by a-model, endTurn; ['file:///home']; accept"
        sample, roots, page = client.questions
        assert sample[2] == {
            "messages": [{"role": "user", "content": {"type": "text", "text": "Say something"}}],
            "maxTokens": 10,
            "systemPrompt": "Be short",
        }
        assert roots[1:] == ("roots/list", {})
        assert (page[2]["mode"], page[2]["url"]) == ("url", "https://example.com/sign-in")


@proves("asking.each")
@on_every_cell
async def test_a_prompt_a_resource_and_a_body_on_a_thread_ask_alike(cell: Cell):
    async with talking(cell, curious, ABLE) as talk:
        client = Asked(talk, by_method())
        prompt = await client.say("prompts/get", {"name": "about"})
        assert prompt["result"]["messages"][0]["content"]["text"].startswith("About Person(name='Ann'")
        resource = await client.say("resources/read", {"uri": "notes://mine"})
        assert resource["result"]["contents"][0]["text"].startswith("Of Person(name='Ann'")
        assert (await client.text("on_a_thread")).startswith("Person(name='Ann'")
        assert len(client.questions) == 3


@proves("asking.together")
@on_every_cell
async def test_three_things_are_asked_at_once(cell: Cell):
    async with talking(cell, curious, ABLE) as talk:
        client = Asked(talk, by_method(roots=("file:///a", "file:///b")))
        assert await client.text("together") == "Ann, a sample, 2"
        assert len({key for key, _, _ in client.questions}) == 3
        assert len(client.states) <= 1


@proves("asking.declined")
@on_every_cell
@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_no_is_an_answer(cell: Cell, action: str):
    async with talking(cell, curious, ABLE) as talk:
        assert await Asked(talk, by_method(elicit={"action": action})).text("greet") == f"{action}: None"


@proves("asking.declared")
@on_every_cell
@pytest.mark.parametrize(
    ("can", "tool", "required"),
    [
        ({}, "greet", {"elicitation": {}}),
        ({"elicitation": {"url": {}}}, "greet", {"elicitation": {}}),
        ({"elicitation": {}, "roots": {}}, "together", {"sampling": {}}),
        ({"elicitation": {}}, "everything", {"sampling": {}}),
    ],
)
async def test_a_client_is_not_asked_for_what_it_has_not_declared(cell: Cell, can: Any, tool: str, required: Any):
    async with talking(cell, curious, can) as talk:
        client = Asked(talk, by_method(), can)
        error = (await client.say("tools/call", {"name": tool}))["error"]
        assert (error["code"], error["data"]["requiredCapabilities"]) == (-32021, required)
        assert client.questions == []


@proves("asking.declared")
@on_every_cell
async def test_a_form_may_be_asked_of_a_client_that_names_no_mode(cell: Cell):
    async with talking(cell, curious, {"elicitation": {}}) as talk:
        client = Asked(talk, by_method(), {"elicitation": {}})
        assert (await client.text("greet")).startswith("accept")


def first_wrong(wrong: Any) -> Answering:
    """Answers wrongly once, then rightly."""
    answers = [wrong, form(name="Ann")]
    return lambda method, params: answers.pop(0)


@proves("asking.checked")
@on_every_cell
@pytest.mark.parametrize(
    "wrong",
    [
        form(name=1),
        form(),
        form(name="Ann", mood="so so"),
        {"action": "accept"},
        {"action": "maybe"},
        {"content": {"name": "Ann"}},
        {},
    ],
)
async def test_a_tool_sees_no_answer_that_is_not_what_it_asked_for(cell: Cell, wrong: Any):
    async with talking(cell, curious, ABLE) as talk:
        client = Asked(talk, first_wrong(wrong))
        said = await client.text("greet")
        if client.states:
            assert said.startswith("accept: Person(name='Ann'")
            assert client.questions[0] == client.questions[1]
        else:
            assert said.startswith("the client's answer to 'question_1' is not what was asked for")
