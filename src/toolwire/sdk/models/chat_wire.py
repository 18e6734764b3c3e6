"""A request as OpenAI's Chat Completions API and the many that copy it take it; it sends nothing and reads no answer.

Spec: OpenAI API v1, `POST /chat/completions`.
"""

from typing import Any

from toolwire.core.jsontypes import JsonObject
from toolwire.sdk.messages import (
    Block,
    ImageBlock,
    LLMRequest,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
)
from toolwire.sdk.models.openai_traits import chat_effort, fits_strict
from toolwire.sdk.models.parts import Picture, arguments_json, clean, function_of, picture, result_text, schema_prompt
from toolwire.sdk.models.thought import signature_for
from toolwire.sdk.models.turns import Turn, split_system, text_of, turns_of

API = "openai-chat"


def request_body(request: LLMRequest, *, own_host: bool) -> JsonObject:
    """The body of `POST /chat/completions`; loads the pictures, so do not build it on an event loop if there are any.

    Args:
        request: what to ask.
        own_host: the server is OpenAI's own, which has fields that its copies do not.
    """
    system, turns = split_system(turns_of(request.messages), request.system)
    if request.output_schema is not None and not own_host:
        # Many servers know no schemas; `extra_body` may ask them for any JSON, and this for the right one.
        system = "\n\n".join(part for part in (system, schema_prompt(request.output_schema)) if part)
    messages: list[JsonObject] = [{"role": "system", "content": clean(system)}] if system else []
    last_asked = max((index for index, turn in enumerate(turns) if _asks(turn)), default=-1)
    for index, turn in enumerate(turns):
        messages.extend(_messages(request, turn, thinking=index > last_asked))
    body: JsonObject = {"model": request.model, "messages": messages}
    if request.tools:
        body["tools"] = [_tool(tool) for tool in request.tools]
    if request.temperature is not None:
        body["temperature"] = request.temperature
    if request.max_tokens is not None:
        body["max_completion_tokens" if own_host else "max_tokens"] = request.max_tokens
    effort = chat_effort(request)
    if effort is not None:
        body["reasoning_effort"] = effort
    if request.output_schema is not None:
        schema = request.output_schema
        answer = {"name": "answer", "schema": schema, "strict": fits_strict(schema)}
        body["response_format"] = {"type": "json_schema", "json_schema": answer}
    if own_host:
        body.update(_own_fields(request.metadata))
    return body


def _own_fields(metadata: JsonObject) -> JsonObject:
    found: JsonObject = {}
    if "user_id" in metadata:
        found["safety_identifier"] = str(metadata["user_id"])
    if "task_id" in metadata:
        found["prompt_cache_key"] = str(metadata["task_id"])
    return found


def _asks(turn: Turn) -> bool:
    """Whether a user begins something new here, rather than only giving the results of calls."""
    return turn.speaker == "user" and not any(isinstance(block, ToolResultBlock) for block in turn.blocks)


def _tool(tool: JsonObject) -> JsonObject:
    function = function_of(tool)
    return {"type": "function", "function": function._asdict()}


def _messages(request: LLMRequest, turn: Turn, *, thinking: bool) -> list[JsonObject]:
    match turn.speaker:
        case "system":
            text = clean(text_of(turn.blocks))
            return [{"role": "system", "content": text}] if text else []
        case "assistant":
            return _assistant(request, turn.blocks, thinking=thinking)
        case "user":
            return _user(request, turn.blocks)


def _assistant(request: LLMRequest, blocks: list[Block], *, thinking: bool) -> list[JsonObject]:
    text = clean(text_of(blocks))
    calls = [_call(block) for block in blocks if isinstance(block, ToolUseBlock)]
    if not text and not calls:
        return []
    found: JsonObject = {"role": "assistant", "content": text or None}
    if calls:
        found["tool_calls"] = calls
    if thinking and calls:
        # Servers that tell what their model thought want it back until the question is answered, and not longer.
        for block in blocks:
            field = signature_for(block, API, request.model) if isinstance(block, ThinkingBlock) else None
            if field and isinstance(block, ThinkingBlock):
                found[field] = found.get(field, "") + block.text
    return [found]


def _call(block: ToolUseBlock) -> JsonObject:
    function = {"name": block.tool_name, "arguments": arguments_json(block.arguments)}
    return {"id": block.call_id, "type": "function", "function": function}


def _user(request: LLMRequest, blocks: list[Block]) -> list[JsonObject]:
    found: list[JsonObject] = []
    parts: list[JsonObject] = []
    for block in blocks:
        if isinstance(block, ToolResultBlock):
            found.append({"role": "tool", "tool_call_id": block.call_id, "content": _result(block)})
            if block.images:
                # A tool's message can hold text alone, so its pictures follow as if the user had sent them.
                parts.append({"type": "text", "text": f"Images that the call {block.call_id} returned:"})
                parts.extend(_image(request, image) for image in block.images)
        elif isinstance(block, TextBlock) and block.text.strip():
            parts.append({"type": "text", "text": clean(block.text)})
        elif isinstance(block, ImageBlock):
            parts.append(_image(request, block))
    if parts:
        found.append({"role": "user", "content": _content(parts)})
    return found


def _content(parts: list[JsonObject]) -> Any:
    """Text alone goes as text: not every server takes a list of parts."""
    if all(part["type"] == "text" for part in parts):
        return "\n\n".join(part["text"] for part in parts)
    return parts


def _result(block: ToolResultBlock) -> str:
    """This API has no field that says that a call failed."""
    text = result_text(block)
    return text if block.success else f"Error: {text}"


def _image(request: LLMRequest, block: ImageBlock) -> JsonObject:
    shown = picture(request, block)
    if isinstance(shown, Picture):
        return {"type": "image_url", "image_url": {"url": shown.data_url}}
    return {"type": "text", "text": shown}
