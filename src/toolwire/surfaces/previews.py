"""What calls said, in a few lines for people; it does not decide who may read them."""

from typing import Any, Final

import msgspec

from toolwire.core.result import Content, Image, Result, Text

PREVIEW_BYTES: Final = 2 * 1024

_encode = msgspec.json.Encoder().encode


def json_preview(value: Any) -> str:
    """The beginning of a value's JSON; nothing where it has none."""
    try:
        return cut_short(_encode(value).decode())
    except (TypeError, ValueError, RecursionError):
        return ""


def result_preview(result: Result) -> str:
    """The beginning of a result's texts, with a word in the place of whatever else it holds."""
    return cut_short("\n".join(_part_preview(part) for part in result.content))


def cut_short(text: str) -> str:
    """The beginning of a text, in at most `PREVIEW_BYTES` of UTF-8."""
    data = text.encode("utf-8", "replace")
    if len(data) <= PREVIEW_BYTES:
        return text
    return data[: PREVIEW_BYTES - 3].decode("utf-8", "ignore") + "…"


def _part_preview(part: Content) -> str:
    if isinstance(part, Text):
        return part.text
    if isinstance(part, Image):
        return f"({part.mime_type}, {len(part.data) * 3 // 4} bytes)"
    return f"({type(part).__name__.lower()})"
