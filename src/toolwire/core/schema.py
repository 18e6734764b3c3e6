"""What a check of arguments against a schema says; it does not know any validator."""

from collections.abc import Sequence
from typing import Any, Protocol

from msgspec import Struct

from toolwire.core.jsontypes import JsonObject


class Violation(Struct, frozen=True):
    """One way in which a value does not fit: `path` is a JSON Pointer into it ("" for the whole)."""

    path: str
    message: str


class Validator(Protocol):
    """A compiled JSON Schema."""

    def check(self, value: Any) -> Sequence[Violation]:
        """What is wrong with `value`; empty when nothing is."""
        ...

    def repaired(self, value: JsonObject) -> JsonObject | None:
        """`value` with texts decoded that the schema refuses and whose content it takes; `None` if that is no help."""
        ...
