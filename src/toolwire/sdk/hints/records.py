"""Classes that are records of named fields, all told as the same list of members; it writes no schema.

Records are msgspec Structs, dataclasses, attrs classes, TypedDicts and NamedTuples. Pydantic models are recognised, by
shape, and left to describe themselves.
"""

import os
import typing
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, NamedTuple, TypeVar, cast

import msgspec

NO_DEFAULT: Any = msgspec.NODEFAULT
_PATH_LIKE: Any = os.PathLike


class Member(NamedTuple):
    """A field of a record: `name` as on the wire, and `default` or `NO_DEFAULT`, which is also what a factory has."""

    name: str
    hint: Any
    required: bool
    default: Any = NO_DEFAULT


def is_model(cls: Any) -> bool:
    """Whether `cls` is a pydantic model, told without importing pydantic."""
    return isinstance(cls, type) and hasattr(cls, "model_json_schema") and hasattr(cls, "model_validate")


def is_path(cls: Any) -> bool:
    """Whether `cls` is one of pathlib's, told without importing pathlib."""
    return isinstance(cls, type) and issubclass(cls, _PATH_LIKE)


def is_positional(cls: Any) -> bool:
    """Whether a record is written as an array: a NamedTuple, or a Struct that says so."""
    config = getattr(cls, "__struct_config__", None)
    return issubclass(cls, tuple) or (config is not None and config.array_like)


def members(cls: Any, args: tuple[Any, ...] = ()) -> list[Member] | None:
    """The fields of a record class whose type parameters are `args`; `None` when it is no record.

    Raises:
        NameError: a field's hint does not resolve.
    """
    if issubclass(cls, msgspec.Struct):
        found = [_struct_member(field) for field in msgspec.structs.fields(cls)]
    elif typing.is_typeddict(cls):
        found = [Member(name, hint, _is_required(cls, name, hint)) for name, hint in _hints(cls).items()]
    elif _is_named_tuple(cls):
        found = _named_tuple_members(cls)
    elif is_dataclass(cls):
        hints = _hints(cls)
        found = [
            Member(
                field.name,
                hints[field.name],
                field.default is MISSING and field.default_factory is MISSING,
                NO_DEFAULT if field.default is MISSING else field.default,
            )
            for field in fields(cls)
            if field.init
        ]
    elif hasattr(cls, "__attrs_attrs__"):
        found = _attrs_members(cls)
    else:
        return None
    return _substituted(cls, args, found)


def _substituted(cls: Any, args: tuple[Any, ...], found: list[Member]) -> list[Member]:
    by_parameter = dict(zip(getattr(cls, "__parameters__", ()), args, strict=False))
    if not by_parameter:
        return found
    return [member._replace(hint=_substitute(member.hint, by_parameter)) for member in found]


def _substitute(hint: Any, by_parameter: Mapping[Any, Any]) -> Any:
    if isinstance(hint, TypeVar):
        return by_parameter.get(hint, hint)
    parameters = getattr(hint, "__parameters__", ())
    if isinstance(hint, type) or not parameters:
        return hint
    return hint[tuple(by_parameter.get(parameter, parameter) for parameter in parameters)]


def _hints(cls: Any) -> dict[str, Any]:
    return typing.get_type_hints(cls, include_extras=True)


def _struct_member(field: Any) -> Member:
    return Member(field.encode_name, field.type, field.required, field.default)


def _named_tuple_members(cls: Any) -> list[Member]:
    hints, defaults = _hints(cls), cls._field_defaults
    return [
        Member(name, hints.get(name, Any), name not in defaults, defaults.get(name, NO_DEFAULT)) for name in cls._fields
    ]


def _attrs_members(cls: Any) -> list[Member]:
    hints = _hints(cls)
    found: list[Member] = []
    for field in cls.__attrs_attrs__:
        nothing = type(field.default).__name__ == "_Nothing"
        factory = type(field.default).__name__ == "Factory"
        default = NO_DEFAULT if nothing or factory else field.default
        found.append(Member(field.name, hints.get(field.name, Any), nothing, default))
    return found


def _is_required(cls: Any, name: str, hint: Any) -> bool:
    """By the hint first: with postponed annotations the class does not know its own `NotRequired` (3.11)."""
    origin = typing.get_origin(hint)
    if origin in (typing.Required, typing.NotRequired):
        return origin is typing.Required
    return name in cls.__required_keys__


def _is_named_tuple(cls: Any) -> bool:
    return issubclass(cls, tuple) and hasattr(cast("Any", cls), "_fields")


def own_doc(cls: Any) -> str:
    """The first paragraph of the docstring that the author gave `cls`, as one line; "" when there is none."""
    doc = cls.__dict__.get("__doc__") or ""
    if doc.startswith(f"{cls.__name__}(") or is_model(cls):  # the one dataclass and NamedTuple write
        return ""
    return " ".join(doc.strip().partition("\n\n")[0].split())
