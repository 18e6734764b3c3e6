"""A tool of your own, wired into an agent and tested offline: a scripted model asks for the weather in Tokyo.

python examples/custom_tool.py
toolwire chat examples/custom_tool.py:options --provider anthropic --model claude-sonnet-4-5
"""

from typing import Any

from toolwire.sdk import (
    LLMResponse,
    Options,
    TextBlock,
    ToolContext,
    ToolResult,
    ToolUseBlock,
    Usage,
    query,
    tool,
)
from toolwire.sdk.testing import FakeLLMProvider

CELSIUS = {"Bergen": 9, "Lisbon": 24, "Tokyo": 22}


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
    if city not in CELSIUS:
        return ToolResult(success=False, summary=f"no weather for {city!r}; there is {', '.join(CELSIUS)}")
    if arguments.get("units") == "fahrenheit":
        return ToolResult(success=True, output=f"{CELSIUS[city] * 9 / 5 + 32:g}°F in {city}")
    return ToolResult(success=True, output=f"{CELSIUS[city]}°C in {city}")


options = Options(
    system_prompt="You are a weather assistant.",
    name="weather-bot",
    allowed_tools=("Read", "Grep", fetch_weather),
)


def scripted() -> FakeLLMProvider:
    """A model that asks for the weather in Tokyo, and then says what it read."""
    return FakeLLMProvider(
        responses=[
            LLMResponse(
                stop_reason="tool_use",
                content=[ToolUseBlock(call_id="t1", tool_name="fetch_weather", arguments={"city": "Tokyo"})],
                usage=Usage(uncached=1, output=1),
            ),
            LLMResponse(
                stop_reason="end_turn",
                content=[TextBlock(text="It is 22 degrees in Tokyo.")],
                usage=Usage(uncached=1, output=1),
            ),
        ]
    )


def main() -> None:
    result = query(
        options, goal="What is the weather in Tokyo?", provider=scripted(), workspace_dir="./", model="stub-model"
    )
    called = [event.payload.tool_name for event in result if event.type == "ToolCallStarted"]
    print(called)
    for item in result.messages():
        print(item)
    assert called == ["fetch_weather"]


if __name__ == "__main__":
    main()
