"""Requests that the tests of every wire ask with."""

from typing import Any

from toolwire.sdk.content import ContentRef, MemoryContentStore
from toolwire.sdk.messages import (
    Block,
    ImageBlock,
    LLMRequest,
    Message,
    TextBlock,
    ToolResultBlock,
    ToolUseBlock,
)
from toolwire.sdk.models import Retries

PNG = b"\x89PNG\r\n\x1a\n" + bytes(16)

WEATHER: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "fetch_weather",
        "description": "Fetch the weather.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}

ONCE = Retries(limit=0)
"""For tests in which the first failure shall be the last."""


def user(*blocks: Block | str) -> Message:
    return Message("user", [TextBlock(block) if isinstance(block, str) else block for block in blocks])


def ask(*messages: Message | str, model: str = "test-model", **fields: Any) -> LLMRequest:
    """A request with these messages; a text is the user's."""
    said = [user(message) if isinstance(message, str) else message for message in messages]
    return LLMRequest(model=model, messages=said, **fields)


def picture(store: MemoryContentStore, body: bytes = PNG, media_type: str = "image/png") -> ImageBlock:
    return ImageBlock(store.put(body, media_type))


def lost_picture() -> ImageBlock:
    return ImageBlock(ContentRef("0" * 64, 7, "image/png"))


def batch(image: ImageBlock) -> list[Message]:
    """A conversation with a batch of calls: one succeeded, with a picture, one failed; a notice comes between."""
    calls: list[Block] = [
        TextBlock("Let me look."),
        ToolUseBlock("t1", "fetch_weather", {"city": "Kyōto"}),
        ToolUseBlock("t2", "fetch_weather", "{oops"),
    ]
    return [
        user("What is the weather?"),
        Message("assistant", calls),
        Message("tool", [ToolResultBlock("t2", None, success=False, error="invalid arguments")]),
        user("(a notice)"),
        Message("tool", [ToolResultBlock("t1", {"sky": "clear"}, success=True, images=[image])]),
    ]
