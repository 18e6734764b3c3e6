"""Which tools of a module are served, and under which name."""

from types import ModuleType
from typing import Any

import pytest

from toolwire.cli.failure import Failed
from toolwire.cli.serve import offered
from toolwire.sdk import DecoratedTool, create_sdk_mcp_server, tool
from toolwire.server import Server


@tool
def one() -> str:
    return "1"


@tool
def two() -> str:
    return "2"


@tool(name="one")
def another_one() -> str:
    return "one"


def shown(server: Server) -> tuple[str, str, tuple[DecoratedTool, ...]]:
    return server.name, server.version, server.tools


def module(**names: Any) -> ModuleType:
    made = ModuleType("mine")
    vars(made).update(names)
    return made


def test_all_tools_of_a_module_are_served_under_its_name_in_their_order():
    assert shown(offered(module(b=two, a=one, text="x", _c=another_one), None)) == ("mine", "1.0.0", (two, one))


def test_a_bundle_gives_its_name_and_version_and_a_tool_that_stands_beside_it_is_served_once():
    bundle = create_sdk_mcp_server("weather", "2.1.0", [one])

    assert shown(offered(module(one=one, two=two, bundle=bundle), None)) == ("weather", "2.1.0", (one, two))


def test_with_two_bundles_the_module_gives_the_name():
    bundles = {"a": create_sdk_mcp_server("a", tools=[one]), "b": create_sdk_mcp_server("b", tools=[two])}

    assert shown(offered(module(**bundles), None)) == ("mine", "1.0.0", (one, two))


@pytest.mark.parametrize(
    ("value", "tools"),
    [(one, (one,)), ([one, two], (one, two)), (create_sdk_mcp_server("b", tools=[two]), (two,))],
)
def test_a_name_may_stand_for_a_tool_a_list_or_a_bundle(value: Any, tools: tuple[Any, ...]):
    assert offered(module(x=value, other=another_one), "x").tools == tools


@pytest.mark.parametrize("value", ["text", [], [one, "text"], lambda: None])
def test_a_name_that_stands_for_something_else_is_refused(value: Any):
    with pytest.raises(Failed, match=r"'x' of 'mine' is no server, no tool and no bundle of tools"):
        offered(module(x=value), "x")


def test_a_module_without_tools_is_refused_and_told_how_to_write_one():
    with pytest.raises(Failed, match=r"'mine' has no tools; write one with `from toolwire.sdk import tool`"):
        offered(module(f=len), None)


def test_two_tools_of_one_name_are_refused():
    with pytest.raises(Failed, match=r"two tools are called 'one'; rename one"):
        offered(module(one=one, another=another_one), None)


def test_a_server_gives_its_name_and_all_it_offers_and_its_tools_count_once():
    server = Server("notes", "3.0", title="Notes", instructions="Read first.")
    server.add(one)
    server.resource("notes://all")(lambda: "none yet")

    found = offered(module(server=server, one=one, two=two, bundle=create_sdk_mcp_server("b", tools=[two])), None)

    assert shown(found) == ("notes", "3.0", (one, two))
    assert (found.title, found.instructions) == ("Notes", "Read first.")
    assert found.resources is not None
    assert server.tools == (one,)


def test_with_two_servers_the_module_gives_the_name_and_two_resources_at_one_uri_are_refused():
    one_server, other = Server("a"), Server("b")
    one_server.resource("notes://all")(lambda: "1")
    assert shown(offered(module(one=one_server, other=other), None)) == ("mine", "1.0.0", ())

    one_server, other = Server("a"), Server("b")
    for server in (one_server, other):
        server.resource("notes://all")(lambda: "1")
    with pytest.raises(Failed, match=r"two resources are at 'notes://all'; give one another URI, or serve one"):
        offered(module(one=one_server, other=other), None)
