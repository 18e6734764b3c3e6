"""Resources, prompts and completions on the wire: their parameters as values, their results as JSON.

Spec: MCP 2025-11-25 and 2026-07-28, server/resources, server/prompts and server/utilities/completion.
"""

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct

from toolwire.core.errors import InvalidParam
from toolwire.core.jsontypes import JsonObject, as_object
from toolwire.core.prompt import Completion, Prompt, PromptResult, Reference
from toolwire.core.resource import Resource, ResourceTemplate
from toolwire.core.result import ResourceContents
from toolwire.wire.jsonrpc import Message
from toolwire.wire.mcp.replies import CACHED_PRIVATELY, without_links
from toolwire.wire.mcp.versions import has_resource_links

MAX_COMPLETIONS = 100
"""Values that one `completion/complete` may have; `total` and `hasMore` tell of the rest."""


class PromptGet(Struct, frozen=True):
    """`prompts/get` as sent."""

    name: str
    arguments: dict[str, str]


class Completing(Struct, frozen=True):
    """`completion/complete` as sent; `given` are the arguments that are filled in already."""

    ref: Reference
    argument: str
    value: str
    given: dict[str, str]


def read_uri(message: Message) -> str:
    """The URI of `resources/read`.

    Raises:
        InvalidParam: it is not a string.
    """
    return _text(message.params, "uri", "uri")


def read_prompt_get(message: Message) -> PromptGet:
    """The parameters of `prompts/get`; absent or null `arguments` count as `{}`.

    Raises:
        InvalidParam: `name` is not a string, or `arguments` no object of strings.
    """
    params = message.params
    return PromptGet(_text(params, "name", "name"), _texts(params.get("arguments"), "arguments"))


def read_completing(message: Message) -> Completing:
    """The parameters of `completion/complete`.

    Raises:
        InvalidParam: one is missing or of the wrong type.
    """
    params = message.params
    ref = as_object(params.get("ref"))
    argument = as_object(params.get("argument"))
    context = as_object(params.get("context", {}))
    for name, value in (("ref", ref), ("argument", argument), ("context", context)):
        if value is None:
            raise InvalidParam(f"params.{name} must be an object", param=name)
    assert ref is not None
    assert argument is not None
    assert context is not None
    return Completing(
        _reference(ref),
        _text(argument, "name", "argument.name"),
        _text(argument, "value", "argument.value"),
        _texts(context.get("arguments"), "context.arguments"),
    )


def resources_result(resources: Sequence[Resource], modern: bool) -> JsonObject:
    """`resources/list`."""
    return _hinted({"resources": resources}, modern)


def templates_result(templates: Sequence[ResourceTemplate], modern: bool) -> JsonObject:
    """`resources/templates/list`."""
    return _hinted({"resourceTemplates": templates}, modern)


def contents_result(contents: Sequence[ResourceContents], modern: bool) -> JsonObject:
    """`resources/read`."""
    return _hinted({"contents": contents}, modern)


def prompts_result(prompts: Sequence[Prompt], modern: bool) -> JsonObject:
    """`prompts/list`."""
    return _hinted({"prompts": prompts}, modern)


def prompt_result(result: PromptResult, version: str) -> JsonObject:
    """`prompts/get`."""
    messages = result.messages
    if not has_resource_links(version):
        messages = tuple(msgspec.structs.replace(each, content=without_links(each.content)) for each in messages)
    shown: JsonObject = {"messages": messages}
    if result.description is not None:
        shown["description"] = result.description
    return shown


def completion_result(completion: Completion) -> JsonObject:
    """`completion/complete`."""
    shown = completion.values[:MAX_COMPLETIONS]
    total = max(len(completion.values), completion.total or 0)
    return {"completion": {"values": shown, "total": total, "hasMore": total > len(shown)}}


def _hinted(members: JsonObject, modern: bool) -> JsonObject:
    return {**members, **CACHED_PRIVATELY} if modern else members


def _reference(ref: JsonObject) -> Reference:
    match ref.get("type"):
        case "ref/prompt":
            return Reference("prompt", _text(ref, "name", "ref.name"))
        case "ref/resource":
            return Reference("resource", _text(ref, "uri", "ref.uri"))
        case other:
            raise InvalidParam(
                f"params.ref.type must be 'ref/prompt' or 'ref/resource', got {other!r}", param="ref.type"
            )


def _text(holder: JsonObject, key: str, where: str) -> str:
    value = holder.get(key)
    if type(value) is not str:
        raise InvalidParam(f"params.{where} must be a string", param=where)
    return value


def _texts(value: Any, where: str) -> dict[str, str]:
    given = {} if value is None else as_object(value)
    if given is None or not all(type(each) is str for each in given.values()):
        raise InvalidParam(f"params.{where} must be an object whose values are strings", param=where)
    return given
