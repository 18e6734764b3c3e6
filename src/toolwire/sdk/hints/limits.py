"""What `Annotated[T, …]` says besides the type, read by shape so that any library's notes do; it checks nothing."""

from collections.abc import Iterable
from typing import Any, NamedTuple, cast

import msgspec

from toolwire.core.jsontypes import JsonObject

_NUMERIC = {
    "ge": "minimum",
    "gt": "exclusiveMinimum",
    "le": "maximum",
    "lt": "exclusiveMaximum",
    "multiple_of": "multipleOf",
}
_LENGTHS = {
    "string": ("minLength", "maxLength"),
    "array": ("minItems", "maxItems"),
    "object": ("minProperties", "maxProperties"),
}


class Limits(NamedTuple):
    """The limits of a value, under the names that msgspec, pydantic and annotated-types share, and its description."""

    ge: float | None = None
    gt: float | None = None
    le: float | None = None
    lt: float | None = None
    multiple_of: float | None = None
    min_length: int | None = None
    max_length: int | None = None
    pattern: str | None = None
    description: str | None = None
    examples: list[Any] | None = None
    extra: JsonObject | None = None

    def applied(self, schema: JsonObject) -> JsonObject:
        """`schema` with the limits that fit its type, then the description."""
        written = self._limited(schema)
        if self.description:
            written = {**written, "description": self.description}
        if self.examples:
            written = {**written, "examples": self.examples}
        return {**written, **self.extra} if self.extra else written

    def meta(self) -> msgspec.Meta | None:
        """The limits as msgspec enforces them, or `None` when there are none."""
        said = {name: value for name, value in self._asdict().items() if value is not None}
        for name in ("description", "examples", "extra"):
            said.pop(name, None)
        return msgspec.Meta(**said) if said else None

    def _limited(self, schema: JsonObject) -> JsonObject:
        if "anyOf" in schema:
            return {**schema, "anyOf": [self._limited(choice) for choice in schema["anyOf"]]}
        found = dict(schema)
        kind = schema.get("type")
        if kind in ("integer", "number"):
            found.update(self._numeric())
        if kind in _LENGTHS:
            pairs = zip(_LENGTHS[kind], (self.min_length, self.max_length), strict=True)
            found.update({key: value for key, value in pairs if value is not None})
        if kind == "string" and self.pattern is not None:
            found["pattern"] = self.pattern
        return found

    def _numeric(self) -> JsonObject:
        values = self._asdict()
        return {key: values[name] for name, key in _NUMERIC.items() if values[name] is not None}


def read_limits(notes: Iterable[Any]) -> Limits:
    """Gather what the notes of an `Annotated` say; the first word on each subject counts.

    A plain text is the description. Of any other object the attributes of these names count, and those of the notes
    that it carries itself in `metadata`, as pydantic's `Field` does.
    """
    found: dict[str, Any] = {}
    for note in notes:
        for name, value in _said(note).items():
            found.setdefault(name, value)
    return Limits(**found)


def _said(note: Any) -> dict[str, Any]:
    if isinstance(note, str):
        return {"description": note.strip()}
    found: dict[str, Any] = {}
    for name in ("ge", "gt", "le", "lt", "multiple_of"):
        _keep(found, name, getattr(note, name, None), (int, float))
    for name in ("min_length", "max_length"):
        _keep(found, name, getattr(note, name, None), int)
    _keep(found, "pattern", getattr(note, "pattern", None), str)
    _keep(found, "description", getattr(note, "description", None) or getattr(note, "documentation", None), str)
    _keep(found, "examples", getattr(note, "examples", None), list)
    _keep(found, "extra", getattr(note, "extra_json_schema", None), dict)
    for inner in _carried(note):
        for name, value in _said(inner).items():
            found.setdefault(name, value)
    return found


def _carried(note: Any) -> list[Any]:
    inner = getattr(note, "metadata", None)
    return cast("list[Any]", inner) if isinstance(inner, list) else []


def _keep(found: dict[str, Any], name: str, value: Any, kinds: Any) -> None:
    if isinstance(value, kinds) and not isinstance(value, bool):
        found[name] = value
