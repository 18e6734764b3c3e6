"""Several tools under one name (sdk.md 47-50)."""

from typing import Any

import pytest

from toolwire.sdk import DecoratedTool, SdkMcpServer, ToolContext, ToolResult, create_sdk_mcp_server, tool


@tool(name="fetch_weather", version="1", input_schema={})
def fetch_weather(arguments: dict[str, Any], ctx: ToolContext) -> ToolResult:
    return ToolResult(success=True)


def test_the_seeds_bundle():
    server = create_sdk_mcp_server(name="weather-tools", version="1.0.0", tools=(fetch_weather,))

    assert server == SdkMcpServer(name="weather-tools", version="1.0.0", tools=(fetch_weather,))
    assert server.tools[0].name == "fetch_weather"


def test_the_version_and_the_tools_have_defaults_and_any_iterable_will_do():
    empty = create_sdk_mcp_server("empty")
    listed = create_sdk_mcp_server("some", tools=(entry for entry in [fetch_weather]))

    assert (empty.version, empty.tools) == ("1.0.0", ())
    assert listed.tools == (fetch_weather,)


def test_a_bundle_does_not_change():
    with pytest.raises(AttributeError):
        create_sdk_mcp_server("x").name = "y"  # pyright: ignore[reportAttributeAccessIssue]


def plain() -> None: ...


@pytest.mark.parametrize("entry, kind", [(plain, "function"), ("Read", "str"), (None, "NoneType"), (3, "int")])
def test_an_entry_that_is_no_tool_is_a_type_error(entry: Any, kind: str):
    with pytest.raises(TypeError) as caught:
        create_sdk_mcp_server("x", tools=(fetch_weather, entry))
    assert str(caught.value) == (
        f"create_sdk_mcp_server: every tool must be a DecoratedTool (a @tool-decorated function); got {kind}"
    )


@pytest.mark.parametrize("tools", [fetch_weather, None, 3])
def test_tools_that_are_no_list_are_a_type_error(tools: Any):
    with pytest.raises(TypeError, match="`tools` must be a tuple of tools, got"):
        create_sdk_mcp_server("x", tools=tools)


def test_an_empty_name_is_refused():
    with pytest.raises(ValueError, match="`name` must be non-empty"):
        create_sdk_mcp_server("")


@pytest.mark.parametrize("version", [None, 1])
def test_a_version_that_is_no_text_is_a_type_error(version: Any):
    with pytest.raises(TypeError, match="`version` must be a text"):
        create_sdk_mcp_server("x", version)


def test_a_subclass_of_the_decorated_tool_is_a_tool():
    class Own(DecoratedTool):
        pass

    assert issubclass(Own, DecoratedTool)
    assert isinstance(fetch_weather, DecoratedTool)
