"""What a tool may return or raise, and what becomes of it; it does not run the tool."""

from dataclasses import dataclass, field
from typing import Any, cast

import msgspec

from toolwire.core import result as core
from toolwire.core.jsontypes import JsonObject
from toolwire.core.result import TOOL_FAILED, Block, Content, Failure, Result, Text, text_result
from toolwire.sdk.content import ContentRef, ContentStore, Image, MemoryContentStore, Resource
from toolwire.sdk.encode import clean_text, encode

NO_REASON = "tool failed"
"""What the model reads of a failure without words (sdk.md 13)."""

META_ARTIFACTS = "toolwire/artifacts"
META_SUMMARY = "toolwire/summary"
META_SIDE_EFFECTS = "toolwire/side_effects"
META_FILE_CHANGES = "toolwire/file_changes"


class ToolError(Exception):
    """Raise it in a tool to end the call badly; its text is what the model reads."""


class Refuse(Exception):
    """Raise it in a tool to say that the call will not be done; its text is what the caller reads."""


@dataclass(frozen=True)
class ToolResult:
    """The long form of a tool's answer (sdk.md 11-15); returning the plain value is enough for most tools.

    Attributes:
        success: whether the call did what was asked.
        output: any value with a JSON form; what the model reads.
        summary: what went wrong when `success` is false; a line for people otherwise.
        artifacts: content put into `ctx.artifact_store` that belongs to the answer.
        images: the same for pictures, which the model sees.
        side_effects: what the call changed elsewhere, as JSON objects.
        output_ref: set by the runtime when it moves `output` out of the way; tools never set it.
        file_changes: what the built-in edit tools changed.
    """

    success: bool
    output: Any = None
    summary: str = ""
    artifacts: list[ContentRef] = field(default_factory=list[ContentRef])
    images: list[ContentRef] = field(default_factory=list[ContentRef])
    side_effects: list[JsonObject] = field(default_factory=list[JsonObject])
    output_ref: ContentRef | None = None
    file_changes: Any = None


def to_result(value: object, store: ContentStore | None = None, wrap: bool = False) -> Result:
    """The result that stands for what a tool returned.

    A text becomes one text block, nothing the empty text, pictures and resources their blocks, a list that holds a
    block the list of its blocks; anything else its JSON as text, and an object also as structured content.

    Args:
        value: what the tool returned.
        store: where the content lives that a `ToolResult` refers to.
        wrap: put a value that is no object into one as `{"result": …}`, as the tool's output schema says.

    Raises:
        Unencodable: some of it has no JSON form.
        KeyError: a `ToolResult` refers to an image that is not in `store`.
    """
    match value:
        case str() if not wrap and type(value) is str:
            return text_result(clean_text(value))
        case None if not wrap:
            return text_result("")
        case Result():
            return value
        case ToolResult():
            return _from_tool_result(value, store or MemoryContentStore(), wrap)
        case Image() | Resource():
            return Result(content=(value.block(),))
        case Block():
            return Result(content=(cast("Content", value),))
        case list() | tuple() if any(_is_block(item) for item in cast("list[object]", value)):
            return Result(content=tuple(_block(item) for item in cast("list[object]", value)))
        case _:
            return _from_json(value, wrap)


def _from_json(value: object, wrap: bool) -> Result:
    encoded = encode(value)
    decoded: Any = msgspec.json.decode(encoded)
    text = "" if decoded is None else decoded if isinstance(decoded, str) else encoded.decode()
    if isinstance(decoded, dict):
        return Result(content=(Text(text),), structured=cast("JsonObject", decoded))
    return Result(content=(Text(text),), structured={"result": decoded} if wrap else msgspec.UNSET)


def _from_tool_result(value: ToolResult, store: ContentStore, wrap: bool) -> Result:
    shown = to_result(value.output, store, wrap and value.success)
    content = shown.content
    if value.output is None and (value.images or not value.success):
        content = ()
    content += tuple(_picture(ref, store) for ref in value.images)
    meta = _meta(value)
    if value.success:
        return Result(content=content, structured=shown.structured, meta=meta)
    reason = clean_text(str(value.summary)) or NO_REASON
    return Result(
        content=(Text(reason), *content),
        structured=shown.structured,
        error=Failure(TOOL_FAILED, reason),
        meta=meta,
    )


def _meta(value: ToolResult) -> JsonObject | None:
    """What no model reads and the author's own agent records."""
    if not (value.summary or value.artifacts or value.side_effects or value.file_changes):
        return None
    said = {
        META_SUMMARY: clean_text(str(value.summary)) if value.success else "",
        META_ARTIFACTS: value.artifacts,
        META_SIDE_EFFECTS: value.side_effects,
        META_FILE_CHANGES: value.file_changes,
    }
    kept = {key: msgspec.json.decode(encode(part, key)) for key, part in said.items() if part}
    return kept or None


def _picture(ref: ContentRef, store: ContentStore) -> Content:
    body = store.get(ref)
    if ref.media_type.startswith("image/"):
        return Image(body, ref.media_type).block()
    return Resource(f"sha256:{ref.hash}", data=body, mime_type=ref.media_type).block()


def _is_block(item: object) -> bool:
    return isinstance(item, (Image, Resource, Block))


def _block(item: object) -> Content:
    match item:
        case Image() | Resource():
            return item.block()
        case Block():
            return cast("Content", item)
        case str():
            return core.Text(clean_text(str(item)))
        case _:
            return _from_json(item, wrap=False).content[0]
