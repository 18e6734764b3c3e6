"""Which forms an author may ask for, and what becomes of their content (MCP client/elicitation#requested-schema)."""

from dataclasses import dataclass, field
from enum import Enum
from typing import Annotated, Any, Literal, NotRequired, TypedDict

import msgspec
import pytest

from toolwire.sdk.forms import form_of

STRING: dict[str, Any] = {"type": "string"}


def schema(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


@dataclass
class Order:
    """What is ordered."""

    name: Annotated[str, "Who orders"]
    count: Annotated[int, msgspec.Meta(ge=1, le=9)] = 1
    price: float | None = None
    gift: bool = False
    colour: Colour = Colour.RED
    extras: list[Literal["bow", "card"]] = field(default_factory=list[Literal["bow", "card"]])


class Address(TypedDict):
    street: str
    city: NotRequired[str]


class Contact(msgspec.Struct, kw_only=True):
    mail: Annotated[str, msgspec.Meta(max_length=50)]
    phone: str = ""


def test_a_dataclass_is_a_form():
    assert form_of(Order).schema == {
        "type": "object",
        "properties": {
            "name": {"type": "string", "description": "Who orders"},
            "count": {"type": "integer", "minimum": 1, "maximum": 9, "default": 1},
            "price": {"type": "number"},
            "gift": {"type": "boolean", "default": False},
            "colour": {"type": "string", "enum": ["red", "blue"], "default": "red"},
            "extras": {"type": "array", "items": {"type": "string", "enum": ["bow", "card"]}},
        },
        "required": ["name"],
    }


def test_a_typed_dict_and_a_struct_are_forms():
    assert form_of(Address).schema == {**schema(street=STRING, city=STRING), "required": ["street"]}
    assert form_of(Contact).schema["properties"]["mail"] == {"type": "string", "maxLength": 50}


def test_content_becomes_the_class():
    order = form_of(Order).read({"name": "Ann", "colour": "blue", "extras": ["bow"]})
    assert order == Order("Ann", colour=Colour.BLUE, extras=["bow"])
    assert form_of(Address).read({"street": "Main"}) == {"street": "Main"}
    assert form_of(schema(a=STRING)).read({"a": "x", "b": 1}) == {"a": "x", "b": 1}


@pytest.mark.parametrize("content", [{}, {"name": 1}, {"name": "A", "count": 10}, {"name": "A", "extras": ["box"]}])
def test_content_that_does_not_fit_is_refused(content: Any):
    with pytest.raises(ValueError, match=r"."):
        form_of(Order).read(content)


def test_every_form_of_a_choice_is_taken_as_it_is():
    given = schema(
        one={"type": "string", "enum": ["a"], "enumNames": ["A"], "title": "One", "default": "a"},
        two={"type": "string", "oneOf": [{"const": "a", "title": "A"}]},
        three={"type": "array", "items": {"type": "string", "enum": ["a"]}, "minItems": 1, "maxItems": 2},
        four={"type": "array", "items": {"anyOf": [{"const": "a", "title": "A"}]}, "default": ["a"]},
        five={"type": "string", "format": "email", "minLength": 1, "maxLength": 9},
    )
    assert form_of(given).schema == given


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"type": "string"}, "must be of type 'object'"),
        ({"type": "object"}, "with 'properties'"),
        ({**schema(a=STRING), "additionalProperties": False}, "'additionalProperties', which a form cannot show"),
        ({**schema(a=STRING), "required": ["b"]}, "'required' names 'b'"),
        (schema(a={"type": "object", "properties": {}}), "field 'a' is 'object'"),
        (schema(a={"type": ["string", "null"]}), "field 'a'"),
        (schema(a={}), "field 'a' is 'of several types'"),
        (schema(a={"type": "string", "pattern": "x"}), "'pattern', which a form cannot show"),
        (schema(a={"type": "string", "format": "uuid"}), "format 'uuid'"),
        (schema(a={"type": "array", "items": {"type": "string"}}), "a list of choices"),
        (schema(a={"type": "array"}), "a list of choices"),
        (schema(a={"type": "string", "enum": [1]}), "must be texts"),
        (schema(a={"type": "string", "enum": []}), "at least one"),
        (schema(a={"type": "string", "enum": ["x"], "enumNames": []}), "as many 'enumNames'"),
        (schema(a={"type": "string", "oneOf": [{"const": "x"}]}), "'const' and 'title'"),
        (schema(a={"type": "string", "enum": ["x"], "oneOf": []}), "both 'enum' and 'oneOf'"),
        (schema(a={"type": "integer", "minimum": "x"}), "the schema cannot be used"),
        ("text", "takes a schema, a dataclass"),
        (int, "takes a schema, a dataclass"),
        (list[str], "takes a schema, a dataclass"),
    ],
)
def test_what_a_form_cannot_show_is_refused_with_its_name(given: Any, words: str):
    with pytest.raises(TypeError, match=r"^elicit\(\)") as refused:
        form_of(given)
    assert words in str(refused.value)


@pytest.mark.parametrize("hint", [dict[str, str], list[str], Order, bytes, int | str, Literal[1, 2], Any, tuple[int]])
def test_a_field_that_is_no_field_of_a_form_is_refused(hint: Any):
    record = msgspec.defstruct("Record", [("odd", hint)])
    with pytest.raises(TypeError, match="field 'odd'"):
        form_of(record)
