"""What a card answers, as a result: checked against the limits before an agent sees it (cards.md 40-52).

Cards map what their handlers return by themselves; whatever comes over the wire is a stranger's all the same. Contract:
cards.md decisions 29-32.
"""

import base64
import binascii

import msgspec
from msgspec import UNSET

from toolwire.core.result import Content, Image, Result, Text, failed
from toolwire.wire.card_messages import (
    MAX_ERROR_CHARS,
    MAX_PARTS,
    MAX_RESULT_BYTES,
    ImagePart,
    RespondParams,
    ToolResult,
)

_MAGIC = {
    "image/png": (b"\x89PNG\r\n\x1a\n",),
    "image/jpeg": (b"\xff\xd8\xff",),
    "image/gif": (b"GIF87a", b"GIF89a"),
    "image/webp": (b"RIFF",),
}


def result_of(respond: RespondParams) -> Result:
    """The end of a call, from what its card has sent; what breaks the rules becomes an error the agent can read."""
    if respond.error is not UNSET:
        return failed(shortened(respond.error) or "the card failed without a word")
    if respond.result is UNSET:
        return failed("the card sent an invalid result: neither a result nor an error")
    wrong = _what_is_wrong(respond.result)
    if wrong is not None:
        return failed(f"the card sent an invalid result: {wrong}")
    content = tuple(_block(part) for part in respond.result.content)
    if respond.result.is_error:
        words = "\n".join(block.text for block in content if isinstance(block, Text))
        told = failed(words or "the card reports a failure")
        return Result(content, error=told.error)
    return Result(content)


def shortened(message: str) -> str:
    """An error's words, as agents get them (decision 32)."""
    text = message.strip()
    return text if len(text) <= MAX_ERROR_CHARS else text[: MAX_ERROR_CHARS - 1] + "…"


def _what_is_wrong(result: ToolResult) -> str | None:
    parts = len(result.content)
    if not 1 <= parts <= MAX_PARTS:
        return f"it has {parts} parts; 1 to {MAX_PARTS} are allowed"
    size = len(msgspec.json.encode(result))
    if size > MAX_RESULT_BYTES:
        return f"it has {size} bytes; {MAX_RESULT_BYTES} are allowed. Return less, or a summary"
    return next((wrong for part in result.content if (wrong := _wrong_image(part)) is not None), None)


def _wrong_image(part: object) -> str | None:
    if not isinstance(part, ImagePart):
        return None
    if part.mime_type not in _MAGIC:
        return f"an image is one of {', '.join(_MAGIC)}, not {part.mime_type!r}"
    try:
        data = base64.b64decode(part.data, validate=True)
    except (binascii.Error, ValueError):
        return "an image's data is not base64"
    if not data.startswith(_MAGIC[part.mime_type]):
        return f"an image's data is no {part.mime_type}"
    return None


def _block(part: object) -> Content:
    if isinstance(part, ImagePart):
        return Image(data=part.data, mime_type=part.mime_type)
    return Text(text=getattr(part, "text", ""))
