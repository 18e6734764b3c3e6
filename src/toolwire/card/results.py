"""What a handler returns, as the result that goes to the agent (cards.md 40-52, decisions 29-32)."""

import base64
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

import msgspec

from toolwire.core.jsontypes import MAX_DEPTH, as_object, is_too_deep
from toolwire.wire.card_messages import MAX_ERROR_CHARS, MAX_PARTS, MAX_RESULT_BYTES, ImagePart, TextPart, ToolResult

ImageType: TypeAlias = Literal["image/png", "image/jpeg", "image/webp", "image/gif"]
IMAGE_TYPES = ("image/png", "image/jpeg", "image/webp", "image/gif")
NOTHING = "OK"
"""What an agent gets of a handler that returns nothing."""


def tool_text(text: str) -> ToolResult:
    """Text, the same as returning it."""
    return ToolResult((TextPart(text),))


def tool_image(data: bytes | str, mime_type: ImageType = "image/png", caption: str | None = None) -> ToolResult:
    """A picture, and words below it.

    Args:
        data: the file's bytes, or base64 of them, which may also be a `data:` URL.
        mime_type: what it is.
        caption: a text part after the picture.

    Raises:
        ValueError: it is no picture type that agents take.
    """
    if mime_type not in IMAGE_TYPES:
        raise ValueError(f"mime_type must be one of {', '.join(IMAGE_TYPES)}, not {mime_type!r}")
    encoded = base64.b64encode(data).decode() if isinstance(data, bytes) else data.rpartition(",")[2]
    parts: tuple[TextPart | ImagePart, ...] = (ImagePart(encoded, mime_type),)
    return ToolResult(parts if caption is None else (*parts, TextPart(caption)))


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
    text = str(error).strip() or type(error).__name__
    return text if len(text) <= MAX_ERROR_CHARS else text[: MAX_ERROR_CHARS - 1] + "…"


def _as_payload(returned: Any) -> ToolResult | None:
    """A value that has fully the form of a result is one; what only looks like it is JSON like any other."""
    given = as_object(returned)
    if given is None or not set(given) <= {"content", "isError"} or not given.get("content"):
        return None
    try:
        converted = msgspec.convert(given, ToolResult)
    except msgspec.ValidationError:
        return None
    return converted if msgspec.to_builtins(converted) == {k: v for k, v in given.items() if v is not False} else None


def _pretty(value: Any) -> str:
    if is_too_deep(value):
        raise ValueError(f"the handler returned a value that is nested deeper than {MAX_DEPTH}")
    _check_numbers(value)
    try:
        return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"the handler returned what cannot be written as JSON: {error}") from None


def _check_numbers(value: Any) -> None:
    """JSON has no NaN and no infinity, and nobody would expect `null` for them."""
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):  # noqa: PLR0124 -- NaN
        raise ValueError(f"the handler returned {value!r}, which JSON has not")
    if isinstance(value, Mapping):
        for inner in value.values():  # pyright: ignore[reportUnknownVariableType]
            _check_numbers(inner)
    elif isinstance(value, list | tuple):
        for inner in value:  # pyright: ignore[reportUnknownVariableType]
            _check_numbers(inner)


def _within_limits(result: ToolResult) -> ToolResult:
    if not 1 <= len(result.content) <= MAX_PARTS:
        raise ValueError(f"the handler returned {len(result.content)} parts; 1 to {MAX_PARTS} are allowed")
    size = len(msgspec.json.encode(result))
    if size > MAX_RESULT_BYTES:
        raise ValueError(f"the handler returned {size} bytes; {MAX_RESULT_BYTES} are allowed. Return less")
    return result
