"""Short words for a conversation with a scripted model."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from toolwire.sdk import (
    DecoratedTool,
    EventEnvelope,
    LLMRequest,
    LLMResponse,
    Options,
    TextBlock,
    ToolResult,
    ToolResultBlock,
    ToolUseBlock,
    Usage,
    tool,
)
from toolwire.sdk.testing import FakeLLMProvider

ANYTHING: dict[str, Any] = {"type": "object", "properties": {}, "additionalProperties": True}


def say(text: str = "Done.") -> LLMResponse:
    return LLMResponse("end_turn", [TextBlock(text)], Usage(uncached=1, output=1))


def use(*calls: tuple[str, str, Any]) -> LLMResponse:
    """A response that asks for calls: `(call_id, tool_name, arguments)`."""
    return LLMResponse("tool_use", [ToolUseBlock(*call) for call in calls], Usage(uncached=1, output=1))


def model(*responses: Any) -> FakeLLMProvider:
    return FakeLLMProvider(responses)


Body: TypeAlias = Callable[[Any, Any], Any]
"""A body that may return or raise anything."""
Watch: TypeAlias = Callable[[EventEnvelope], None]


def raw(name: str, body: Body, risk: Any = "low", **more: Any) -> DecoratedTool:
    """A raw tool."""
    return tool(body, name=name, version="1", risk_level=risk, description=name, input_schema=ANYTHING, **more)


def noting(name: str, ran: list[Any], risk: Any = "low", **more: Any) -> DecoratedTool:
    """A tool that notes each call of it in `ran`, and answers with its name."""

    def body(arguments: dict[str, Any], ctx: Any) -> ToolResult:
        ran.append((name, arguments))
        return ToolResult(success=True, output=name)

    return raw(name, body, risk, **more)


def agent(*tools: Any, **more: Any) -> Options:
    return Options(system_prompt="You are a test.", name="tester", allowed_tools=tools, **more)


def types(events: Sequence[EventEnvelope]) -> list[str]:
    return [event.type for event in events]


def payloads(events: Sequence[EventEnvelope], kind: str) -> list[Any]:
    return [event.payload for event in events if event.type == kind]


def results(request: LLMRequest) -> list[ToolResultBlock]:
    """The results in the last message of tools that a request has."""
    last = next(message for message in reversed(request.messages) if message.role == "tool")
    return [block for block in last.content if isinstance(block, ToolResultBlock)]


def unpaired(request: LLMRequest) -> set[str]:
    """Calls without exactly one result, which no real model's API would take."""
    uses = [b.call_id for m in request.messages for b in m.content if isinstance(b, ToolUseBlock)]
    answers = [b.call_id for m in request.messages for b in m.content if isinstance(b, ToolResultBlock)]
    return {call_id for call_id in {*uses, *answers} if uses.count(call_id) != answers.count(call_id)}


HERE = Path()
