from docs_src.agent_sdk.tutorial001 import options
from toolwire.sdk import LLMResponse, TextBlock, ToolUseBlock, query
from toolwire.sdk.testing import FakeLLMProvider


def test_the_model_reads_what_the_tool_found() -> None:
    model = FakeLLMProvider(
        responses=[
            LLMResponse("tool_use", [ToolUseBlock("t1", "fetch_weather", {"city": "Lisbon"})]),
            LLMResponse("end_turn", [TextBlock("Warm.")]),
        ]
    )

    result = query(options, goal="How is Lisbon?", provider=model)

    assert result.answer() == "Warm."
    assert [event.payload.tool_name for event in result if event.type == "ToolCallStarted"] == ["fetch_weather"]
    (read,) = model.received_requests[-1].messages[-1].content
    assert getattr(read, "output", None) == "24°C in Lisbon"


def test_a_city_that_is_not_there_is_an_error_that_the_model_reads() -> None:
    model = FakeLLMProvider(
        responses=[
            LLMResponse("tool_use", [ToolUseBlock("t1", "fetch_weather", {"city": "Atlantis"})]),
            LLMResponse("end_turn", [TextBlock("There is no Atlantis.")]),
        ]
    )

    query(options, goal="How is Atlantis?", provider=model)

    (read,) = model.received_requests[-1].messages[-1].content
    assert getattr(read, "error", None) == "no weather for 'Atlantis'; there is Bergen, Lisbon, Tokyo"
