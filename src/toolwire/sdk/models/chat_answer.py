"""An answer of a Chat Completions API, whole or put together from the chunks of its stream; it receives nothing itself.

Spec: OpenAI API v1, the chat completion object and the chat completion chunk object.
"""

import json
import uuid
from typing import Any, cast

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
from toolwire.sdk.models.chat_wire import API
from toolwire.sdk.models.failure import Place, reported_failure
from toolwire.sdk.models.parts import read_arguments
from toolwire.sdk.models.thought import own

_STOP_REASONS: dict[str, StopReason] = {
    "stop": "end_turn",
    "tool_calls": "tool_use",
    "function_call": "tool_use",
    "length": "max_tokens",
    "content_filter": "error",
}

_THOUGHT_FIELDS = ("reasoning_content", "reasoning")
"""Under what names servers other than OpenAI's tell what their model thought."""


class ChatAnswer:
    """What came so far of one answer of `model`: a whole completion, or its chunks one by one."""

    def __init__(self, model: str, place: Place) -> None:
        self._model = model
        self._place = place
        self._text = ""
        self._refusal = ""
        self._thought = ""
        self._thought_field = _THOUGHT_FIELDS[0]
        self._calls: list[_Call] = []
        self._reason = ""
        self._usage: JsonObject = {}
        self._facts: JsonObject = {}

    @property
    def complete(self) -> bool:
        """Whether the model has said that it is done; a count of tokens may still follow."""
        return bool(self._reason)

    def take(self, event: JsonObject) -> list[Delta]:
        """Add a chunk or a completion; what of it a reader may see at once.

        Raises:
            ProviderError: it is an error, as some servers send it with status 200.
        """
        error = event.get("error")
        if error:
            raise reported_failure(as_object(error) or {"message": str(error)}, self._place)
        self._facts.update({key: event[key] for key in ("id", "model", "service_tier") if event.get(key)})
        self._usage = as_object(event.get("usage")) or self._usage
        choices: list[Any] = event.get("choices") or []
        choice = as_object(choices[0]) if choices else None
        if choice is None:
            return []
        self._reason = str(choice.get("finish_reason") or self._reason)
        whole = as_object(choice.get("message"))
        if whole is not None and not self._reason:
            self._reason = "stop"  # some servers forget to say it of a whole answer
        return self._add(whole or as_object(choice.get("delta")) or {})

    def response(self) -> LLMResponse:
        """The whole answer."""
        content: list[Block] = []
        if self._thought:
            content.append(own(API, self._model, self._thought_field, self._thought))
        content.extend(TextBlock(text) for text in (self._text, self._refusal) if text)
        content.extend(call.block() for call in self._calls)
        stop: StopReason = "error" if self._refusal else _STOP_REASONS.get(self._reason, "end_turn")
        if stop in ("end_turn", "tool_use"):
            stop = "tool_use" if self._calls else "end_turn"
        raw = {**self._facts, "finish_reason": self._reason, "usage": self._usage}
        return LLMResponse(stop, content, usage_of(self._usage), raw)

    def _add(self, part: JsonObject) -> list[Delta]:
        told: list[Delta] = []
        for field in _THOUGHT_FIELDS:
            thought = _plain(part.get(field))
            if thought:
                self._thought += thought
                self._thought_field = field
                told.append(ThinkingDelta(thought))
                break  # a server that has both fields says the same in both
        text, refusal = _plain(part.get("content")), _plain(part.get("refusal"))
        self._text += text
        self._refusal += refusal
        told.extend(TextDelta(said) for said in (text, refusal) if said)
        for raw in part.get("tool_calls") or ():
            told.extend(self._add_call(as_object(raw) or {}))
        return told

    def _add_call(self, part: JsonObject) -> list[Delta]:
        function = as_object(part.get("function")) or {}
        name, written = str(function.get("name") or ""), _arguments_text(function.get("arguments"))
        call = self._continued(part, name)
        started = call is None
        if call is None:
            call = _Call(part.get("index"), str(part.get("id") or f"call_{uuid.uuid4().hex}"))
            self._calls.append(call)
        call.name = call.name or name
        call.arguments += written
        return [ToolUseDelta(call.id, call.name, written)] if started or written else []

    def _continued(self, part: JsonObject, name: str) -> "_Call | None":
        """The call that a part continues; `None` for a new one.

        Some servers give every call the index 0 and tell them apart by id, others send neither with what follows.
        """
        index, given = part.get("index"), part.get("id")
        if given:
            call = next((call for call in self._calls if call.id == given), None)
            return call if call is not None and call.index == index else None
        if index is None:
            return None if name or not self._calls else self._calls[-1]
        return next((call for call in reversed(self._calls) if call.index == index), None)


class _Call:
    """A call that is being written."""

    __slots__ = ("arguments", "id", "index", "name")

    def __init__(self, index: Any, call_id: str) -> None:
        self.index = index
        self.id = call_id
        self.name = ""
        self.arguments = ""

    def block(self) -> ToolUseBlock:
        return ToolUseBlock(self.id, self.name, read_arguments(self.arguments))


def usage_of(raw: JsonObject) -> Usage:
    """The API's counts as ours; its prompt tokens include those that a cache had."""
    prompt = as_object(raw.get("prompt_tokens_details")) or {}
    completion = as_object(raw.get("completion_tokens_details")) or {}
    read = prompt.get("cached_tokens") or raw.get("prompt_cache_hit_tokens") or 0
    written = prompt.get("cache_write_tokens") or 0
    return Usage(
        uncached=max(0, (raw.get("prompt_tokens") or 0) - read - written),
        cache_read=read,
        cache_write=written,
        output=raw.get("completion_tokens") or 0,
        reasoning_tokens=completion.get("reasoning_tokens") or 0,
    )


def _plain(content: Any) -> str:
    """The text of a field that is a text, or a list of parts as some servers have it."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    parts = [as_object(part) or {} for part in cast("list[Any]", content)]
    return "".join(part["text"] for part in parts if isinstance(part.get("text"), str))


def _arguments_text(arguments: Any) -> str:
    """Arguments are JSON in a text; some servers send the object itself."""
    if arguments is None:
        return ""
    return arguments if isinstance(arguments, str) else json.dumps(arguments)
