"""How a call ended, in MCP's content blocks; it does not decide what a wire makes of an error."""

from typing import Any, TypeAlias

from msgspec import UNSET, Struct, UnsetType, field

from toolwire.core.jsontypes import JsonObject


class Block(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel", tag_field="type"):
    """The base of all content blocks: `annotations` and `_meta` are passed through as they came.

    Spec: MCP 2025-11-25 and 2026-07-28, schema#contentblock.
    """

    annotations: JsonObject | None = None
    meta: JsonObject | None = field(default=None, name="_meta")


class Text(Block, frozen=True, tag="text", omit_defaults=True, rename="camel"):
    """A piece of text."""

    text: str


class Image(Block, frozen=True, tag="image", omit_defaults=True, rename="camel"):
    """A picture; `data` is base64."""

    data: str
    mime_type: str


class Audio(Block, frozen=True, tag="audio", omit_defaults=True, rename="camel"):
    """A sound; `data` is base64."""

    data: str
    mime_type: str


class Link(Block, frozen=True, tag="resource_link", omit_defaults=True, rename="camel"):
    """A resource the reader may fetch by itself; `size` is in bytes."""

    uri: str
    name: str
    title: str | None = None
    description: str | None = None
    mime_type: str | None = None
    size: int | None = None


class ResourceContents(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """The body of an embedded resource: exactly one of `text` and `blob` (base64) is set."""

    uri: str
    mime_type: str | None = None
    text: str | None = None
    blob: str | None = None
    meta: JsonObject | None = field(default=None, name="_meta")


class Embedded(Block, frozen=True, tag="resource", omit_defaults=True, rename="camel"):
    """A resource carried inside the result."""

    resource: ResourceContents


Content: TypeAlias = Text | Image | Audio | Link | Embedded


class Failure(Struct, frozen=True, omit_defaults=True):
    """Why a call ended badly: a stable code of `error_rows.ERRORS`, words for a reader, details for a program."""

    code: str
    message: str
    data: JsonObject | None = None


class Result(Struct, frozen=True, omit_defaults=True):
    """The one end of a call.

    `structured` is `UNSET` when the tool gave none, because `None` is a JSON value of its own. A failed call has
    `error`; its `content` is then what a model may read of it.
    """

    content: tuple[Content, ...] = ()
    structured: Any | UnsetType = UNSET
    error: Failure | None = None
    meta: JsonObject | None = None

    @property
    def is_error(self) -> bool:
        """Whether the call ended badly."""
        return self.error is not None


TOOL_FAILED = "tool_failed"
"""The code of a failure that the tool itself reported: every wire shows it to the model as `isError`."""


def text_result(text: str) -> Result:
    """A result of one text block."""
    return Result(content=(Text(text),))


def failed(message: str, code: str = TOOL_FAILED, data: JsonObject | None = None) -> Result:
    """A result that says why the call ended badly, to the model and to programs alike."""
    return Result(content=(Text(message),), error=Failure(code, message, data))
