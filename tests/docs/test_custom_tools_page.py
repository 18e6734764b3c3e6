"""The page "build custom tools", its snippets in order, with nothing but the import changed (sdk.md [S], 78).

The page's `my_provider` is the reader's own; here it is the scripted one of the last snippet.
"""

from pathlib import Path
from typing import Any

import pytest

from toolwire.sdk import (
    Client,
    LLMResponse,
    Options,
    TextBlock,
    ToolContext,
    ToolResult,
    ToolUseBlock,
    Usage,
    create_sdk_mcp_server,
    query,
    tool,
)
from toolwire.sdk.testing import FakeLLMProvider


@tool(
    name="fetch_weather",
    version="1",
    risk_level="low",
    description="Fetch the current weather for a city.",
    input_schema={
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "City name"},
            "units": {"type": "string", "enum": ["celsius", "fahrenheit"]},
        },
        "required": ["city"],
        "additionalProperties": False,
    },
)
def fetch_weather(arguments: dict[str, Any], ctx: ToolContext) -> ToolResult:
    city = arguments["city"]
    return ToolResult(success=True, output=f"22°C in {city}")


def scripted() -> FakeLLMProvider:
    return FakeLLMProvider(
        responses=[
            LLMResponse(
                stop_reason="tool_use",
                content=[ToolUseBlock(call_id="t1", tool_name="fetch_weather", arguments={"city": "Tokyo"})],
                usage=Usage(uncached=1, output=1),
            ),
            LLMResponse(
                stop_reason="end_turn",
                content=[TextBlock(text="Done.")],
                usage=Usage(uncached=1, output=1),
            ),
        ]
    )


def tools_shown(provider: FakeLLMProvider) -> list[str]:
    return [entry["function"]["name"] for entry in provider.received_requests[0].tools]


def test_section_1_a_tool_has_the_identity_that_is_declared():
    assert (fetch_weather.ref.name, fetch_weather.ref.version, fetch_weather.ref.risk_level) == (
        "fetch_weather",
        "1",
        "low",
    )
    failed = ToolResult(success=False, summary="city not found")
    assert (failed.success, failed.summary) == (False, "city not found")


def test_section_2_a_client_shows_the_model_the_tools_that_are_listed_and_no_others(tmp_path: Path):
    options = Options(
        system_prompt="You are a weather assistant.",
        name="weather-bot",
        allowed_tools=("Read", "Grep", fetch_weather),
    )
    provider = scripted()

    with Client(options, provider=provider, workspace_dir=tmp_path) as client:
        client.start(goal="What is the weather in Tokyo?")

    assert tools_shown(provider) == ["Read", "Grep", "fetch_weather"]


def test_section_2_without_a_list_the_ten_built_in_tools_are_there_and_nothing_custom(tmp_path: Path):
    provider = scripted()

    query(Options(system_prompt="…"), goal="?", provider=provider, workspace_dir=tmp_path, model="stub-model")

    assert tools_shown(provider) == "Read Glob Grep Edit Write Bash BashOutput KillShell WebFetch WebSearch".split()


def test_section_4_a_bundle_is_added_under_bare_names_without_being_listed(tmp_path: Path):
    weather_mcp = create_sdk_mcp_server(name="weather-tools", version="1.0.0", tools=(fetch_weather,))
    options = Options(system_prompt="...", name="my-agent", allowed_tools=(), mcp_servers=(weather_mcp,))
    provider = scripted()

    result = query(options, goal="?", provider=provider, workspace_dir=tmp_path, model="stub-model")

    assert tools_shown(provider) == ["fetch_weather"]
    assert result.answer() == "Done."


def test_section_4_what_is_no_tool_is_refused_when_the_bundle_is_written():
    def plain(arguments: dict[str, Any], ctx: ToolContext) -> ToolResult:
        return ToolResult(success=True)

    with pytest.raises(TypeError, match="every tool must be a DecoratedTool"):
        create_sdk_mcp_server(name="weather-tools", tools=(plain,))  # pyright: ignore[reportArgumentType] -- refused


def test_section_5_a_scripted_query_proves_that_the_tool_ran(capsys: pytest.CaptureFixture[str]):
    options = Options(
        system_prompt="You are a weather assistant.",
        name="weather-bot",
        allowed_tools=("Read", "Grep", fetch_weather),
    )
    provider = scripted()

    result = query(
        options,
        goal="What is the weather in Tokyo?",
        provider=provider,
        workspace_dir=Path("./"),
        model="stub-model",
    )

    called = [e.payload.tool_name for e in result if e.type == "ToolCallStarted"]
    print(called)
    assert called == ["fetch_weather"]
    assert capsys.readouterr().out == "['fetch_weather']\n"
    assert [event.type for event in result] == (
        "TaskCreated AgentBound ModelBound ContextContentRecorded MessagesAppended TaskStarted ContextPlanComposed "
        "LLMRequestStarted LLMResponseRecorded LLMRequestFinished MessagesAppended ToolCallStarted "
        "ToolResultRecorded ToolCallFinished MessagesAppended ContextPlanComposed LLMRequestStarted "
        "LLMResponseRecorded LLMRequestFinished MessagesAppended TaskSnapshot TaskCompleted"
    ).split()
