"""Any Python value as JSON, or the path to what cannot be; it does not decide where the JSON goes.

Common types are written as people expect them: date and time in ISO 8601, UUID, Decimal and Path as text, bytes in
base64, an Enum by its value, sets as lists, dataclasses, Structs and pydantic models as objects. NaN and the infinities
become null and a lone surrogate becomes U+FFFD, because JSON has none of them.
"""

import math
import os
import sys
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence, ValuesView
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any, cast
from uuid import UUID

import msgspec

MAX_DEPTH = 200
"""Deeper than any real answer, and shallow enough for every reader's own limit."""

_AS_TEXT: tuple[Any, ...] = (Decimal, UUID, os.PathLike)
_AS_ISO = (datetime, date, time)
_KEYS: tuple[Any, ...] = (str, bool, int, float, Enum, *_AS_TEXT, *_AS_ISO)


class Unencodable(Exception):
    """A value has no JSON form; the text is the path to it and its type: `output.rows[3].at: socket`."""


def clean_text(text: str) -> str:
    """`text` without lone surrogates, which no UTF-8 and so no wire can carry."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def encode(value: object, path: str = "output") -> bytes:
    """`value` as JSON.

    Args:
        value: anything a tool may return.
        path: what `value` is called in an error.

    Raises:
        Unencodable: something in it has no JSON form, contains itself, or is nested too deeply.
    """
    if isinstance(value, (set, frozenset)):
        value = _in_order(cast("AbstractSet[object]", value))
    try:
        return _ENCODER.encode(value)
    except (TypeError, ValueError, RecursionError, Unencodable):
        return msgspec.json.encode(plain(value, path))


def plain(value: object, path: str = "output", _above: tuple[int, ...] = ()) -> Any:
    """`value` made of nothing but what `json.loads` returns.

    Raises:
        Unencodable: as `encode`.
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, Enum):
        return plain(value.value, path, _above)
    if isinstance(value, str):
        return clean_text(str(value))
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, _AS_ISO):
        return value.isoformat()
    if isinstance(value, _AS_TEXT):
        return clean_text(str(value))
    if isinstance(value, timedelta):
        return msgspec.to_builtins(value)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return b64encode(cast("bytes", value)).decode()
    return _container(value, path, _above)


def _container(value: object, path: str, above: tuple[int, ...]) -> Any:
    if id(value) in above:
        raise Unencodable(f"{path}: contains itself")
    if len(above) >= MAX_DEPTH:
        raise Unencodable(f"{path}: nested more than {MAX_DEPTH} deep")
    inside = (*above, id(value))
    if isinstance(value, Mapping):
        return _object(cast("Mapping[object, object]", value), path, inside)
    if isinstance(value, AbstractSet):
        return _list(_in_order(cast("AbstractSet[object]", value)), path, inside)
    if isinstance(value, (Sequence, ValuesView)):
        return _list(cast("Iterable[object]", value), path, inside)
    attributes = _attributes(value)
    if attributes is None:
        raise Unencodable(f"{path}: {type(value).__qualname__}")
    if isinstance(attributes, dict):
        return _object(cast("dict[object, object]", attributes), path, inside)
    return plain(attributes, path, inside)


def _object(value: Mapping[object, object], path: str, above: tuple[int, ...]) -> dict[str, Any]:
    shown: dict[str, Any] = {}
    for key, item in value.items():
        name = _key(key, path)
        shown[name] = plain(item, f"{path}.{name}", above)
    return shown


def _list(value: Iterable[object], path: str, above: tuple[int, ...]) -> list[Any]:
    return [plain(item, f"{path}[{index}]", above) for index, item in enumerate(value)]


def _key(key: object, path: str) -> str:
    name: Any = plain(key, path) if isinstance(key, _KEYS) else None
    match name:
        case str():
            return name
        case bool():
            return "true" if name else "false"
        case int() | float():
            return str(name)
        case None if key is None:
            return "null"
        case _:
            raise Unencodable(f"{path}: key {key!r} of type {type(key).__qualname__}")


def _in_order(values: AbstractSet[object]) -> Iterable[object]:
    """A set has no order, but an answer should be the same each time."""
    try:
        return sorted(cast("AbstractSet[Any]", values))
    except TypeError:
        return values


def _attributes(value: object) -> Any:
    """What stands for an object of a class: a dict of its fields, another value, or `None` when it has no JSON form."""
    if isinstance(value, type):
        return None
    if isinstance(value, msgspec.Struct):
        return _struct_fields(value)
    if is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    if hasattr(value, "__attrs_attrs__"):
        names = [field.name for field in cast("Any", value).__attrs_attrs__]
        return {name: getattr(value, name) for name in names if not name.startswith("_")}  # as the encoder does
    if _is_pydantic(value):
        return cast("Any", value).model_dump(mode="json", by_alias=True)
    if type(value).__module__.partition(".")[0] in ("numpy", "pandas", "torch") and hasattr(value, "tolist"):
        return cast("Any", value).tolist()
    return None


def _struct_fields(value: msgspec.Struct) -> dict[str, Any]:
    config = value.__struct_config__
    shown: dict[str, Any] = {} if config.tag_field is None else {config.tag_field: config.tag}
    for field, name in zip(value.__struct_fields__, value.__struct_encode_fields__, strict=True):
        item = getattr(value, field)
        if item is not msgspec.UNSET:
            shown[name] = item
    return shown


def _is_pydantic(value: object) -> bool:
    pydantic = sys.modules.get("pydantic")
    return pydantic is not None and isinstance(value, pydantic.BaseModel)


def _hook(value: object) -> Any:
    """For the encoder: types it does not know, without the path, which only the slow way can tell."""
    return plain(value)


_ENCODER = msgspec.json.Encoder(enc_hook=_hook)
