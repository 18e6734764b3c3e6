"""The page "build custom tools": its snippets run in order, with nothing but the import changed (sdk.md [S], 78).

The page's `my_provider` is the reader's own model; here it is a scripted one. The other claims of the page, which stand
in its prose and tables, are proved one by one below and in tests/unit/sdk.
"""

from pathlib import Path
from typing import Any

import pytest

from toolwire.sdk import (
    LLMResponse,
    Options,
    TextBlock,
    ToolResult,
    create_sdk_mcp_server,
    query,
    tool,
)
from toolwire.sdk.testing import FakeLLMProvider

SNIPPETS = (
    """
from toolwire.sdk import ToolContext, ToolResult, tool

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
def fetch_weather(arguments: dict, ctx: ToolContext) -> ToolResult:
    city = arguments["city"]
    units = arguments.get("units", "celsius")
    # ... your implementation ...
    return ToolResult(success=True, output=f"22°C in {city}")
""",
    """
from toolwire.sdk import Client, Options

options = Options(
    system_prompt="You are a weather assistant.",
    name="weather-bot",
    allowed_tools=("Read", "Grep", fetch_weather),
)

client = Client(options, provider=my_provider, workspace_dir="./")
""",
    """
from toolwire.sdk import create_sdk_mcp_server

weather_mcp = create_sdk_mcp_server(
    name="weather-tools",
    version="1.0.0",
    tools=(fetch_weather,),
)
""",
    """
options = Options(
    system_prompt="...",
    name="my-agent",
    mcp_servers=(weather_mcp,),
)
""",
    """
from pathlib import Path

from toolwire.sdk import LLMResponse, TextBlock, ToolUseBlock, Usage, query
from toolwire.sdk.testing import FakeLLMProvider

provider = FakeLLMProvider(
    responses=[
        LLMResponse(
            stop_reason="tool_use",
            content=[ToolUseBlock(
                call_id="t1",
                tool_name="fetch_weather",
                arguments={"city": "Tokyo"},
            )],
            usage=Usage(uncached=1, output=1),
        ),
        LLMResponse(
            stop_reason="end_turn",
            content=[TextBlock(text="Done.")],
            usage=Usage(uncached=1, output=1),
        ),
    ]
)

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
""",
)
FAILURE = 'return ToolResult(success=False, summary="city not found")'

EVENTS = (
    "TaskCreated AgentBound ModelBound ContextContentRecorded MessagesAppended TaskStarted ContextPlanComposed "
    "LLMRequestStarted LLMResponseRecorded LLMRequestFinished MessagesAppended ToolCallStarted ToolResultRecorded "
    "ToolCallFinished MessagesAppended ContextPlanComposed LLMRequestStarted LLMResponseRecorded LLMRequestFinished "
    "MessagesAppended TaskSnapshot TaskCompleted"
).split()


def scripted() -> FakeLLMProvider:
    return FakeLLMProvider(responses=[LLMResponse(stop_reason="end_turn", content=[TextBlock(text="Hello.")])])


def page() -> dict[str, Any]:
    """What the page's snippets leave behind, run one after the other."""
    namespace: dict[str, Any] = {"__name__": "page", "my_provider": scripted()}
    for snippet in SNIPPETS:
        exec(compile(snippet, "page", "exec", dont_inherit=True), namespace)
    return namespace


def tools_shown(provider: FakeLLMProvider) -> list[str]:
    return [entry["function"]["name"] for entry in provider.received_requests[0].tools]


def test_every_snippet_runs_in_order_and_prints_what_the_page_says(capsys: pytest.CaptureFixture[str]):
    left = page()

    assert capsys.readouterr().out == "['fetch_weather']\n"
    assert [event.type for event in left["result"]] == EVENTS
    assert left["provider"].received_requests[1].messages[-1].content[0].output == "22°C in Tokyo"


def test_the_client_of_the_page_shows_the_model_the_tools_that_are_listed():
    left = page()

    with left["client"] as client:
        outcome = client.start(goal="Hello?")
        assert client.task_answer(outcome.task_id) == "Hello."

    assert tools_shown(left["my_provider"]) == ["Read", "Grep", "fetch_weather"]


def test_the_failure_of_the_page_reads_as_its_summary():
    namespace: dict[str, Any] = {"ToolResult": ToolResult}
    exec(f"def fail():\n    {FAILURE}", namespace)

    assert namespace["fail"]() == ToolResult(success=False, summary="city not found")


def test_without_a_list_the_ten_built_in_tools_are_there_and_the_bundle_beside_them():
    left = page()

    assert tools_shown(left["provider"]) == [
        *"Read Glob Grep Edit Write Bash BashOutput KillShell WebFetch WebSearch".split(),
        "fetch_weather",
    ]


def test_a_custom_tool_is_there_only_if_it_is_listed():
    provider = scripted()

    query(Options(system_prompt="…", allowed_tools=()), goal="?", provider=provider)

    assert tools_shown(provider) == []


def test_a_tool_has_the_identity_that_is_declared():
    ref = page()["fetch_weather"].ref

    assert (ref.name, ref.version, ref.risk_level) == ("fetch_weather", "1", "low")


def test_leaving_out_the_version_is_refused_when_the_tool_is_written():
    with pytest.raises(TypeError, match="version"):
        tool(name="x", input_schema={"type": "object"})


def test_what_is_no_tool_is_refused_when_the_bundle_is_written():
    def plain(arguments: dict[str, Any], ctx: Any) -> ToolResult:
        return ToolResult(success=True)

    with pytest.raises(TypeError, match="every tool must be a DecoratedTool"):
        create_sdk_mcp_server(name="weather-tools", tools=(plain,))  # pyright: ignore[reportArgumentType] -- refused


def test_the_page_needs_no_workspace_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)

    assert page()["result"].answer() == "Done."
