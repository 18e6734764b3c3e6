"""Reads what an agent says: terminal messages become results, deltas become progress; it delivers nothing.

Spec: gateway.md 1H and the docstring of wire/link.py for the shapes, D17 and D18 for what becomes of them.
"""

import binascii
from typing import Any, Final, cast

import msgspec
from msgspec import UNSET, Struct, UnsetType

from toolwire.core.errors import AgentBusy, InvalidAgentResponse, MissingCapability, OutcomeUnknown, PageRequired
from toolwire.core.event import Event, Log, Paused, Progress
from toolwire.core.jsontypes import JsonObject
from toolwire.core.result import (
    TOOL_FAILED,
    Audio,
    Content,
    Embedded,
    Failure,
    Image,
    Link,
    Result,
    Text,
    failed,
)
from toolwire.wire.link import Message

DELTA: Final = "agent_reply_delta"

_EMPTY: Final = (Text(""),)
_MAX_CODE_LEN: Final = 64


class _Reply(Struct, frozen=True):
    """The payload of a terminal message. `error` is text, or an object with `message` and `code`."""

    text: str | None = None
    content: tuple[Content, ...] | None = None
    structured: Any | UnsetType = UNSET
    error: str | JsonObject | bool | None = None
    is_error: bool = False
    code: str | None = None
    data: JsonObject | None = None


class _Step(Struct, frozen=True):
    progress: float
    total: float | None = None
    message: str | None = None


class _Line(Struct, frozen=True):
    level: str
    text: str
    logger: str | None = None


_FOR_THE_CLIENT: Final = {MissingCapability.code: "requiredCapabilities", PageRequired.code: "elicitations"}
"""Failures that the client has to do something about, with the data that say what."""

_encode = msgspec.json.Encoder(order="sorted").encode


def result_of(message: Message) -> Result:
    """What a terminal message means.

    Raises:
        AgentBusy: the agent takes no more now (`agent_busy`).
        OutcomeUnknown: it had begun the call before and cannot say how it ended.
        InvalidAgentResponse: the payload is not of the shape of its type, or a content block is malformed.
    """
    payload = message.payload
    if message.type == "agent_reply" and len(payload) == 1 and type(text := payload.get("text")) is str:
        return Result(content=(Text(text),))
    try:
        reply = msgspec.convert(payload, _Reply)
    except msgspec.ValidationError as error:
        raise InvalidAgentResponse(f"the agent's {message.type} is malformed: {error}") from None
    if message.type == "agent_busy":
        raise AgentBusy(_words(reply) or "the agent takes no more calls now; try again later")
    if message.type == "agent_reply" and not reply.is_error and not reply.error:
        return Result(content=_content(reply), structured=reply.structured)
    return _failure(message.type, reply)


def event_of(payload: JsonObject) -> Event | None:
    """What the caller may see of a reply that ends nothing; `None` for thoughts, empty pieces and other shapes.

    Takes `{"text"}` of an `agent_reply_delta` or an `agent.input_required`, `{"text": "", "progress": {…}}`,
    `{"text": "", "log": {…}}`, `{"text": "", "pause": {…}}`, and the frame `{"session_key", "update": {…}}` of which
    only `agent_message_chunk` is meant for the caller (gateway.md 1H, D20).
    """
    step = payload.get("progress")
    if step is not None:
        return _step(step)
    line = payload.get("log")
    if line is not None:
        return _line(line)
    pause = payload.get("pause")
    if isinstance(pause, dict):
        return _pause(cast("JsonObject", pause))
    text = payload.get("text")
    if text is None:
        text = _chunk_text(payload.get("update"))
    # The record raises what would not rise, so 0 means "one above the last".
    return Progress(0.0, None, text) if isinstance(text, str) and text else None


def _step(step: object) -> Progress | None:
    try:
        known = msgspec.convert(step, _Step)
    except msgspec.ValidationError:
        return None
    return Progress(known.progress, known.total, known.message)


def _line(line: object) -> Log | None:
    try:
        known = msgspec.convert(line, _Line)
    except msgspec.ValidationError:
        return None
    return Log(known.level, known.text, known.logger)


def _pause(pause: JsonObject) -> Paused:
    retry_after_s = pause.get("retry_after_s")
    return Paused(float(retry_after_s) if isinstance(retry_after_s, int | float) and 0 <= retry_after_s < 1e5 else None)


def _chunk_text(update: Any) -> object:
    if not isinstance(update, dict):
        return None
    try:
        kind, content = update["sessionUpdate"], update["content"]  # pyright: ignore[reportUnknownVariableType] - decoded JSON
        return content["text"] if kind == "agent_message_chunk" and content["type"] == "text" else None  # pyright: ignore[reportUnknownVariableType] - decoded JSON
    except (KeyError, TypeError):
        return None


def _failure(kind: str, reply: _Reply) -> Result:
    """A failure that a model may read (D18), unless its code says more than that."""
    code = reply.code
    if code is None and isinstance(reply.error, dict) and isinstance(reply.error.get("code"), str):
        code = str(reply.error["code"])
    words = _words(reply)
    if code == "outcome_unknown":
        raise OutcomeUnknown(words or "the agent began this call and cannot say how it ended; check before you retry")
    named = _FOR_THE_CLIENT.get(code or "")
    if named is not None and code is not None and named in (reply.data or {}):
        return failed(words, code, {named: (reply.data or {})[named]})
    content = _content(reply) if reply.content or reply.text else (Text(words or _said_nothing(kind)),)
    told = None if code is None else {"agent_code": code[:_MAX_CODE_LEN]}
    return Result(content=content, structured=reply.structured, error=Failure(TOOL_FAILED, words or kind, told))


def _said_nothing(kind: str) -> str:
    return "the agent refused the call" if kind == "agent.refuse" else "the agent failed and did not say why"


def _words(reply: _Reply) -> str:
    if reply.text:
        return reply.text
    if isinstance(reply.error, str):
        return reply.error
    if isinstance(reply.error, dict) and isinstance(reply.error.get("message"), str):
        return str(reply.error["message"])
    texts = [block.text for block in reply.content or () if isinstance(block, Text)]
    return "\n".join(texts)


def _content(reply: _Reply) -> tuple[Content, ...]:
    if reply.content:
        return tuple(checked_block(block) for block in reply.content)
    if reply.text:
        return (Text(reply.text),)
    if reply.structured is not UNSET:
        # MCP asks that structured content stands in a text block too, for clients that read only those.
        return (Text(_encode(reply.structured).decode()),)
    return _EMPTY


def checked_block(block: Content) -> Content:
    """A block, checked beyond its shape: base64 is base64, and a resource has one body, or none and so is a link.

    Raises:
        InvalidAgentResponse: it is not so.
    """
    if isinstance(block, Image | Audio):
        check_base64(block.data, "data")
    elif isinstance(block, Embedded):
        resource = block.resource
        if resource.text is not None and resource.blob is not None:
            raise InvalidAgentResponse(f"the agent's resource {resource.uri!r} has both text and blob; send one")
        if resource.blob is not None:
            check_base64(resource.blob, "resource.blob")
        elif resource.text is None:
            name = resource.uri.rstrip("/").rpartition("/")[2] or resource.uri
            return Link(
                uri=resource.uri,
                name=name,
                mime_type=resource.mime_type,
                annotations=block.annotations,
                meta=block.meta,
            )
    return block


def check_base64(data: str, where: str) -> None:
    """Refuse what an agent sent as base64 and is none.

    Raises:
        InvalidAgentResponse: `data` is not base64.
    """
    try:
        binascii.a2b_base64(data, strict_mode=True)
    except (binascii.Error, ValueError):
        raise InvalidAgentResponse(f"the agent sent a content block whose {where} is not base64") from None
