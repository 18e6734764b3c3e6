"""A conversation as people read it, from a task's messages; it changes nothing."""

from typing import Any, TypeAlias

import msgspec
from msgspec import Struct

from toolwire.core.jsontypes import JsonObject
from toolwire.sdk.hosting.task import ENVIRONMENT, Task
from toolwire.sdk.messages import Message, TextBlock, ToolResultBlock, ToolUseBlock


class UserMessage(Struct, frozen=True):
    """What a person said."""

    text: str


class AssistantMessage(Struct, frozen=True):
    """What the model said."""

    text: str


class InjectedMessage(Struct, frozen=True):
    """What the runtime told the model, and on whose behalf."""

    text: str
    origin: str


class ToolUse(Struct, frozen=True):
    """A call that the model asked for."""

    call_id: str
    tool_name: str
    arguments: JsonObject


class ToolResultView(Struct, frozen=True):
    """What became of a call; `output` is JSON text, `None` for nothing (sdk.md 62)."""

    call_id: str
    tool_name: str
    success: bool
    output: str | None = None
    error: str | None = None


class Result(Struct, frozen=True):
    """How the task stands at its end."""

    answer: Any
    status: str


ViewItem: TypeAlias = UserMessage | AssistantMessage | InjectedMessage | ToolUse | ToolResultView | Result


def view(task: Task) -> list[ViewItem]:
    """The conversation, and its result when the task is over."""
    items: list[ViewItem] = []
    names: dict[str, str] = {}
    for message in task.messages:
        if message.origin != ENVIRONMENT:
            items += _items(message, names)
    if task.status in ("completed", "failed", "cancelled"):
        items.append(Result(task.answer, task.status))
    return items


def _items(message: Message, names: dict[str, str]) -> list[ViewItem]:
    items: list[ViewItem] = []
    for block in message.content:
        match block:
            case TextBlock(text=text):
                items.append(_said(message, text))
            case ToolUseBlock():
                names[block.call_id] = block.tool_name
                items.append(ToolUse(block.call_id, block.tool_name, block.arguments))
            case ToolResultBlock():
                output = None if block.output is None else msgspec.json.encode(block.output).decode()
                output = "" if block.output == "" and not block.success else output
                name = names.get(block.call_id, "")
                items.append(ToolResultView(block.call_id, name, block.success, output, block.error))
            case _:
                pass
    return items


def _said(message: Message, text: str) -> UserMessage | AssistantMessage | InjectedMessage:
    if message.origin is not None:
        return InjectedMessage(text, message.origin)
    return AssistantMessage(text) if message.role == "assistant" else UserMessage(text)
