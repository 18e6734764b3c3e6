"""Which JSON Schemas a card's tool may have: a part of the vocabulary that every check of is cheap (cards.md §2).

It does not check arguments: that is the engine's, with the schema as it is.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import msgspec

from toolwire.core.jsontypes import as_object

MAX_PARTS: Final = 500
MAX_DEPTH: Final = 16
MAX_CHOICES: Final = 256
MAX_ENUM_BYTES: Final = 16 * 1024
MAX_CONST_BYTES: Final = 4 * 1024
MAX_BRANCHES: Final = 16
TYPES: Final = ("object", "array", "string", "number", "integer", "boolean", "null")
FORMATS: Final = ("uri", "date-time", "date", "email", "color", "uuid")
ANNOTATIONS: Final = ("$id", "$schema", "$comment", "title", "description", "default", "examples", "deprecated",
                      "readOnly", "writeOnly")  # fmt: skip
REFUSED: Final = {
    "pattern": "a pattern may take for ever; use enum, format or maxLength",
    "allOf": "write the parts as one schema",
    "not": "say what is allowed",
    "if": "say it in the description, and check it in the handler",
    "then": "say it in the description, and check it in the handler",
    "else": "say it in the description, and check it in the handler",
    "patternProperties": "use properties, or additionalProperties with a schema",
    "prefixItems": "use items",
    "contains": "use items",
}

Finding = tuple[str, str]
"""Where, as a JSON Pointer into the schema, and what is wrong there."""


def findings(schema: Mapping[str, Any]) -> list[Finding]:
    """What a tool's inputSchema has that it may not have; empty if it may be used."""
    walk = _Walk(schema)
    walk.schema(schema, "", 1)
    found = walk.found
    properties = as_object(schema.get("properties"))
    if properties is not None and "card" in properties:
        found.append(("/properties/card", "the host adds a parameter named 'card'; rename yours"))
    for keyword in ("anyOf", "oneOf", "$ref"):
        if keyword in schema:
            found.append((f"/{keyword}", "not at the top: some models' APIs refuse it there; put it into a property"))
    return found


class _Walk:
    """One walk through a schema."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self.found: list[Finding] = []
        self._parts = 0
        self._definitions = set(as_object(root.get("$defs")) or {})

    def schema(self, value: Any, path: str, depth: int) -> None:
        """Check one schema and what it holds."""
        if isinstance(value, bool):
            return
        held_schema = as_object(value)
        if held_schema is None:
            self.found.append((path, "a schema is an object, true or false"))
            return
        self._parts += 1
        if self._parts > MAX_PARTS:
            if self._parts == MAX_PARTS + 1:
                self.found.append((path, f"the schema has more than {MAX_PARTS} parts; make it simpler"))
            return
        if depth > MAX_DEPTH:
            self.found.append((path, f"the schema is nested deeper than {MAX_DEPTH}; make it flatter"))
            return
        for keyword, held in held_schema.items():
            self._keyword(keyword, held, f"{path}/{keyword}", depth)

    def _keyword(self, keyword: str, held: Any, path: str, depth: int) -> None:
        if keyword in ANNOTATIONS:
            return
        if keyword in REFUSED:
            self.found.append((path, f"{keyword!r} is not supported: {REFUSED[keyword]}"))
            return
        check = _CHECKS.get(keyword)
        if check is not None:
            words = check(held)
            if words is not None:
                self.found.append((path, words))
        elif keyword == "$ref":
            self._reference(held, path)
        elif keyword in ("properties", "$defs"):
            self._named(held, path, depth)
        elif keyword in ("items", "additionalProperties"):
            self.schema(held, path, depth + 1)
        elif keyword in ("anyOf", "oneOf"):
            self._branches(held, path, depth)
        else:
            self.found.append((path, f"{keyword!r} is not supported"))

    def _reference(self, held: Any, path: str) -> None:
        if held == "#":
            return
        if not isinstance(held, str) or not held.startswith("#/$defs/"):
            self.found.append((path, f"a reference goes to '#' or '#/$defs/NAME', not to {held!r}"))
        elif held.removeprefix("#/$defs/") not in self._definitions:
            self.found.append((path, f"there is no {held!r}; write it under $defs"))

    def _named(self, held: Any, path: str, depth: int) -> None:
        for name, schema in self._members(held, path):
            self.schema(schema, f"{path}/{name.replace('~', '~0').replace('/', '~1')}", depth + 1)

    def _members(self, held: Any, path: str) -> Iterator[tuple[str, Any]]:
        members = as_object(held)
        if members is None:
            self.found.append((path, "must be an object of schemas"))
            return
        yield from members.items()

    def _branches(self, held: Any, path: str, depth: int) -> None:
        if not isinstance(held, list) or not 1 <= len(held) <= MAX_BRANCHES:  # pyright: ignore[reportUnknownArgumentType]
            self.found.append((path, f"must be a list of 1 to {MAX_BRANCHES} schemas"))
            return
        for index, schema in enumerate(held):  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
            self.schema(schema, f"{path}/{index}", depth + 1)


def _size(value: Any) -> int:
    return len(msgspec.json.encode(value))


def _type(held: Any) -> str | None:
    named: list[Any] = list(held) if isinstance(held, list) else [held]  # pyright: ignore[reportUnknownArgumentType]
    if named and all(isinstance(name, str) and name in TYPES for name in named) and len(set(named)) == len(named):
        return None
    return f"must be one or several of {', '.join(TYPES)}"


def _enum(held: Any) -> str | None:
    if not isinstance(held, list) or not 1 <= len(held) <= MAX_CHOICES:  # pyright: ignore[reportUnknownArgumentType]
        return f"must be a list of 1 to {MAX_CHOICES} values"
    return None if _size(held) <= MAX_ENUM_BYTES else f"takes more than {MAX_ENUM_BYTES} bytes as JSON"


def _const(held: Any) -> str | None:
    return None if _size(held) <= MAX_CONST_BYTES else f"takes more than {MAX_CONST_BYTES} bytes as JSON"


def _count(held: Any) -> str | None:
    fits = isinstance(held, int) and not isinstance(held, bool) and held >= 0
    return None if fits else "must be a whole number, 0 or more"


def _number(held: Any) -> str | None:
    fits = isinstance(held, int | float) and not isinstance(held, bool) and math.isfinite(held)
    return None if fits else "must be a number"


def _divisor(held: Any) -> str | None:
    words = _number(held)
    return words if words is not None or held > 0 else "must be above 0"


def _flag(held: Any) -> str | None:
    return None if isinstance(held, bool) else "must be true or false"


def _names(held: Any) -> str | None:
    fits = isinstance(held, list) and all(isinstance(name, str) for name in held)  # pyright: ignore[reportUnknownVariableType]
    return None if fits else "must be a list of names"


def _format(held: Any) -> str | None:
    return None if held in FORMATS else f"must be one of {', '.join(FORMATS)}"


_CHECKS: Final[Mapping[str, Callable[[Any], str | None]]] = {
    "type": _type,
    "enum": _enum,
    "const": _const,
    "required": _names,
    "format": _format,
    "uniqueItems": _flag,
    "multipleOf": _divisor,
    **dict.fromkeys(("minProperties", "maxProperties", "minItems", "maxItems", "minLength", "maxLength"), _count),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), _number),
}
