"""The parts of messages that every wire has: texts of results, arguments, pictures, tools; no wire's own shapes."""

import json
import logging
from base64 import b64encode
from typing import Any, NamedTuple

import msgspec

from toolwire.core.jsontypes import JsonObject, as_object
from toolwire.sdk.messages import ImageBlock, LLMRequest, ToolResultBlock

LOGGER = logging.getLogger("toolwire.sdk.models")

READABLE_IMAGES = ("image/png", "image/jpeg", "image/gif", "image/webp")
"""The types of pictures that the providers take."""

_MAGIC = ((b"\x89PNG", "image/png"), (b"\xff\xd8\xff", "image/jpeg"), (b"GIF8", "image/gif"))


class Picture(NamedTuple):
    """A picture as a wire takes it: its type and its bytes in Base64."""

    media_type: str
    data: str

    @property
    def data_url(self) -> str:
        """The same as a URL."""
        return f"data:{self.media_type};base64,{self.data}"


class Function(NamedTuple):
    """A tool as `LLMRequest.tools` has it."""

    name: str
    description: str
    parameters: JsonObject


def result_text(block: ToolResultBlock) -> str:
    """What the model reads of a result: the output, a text as it is and anything else as JSON; of a failure, why.

    Contract: sdk.md 12, 13.
    """
    output = _as_text(block.output)
    if block.success:
        return output
    error = clean(block.error or "tool failed")
    return f"{error}\n\n{output}" if output and output != error else error


def arguments_json(arguments: Any) -> str:
    """A call's arguments as the JSON object that goes back to the model, whatever it wrote at the time."""
    return json.dumps(arguments_object(arguments), ensure_ascii=False, separators=(",", ":"), default=str)


def arguments_object(arguments: Any) -> JsonObject:
    """A call's arguments as an object; what the model wrote instead of one is shown to it under a name of its own."""
    found = as_object(arguments)
    return {"invalid_arguments": arguments} if found is None else found


def read_arguments(text: str) -> Any:
    """The arguments that a model wrote: a JSON object, or the text itself where it is none.

    `ToolUseBlock.arguments` that are no object are the mark by which the loop knows to answer with an error.
    """
    if not text.strip():
        return {}
    try:
        found = as_object(msgspec.json.decode(text))  # stricter than the standard library: no NaN, no lone surrogates
    except (ValueError, RecursionError):
        return text
    return text if found is None else found


def picture(request: LLMRequest, block: ImageBlock) -> Picture | str:
    """The picture behind a reference, or a text that says why the model cannot see it."""
    ref = block.source
    try:
        body = request.load(ref)
    except Exception:  # whatever a store raises, the conversation must go on, without the picture
        LOGGER.warning("the image %s of %d bytes cannot be loaded", ref.hash, ref.size, exc_info=True)
        return f"[an image of {ref.size} bytes that is not available any more]"
    media_type = _media_type(body) or ref.media_type
    if media_type not in READABLE_IMAGES:
        return f"[an image of the type {media_type}, which cannot be shown; these can: {', '.join(READABLE_IMAGES)}]"
    return Picture(media_type, b64encode(body).decode("ascii"))


def schema_prompt(schema: JsonObject) -> str:
    """How a model is told what its answer must fit, where the API cannot hold it to that."""
    written = clean(json.dumps(schema, ensure_ascii=False, separators=(",", ":")))
    return f"Your final answer must be JSON alone, with nothing around it, that fits this JSON Schema:\n{written}"


def function_of(tool: JsonObject) -> Function:
    """The parts of one of `LLMRequest.tools`."""
    function = as_object(tool.get("function")) or tool
    parameters = as_object(function.get("parameters")) or {"type": "object", "properties": {}}
    return Function(str(function.get("name", "")), str(function.get("description") or ""), parameters)


def clean(text: str) -> str:
    """`text` without lone surrogates, which no JSON body can hold."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text


def _as_text(output: Any) -> str:
    if output is None:
        return ""
    if isinstance(output, str):
        return clean(output)
    return clean(json.dumps(output, ensure_ascii=False, separators=(",", ":"), default=str))


def _media_type(body: bytes) -> str | None:
    """What the bytes say they are: a tool may have stored them without saying so."""
    if body[:4] == b"RIFF" and body[8:12] == b"WEBP":
        return "image/webp"
    return next((media_type for magic, media_type in _MAGIC if body.startswith(magic)), None)
