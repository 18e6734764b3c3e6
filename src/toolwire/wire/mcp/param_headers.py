"""`Mcp-Param-*`: arguments that clients of 2026-07-28 repeat in headers, so that proxies can route by them.

Which they are is read off a tool's schema once; each request is then held against that. Spec: MCP 2026-07-28,
basic/transports#custom-headers; mcp.md 1.2.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import Any, Literal, cast

from msgspec import Struct

from toolwire.core.errors import HeaderMismatch
from toolwire.core.jsontypes import JsonObject, as_object
from toolwire.wire.mcp.envelope import decode_header_value

ANNOTATION = "x-mcp-header"
PREFIX = b"mcp-param-"
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?")
_KINDS = ("string", "integer", "boolean")
_ONE_SCHEMA = ("items", "additionalItems", "additionalProperties", "unevaluatedItems", "unevaluatedProperties",
               "contains", "propertyNames", "not", "if", "then", "else")  # fmt: skip
_MANY_SCHEMAS = ("allOf", "anyOf", "oneOf", "prefixItems")
_NAMED_SCHEMAS = ("$defs", "definitions", "patternProperties", "dependentSchemas")


class ParamHeader(Struct, frozen=True):
    """An argument that stands in a header: `header` in lower case, `path` the properties that lead to it."""

    header: bytes
    path: tuple[str, ...]
    kind: Literal["string", "integer", "boolean"]


def read_param_headers(schema: JsonObject) -> tuple[ParamHeader, ...]:
    """What a tool's input schema says about headers.

    Raises:
        ValueError: an annotation names no header, one that another has, or stands where it must not.
    """
    found: dict[bytes, ParamHeader] = {}
    for place, path in _places(schema, ()):
        if ANNOTATION not in place:
            continue
        name = place[ANNOTATION]
        if not isinstance(name, str) or _TOKEN.fullmatch(name) is None:
            raise ValueError(f"{ANNOTATION} must be the end of a header's name, got {name!r}")
        kind = _kind_of(place)
        if not path or kind is None:
            raise ValueError(
                f"{ANNOTATION} {name!r} must stand at a string, an integer or a boolean that properties alone lead to"
            )
        header = PREFIX + name.lower().encode()
        if header in found:
            raise ValueError(f"two arguments have the {ANNOTATION} {name!r}; give each a header of its own")
        found[header] = ParamHeader(header, path, kind)
    return tuple(found.values())


def check_param_headers(
    mirrored: Iterable[ParamHeader], arguments: Any, headers: Sequence[tuple[bytes, bytes]]
) -> None:
    """Hold the headers of a `tools/call` against its arguments: both are there and equal, or neither is.

    Args:
        mirrored: the tool's.
        arguments: as sent; null counts as absent.
        headers: all of the request's, names in lower case, one entry for each time that a header was sent.

    Raises:
        HeaderMismatch: names the header.
    """
    for each in mirrored:
        sent = [value for name, value in headers if name == each.header]
        shown = "Mcp-Param-" + each.header[len(PREFIX) :].decode()
        value = _value_at(arguments, each.path)
        where = ".".join(("arguments", *each.path))
        if len(sent) > 1:
            raise HeaderMismatch(f"the header {shown!r} was sent more than once; send it once")
        if not sent and value is not None:
            raise HeaderMismatch(f"params.{where} must be repeated in the header {shown!r}, which is missing")
        if sent and value is None:
            raise HeaderMismatch(f"the header {shown!r} was sent and params.{where} was not; send both or neither")
        if sent and not _says(decode_header_value(sent[0]), value):
            raise HeaderMismatch(f"the header {shown!r} is not what params.{where} says; send one value")


def _says(text: str, value: Any) -> bool:
    if isinstance(value, str):
        return text == value
    if isinstance(value, bool):
        return text == ("true" if value else "false")
    if isinstance(value, (int, float)) and _NUMBER.fullmatch(text):
        return Decimal(text) == Decimal(value)
    return False


def _value_at(arguments: Any, path: tuple[str, ...]) -> Any:
    for name in path:
        holder = as_object(arguments)
        if holder is None:
            return None
        arguments = holder.get(name)
    return arguments


def _kind_of(schema: JsonObject) -> Literal["string", "integer", "boolean"] | None:
    """The one type of a value that may also be null."""
    given: Any = schema.get("type")
    choices: Any = schema.get("anyOf", ())
    if given is None and isinstance(choices, list):
        given = [(as_object(choice) or {}).get("type") for choice in cast("list[Any]", choices)]
    kinds = [each for each in (cast("list[Any]", given) if isinstance(given, list) else [given]) if each != "null"]
    return kinds[0] if len(kinds) == 1 and kinds[0] in _KINDS else None


def _places(schema: Any, path: tuple[str, ...] | None) -> Iterator[tuple[JsonObject, tuple[str, ...]]]:
    """Every schema in a schema, with the properties that lead to it; none where something else leads there, too."""
    place = as_object(schema)
    if place is None:
        return
    yield place, path or ()
    for name, inner in (as_object(place.get("properties")) or {}).items():
        yield from _places(inner, None if path is None else (*path, name))
    for key in _ONE_SCHEMA:
        yield from _places(place.get(key), None)
    for key in _MANY_SCHEMAS:
        listed: Any = place.get(key)
        for inner in cast("list[Any]", listed) if isinstance(listed, list) else ():
            yield from _places(inner, None)
    for key in _NAMED_SCHEMAS:
        for inner in (as_object(place.get(key)) or {}).values():
            yield from _places(inner, None)
