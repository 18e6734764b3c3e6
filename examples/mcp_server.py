"""Several tools as one bundle, an MCP server within the process, which keeps their bare names; it ends by itself.

python examples/mcp_server.py
toolwire tools serve examples/mcp_server.py:weather_mcp      # the same bundle, for other programs
"""

from typing import Annotated, Literal

from toolwire.sdk import (
    LLMRequest,
    LLMResponse,
    Options,
    TextBlock,
    ToolError,
    ToolResultBlock,
    ToolUseBlock,
    Usage,
    create_sdk_mcp_server,
    query,
    tool,
)
from toolwire.sdk.testing import FakeLLMProvider

CELSIUS = {"Bergen": 9, "Lisbon": 24, "Tokyo": 22}


@tool
def list_cities() -> list[str]:
    """List the cities whose weather is known."""
    return sorted(CELSIUS)


@tool
def fetch_weather(
    city: Annotated[str, "City name"], units: Literal["celsius", "fahrenheit"] = "celsius"
) -> dict[str, str | float]:
    """Fetch the current weather for a city."""
    if city not in CELSIUS:
        raise ToolError(f"no weather for {city!r}; list_cities says what there is")
    degrees = CELSIUS[city] if units == "celsius" else CELSIUS[city] * 9 / 5 + 32
    return {"city": city, "degrees": degrees, "units": units}


weather_mcp = create_sdk_mcp_server(name="weather-tools", version="1.0.0", tools=(list_cities, fetch_weather))

options = Options(
    system_prompt="You compare the weather of cities.",
    name="my-agent",
    allowed_tools=(),  # the bundle's tools need no entry
    mcp_servers=(weather_mcp,),
)


def compare(request: LLMRequest) -> LLMResponse:
    """Stand in for a model: ask for the cities, then for the weather of each, then name the warmest."""
    match request.messages[-1].content:
        case [ToolResultBlock(output=[*cities])]:
            asked = [ToolUseBlock(f"weather-{city}", "fetch_weather", {"city": city}) for city in cities]
            return LLMResponse("tool_use", [*asked], Usage(uncached=1, output=1))
        case [ToolResultBlock(), *_] as results:
            found = [block.output for block in results if isinstance(block, ToolResultBlock)]
            warmest = max(found, key=lambda weather: weather["degrees"])
            text = f"{warmest['city']} is the warmest, with {warmest['degrees']} degrees."
            return LLMResponse("end_turn", [TextBlock(text)], Usage(uncached=1, output=1))
        case _:
            return LLMResponse("tool_use", [ToolUseBlock("cities", "list_cities", {})], Usage(uncached=1, output=1))


def main() -> None:
    provider = FakeLLMProvider(responder=compare)
    result = query(options, goal="Where is it warmest?", provider=provider, workspace_dir="./", model="stub-model")
    print("the model saw:", ", ".join(entry["function"]["name"] for entry in provider.received_requests[0].tools))
    print("it called:", *(event.payload.tool_name for event in result if event.type == "ToolCallStarted"))
    print("it answered:", result.answer())


if __name__ == "__main__":
    main()
