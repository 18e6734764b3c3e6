"""The part of the everything-server that asks, with the names and texts that the suite fixes (mcp.md 2.2)."""

from typing import Any, TypedDict

from toolwire import Server
from toolwire.core.jsontypes import JsonObject
from toolwire.sdk import AskForm, AskModel, AskRoots, Elicited, ToolContext

asking = Server("asking")


class Named(TypedDict):
    """Who somebody is."""

    name: str


class Coloured(TypedDict):
    """What somebody likes."""

    color: str


class Confirmed(TypedDict):
    """Whether it is all right."""

    ok: bool


class InContext(TypedDict):
    """What else is to be known."""

    context: str


class User(TypedDict):
    """How to reach somebody."""

    username: str
    email: str


def _form(**properties: JsonObject) -> JsonObject:
    return {"type": "object", "properties": properties}


DEFAULTS = _form(
    name={"type": "string", "default": "John Doe"},
    age={"type": "integer", "default": 30},
    score={"type": "number", "default": 95.5},
    status={"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
    verified={"type": "boolean", "default": True},
)
OPTIONS = ["option1", "option2", "option3"]
TITLED = [{"const": f"value{number}", "title": f"Option {number}"} for number in (1, 2, 3)]
ENUMS = _form(
    untitledSingle={"type": "string", "enum": OPTIONS},
    titledSingle={"type": "string", "oneOf": TITLED},
    legacyEnum={"type": "string", "enum": OPTIONS, "enumNames": ["Option 1", "Option 2", "Option 3"]},
    untitledMulti={"type": "array", "items": {"type": "string", "enum": OPTIONS}},
    titledMulti={"type": "array", "items": {"anyOf": TITLED}},
)


def _told(said: Elicited[Any]) -> str:
    return f"User response: action={said.action}, content={said.content}"


@asking.tool
async def test_sampling(prompt: str, ctx: ToolContext) -> str:
    """Ask the client's model."""
    return f"LLM response: {(await ctx.sample(prompt, 100)).text}"


@asking.tool
async def test_elicitation(message: str, ctx: ToolContext) -> str:
    """Ask the person for a name and an address."""
    return _told(await ctx.elicit(message, User))


@asking.tool
async def test_elicitation_sep1034_defaults(ctx: ToolContext) -> str:
    """Ask with defaults of every type."""
    return _told(await ctx.elicit("Look these over, please", DEFAULTS))


@asking.tool
async def test_elicitation_sep1330_enums(ctx: ToolContext) -> str:
    """Ask with every form of a choice."""
    return _told(await ctx.elicit("Choose, please", ENUMS))


@asking.tool
async def test_input_required_result_elicitation(ctx: ToolContext) -> str:
    """Ask for a name."""
    said = await ctx.elicit("What is your name?", Named, key="user_name")
    return f"Hello, {said.content['name'] if said.content else 'stranger'}!"


@asking.tool
async def test_input_required_result_sampling(ctx: ToolContext) -> str:
    """Ask the client's model for a capital."""
    return (await ctx.sample("What is the capital of France?", 100, key="capital_question")).text


@asking.tool
async def test_input_required_result_list_roots(ctx: ToolContext) -> str:
    """Ask for the roots."""
    return f"Roots: {[root.uri for root in await ctx.roots(key='client_roots')]}"


@asking.tool
async def test_input_required_result_request_state(ctx: ToolContext) -> str:
    """Ask for a confirmation, and come back to it by the state."""
    said = await ctx.elicit("Please confirm", Confirmed, key="confirm")
    return f"state-ok: {said.action}"


@asking.tool
async def test_input_required_result_tampered_state(ctx: ToolContext) -> str:
    """Ask for a confirmation whose state the client has changed."""
    said = await ctx.elicit("Please confirm", Confirmed, key="confirm")
    return f"confirmed: {said.action}"


@asking.tool
async def test_input_required_result_multiple_inputs(ctx: ToolContext) -> str:
    """Ask for three things at once."""
    answers = await ctx.ask_all(
        {
            "user_name": AskForm("What is your name?", Named),
            "greeting": AskModel("Generate a greeting", 50),
            "client_roots": AskRoots(),
        }
    )
    return f"{answers['greeting'].text} {_told(answers['user_name'])}; roots: {len(answers['client_roots'])}"


@asking.tool
async def test_input_required_result_multi_round(ctx: ToolContext) -> str:
    """Ask for one thing after the other."""
    first = await ctx.elicit("Step 1: What is your name?", Named, key="step1")
    second = await ctx.elicit("Step 2: What is your favorite color?", Coloured, key="step2")
    return f"{first.content} {second.content}"


@asking.tool
async def test_input_required_result_capabilities(ctx: ToolContext) -> str:
    """Ask for no more than the client can do."""
    if ctx.client_can("elicitation"):
        return _told(await ctx.elicit("What is your name?", Named, key="user_name"))
    return (await ctx.sample("Generate a name", 50, key="a_name")).text


@asking.prompt
async def test_input_required_result_prompt(ctx: ToolContext) -> str:
    """A prompt that asks for what it is about."""
    said = await ctx.elicit("What context should the prompt use?", InContext, key="user_context")
    return f"Use this context: {said.content['context'] if said.content else 'none'}"
