"""The two aliases for JSON at the edges, and the test for an object; it does not parse anything."""

from typing import Any, TypeAlias

JsonObject: TypeAlias = dict[str, Any]
"""A decoded JSON object; what its values are is the sender's business until a schema has been checked."""

Json: TypeAlias = "dict[str, Any] | list[Any] | str | int | float | bool | None"
"""Any decoded JSON value."""


def as_object(value: Any) -> JsonObject | None:
    """`value` if it is a JSON object, else `None`: the one place where a decoded dict gets its type."""
    return value if type(value) is dict else None  # pyright: ignore[reportUnknownVariableType] - decoded JSON has string keys
