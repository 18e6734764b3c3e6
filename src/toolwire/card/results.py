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
        inner = cast("BaseExceptionGroup[BaseException]", error).exceptions
        return cut("; ".join(error_text(one) for one in inner), MAX_ERROR_CHARS)
    return cut(str(error).strip() or type(error).__name__, MAX_ERROR_CHARS)


def what_is_wrong(result: ToolResult) -> str | None:
    """Why a result cannot go to an agent, in words for it; `None` if it can."""
    parts = len(result.content)
    if not 1 <= parts <= MAX_PARTS:
        return f"it has {parts} parts; 1 to {MAX_PARTS} are allowed"
    size = len(msgspec.json.encode(result))
    if size > MAX_RESULT_BYTES:
        return f"it has {size} bytes; {MAX_RESULT_BYTES} are allowed. Return less, or a summary"
    return next((wrong for part in result.content if (wrong := _wrong_image(part)) is not None), None)


def _wrong_image(part: TextPart | ImagePart) -> str | None:
    if isinstance(part, TextPart):
        return None
    if part.mime_type not in _BEGINNINGS:
        return f"an image is one of {', '.join(_BEGINNINGS)}, not {part.mime_type!r}"
    try:
        data = base64.b64decode(part.data, validate=True)
    except (binascii.Error, ValueError):
        return "an image's data is not base64"
    if not data.startswith(_BEGINNINGS[part.mime_type]):
        return f"an image's data is no {part.mime_type}"
    return None


def _as_payload(returned: Any) -> ToolResult | None:
    """A value that has fully the form of a result is one; what only looks like it is JSON like any other."""
    given = as_object(returned)
    if given is None or not set(given) <= {"content", "isError"} or not given.get("content"):
        return None
    try:
        converted = msgspec.convert(given, ToolResult)
    except msgspec.ValidationError:
        return None
    is_all = list(msgspec.to_builtins(converted.content)) == list(given["content"])  # no part has more than is known
    return converted if is_all else None


def _pretty(value: Any) -> str:
    _check_values(value, MAX_DEPTH, [_MOST_VALUES])
    try:
        return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise ValueError(f"the handler returned what cannot be written as JSON: {error}") from None


def _check_values(value: Any, depth: int, left: list[int]) -> None:
    """Refuse what goes round in circles, what has no end, and the numbers that JSON does not have.

    Args:
        value: any value.
        depth: how many levels it may have.
        left: how many values there may be, counted down.
    """
    left[0] -= 1
    if left[0] < 0:
        raise ValueError(f"the handler returned more than {_MOST_VALUES} values. Return less, or a summary")
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):  # noqa: PLR0124 -- NaN
        raise ValueError(f"the handler returned {value!r}, which JSON does not have")
    if isinstance(value, Mapping | list | tuple):
        if depth == 0:
            raise ValueError(f"the handler returned a value that is nested deeper than {MAX_DEPTH}")
        inner = cast("Mapping[Any, Any]", value).values() if isinstance(value, Mapping) else cast("list[Any]", value)
        for one in inner:
            _check_values(one, depth - 1, left)


def _within_limits(result: ToolResult) -> ToolResult:
    wrong = what_is_wrong(result)
    if wrong is not None:
        raise ValueError(f"the handler returned an invalid result: {wrong}")
    return result
