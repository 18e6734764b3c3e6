"""Forms that a client can show to a person, from a schema or a record class; it asks nobody.

A form is flat: each field is a text, a number, a yes or no, or a choice. Whatever else JSON Schema could say is refused
here, at the author's, and not by the client of some user. Spec: MCP 2025-11-25 client/elicitation#requested-schema.
"""

import types
import typing
from functools import lru_cache
from typing import Any, cast

import msgspec

from toolwire.core.errors import InvalidParam
from toolwire.core.jsontypes import JsonObject, as_object
from toolwire.core.schema import Validator
from toolwire.providers.schema import compile_validator, explain
from toolwire.sdk.hints.records import Member, is_positional, members
from toolwire.sdk.hints.schema import Inexpressible, SchemaWriter, see_through, with_default

_FORMATS = frozenset({"email", "uri", "date", "date-time"})
_SHOWN = frozenset({"type", "title", "description", "default"})
_FIELDS: dict[str, frozenset[str]] = {
    "string": _SHOWN | {"minLength", "maxLength", "format", "enum", "enumNames", "oneOf"},
    "number": _SHOWN | {"minimum", "maximum"},
    "integer": _SHOWN | {"minimum", "maximum"},
    "boolean": _SHOWN,
    "array": _SHOWN | {"minItems", "maxItems", "items"},
}
"""What each type of field may say."""
_FORM = frozenset({"$schema", "type", "properties", "required"})


class Form:
    """A form.

    Attributes:
        schema: as it goes to the client.
        record: the class that its content becomes; `None` leaves it a dict.
    """

    def __init__(self, schema: JsonObject, record: Any = None) -> None:
        self.schema = schema
        self.record = record
        self._validator: Validator = compile_validator(schema)

    def read(self, content: JsonObject) -> Any:
        """What a person has filled in.

        Raises:
            ValueError: it does not fit; the text says how.
        """
        violations = self._validator.check(content)
        if violations:
            raise ValueError(explain(violations))
        if self.record is None:
            return content
        try:
            return msgspec.convert(content, self.record)
        except msgspec.ValidationError as error:
            raise ValueError(str(error)) from None


def form_of(given: Any) -> Form:
    """The form for a schema, a dataclass, a TypedDict or a msgspec Struct.

    Raises:
        TypeError: it is none of these, or says what a form cannot show; the text names the field.
    """
    if isinstance(given, dict):
        schema: JsonObject = msgspec.to_builtins(given)
        _check_form(schema)
        return _made(schema, None)
    return _form_of_record(given)


@lru_cache(maxsize=256)
def _form_of_record(record: Any) -> Form:
    found = members(record) if isinstance(record, type) and not issubclass(record, tuple) else None
    if found is None or is_positional(record):
        raise TypeError(f"elicit() takes a schema, a dataclass, a TypedDict or a Struct, got {record!r}")
    properties: JsonObject = {}
    required: list[str] = []
    for member in found:
        properties[member.name] = _field_of(member)
        if member.required:
            required.append(member.name)
    schema: JsonObject = {"type": "object", "properties": properties}
    if required:
        schema["required"] = required
    _check_form(schema)
    return _made(schema, record)


def _made(schema: JsonObject, record: Any) -> Form:
    try:
        return Form(schema, record)
    except InvalidParam as error:
        raise TypeError(f"elicit(): the schema cannot be used: {error.message}") from None


def _field_of(member: Member) -> JsonObject:
    hint = see_through(member.hint)
    if typing.get_origin(hint) in (typing.Union, types.UnionType):  # what may be left out may also be null in Python
        kept = [arg for arg in typing.get_args(hint) if arg not in (type(None), msgspec.UnsetType)]
        hint = kept[0] if len(kept) == 1 else hint
    try:
        schema = SchemaWriter().write(hint)
    except Inexpressible as error:
        raise TypeError(f"elicit(): field {member.name!r} cannot stand in a form: {error}") from None
    schema.pop("uniqueItems", None)  # a form has no word for it, and a set is one whatever comes
    if member.default is None or member.default is msgspec.UNSET:
        return schema
    return with_default(schema, member.default)


def _check_form(schema: JsonObject) -> None:
    properties = as_object(schema.get("properties"))
    if schema.get("type") != "object" or properties is None:
        raise TypeError("elicit(): the schema must be of type 'object' with 'properties'")
    _refuse_others("the schema", schema, _FORM)
    for name, given in properties.items():
        _check_field(f"field {name!r}", as_object(given) or {})
    unknown = [name for name in schema.get("required", ()) if name not in properties]
    if unknown:
        raise TypeError(f"elicit(): 'required' names {unknown[0]!r}, which is no field")


def _check_field(what: str, field: JsonObject) -> None:
    kind = field.get("type")
    allowed = _FIELDS.get(kind) if isinstance(kind, str) else None
    if allowed is None:
        raise TypeError(
            f"elicit(): {what} is {kind or 'of several types'!r}; a form has texts, numbers, yes or no, choices "
            "of texts, and lists of such choices"
        )
    _refuse_others(what, field, allowed)
    if field.get("format", "email") not in _FORMATS:
        raise TypeError(f"elicit(): {what} has the format {field['format']!r}; a form knows {sorted(_FORMATS)}")
    if kind == "string":
        _check_choice(what, field, "oneOf")
    elif kind == "array":
        items = as_object(field.get("items")) or {}
        if not {"enum", "anyOf"} & items.keys():
            raise TypeError(f"elicit(): {what} is a list; in a form that is a list of choices, such as Literal['a']")
        _refuse_others(f"items of {what}", items, frozenset({"type", "enum", "anyOf"}))
        _check_choice(what, items, "anyOf")


def _check_choice(what: str, field: JsonObject, titled: str) -> None:
    values: Any = field.get("enum")
    names: Any = field.get("enumNames")
    if names is not None and (values is None or len(names) != len(values)):
        raise TypeError(f"elicit(): {what} needs as many 'enumNames' as it has choices in 'enum'")
    if titled in field:
        if "enum" in field:
            raise TypeError(
                f"elicit(): {what} has both 'enum' and {titled!r}; titled choices stand in {titled!r} alone"
            )
        options = [as_object(option) or {} for option in cast("list[Any]", field[titled])]
        if any(option.keys() != {"const", "title"} for option in options):
            raise TypeError(
                f"elicit(): each choice of {what} in {titled!r} needs 'const' and 'title', and nothing else"
            )
        values = [option["const"] for option in options]
    if values is not None and not (values and all(isinstance(value, str) for value in values)):
        raise TypeError(f"elicit(): the choices of {what} must be texts, and at least one")


def _refuse_others(what: str, schema: JsonObject, allowed: frozenset[str]) -> None:
    others = sorted(schema.keys() - allowed)
    if others:
        raise TypeError(f"elicit(): {what} says {others[0]!r}, which a form cannot show; it knows {sorted(allowed)}")
