"""A request as the Anthropic Messages API takes it; it sends nothing and reads no answer.

Spec: Anthropic API 2023-06-01, `POST /v1/messages`.
"""

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Literal, NamedTuple, TypeAlias, cast

from toolwire.core.jsontypes import JsonObject, as_object
from toolwire.sdk.messages import (
    Block,
    ImageBlock,
    LLMRequest,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
)
from toolwire.sdk.models.parts import Picture, arguments_object, clean, function_of, picture, result_text, schema_prompt
from toolwire.sdk.models.thought import signature_for
from toolwire.sdk.models.turns import Turn, split_system, text_of, turns_of

API = "anthropic"

ThinkingStyle: TypeAlias = Literal["budget", "adaptive", "between_tools", "always"]
ClosedSchema: TypeAlias = Callable[[JsonObject], JsonObject]

_CLAUDE = re.compile(r"claude-(?:([a-z]+)-)?(\d+)(?:[-.](\d{1,2})(?!\d))?")
"""The family and the version in a model's name; "claude-3-5-haiku" has no family in front."""

_BUDGETS = {"low": 4_096, "medium": 10_000, "high": 16_000, "xhigh": 31_999, "max": 31_999}
_LEAST_BUDGET = 1_024
_HELD = frozenset(
    {"$schema", "title", "description", "default", "examples", "format", "type", "enum", "const", "anyOf"}
    | {"properties", "required", "additionalProperties", "items", "minItems", "maxItems", "minLength", "maxLength"}
    | {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "pattern"}
)
"""What a schema may say that the API holds an answer to, or that the official client moves into a description."""

_CACHE = {"type": "ephemeral"}
_CACHED_TURNS = 2


class Traits(NamedTuple):
    """What a model takes, as far as its name tells.

    Attributes:
        max_output: tokens it may write, sent where the request names no limit, since the API wants one.
        thinking: "budget" for models that are given a number of tokens, "adaptive" for those that decide themselves;
            of these, "between_tools" and "always" cannot stop thinking altogether.
        effort: whether it knows `output_config.effort`.
        formats: whether it can be held to a schema by `output_config.format`.
    """

    max_output: int
    thinking: ThinkingStyle
    effort: bool
    formats: bool = False


def traits_of(model: str) -> Traits:
    """What `model` takes. A name that is not Claude's is taken for a compatible server's model."""
    found = _CLAUDE.search(model)
    if found is None:
        return Traits(32_000, "budget", effort=False)
    family, version = found[1] or "", (int(found[2]), int(found[3] or 0))
    if version < (3, 7):
        return Traits(8_192 if version == (3, 5) else 4_096, "budget", effort=False)
    if version < (4, 6):
        limit = 32_000 if family == "opus" and version < (4, 5) else 64_000
        opus = family == "opus"
        formats = version >= (4, 5) or (opus and version == (4, 1))
        return Traits(limit, "budget", effort=opus and version >= (4, 5), formats=formats)
    return Traits(64_000, _style(family, version), effort=True, formats=True)


def request_body(
    request: LLMRequest, *, cache: bool = True, closed: ClosedSchema = lambda schema: schema
) -> JsonObject:
    """The body of `POST /v1/messages`; loads the pictures, so do not build it on an event loop if there are any.

    Args:
        request: what to ask.
        cache: mark where the provider may keep the prompt, so that the next request of the conversation is cheap.
        closed: brings a schema into the form that the API takes.
    """
    traits = traits_of(request.model)
    system, turns = split_system(turns_of(request.messages), request.system)
    body: JsonObject = {
        "model": request.model,
        "max_tokens": request.max_tokens or traits.max_output,
        "messages": [message for turn in turns if (message := _message(request, turn))],
    }
    output = _output(request, traits, closed)
    if request.output_schema is not None and "format" not in output:
        system = "\n\n".join(part for part in (system, schema_prompt(request.output_schema)) if part)
    if system:
        body["system"] = [{"type": "text", "text": clean(system)}]
    if request.tools:
        body["tools"] = [_tool(tool) for tool in request.tools]
    if "user_id" in request.metadata:
        body["metadata"] = {"user_id": str(request.metadata["user_id"])}
    if request.temperature is not None:
        body["temperature"] = request.temperature
    _set_thinking(body, request, traits)
    if output:
        body["output_config"] = output
    if cache:
        _mark_cache(body)
    return body


def _style(family: str, version: tuple[int, int]) -> ThinkingStyle:
    if family in ("fable", "mythos") or (family == "opus" and version >= (5, 5)):
        return "always"
    return "between_tools" if family == "sonnet" and version >= (5, 5) else "adaptive"


def _set_thinking(body: JsonObject, request: LLMRequest, traits: Traits) -> None:
    wanted = request.thinking
    if isinstance(wanted, Mapping):
        body["thinking"] = dict(cast("Mapping[str, Any]", wanted))
    elif wanted == "off":
        if traits.thinking == "between_tools":
            body["thinking"] = {"type": "between_tools"}
        elif traits.thinking != "always":
            body["thinking"] = {"type": "disabled"}
    elif wanted in ("on", "adaptive"):
        if traits.thinking == "budget":
            _set_budget(body, request)
        else:
            # Without "display", the newest models say only that they thought.
            body["thinking"] = {"type": "adaptive", "display": "summarized"}


def _set_budget(body: JsonObject, request: LLMRequest) -> None:
    room = int(body["max_tokens"]) - _LEAST_BUDGET
    if room < _LEAST_BUDGET:
        return  # an answer this short leaves nothing to think with
    budget = _BUDGETS.get(request.effort or "high", _BUDGETS["high"])
    body["thinking"] = {"type": "enabled", "budget_tokens": min(budget, room)}
    body.pop("temperature", None)  # refused next to a budget


def _output(request: LLMRequest, traits: Traits, closed: ClosedSchema) -> JsonObject:
    found: JsonObject = {}
    if request.effort is not None and traits.effort:
        found["effort"] = request.effort
    schema = request.output_schema
    if schema is not None and traits.formats and can_hold(schema):
        with suppress(ValueError):  # the client knows more limits; the prompt then says it
            found["format"] = {"type": "json_schema", "schema": closed(schema)}
    return found


def can_hold(schema: JsonObject) -> bool:
    """Whether the API can hold an answer to `schema`: it closes every object, so that none may be open on purpose.

    Spec: Anthropic API 2023-06-01, structured outputs, JSON Schema limitations.
    """
    if not schema.keys() <= _HELD:
        return False
    properties = as_object(schema.get("properties"))
    if schema.get("type") == "object" and (properties is None or schema.get("additionalProperties", False)):
        return False
    if not isinstance(schema.get("type", ""), str) or not schema.keys() & {"type", "anyOf", "enum", "const"}:
        return False
    choices: list[Any] = [*(properties or {}).values(), *schema.get("anyOf", ())]
    if "items" in schema:
        choices.append(schema["items"])
    return all(isinstance(inner, dict) and can_hold(cast("JsonObject", inner)) for inner in choices)


def _mark_cache(body: JsonObject) -> None:
    """Mark the end of what never changes and the last turns of the user, up to which the next request is the same."""
    fixed = body.get("system") or body.get("tools")
    if fixed:
        fixed[-1]["cache_control"] = _CACHE
    asked = [message for message in body["messages"] if message["role"] == "user"]
    for message in asked[-_CACHED_TURNS:]:
        message["content"][-1]["cache_control"] = _CACHE


def _tool(tool: JsonObject) -> JsonObject:
    name, description, parameters = function_of(tool)
    found: JsonObject = {"name": name, "input_schema": {"type": "object", **parameters}}
    if description:
        found["description"] = description
    return found


def _message(request: LLMRequest, turn: Turn) -> JsonObject | None:
    if turn.speaker == "system":
        # Not every model takes a system message in the middle of a conversation.
        text = clean(text_of(turn.blocks))
        content = [{"type": "text", "text": f"<system>\n{text}\n</system>"}] if text else []
        return {"role": "user", "content": content} if content else None
    content = [part for block in turn.blocks if (part := _part(request, block)) is not None]
    return {"role": turn.speaker, "content": content} if content else None


def _part(request: LLMRequest, block: Block) -> JsonObject | None:
    match block:
        case TextBlock(text=text):
            return {"type": "text", "text": clean(text)} if text.strip() else None
        case ThinkingBlock():
            return _thought(request.model, block)
        case ToolUseBlock(call_id=call_id, tool_name=name, arguments=arguments):
            return {"type": "tool_use", "id": call_id, "name": name, "input": arguments_object(arguments)}
        case ToolResultBlock():
            return _result(request, block)
        case ImageBlock():
            return _image(request, block)


def _thought(model: str, block: ThinkingBlock) -> JsonObject | None:
    signature = signature_for(block, API, model)
    if signature is None:
        return None
    if block.data is not None:
        return {"type": "redacted_thinking", "data": block.data}
    return {"type": "thinking", "thinking": block.text, "signature": signature}


def _result(request: LLMRequest, block: ToolResultBlock) -> JsonObject:
    text = result_text(block)
    content: list[JsonObject] = [{"type": "text", "text": text}] if text.strip() else []
    content.extend(_image(request, image) for image in block.images or ())
    found: JsonObject = {"type": "tool_result", "tool_use_id": block.call_id}
    if content:
        found["content"] = content
    if not block.success:
        found["is_error"] = True
    return found


def _image(request: LLMRequest, block: ImageBlock) -> JsonObject:
    shown = picture(request, block)
    if isinstance(shown, Picture):
        source = {"type": "base64", "media_type": shown.media_type, "data": shown.data}
        return {"type": "image", "source": source}
    return {"type": "text", "text": shown}
