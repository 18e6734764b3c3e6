"""Functions of this process as a provider (ARCHITECTURE §4, hop 8)."""

import pytest

from tests.unit.sdk.calls import a_call, nowhere, text_of
from toolwire.core.errors import ToolNotFound
from toolwire.core.event import Event, Progress
from toolwire.core.handler import Provider
from toolwire.providers.function import FunctionProvider
from toolwire.sdk import ToolContext, tool


@tool
async def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@tool
def greet(name: str, ctx: ToolContext) -> str:
    """Greet somebody."""
    ctx.progress("greeting")
    return f"hello {name}"


def test_the_tools_are_listed_in_the_order_given():
    provider: Provider = FunctionProvider((greet, add))

    assert [entry.name for entry in provider.tools()] == ["greet", "add"]
    assert provider.tools()[1] is add.tool


def test_the_source_is_told_for_every_tool():
    assert [entry.source for entry in FunctionProvider((greet, add), "module:demo").tools()] == ["module:demo"] * 2


async def test_a_call_runs_the_function_of_that_name():
    provider = FunctionProvider([add, greet])
    events: list[Event] = []

    assert text_of(await provider.call(a_call("add", {"a": 1, "b": 2}), events.append)) == "3"
    assert text_of(await provider.call(a_call("greet", {"name": "you"}), events.append)) == "hello you"
    assert events == [Progress(1, None, "greeting")]


async def test_an_unknown_tool_is_not_found():
    with pytest.raises(ToolNotFound, match="there is no tool 'nope' here"):
        await FunctionProvider([add]).call(a_call("nope"), nowhere)


def test_the_same_tool_twice_counts_once():
    assert len(FunctionProvider([add, greet, add]).tools()) == 2


def test_two_tools_of_one_name_are_refused_and_both_are_named():
    """sdk.md §3.14."""

    @tool(name="add")
    async def other() -> None: ...

    with pytest.raises(
        ValueError, match=r"two tools are named 'add': <tool 'add' .*test_function.add> and <tool 'add' .*other>"
    ):
        FunctionProvider([add, other])
