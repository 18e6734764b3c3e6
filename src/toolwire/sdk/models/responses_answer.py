"""An answer of OpenAI's Responses API, whole or from the events of its stream; it receives nothing itself.

Spec: OpenAI API v1, the response object and its streaming events.
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
from toolwire.sdk.models.failure import Place, reported_failure
from toolwire.sdk.models.parts import read_arguments
from toolwire.sdk.models.responses_wire import API
from toolwire.sdk.models.thought import own

_ENDS = ("response.completed", "response.incomplete", "response.failed", "response.cancelled")

_TEXTS = ("response.output_text.delta", "response.refusal.delta")
_THOUGHTS = ("response.reasoning_summary_text.delta", "response.reasoning_text.delta")


class ResponsesAnswer:
    """What came so far of one answer of `model`: a whole response, or the events of its stream."""

    def __init__(self, model: str, place: Place) -> None:
        self._model = model
        self._place = place
        self._items: dict[int, JsonObject] = {}
        self._calls: dict[Any, JsonObject] = {}
        self._final: JsonObject | None = None

    @property
    def complete(self) -> bool:
        """Whether the response has come to its end, whichever that is."""
        return self._final is not None

    def take(self, event: JsonObject) -> list[Delta]:
        """Add one event, or the whole response; what of it a reader may see at once.

        Raises:
            ProviderError: the server reports that it failed.
        """
        kind = event.get("type")
        if event.get("object") == "response":
            self._end(event)
        elif kind in _ENDS:
            self._end(as_object(event.get("response")) or {})
        elif kind == "error" or event.get("error"):
            raise reported_failure(as_object(event.get("error")) or event, self._place)
        elif kind in _TEXTS and event.get("delta"):
            return [TextDelta(str(event["delta"]))]
        elif kind in _THOUGHTS and event.get("delta"):
            return [ThinkingDelta(str(event["delta"]))]
        else:
            return self._take_item(event)
        return []

    def response(self) -> LLMResponse:
        """The whole answer."""
        final = self._final or {}
        output: list[Any] = final.get("output") or [item for _, item in sorted(self._items.items())]
        items = [as_object(item) or {} for item in output]
        content = [block for item in items for block in self._blocks(item)]
        usage = as_object(final.get("usage")) or {}
        facts = ("id", "model", "status", "incomplete_details", "service_tier")
        raw = {**{key: final.get(key) for key in facts}, "usage": usage}
        return LLMResponse(_stop_reason(final, items), content, usage_of(usage), raw)

    def _end(self, final: JsonObject) -> None:
        self._final = final
        if final.get("status") in ("failed", "cancelled"):
            raise reported_failure(as_object(final.get("error")) or {"message": str(final["status"])}, self._place)

    def _take_item(self, event: JsonObject) -> list[Delta]:
        item = as_object(event.get("item")) or {}
        index = event.get("output_index", 0)
        match event.get("type"):
            case "response.output_item.added" if item.get("type") == "function_call":
                self._calls[index] = item
                return [ToolUseDelta(str(item.get("call_id")), str(item.get("name")))]
            case "response.output_item.done":
                self._items[index] = item
            case "response.function_call_arguments.delta" if index in self._calls and event.get("delta"):
                call = self._calls[index]
                return [ToolUseDelta(str(call.get("call_id")), str(call.get("name")), str(event["delta"]))]
            case _:
                pass  # events of parts that are whole in the end, and those that the API may add
        return []

    def _blocks(self, item: JsonObject) -> list[Block]:
        match item.get("type"):
            case "message":
                texts = [part.get("text") or part.get("refusal") for part in _parts(item, "content")]
                return [TextBlock(str(text)) for text in texts if text]
            case "function_call":
                arguments = read_arguments(str(item.get("arguments") or ""))
                return [ToolUseBlock(str(item.get("call_id") or item.get("id")), str(item.get("name")), arguments)]
            case "reasoning":
                parts = _parts(item, "summary") or _parts(item, "content")
                text = "\n\n".join(str(part.get("text", "")) for part in parts)
                return [own(API, self._model, str(item.get("id")), text, item.get("encrypted_content"))]
            case _:
                return []


def usage_of(raw: JsonObject) -> Usage:
    """The API's counts as ours; its input tokens include those that a cache had."""
    given = as_object(raw.get("input_tokens_details")) or {}
    written = as_object(raw.get("output_tokens_details")) or {}
    read, stored = given.get("cached_tokens") or 0, given.get("cache_write_tokens") or 0
    return Usage(
        uncached=max(0, (raw.get("input_tokens") or 0) - read - stored),
        cache_read=read,
        cache_write=stored,
        output=raw.get("output_tokens") or 0,
        reasoning_tokens=written.get("reasoning_tokens") or 0,
    )


def _stop_reason(final: JsonObject, items: list[JsonObject]) -> StopReason:
    if final.get("status") == "incomplete":
        details = as_object(final.get("incomplete_details")) or {}
        return "error" if details.get("reason") == "content_filter" else "max_tokens"
    if any(part.get("type") == "refusal" for item in items for part in _parts(item, "content")):
        return "error"
    return "tool_use" if any(item.get("type") == "function_call" for item in items) else "end_turn"


def _parts(item: JsonObject, field: str) -> list[JsonObject]:
    found: list[Any] = item.get(field) or []
    return [as_object(part) or {} for part in found]
