"""The two aliases for JSON at the edges, and what is asked of a decoded value; it does not parse anything."""

from typing import Any, TypeAlias

JsonObject: TypeAlias = dict[str, Any]
"""A decoded JSON object; what its values are is the sender's business until a schema has been checked."""

Json: TypeAlias = "dict[str, Any] | list[Any] | str | int | float | bool | None"
"""Any decoded JSON value."""


def as_object(value: Any) -> JsonObject | None:
    """`value` if it is a JSON object, else `None`: the one place where a decoded dict gets its type."""
    return value if type(value) is dict else None  # pyright: ignore[reportUnknownVariableType] - decoded JSON has string keys


MAX_DEPTH = 128
"""Lists and objects inside each other, as they may come in. What comes after (checking, hashing, recording, encoding)
goes into each of them in turn, and the interpreter's stack has an end, which must not be met halfway."""


def may_be_deep(text: bytes | str) -> bool:
    """Whether JSON text has so many brackets that its value may be too deep; quick, for texts of any size."""
    if isinstance(text, str):
        return text.count("{") + text.count("[") > MAX_DEPTH
    return text.count(b"{") + text.count(b"[") > MAX_DEPTH


def is_too_deep(value: Any) -> bool:
    """Whether more than `MAX_DEPTH` lists and objects are inside each other in a decoded value."""
    level: list[Any] = [value]
    for _ in range(MAX_DEPTH):
        inner: list[Any] = []
        for one in level:
            if isinstance(one, dict):
                inner += one.values()
            elif isinstance(one, list):
                inner += one
        if not inner:
            return False
        level = inner
    return any(isinstance(one, dict | list) for one in level)
