"""A call's JSON arguments as the values a function's hints promise; it reads no signatures and runs nothing."""

import copy
import re
import types
import typing
from collections.abc import Sequence
from typing import Any, ClassVar, Union, cast

import msgspec

from toolwire.core.errors import InvalidArguments
from toolwire.core.jsontypes import JsonObject
from toolwire.core.schema import Violation
from toolwire.providers.schema import Validator, compile_validator, explain, pointer
from toolwire.sdk.authoring.signature import REQUIRED, Parameter
from toolwire.sdk.encode import plain
from toolwire.sdk.hints.limits import read_limits
from toolwire.sdk.hints.records import is_model, is_path
from toolwire.sdk.hints.schema import DICTS, LISTS, SETS, Inexpressible, see_through

_STEP = re.compile(r"\.[^.\[]+|\[[^\]]*\]")
_SCALARS = (str, int, float, bool, bytes, type(None))
_SHARED_DEFAULTS = (str, int, float, bool, bytes, type(None))
"""Defaults that nobody can change, so that every call may get the very same object."""


class UnfitArguments(InvalidArguments):
    """The arguments of the call at hand do not fit; the text is for the model, `violations` in `data` for a program."""


class Arguments:
    """The arguments of one tool: built once at decoration, then one conversion a call.

    Args:
        label: what the tool is called in errors.
        parameters: whose hints have a JSON Schema.
        schema: the tool's input schema, which says what is wrong in the model's own terms.
        strict: never decode a text that should have been another type (mcp.md S27).
    """

    def __init__(self, label: str, parameters: Sequence[Parameter], schema: JsonObject, strict: bool = False) -> None:
        self._schema = schema
        self._strict = strict
        self._validator: Validator | None = None
        self._names = frozenset(parameter.name for parameter in parameters)
        self._optional = False
        fields: list[tuple[str, Any, Any]] = []
        opaque = False
        for parameter in parameters:
            lowered = _checked(label, parameter)
            opaque = opaque or see_through(parameter.hint) not in _SCALARS
            if parameter.default is REQUIRED:
                fields.append((parameter.name, lowered, msgspec.NODEFAULT))
            elif isinstance(parameter.default, _SHARED_DEFAULTS):
                fields.append((parameter.name, lowered, parameter.default))
            else:
                self._optional = True
                fields.append((parameter.name, lowered | msgspec.UnsetType, msgspec.UNSET))
        self._opaque = opaque
        self._record = msgspec.defstruct("Arguments", fields, kw_only=True)

    def bind(self, arguments: JsonObject) -> dict[str, Any]:
        """The keyword arguments for the function; nothing in them is shared with `arguments`.

        Raises:
            UnfitArguments: a value is missing or has the wrong type or size.
        """
        try:
            found = self._convert(msgspec.to_builtins(arguments) if self._opaque else arguments)
        except msgspec.ValidationError as error:
            found = self._repair(arguments, error)
        return _without_unset(found) if self._optional else found

    def _convert(self, arguments: JsonObject) -> dict[str, Any]:
        return msgspec.structs.asdict(msgspec.convert(arguments, self._record, dec_hook=_decode))

    def _repair(self, arguments: JsonObject, error: msgspec.ValidationError) -> dict[str, Any]:
        """Off the fast path: say what is wrong, unless it is only how the model wrote it."""
        if self._validator is None:
            self._validator = compile_validator(self._schema)
        copied: JsonObject = msgspec.to_builtins(arguments)
        violations = self._validator.check(copied)
        if violations:
            repaired = None if self._strict else self._validator.repaired(copied)
            if repaired is None:
                raise unfit(violations) from error
            copied = repaired
        try:
            return self._convert(_whole_numbers(copied))
        except msgspec.ValidationError as second:
            raise unfit([_violation(second)]) from second


def unfit(violations: Sequence[Violation]) -> UnfitArguments:
    """The error that says what is wrong with the arguments."""
    return UnfitArguments(
        f"invalid arguments: {explain(violations)}",
        param=f"arguments{violations[0].path}",
        violations=[{"path": violation.path, "message": violation.message} for violation in violations],
    )


def deep_copy(arguments: JsonObject) -> JsonObject:
    """A copy that shares nothing that can change; quick for what JSON is made of."""
    try:
        return msgspec.to_builtins(arguments, builtin_types=(bytes,))
    except (TypeError, ValueError):
        return copy.deepcopy(arguments)


class _StandIn(type):
    """The class of stand-ins: msgspec asks whether what a hook gave is of the hint's type, and here anything may be."""

    def __instancecheck__(cls, instance: object) -> bool:
        return True


class Alternatives(metaclass=_StandIn):
    """Stands for a union that msgspec cannot tell apart: the first member that accepts the value wins."""

    members: ClassVar[tuple[Any, ...]] = ()

    @classmethod
    def decode(cls, value: Any) -> Any:
        """`value` as the first member that accepts it."""
        for member in cls.members:
            try:
                return msgspec.convert(value, member, dec_hook=_decode)
            except msgspec.ValidationError:
                continue
        raise ValueError("fits none of the alternatives")


class Choices(metaclass=_StandIn):
    """Stands for a `Literal` of other values than texts and integers."""

    values: ClassVar[tuple[Any, ...]] = ()

    @classmethod
    def decode(cls, value: Any) -> Any:
        """The listed value that `value` is the JSON form of."""
        for choice in cls.values:
            shown = plain(choice)
            if type(shown) is type(value) and shown == value:
                return choice
        raise ValueError(f"must be one of {[plain(choice) for choice in cls.values]!r}, got {value!r}")


def lower(hint: Any) -> Any:
    """`hint` as msgspec understands it, with a stand-in for what it cannot express."""
    hint = see_through(hint)
    origin, args = typing.get_origin(hint) or hint, typing.get_args(hint)
    if origin is typing.Annotated:
        return _lowered_limits(args[0], read_limits(args[1:]).meta())
    if origin in (Union, types.UnionType):
        return _lowered_union(args)
    if origin is typing.Literal:
        simple = all(value is None or type(value) in (str, int) for value in args)
        return hint if simple else _StandIn("Choices", (Choices,), {"values": args})
    if origin in LISTS:
        return list[lower(args[0])] if args else list
    if origin in SETS:
        kind: Any = frozenset if origin is frozenset else set
        return kind[lower(args[0])] if args else kind
    if origin in DICTS:
        return dict[lower(args[0]), lower(args[1])] if args else dict
    if origin is tuple and args:
        return tuple[tuple(arg if arg is ... else lower(arg) for arg in args)]
    return hint


def _lowered_limits(base: Any, meta: msgspec.Meta | None) -> Any:
    """The limits of a union are those of its members that can have them: `Annotated[int | None, Ge(1)]`."""
    if meta is None:
        return lower(base)
    base = see_through(base)
    if typing.get_origin(base) not in (Union, types.UnionType):
        return typing.Annotated[lower(base), meta]
    limited = tuple(typing.Annotated[member, meta] for member in typing.get_args(base))
    fitting = tuple(
        new if _decodes(lower(new)) else old for old, new in zip(typing.get_args(base), limited, strict=True)
    )
    if fitting == typing.get_args(base):
        raise TypeError(f"no member of the union can have the limits {meta!r}")
    return _lowered_union(fitting)


def _decodes(hint: Any) -> bool:
    try:
        msgspec.json.Decoder(hint)
    except TypeError:
        return False
    return True


def _lowered_union(args: tuple[Any, ...]) -> Any:
    members = tuple(lower(arg) for arg in args)
    union = Union[members]  # noqa: UP007 -- built from a tuple
    return union if _decodes(union) else _StandIn("Alternatives", (Alternatives,), {"members": members})


def _checked(label: str, parameter: Parameter) -> Any:
    if parameter.name.startswith("__"):
        raise TypeError(f"{label}: parameter {parameter.name!r} must not begin with two underscores; rename it")
    try:
        lowered = lower(parameter.hint)
        msgspec.json.Decoder(lowered)
    except (TypeError, NameError, Inexpressible) as error:
        raise TypeError(f"{label}: parameter {parameter.name!r} has the hint {parameter.hint!r}: {error}") from error
    return lowered


def _decode(kind: Any, value: Any) -> Any:
    """For msgspec: types it does not know."""
    if issubclass(kind, (Alternatives, Choices)):
        return kind.decode(value)
    if is_path(kind):
        if not isinstance(value, str):
            raise ValueError(f"expected a path as text, got {type(value).__name__}")
        return kind(value)
    if is_model(kind):
        return kind.model_validate(value)
    raise TypeError(f"{kind!r} cannot be made from JSON")


def _without_unset(found: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in found.items() if value is not msgspec.UNSET}


def _whole_numbers(value: Any) -> Any:
    """JSON knows one kind of number: 3.0 is an integer for a schema, and a float for Python."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [_whole_numbers(item) for item in cast("list[Any]", value)]
    if isinstance(value, dict):
        return {key: _whole_numbers(item) for key, item in cast("JsonObject", value).items()}
    return value


def _violation(error: msgspec.ValidationError) -> Violation:
    """From msgspec's words, such as "Expected `int`, got `str` - at `$.sizes[0].height`"; `[...]` is some key."""
    message, _, path = str(error).partition(" - at `$")
    parts = [part.strip("[]") for part in _STEP.findall(path.rstrip("`"))]
    return Violation(pointer(part.lstrip(".") for part in parts), message[:1].lower() + message[1:])
