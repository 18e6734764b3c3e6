"""The argument `card`, which every tool of a card has beside its own: how it reads, and how it is checked.

Which copy it names is found elsewhere (cards.md decision 16).
"""

from collections.abc import Sequence
from typing import Any

from toolwire.canvas.card_calls import CARD_ARGUMENT
from toolwire.core.jsontypes import JsonObject, as_object
from toolwire.core.schema import Validator, Violation
from toolwire.engine.catalog import CompileSchema

CARD_PROPERTY: JsonObject = {
    "type": "string",
    "maxLength": 128,
    "description": "Which copy of the card, by id or name; needed when several are connected.",
}


def compile_for_copies(compile_schema: CompileSchema, schema: JsonObject) -> Validator:
    """A validator by the card's own schema, for arguments that may also name a copy.

    Raises:
        InvalidParam: the schema is not usable.
    """
    properties = as_object(schema.get("properties")) or {}
    if properties.get(CARD_ARGUMENT) is not CARD_PROPERTY:
        return compile_schema(schema)
    own = {name: value for name, value in properties.items() if name != CARD_ARGUMENT}
    named = compile_schema({"properties": {CARD_ARGUMENT: CARD_PROPERTY}})
    return _Stripped(compile_schema({**schema, "properties": own}), named)


class _Stripped:
    """Checks the copy that is named by itself, and the rest by the card's schema."""

    def __init__(self, own: Validator, card: Validator) -> None:
        self._own = own
        self._card = card

    def check(self, value: Any) -> Sequence[Violation]:
        given = as_object(value)
        if given is None:
            return self._own.check(value)
        rest, named = _parted(given)
        return [*self._card.check(named), *self._own.check(rest)]

    def repaired(self, value: JsonObject) -> JsonObject | None:
        rest, named = _parted(value)
        if self._card.check(named):
            return None
        repaired = self._own.repaired(rest)
        return None if repaired is None else {**repaired, **named}


def _parted(arguments: JsonObject) -> tuple[JsonObject, JsonObject]:
    rest = {name: value for name, value in arguments.items() if name != CARD_ARGUMENT}
    return rest, {CARD_ARGUMENT: arguments[CARD_ARGUMENT]} if CARD_ARGUMENT in arguments else {}
