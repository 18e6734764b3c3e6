"""What a handler returns, as the result that goes to the agent (cards.md 40-52, decisions 29-32)."""

import base64
import binascii
from collections.abc import Mapping
from typing import Any, Final, Literal, TypeAlias, cast

import msgspec

from toolwire.card.texts import cut
from toolwire.core.jsontypes import MAX_DEPTH, as_object
from toolwire.wire.card_messages import MAX_ERROR_CHARS, MAX_PARTS, MAX_RESULT_BYTES, ImagePart, TextPart, ToolResult

ImageType: TypeAlias = Literal["image/png", "image/jpeg", "image/webp", "image/gif"]
NOTHING: Final = "OK"
"""What an agent gets of a handler that returns nothing."""

_BEGINNINGS: Final = {
    "image/png": (b"\x89PNG\r\n\x1a\n",),
    "image/jpeg": (b"\xff\xd8\xff",),
    "image/webp": (b"RIFF",),
    "image/gif": (b"GIF87a", b"GIF89a"),
}
"""The types of picture that agents take, and how the data of each begins."""
_MOST_VALUES: Final = MAX_RESULT_BYTES // 2
"""Each value is at least a character and a comma: more of them do not fit into a result."""


def tool_text(text: str) -> ToolResult:
    """Text, the same as returning it."""
    return ToolResult((TextPart(text),))


def tool_image(data: bytes | str, mime_type: ImageType = "image/png", caption: str | None = None) -> ToolResult:
    """A picture, and words below it.

    Args:
        data: the file's bytes, or base64 of them, which may also be a `data:` URL.
        mime_type: what it is; a `data:` URL says so by itself.
        caption: a text part after the picture.

    Raises:
        ValueError: it is no picture type that agents take, or no picture of that type.
    """
    encoded, type_ = base64.b64encode(data).decode() if isinstance(data, bytes) else data, str(mime_type)
    if encoded.startswith("data:"):
        described, _, encoded = encoded.removeprefix("data:").partition(",")
        type_ = described.partition(";")[0]
    image = ImagePart(encoded, type_)
    wrong = _wrong_image(image)
    if wrong is not None:
        raise ValueError(wrong)
    return ToolResult((image,) if caption is None else (image, TextPart(caption)))


def tool_error(message: str) -> ToolResult:
    """A failure in words that the model can read and act on."""
    return ToolResult((TextPart(message),), is_error=True)


def tool_result(*parts: TextPart | ImagePart | ToolResult | str, is_error: bool = False) -> ToolResult:
    """Several parts in one result; strings are text, and results give their parts."""
    content: list[TextPart | ImagePart] = []
    for part in parts:
        if isinstance(part, ToolResult):
            content += part.content
        else:
            content.append(TextPart(part) if isinstance(part, str) else part)
    return ToolResult(tuple(content), is_error)


def result_of(returned: Any) -> ToolResult:
    """What a handler's return value means.

    Raises:
        ValueError: it is nothing that an agent can be sent; the message is for the agent, too.
    """
    if returned is None:
        return tool_text(NOTHING)
    if isinstance(returned, str):
        result = tool_text(returned)
    elif isinstance(returned, ToolResult):
        result = returned
    else:
        result = _as_payload(returned) or tool_text(_pretty(returned))
    return _within_limits(result)


def error_text(error: BaseException) -> str:
    """An exception in words, as agents get it: its message, without a traceback (decision 32)."""
    if isinstance(error, BaseExceptionGroup):  # of the author's own task group: what went wrong in it is meant
        inner = cast("Mapping[Any, Any]", value).values() if isinstance(value, Mapping) else cast("list[Any]", value)
        for one in inner:
            _check_values(one, depth - 1, left)


def _within_limits(result: ToolResult) -> ToolResult:
    wrong = what_is_wrong(result)
    if wrong is not None:
        raise ValueError(f"the handler returned an invalid result: {wrong}")
    return result
