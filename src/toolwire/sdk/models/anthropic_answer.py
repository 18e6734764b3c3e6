"""An answer of the Anthropic Messages API, put together from the events of its stream; it receives nothing itself.

Spec: Anthropic API 2023-06-01, streaming.
"""

from typing import Any

from toolwire.core.jsontypes import JsonObject, as_object
from toolwire.sdk.messages import (
    Block,
    Delta,
    LLMResponse,
    StopReason,
    TextBlock,
    TextDelta,
    ThinkingDelta,
    ToolUseBlock,
    ToolUseDelta,
    Usage,
)
from toolwire.sdk.models.anthropic_wire import API
from toolwire.sdk.models.parts import read_arguments
from toolwire.sdk.models.thought import own

_STOP_REASONS: dict[str, StopReason] = {
    "end_turn": "end_turn",
    "stop_sequence": "end_turn",
    "pause_turn": "end_turn",
    "tool_use": "tool_use",
    "max_tokens": "max_tokens",
    "model_context_window_exceeded": "max_tokens",
    "refusal": "error",
}


class AnthropicAnswer:
    """What came so far of one answer of `model`."""

    def __init__(self, model: str) -> None:
        self._model = model
        self._blocks: dict[int, JsonObject] = {}
        self._usage: JsonObject = {}
        self._facts: JsonObject = {}
        self._stopped: JsonObject = {}
        self.complete = False

    def take(self, event: JsonObject) -> list[Delta]:
        """Add one event; what of it a reader may see at once."""
        told = self._take(event)
        return [] if told is None else [told]

    def response(self) -> LLMResponse:
        """The whole answer."""
        content = [block for _, raw in sorted(self._blocks.items()) if (block := self._block(raw)) is not None]
        reason = str(self._stopped.get("stop_reason") or "end_turn")
        details = as_object(self._stopped.get("stop_details")) or {}
        if reason == "refusal" and details.get("explanation"):
            content.append(TextBlock(str(details["explanation"])))
        stop = _STOP_REASONS.get(reason, "error")
        if stop == "end_turn" and any(isinstance(block, ToolUseBlock) for block in content):
            stop = "tool_use"
        raw = {**self._facts, "stop_reason": reason, "stop_details": details or None, "usage": self._usage}
        return LLMResponse(stop, content, usage_of(self._usage), raw)

    def _take(self, event: JsonObject) -> Delta | None:
        match event.get("type"):
            case "message_start":
                message = as_object(event.get("message")) or {}
                self._facts = {key: message.get(key) for key in ("id", "model")}
                self._count(message.get("usage"))
            case "content_block_start":
                return self._begin(int(event["index"]), as_object(event.get("content_block")) or {})
            case "content_block_delta":
                return self._extend(int(event["index"]), as_object(event.get("delta")) or {})
            case "message_delta":
                self._stopped.update(as_object(event.get("delta")) or {})
                self._count(event.get("usage"))
            case "message_stop":
                self.complete = True
            case _:
                pass  # the API may add events, and says to ignore what one does not know
        return None

    def _begin(self, index: int, block: JsonObject) -> Delta | None:
        self._blocks[index] = {**block, "json": ""}
        if block.get("type") == "tool_use":
            return ToolUseDelta(str(block.get("id")), str(block.get("name")))
        return _visible(block.get("type"), block)

    def _extend(self, index: int, delta: JsonObject) -> Delta | None:
        block = self._blocks.get(index)
        if block is None:
            return None
        match delta.get("type"):
            case "text_delta":
                block["text"] = f"{block.get('text') or ''}{delta.get('text', '')}"
                return _visible("text", delta)
            case "thinking_delta":
                block["thinking"] = f"{block.get('thinking') or ''}{delta.get('thinking', '')}"
                return _visible("thinking", delta)
            case "signature_delta":
                block["signature"] = f"{block.get('signature') or ''}{delta.get('signature', '')}"
            case "input_json_delta":
                block["json"] += delta.get("partial_json", "")
                if delta.get("partial_json") and block.get("type") == "tool_use":
                    return ToolUseDelta(str(block.get("id")), str(block.get("name")), delta["partial_json"])
            case _:
                pass
        return None

    def _block(self, raw: JsonObject) -> Block | None:
        match raw.get("type"):
            case "text":
                return TextBlock(raw["text"]) if raw.get("text") else None
            case "thinking":
                return own(API, self._model, str(raw.get("signature") or ""), str(raw.get("thinking") or ""))
            case "redacted_thinking":
                return own(API, self._model, "", data=str(raw.get("data") or ""))
            case "tool_use":
                arguments = read_arguments(raw["json"]) if raw["json"] else (as_object(raw.get("input")) or {})
                return ToolUseBlock(str(raw.get("id")), str(raw.get("name")), arguments)
            case _:
                return None

    def _count(self, usage: Any) -> None:
        """Counts are totals so far; one that an event leaves out, or has as null, stays what it was."""
        self._usage.update({key: count for key, count in (as_object(usage) or {}).items() if count is not None})


def usage_of(raw: JsonObject) -> Usage:
    """The API's counts as ours; its input tokens are those that no cache had to do with."""
    details = as_object(raw.get("output_tokens_details")) or {}
    return Usage(
        uncached=raw.get("input_tokens") or 0,
        cache_read=raw.get("cache_read_input_tokens") or 0,
        cache_write=raw.get("cache_creation_input_tokens") or 0,
        output=raw.get("output_tokens") or 0,
        reasoning_tokens=details.get("thinking_tokens") or 0,
    )


def _visible(kind: Any, part: JsonObject) -> Delta | None:
    if kind == "text" and part.get("text"):
        return TextDelta(str(part["text"]))
    if kind == "thinking" and part.get("thinking"):
        return ThinkingDelta(str(part["thinking"]))
    return None
