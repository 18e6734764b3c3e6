"""A JSON Schema with what its `$ref`s name written in place, for clients that cannot follow them (mcp.md S25).

What contains itself stays a `$ref` with its `$defs`. A schema for which this cannot be done without changing what it
means, or without growing out of hand, comes back as it was. Spec: JSON Schema 2020-12, 8.2.
"""

from collections.abc import Callable, Iterator
from typing import Any, Final, cast
from urllib.parse import unquote

import msgspec

from toolwire.core.jsontypes import JsonObject, as_object

MAX_PARTS: Final = 5_000
"""Schemas in the result: names that stand for each other by the dozen would double it each time."""
DEFINITIONS: Final = ("$defs", "definitions")

_MAPS = frozenset(("properties", "patternProperties", "dependentSchemas", *DEFINITIONS))
_LISTS = frozenset(("allOf", "anyOf", "oneOf", "prefixItems"))
_SINGLE = frozenset(
    (
        *("items", "additionalItems", "additionalProperties", "contains", "contentSchema", "else", "if", "not"),
        *("propertyNames", "then", "unevaluatedItems", "unevaluatedProperties"),
    )
)
_NOTES = frozenset(
    ("title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "$comment", "x-mcp-header")
)
"""Keywords that say nothing of which values are good, so that a `$ref` beside them need not become an `allOf`."""
_OWN_BASE = ("$id", "$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$recursiveAnchor")
"""Keywords that make a reference mean something that depends on where it stands."""


class _Kept(Exception):
    """The schema has to stay as it is."""


def inline_refs(schema: JsonObject) -> JsonObject:
    """`schema` without the references that can be written in place; a copy that shares nothing with it.

    Args:
        schema: a JSON Schema, of any draft.

    Returns:
        What takes exactly the same values.
    """
    copy: JsonObject = msgspec.to_builtins(schema)
    try:
        return _Inliner(copy).inlined()
    except _Kept:
        return copy


class _Inliner:
    def __init__(self, root: JsonObject) -> None:
        self._root = root
        self._anchors: dict[str, JsonObject] = {}
        self._loops: dict[str, bool] = {}
        self._parts = 0
        for number, part in enumerate(_walk(root)):
            if number and any(key in part for key in _OWN_BASE):
                raise _Kept
            anchor = part.get("$anchor")
            if isinstance(anchor, str):
                self._anchors[f"#{anchor}"] = part

    def inlined(self) -> JsonObject:
        root = {key: value for key, value in self._root.items() if key not in DEFINITIONS}
        made = self._write(root)
        needed = self._needed(made)
        for group in DEFINITIONS:
            given = as_object(self._root.get(group)) or {}
            kept = {name: needed[group, name] for name in given if (group, name) in needed}
            if kept:
                made[group] = kept
        return made

    def _write(self, part: Any) -> Any:
        """A schema with its references written in place."""
        found = as_object(part)
        if found is None:
            return part
        self._parts += 1
        if self._parts > MAX_PARTS:
            raise _Kept
        ref = found.get("$ref")
        if isinstance(ref, str) and not self._loops_back(ref):
            return self._in_place(found, self._target(ref))
        return _mapped(found, self._write)

    def _in_place(self, part: JsonObject, target: Any) -> Any:
        """What `$ref` names, with what stands beside it."""
        beside = _mapped({key: value for key, value in part.items() if key != "$ref"}, self._write)
        written = self._write(target)
        named = as_object(written)
        if named is None:  # true or false
            return {"allOf": [written], **beside} if beside else written
        named = {key: value for key, value in named.items() if key not in ("$anchor", *DEFINITIONS)}
        if _NOTES.issuperset(beside):
            return {**named, **beside}
        return {"allOf": [named], **beside}

    def _loops_back(self, ref: str) -> bool:
        """Whether what `ref` names contains itself, directly or by other names."""
        if ref not in self._loops:
            self._loops[ref] = _reaches(ref, self._refs_of)
        return self._loops[ref]

    def _refs_of(self, ref: str) -> list[str]:
        return list(_refs_in(self._target(ref)))

    def _target(self, ref: str) -> Any:
        """The schema that `ref` names; what is another document, or is not there, leaves everything as it is."""
        if ref in self._anchors:
            return self._anchors[ref]
        if ref != "#" and not ref.startswith("#/"):
            raise _Kept
        found: Any = self._root
        for part in unquote(ref[1:]).split("/")[1:]:
            name = part.replace("~1", "/").replace("~0", "~")
            if isinstance(found, dict) and name in found:
                found = cast("JsonObject", found)[name]
            elif isinstance(found, list) and name.isdecimal() and int(name) < len(cast("list[Any]", found)):
                found = cast("list[Any]", found)[int(name)]
            else:
                raise _Kept
        return found

    def _needed(self, made: JsonObject) -> dict[tuple[str, str], Any]:
        """The definitions that references still name, written in place themselves."""
        needed: dict[tuple[str, str], Any] = {}
        left = list(_refs_in(made))
        while left:
            where = self._definition_of(left.pop())
            if where is not None and where not in needed:
                needed[where] = self._write(self._root[where[0]][where[1]])
                left += _refs_in(needed[where])
        return needed

    def _definition_of(self, ref: str) -> tuple[str, str] | None:
        if ref in self._anchors:
            for group in DEFINITIONS:
                for name, definition in (as_object(self._root.get(group)) or {}).items():
                    if any(part is self._anchors[ref] for part in _walk(definition)):
                        return group, name
            return None
        parts = unquote(ref).split("/")
        if len(parts) < 3 or parts[1] not in DEFINITIONS:
            return None
        return parts[1], parts[2].replace("~1", "/").replace("~0", "~")


def _reaches(ref: str, refs_of: Callable[[str], list[str]]) -> bool:
    """Whether following references from `ref` leads back to it."""
    seen: set[str] = set()
    left = refs_of(ref)
    while left:
        other = left.pop()
        if other == ref:
            return True
        if other not in seen:
            seen.add(other)
            left += refs_of(other)
    return False


def _refs_in(part: Any) -> Iterator[str]:
    for schema in _walk(part):
        ref = schema.get("$ref")
        if isinstance(ref, str):
            yield ref


def _walk(part: Any) -> Iterator[JsonObject]:
    """A schema and all schemas in it; values such as those of `enum` and `default` are none."""
    found = as_object(part)
    if found is None:
        return
    yield found
    for child in _children(found):
        yield from _walk(child)


def _children(part: JsonObject) -> Iterator[Any]:
    for key, value in part.items():
        if key in _MAPS:
            yield from (as_object(value) or {}).values()
        elif key in _LISTS or (key == "items" and isinstance(value, list)):
            yield from cast("list[Any]", value) if isinstance(value, list) else ()
        elif key in _SINGLE:
            yield value
        elif key == "dependencies":
            yield from (as_object(value) or {}).values()


def _mapped(part: JsonObject, write: Callable[[Any], Any]) -> JsonObject:
    """A schema whose children are what `write` makes of them."""
    made: JsonObject = {}
    for key, value in part.items():
        if key in _MAPS or key == "dependencies":
            inner = as_object(value)
            made[key] = value if inner is None else {name: write(child) for name, child in inner.items()}
        elif (key in _LISTS or key == "items") and isinstance(value, list):
            made[key] = [write(child) for child in cast("list[Any]", value)]
        elif key in _SINGLE:
            made[key] = write(value)
        else:
            made[key] = value
    return made
