"""The two aliases for JSON at the edges; it does not parse anything."""

from typing import Any, TypeAlias

JsonObject: TypeAlias = dict[str, Any]
"""A decoded JSON object; what its values are is the sender's business until a schema has been checked."""

Json: TypeAlias = "dict[str, Any] | list[Any] | str | int | float | bool | None"
"""Any decoded JSON value."""
