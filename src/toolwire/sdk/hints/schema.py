"""Python type hints as JSON Schema for a model; it converts no values.

Nested records are written in place, because many clients cannot follow a `$ref`; only a type that contains itself goes
to `$defs` (mcp.md S25). Titles are left out: the names say it all.
"""

import math
import types
import typing
from collections.abc import Callable, Iterable, Mapping, MutableMapping, MutableSequence, MutableSet, Sequence
from collections.abc import Collection as AbstractCollection
from collections.abc import Set as AbstractSet
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any, TypeVar, cast
from uuid import UUID

import msgspec

from toolwire.core.jsontypes import JsonObject
from toolwire.sdk.encode import Unencodable, plain
from toolwire.sdk.hints.limits import Limits, read_limits
from toolwire.sdk.hints.records import NO_DEFAULT, Member, is_model, is_path, is_positional, members, own_doc

LISTS = (list, Sequence, MutableSequence, AbstractCollection, Iterable)
SETS = (set, frozenset, AbstractSet, MutableSet)
DICTS = (dict, Mapping, MutableMapping)

_SIMPLE: dict[Any, JsonObject] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    None: {"type": "null"},
    type(None): {"type": "null"},
    bytes: {"type": "string", "contentEncoding": "base64"},
    bytearray: {"type": "string", "contentEncoding": "base64"},
    datetime: {"type": "string", "format": "date-time"},
    date: {"type": "string", "format": "date"},
    time: {"type": "string", "format": "time"},
    timedelta: {"type": "string", "format": "duration"},
    UUID: {"type": "string", "format": "uuid"},
    Decimal: {"anyOf": [{"type": "string", "format": "decimal"}, {"type": "number"}]},
    Any: {},
    object: {},
}
_JSON_TYPES = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}


class Inexpressible(Exception):
    """A hint has no JSON Schema; the text says which part of it."""


class SchemaWriter:
    """Writes the schemas of one tool, which share `$defs`."""

    def __init__(self, serialized: bool = False) -> None:
        """`serialized` says that the schema is for what is returned rather than for what is given."""
        self.defs: dict[str, JsonObject] = {}
        self._open: dict[Any, str] = {}
        self._recursive: set[str] = set()
        self._serialized = serialized

    def root(self, properties: JsonObject, required: list[str]) -> JsonObject:
        """An object schema around `properties`, with the `$defs` that they refer to."""
        schema: JsonObject = {"type": "object", "properties": properties}
        if required:
            schema["required"] = required
        return self.finish(schema)

    def finish(self, schema: JsonObject) -> JsonObject:
        """`schema` as the root of a document."""
        return {**schema, "$defs": self.defs} if self.defs else schema

    def write(self, hint: Any) -> JsonObject:
        """The schema of one hint.

        Raises:
            Inexpressible: some part of the hint has none.
        """
        hint = see_through(hint)
        if typing.get_origin(hint) is typing.Annotated:
            base, *notes = typing.get_args(hint)
            return read_limits(notes).applied(self.write(base))
        try:
            simple = _SIMPLE.get(hint)
        except TypeError:  # unhashable, such as Annotated[int, []] inside a Literal
            simple = None
        if simple is not None:
            return msgspec.to_builtins(simple)
        origin, args = typing.get_origin(hint) or hint, typing.get_args(hint)
        if origin in (typing.Union, types.UnionType):
            return self._union(args)
        if origin is typing.Literal:
            return choices(args)
        if isinstance(origin, type):
            return self._class(origin, args, hint)
        raise Inexpressible(f"{hint!r} has no JSON Schema")

    def _union(self, args: tuple[Any, ...]) -> JsonObject:
        written: list[JsonObject] = []
        for arg in args:
            if arg is msgspec.UnsetType:  # says "may be missing" of a Struct's field, not what it is
                continue
            schema = self.write(arg)
            if schema not in written:
                written.append(schema)
        return written[0] if len(written) == 1 else {"anyOf": written}

    def _class(self, cls: Any, args: tuple[Any, ...], hint: Any) -> JsonObject:
        if issubclass(cls, Enum):
            return choices([member.value for member in cls])
        if is_path(cls):
            return {"type": "string", "format": "path"}
        if cls in LISTS:
            return self._array(args[:1])
        if cls in SETS:
            return {**self._array(args[:1]), "uniqueItems": True}
        if cls in DICTS:
            values = self.write(args[1]) if len(args) == 2 else {}
            return {"type": "object", "additionalProperties": values} if values else {"type": "object"}
        if cls is tuple:
            return self._tuple(args)
        return self._record(cls, args, hint)

    def _array(self, args: tuple[Any, ...]) -> JsonObject:
        items = self.write(args[0]) if args else {}
        return {"type": "array", "items": items} if items else {"type": "array"}

    def _tuple(self, args: tuple[Any, ...]) -> JsonObject:
        if not args:
            return {"type": "array"}
        if len(args) == 2 and args[1] is ...:
            return self._array(args[:1])
        written = [self.write(arg) for arg in args]
        return {"type": "array", "prefixItems": written, "minItems": len(written), "maxItems": len(written)}

    def _record(self, cls: Any, args: tuple[Any, ...], hint: Any) -> JsonObject:
        write = self._record_writer(cls, args)
        if write is None:
            raise Inexpressible(f"{getattr(hint, '__qualname__', None) or repr(hint)} has no JSON Schema")
        if hint in self._open:
            self._recursive.add(self._open[hint])
            return {"$ref": f"#/$defs/{self._open[hint]}"}
        name = self._free_name(cls.__name__)
        self._open[hint] = name
        try:
            schema = write()
        finally:
            del self._open[hint]
        doc = own_doc(cls)
        if doc and "description" not in schema:
            schema["description"] = doc
        if name not in self._recursive:
            return schema
        self.defs[name] = schema
        return {"$ref": f"#/$defs/{name}"}

    def _record_writer(self, cls: type, args: tuple[Any, ...]) -> Callable[[], JsonObject] | None:
        """How to write `cls`, or `None` when it is no record."""
        if is_model(cls):
            return lambda: self._model(cls)
        found = members(cls, args)
        if found is None:
            return None
        return lambda: self._positional(cls, found) if is_positional(cls) else self._object(cls, found)

    def _object(self, cls: type, found: list[Member]) -> JsonObject:
        properties: JsonObject = {}
        required: list[str] = []
        config = getattr(cls, "__struct_config__", None)
        if config is not None and config.tag_field is not None:
            properties[config.tag_field] = choices([config.tag])
            required.append(config.tag_field)
        for member in found:
            properties[member.name] = with_default(self.write(member.hint), member.default)
            if member.required:
                required.append(member.name)
        schema: JsonObject = {"type": "object", "properties": properties}
        if required:
            schema["required"] = required
        if config is not None and config.forbid_unknown_fields:
            schema["additionalProperties"] = False
        return schema

    def _positional(self, cls: Any, found: list[Member]) -> JsonObject:
        items = [{**self.write(member.hint), "title": member.name} for member in found]
        needed = sum(member.required for member in found)
        schema: JsonObject = {"type": "array", "prefixItems": items, "minItems": needed}
        config = getattr(cls, "__struct_config__", None)
        if config is None or config.forbid_unknown_fields:  # other Structs take what newer writers add
            schema["maxItems"] = len(items)
        return schema

    def _model(self, cls: type) -> JsonObject:
        """A pydantic model writes its own schema; its definitions move to ours or into their places."""
        mode = "serialization" if self._serialized else "validation"
        schema = _untitled(cast("Any", cls).model_json_schema(mode=mode, ref_template="#/$defs/{model}"))
        theirs: JsonObject = schema.pop("$defs", {})
        recursive = {name for name in theirs if _reaches(theirs[name], name, theirs, set())}
        self.defs.update({name: _inlined(theirs[name], theirs, recursive) for name in recursive})
        return _inlined(schema, theirs, recursive)

    def _free_name(self, wanted: str) -> str:
        name, count = wanted, 1
        while name in self.defs or name in self._open.values():
            count += 1
            name = f"{wanted}{count}"
        return name


def see_through(hint: Any) -> Any:
    """`hint` without the names and wrappers that carry no meaning here, such as NewType, type aliases and TypeVar."""
    while True:
        if hasattr(hint, "__supertype__"):
            hint = hint.__supertype__
        elif type(hint).__name__ == "TypeAliasType":
            hint = hint.__value__
        elif isinstance(hint, TypeVar):
            hint = typing.Union[hint.__constraints__] if hint.__constraints__ else hint.__bound__ or Any  # noqa: UP007
        elif getattr(typing.get_origin(hint), "_name", "") in ("Required", "NotRequired", "ReadOnly", "Final"):
            hint = typing.get_args(hint)[0]
        else:
            return hint


def choices(values: Iterable[Any]) -> JsonObject:
    """An `enum`, with the one JSON type of its values where they share one."""
    listed: list[Any] = [plain(value) for value in values]
    kinds: set[Any] = {type(value) for value in listed}
    shared = {_JSON_TYPES.get(kind) for kind in kinds}
    if len(shared) == 1 and None not in shared:
        return {"type": shared.pop(), "enum": listed}
    return {"enum": listed}


def with_default(schema: JsonObject, default: Any) -> JsonObject:
    """`schema` with a default, unless there is none or it has no JSON form."""
    if default is NO_DEFAULT or (isinstance(default, float) and not math.isfinite(default)):
        return schema
    try:
        return {**schema, "default": plain(default)}
    except Unencodable:
        return schema


def described(schema: JsonObject, description: str | None) -> JsonObject:
    """`schema` with a description, unless it has its own."""
    return Limits(description=description).applied(schema) if description else schema


def _untitled(schema: Any) -> Any:
    """A schema without its titles; `title` may also be the name of a property, which stays."""
    if isinstance(schema, list):
        return [_untitled(item) for item in cast("list[Any]", schema)]
    if not isinstance(schema, dict):
        return schema
    kept: JsonObject = {}
    for key, value in cast("JsonObject", schema).items():
        if key in ("properties", "$defs"):
            kept[key] = {name: _untitled(item) for name, item in value.items()}
        elif key in ("default", "const", "enum", "examples"):
            kept[key] = value
        elif key != "title":
            kept[key] = _untitled(value)
    return kept


def _name_of_ref(schema: Any) -> str | None:
    ref = cast("JsonObject", schema).get("$ref") if isinstance(schema, dict) else None
    return ref.removeprefix("#/$defs/") if isinstance(ref, str) else None


def _parts(schema: Any) -> Iterable[Any]:
    if isinstance(schema, dict):
        return cast("JsonObject", schema).values()
    return cast("list[Any]", schema) if isinstance(schema, list) else ()


def _reaches(schema: Any, target: str, defs: JsonObject, seen: set[str]) -> bool:
    name = _name_of_ref(schema)
    if name == target:
        return True
    if name is not None and name in defs and name not in seen:
        seen.add(name)
        if _reaches(defs[name], target, defs, seen):
            return True
    return any(_reaches(part, target, defs, seen) for part in _parts(schema))


def _inlined(schema: Any, defs: JsonObject, kept: set[str]) -> Any:
    name = _name_of_ref(schema)
    if name is not None and name in defs and name not in kept:
        beside = {key: value for key, value in cast("JsonObject", schema).items() if key != "$ref"}
        return {**_inlined(defs[name], defs, kept), **beside}
    if isinstance(schema, dict):
        return {key: _inlined(value, defs, kept) for key, value in cast("JsonObject", schema).items()}
    if isinstance(schema, list):
        return [_inlined(item, defs, kept) for item in cast("list[Any]", schema)]
    return schema
