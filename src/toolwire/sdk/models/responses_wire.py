"""A request as OpenAI's Responses API takes it; it sends nothing and reads no answer.

Spec: OpenAI API v1, `POST /responses`. Nothing is left with the provider (`store: false`): the conversation is ours,
and goes along whole every time.
"""

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
from toolwire.sdk.models.openai_traits import fits_strict, reasoning_of
from toolwire.sdk.models.parts import Picture, arguments_json, clean, function_of, picture, result_text
from toolwire.sdk.models.thought import signature_for
from toolwire.sdk.models.turns import Turn, split_system, text_of, turns_of

API = "openai-responses"


def request_body(request: LLMRequest, *, own_host: bool) -> JsonObject:
    """The body of `POST /responses`; loads the pictures, so do not build it on an event loop if there are any.

    Args:
        request: what to ask.
        own_host: the server is OpenAI's own, which has fields that its copies do not.
    """
    system, turns = split_system(turns_of(request.messages), request.system)
    body: JsonObject = {
        "model": request.model,
        "input": [item for turn in turns for item in _items(request, turn)],
        "store": False,
    }
    if system:
        body["instructions"] = clean(system)
    if request.tools:
        body["tools"] = [_tool(tool) for tool in request.tools]
    if request.temperature is not None:
        body["temperature"] = request.temperature
    if request.max_tokens is not None:
        body["max_output_tokens"] = request.max_tokens
    reasoning = reasoning_of(request)
    if reasoning:
        body["reasoning"] = reasoning
    if request.output_schema is not None:
        schema = request.output_schema
        answer = {"type": "json_schema", "name": "answer", "schema": schema, "strict": fits_strict(schema)}
        body["text"] = {"format": answer}
    if own_host and "user_id" in request.metadata:
        body["safety_identifier"] = str(request.metadata["user_id"])
    if own_host and "task_id" in request.metadata:
        body["prompt_cache_key"] = str(request.metadata["task_id"])
    return body


def _tool(tool: JsonObject) -> JsonObject:
    # Without "strict", this API closes every object and requires all of its properties, which authors did not mean.
    return {"type": "function", **function_of(tool)._asdict(), "strict": False}


def _items(request: LLMRequest, turn: Turn) -> list[JsonObject]:
    match turn.speaker:
        case "system":
            text = clean(text_of(turn.blocks))
            return [{"role": "developer", "content": text}] if text else []
        case "assistant":
            return [item for block in turn.blocks if (item := _said(request, block)) is not None]
        case "user":
            return _asked(request, turn.blocks)


def _said(request: LLMRequest, block: Block) -> JsonObject | None:
    match block:
        case TextBlock(text=text):
            return {"role": "assistant", "content": clean(text)} if text.strip() else None
        case ThinkingBlock():
            return _thought(request.model, block)
        case ToolUseBlock(call_id=call_id, tool_name=name, arguments=arguments):
            call = {"type": "function_call", "call_id": call_id, "name": name}
            return {**call, "arguments": arguments_json(arguments)}
        case _:
            return None


def _thought(model: str, block: ThinkingBlock) -> JsonObject | None:
    item_id = signature_for(block, API, model)
    if item_id is None or block.data is None:
        return None  # what the provider did not encrypt it has kept itself, and we asked it to keep nothing
    summary = [{"type": "summary_text", "text": block.text}] if block.text else []
    return {"type": "reasoning", "id": item_id, "summary": summary, "encrypted_content": block.data}


def _asked(request: LLMRequest, blocks: list[Block]) -> list[JsonObject]:
    found: list[JsonObject] = []
    parts: list[JsonObject] = []
    for block in blocks:
        if isinstance(block, ToolResultBlock):
            found.append(_result(request, block))
        elif isinstance(block, TextBlock) and block.text.strip():
            parts.append(_text(block.text))
        elif isinstance(block, ImageBlock):
            parts.append(_image(request, block))
    if parts:
        found.append({"role": "user", "content": parts})
    return found


def _result(request: LLMRequest, block: ToolResultBlock) -> JsonObject:
    """This API has no field that says that a call failed."""
    text = result_text(block) if block.success else f"Error: {result_text(block)}"
    found: JsonObject = {"type": "function_call_output", "call_id": block.call_id, "output": text}
    if block.images:
        texts = [_text(text)] if text.strip() else []
        found["output"] = [*texts, *(_image(request, image) for image in block.images)]
    return found


def _text(text: str) -> JsonObject:
    return {"type": "input_text", "text": clean(text)}


def _image(request: LLMRequest, block: ImageBlock) -> JsonObject:
    shown = picture(request, block)
    if isinstance(shown, Picture):
        return {"type": "input_image", "image_url": shown.data_url, "detail": "auto"}
    return _text(shown)
