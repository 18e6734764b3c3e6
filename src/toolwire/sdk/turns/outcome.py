"""What a call comes to inside the SDK: the value that the model reads back, whole; it does not shorten or record it.

Everywhere else a result is MCP's content blocks. Here the output stays the JSON value that the tool returned
(sdk.md 12), so `Outcome` carries it through the handler beside them.
"""

import logging
import traceback
from base64 import b64decode
from typing import Any, cast

import msgspec

from toolwire.core.call import Call
from toolwire.core.errors import ToolwireError
from toolwire.core.jsontypes import JsonObject
from toolwire.core.result import Block, Image, Result, Text
from toolwire.sdk.authoring.handler import Ends, ended_badly
from toolwire.sdk.content import OCTETS, ContentRef, ContentStore, MemoryContentStore
from toolwire.sdk.content import Image as ReturnedImage
from toolwire.sdk.content import Resource as ReturnedResource
from toolwire.sdk.context import ToolContext
from toolwire.sdk.encode import Unencodable, clean_text, encode
from toolwire.sdk.result import NO_REASON, Refuse, ToolError, ToolResult, to_result

LOGGER = logging.getLogger("toolwire.sdk")

MAX_REASON_CHARS = 2000
JSON = "application/json"


class Outcome(Result, frozen=True, kw_only=True):
    """How a call ended.

    Attributes:
        output: the JSON value that the model reads; "" for none.
        body: `output` as JSON, or the bytes that the tool returned; what `output_ref` refers to.
        media_type: what `body` is.
        success: whether the call did what was asked.
        reason: what went wrong, for the model, when it did not.
        summary: a line for people.
        traceback: where an exception came from, for the log and the record.
    """

    output: Any = ""
    body: bytes = b'""'
    media_type: str = JSON
    success: bool = True
    reason: str | None = None
    summary: str = ""
    artifacts: tuple[ContentRef, ...] = ()
    images: tuple[ContentRef, ...] = ()
    side_effects: tuple[JsonObject, ...] = ()
    file_changes: Any = None
    traceback: str | None = None


def failure(reason: str, traceback: str | None = None) -> Outcome:
    """An outcome of nothing but a reason, which is cut to what a model should have to read."""
    words = clean_text(reason)[:MAX_REASON_CHARS] or NO_REASON
    return Outcome(success=False, reason=words, summary=words, traceback=traceback)


def outcome_of(result: Result) -> Outcome:
    """The outcome that a handler's result is; other handlers than the SDK's own give content blocks."""
    if isinstance(result, Outcome):
        return result
    if result.error is not None:
        return failure(result.error.message)
    return _of_blocks(result, MemoryContentStore())


def value_outcome(value: object, ctx: ToolContext | None) -> Outcome:
    """What a body's return value comes to.

    Raises:
        Unencodable: some of it has no JSON form.
    """
    if type(value) is str:
        return _of_value(clean_text(value))
    if isinstance(value, ToolResult):
        return _of_tool_result(value)
    if isinstance(value, (Result, ReturnedImage, ReturnedResource, Block)) or _has_blocks(value):
        store = MemoryContentStore() if ctx is None else ctx.artifact_store
        result = to_result(value, store)
        if result.error is not None:
            return failure(result.error.message)
        return _of_blocks(result, store)
    return _of_value(value)


def error_outcome(name: str, call: Call, error: BaseException) -> Outcome:
    """What a body's exception comes to: its author's words, or its type and message; the traceback goes to the log."""
    if isinstance(error, (ToolError, Refuse, Unencodable, ToolwireError)):
        ended = ended_badly(name, call, error)
        return failure(ended.error.message if ended.error is not None else NO_REASON)
    LOGGER.error("tool %r raised in call %s", name, call.id, exc_info=error)
    trace = "".join(traceback.format_exception(error))
    return failure(f"tool {name!r} raised {words_of(error)}", clean_text(trace))


def words_of(error: BaseException) -> str:
    """The type and the message of an exception, even of one that cannot say what it is."""
    try:
        words = clean_text(str(error))
    except Exception:  # noqa: BLE001 -- its author's code
        words = "(its message cannot be read)"
    return f"{type(error).__name__}: {words}" if words else type(error).__name__


ENDS = Ends(value_outcome, error_outcome)


def _of_value(value: object) -> Outcome:
    if value is None:
        return Outcome()
    if isinstance(value, (bytes, bytearray, memoryview)):
        raw = bytes(cast("bytes", value))
        return Outcome(output=msgspec.json.decode(encode(raw)), body=raw, media_type=OCTETS)
    body = encode(value)
    return Outcome(output=value if type(value) is str else msgspec.json.decode(body), body=body)


def _of_tool_result(value: ToolResult) -> Outcome:
    shown = _of_value(value.output) if type(value.output) is not str else _of_value(clean_text(value.output))
    summary = clean_text(str(value.summary or ""))
    success = value.success is True
    if value.success is not True and value.success is not False:
        raise Unencodable(f"success: {value.success!r} is neither True nor False")
    return Outcome(
        output=shown.output,
        body=shown.body,
        media_type=shown.media_type,
        success=success,
        reason=None if success else summary[:MAX_REASON_CHARS] or NO_REASON,
        summary=summary,
        artifacts=_refs(value.artifacts, "artifacts"),
        images=_refs(value.images, "images"),
        side_effects=_plain(value.side_effects or [], "side_effects"),
        file_changes=None if value.file_changes is None else msgspec.json.decode(encode(value.file_changes)),
    )


def _plain(value: object, path: str) -> tuple[JsonObject, ...]:
    decoded = msgspec.json.decode(encode(value, path))
    if not isinstance(decoded, list):
        raise Unencodable(f"{path}: {type(value).__name__}, where a list is wanted")
    return tuple(cast("list[JsonObject]", decoded))


def _refs(refs: object, path: str) -> tuple[ContentRef, ...]:
    if not isinstance(refs, (list, tuple)):
        raise Unencodable(f"{path}: {type(refs).__name__}, where a list of ContentRef is wanted")
    listed = cast("list[object]", refs)
    for index, ref in enumerate(listed):
        if not isinstance(ref, ContentRef):
            raise Unencodable(f"{path}[{index}]: {type(ref).__name__}, where a ContentRef is wanted")
    return tuple(cast("list[ContentRef]", listed))


def _has_blocks(value: object) -> bool:
    if not isinstance(value, (list, tuple)):
        return False
    items = cast("list[object]", value)
    return any(isinstance(item, (ReturnedImage, ReturnedResource, Block)) for item in items)


def _of_blocks(result: Result, store: ContentStore) -> Outcome:
    """Texts are joined, pictures go to the content store, and any other block is read as its JSON."""
    texts: list[str] = []
    images: list[ContentRef] = []
    for block in result.content:
        if isinstance(block, Text):
            texts.append(block.text)
        elif isinstance(block, Image):
            images.append(store.put(b64decode(block.data), block.mime_type))
        else:
            texts.append(msgspec.json.encode(block).decode())
    output = "\n".join(texts) if result.structured is msgspec.UNSET else result.structured
    shown = _of_value(output)
    return Outcome(output=shown.output, body=shown.body, images=tuple(images))
