from docs_src.agent_sdk.tutorial001 import CELSIUS, options
from toolwire.sdk import LLMRequest, LLMResponse, TextBlock, ToolUseBlock
from toolwire.sdk.testing import FakeLLMProvider

weather = options


def answer(request: LLMRequest) -> LLMResponse:
    """Look up each city that is named, then say what was found."""
    last = request.messages[-1]
    if last.role == "tool":
        found = "\n".join(str(getattr(block, "output", "")) for block in last.content)
        return LLMResponse("end_turn", [TextBlock(found)])
    cities = [city for city in CELSIUS if city in last.text]
    if not cities:
        return LLMResponse("end_turn", [TextBlock(f"Name a city: {', '.join(CELSIUS)}.")])
    calls = [ToolUseBlock(f"{city}-{len(request.messages)}", "fetch_weather", {"city": city}) for city in cities]
    return LLMResponse("tool_use", [*calls])


offline = FakeLLMProvider(responder=answer)
