"""Schemas from type hints (sdk.md §4.1, §3.10; the gateway's seed fixes two of them to the letter)."""

import datetime
import enum
import json
import typing
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import (
    Annotated,
    Any,
    Generic,
    Literal,
    NamedTuple,
    NewType,
    NotRequired,
    Optional,
    TypedDict,
    TypeVar,
    Union,
)

import annotated_types
import msgspec
import pydantic
import pytest

from toolwire.sdk import ToolContext, tool


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Level(enum.IntEnum):
    ONE = 1
    TWO = 2


@dataclass
class Point:
    """Where it is."""

    x: Annotated[int, "To the right"]
    y: int = 2
    tags: list[str] = field(default_factory=list[str])


@dataclass
class Plain:
    a: int


class Filter(TypedDict):
    name: str
    size: NotRequired[int]


class Pair(NamedTuple):
    first: int
    second: str = "x"


class Settings(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    max_size: int
    note: str | None = None


class Circle(msgspec.Struct, tag="circle"):
    radius: float


class Square(msgspec.Struct, tag="square"):
    side: float


class Inner(pydantic.BaseModel):
    n: int = pydantic.Field(ge=1)


class Model(pydantic.BaseModel):
    """A model."""

    title: str = pydantic.Field(description="What it is called")
    inner: Inner


@dataclass
class Tree:
    value: int
    children: list["Tree"] = field(default_factory=list["Tree"])


class ModelTree(pydantic.BaseModel):
    children: list["ModelTree"] = []


class Opaque:
    pass


T = TypeVar("T")


@dataclass
class Box(Generic[T]):
    item: T


Id = NewType("Id", int)


def schema_of(hint: Any, *default: Any) -> dict[str, Any]:
    """The whole input schema of a tool with one parameter `x`."""

    def f(x: Any) -> None: ...

    f.__annotations__["x"] = hint
    f.__defaults__ = default
    return tool(f).input_schema


def property_of(hint: Any, *default: Any) -> dict[str, Any]:
    return schema_of(hint, *default)["properties"]["x"]


def test_the_gateways_seed_is_derived_to_the_letter():
    @tool
    async def web_search(
        query: Annotated[str, "The search query"],
        max_results: Annotated[int, "Maximum number of results to return"] = 5,
    ) -> str:
        """Search the web for current information on any topic."""
        return query * max_results

    assert json.dumps(web_search.tool.definition()) == (
        '{"name": "web_search", "description": "Search the web for current information on any topic.", "inputSchema": '
        '{"type": "object", "properties": {"query": {"type": "string", "description": "The search query"}, '
        '"max_results": {"type": "integer", "description": "Maximum number of results to return", "default": 5}}, '
        '"required": ["query"]}}'
    )


def test_a_function_without_parameters_takes_an_empty_object():
    @tool
    def screenshot() -> str:
        """Take a screenshot of the current browser or desktop view."""
        return ""

    assert json.dumps(screenshot.tool.definition()) == (
        '{"name": "screenshot", "description": "Take a screenshot of the current browser or desktop view.", '
        '"inputSchema": {"type": "object", "properties": {}}}'
    )


@pytest.mark.parametrize(
    "hint, schema",
    [
        (str, {"type": "string"}),
        (int, {"type": "integer"}),
        (float, {"type": "number"}),
        (bool, {"type": "boolean"}),
        (None, {"type": "null"}),
        (Any, {}),
        (object, {}),
        (bytes, {"type": "string", "contentEncoding": "base64"}),
        (datetime.datetime, {"type": "string", "format": "date-time"}),
        (datetime.date, {"type": "string", "format": "date"}),
        (datetime.time, {"type": "string", "format": "time"}),
        (datetime.timedelta, {"type": "string", "format": "duration"}),
        (uuid.UUID, {"type": "string", "format": "uuid"}),
        (Decimal, {"anyOf": [{"type": "string", "format": "decimal"}, {"type": "number"}]}),
        (Path, {"type": "string", "format": "path"}),
        (Color, {"type": "string", "enum": ["red", "blue"]}),
        (Level, {"type": "integer", "enum": [1, 2]}),
        (Literal["b", "a"], {"type": "string", "enum": ["b", "a"]}),
        (Literal[2, 1], {"type": "integer", "enum": [2, 1]}),
        (Literal["a", 1, None], {"enum": ["a", 1, None]}),
        (Literal[True], {"type": "boolean", "enum": [True]}),
        (Literal[Color.RED], {"type": "string", "enum": ["red"]}),
        (list, {"type": "array"}),
        (list[int], {"type": "array", "items": {"type": "integer"}}),
        (Sequence[int], {"type": "array", "items": {"type": "integer"}}),
        (Iterable[str], {"type": "array", "items": {"type": "string"}}),
        (set[int], {"type": "array", "items": {"type": "integer"}, "uniqueItems": True}),
        (frozenset[str], {"type": "array", "items": {"type": "string"}, "uniqueItems": True}),
        (tuple, {"type": "array"}),
        (tuple[int, ...], {"type": "array", "items": {"type": "integer"}}),
        (
            tuple[int, str],
            {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}], "minItems": 2, "maxItems": 2},
        ),
        (dict, {"type": "object"}),
        (dict[str, int], {"type": "object", "additionalProperties": {"type": "integer"}}),
        (Mapping[str, Any], {"type": "object"}),
        (Id, {"type": "integer"}),
        (typing.Final[int], {"type": "integer"}),
    ],
    ids=repr,
)
def test_a_type_has_its_schema(hint: Any, schema: dict[str, Any]):
    assert property_of(hint) == schema
    assert list(property_of(hint)) == list(schema)


def test_an_optional_parameter_without_a_default_is_required_and_may_be_null():
    """sdk.md §3.10."""
    schema = schema_of(Optional[int])  # noqa: UP045 -- the older spelling works, too

    assert schema["required"] == ["x"]
    assert schema["properties"]["x"] == {"anyOf": [{"type": "integer"}, {"type": "null"}]}


def test_a_parameter_with_a_default_is_not_required():
    schema = schema_of(int | None, None)

    assert "required" not in schema
    assert schema["properties"]["x"] == {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None}


def test_none_as_a_default_makes_a_parameter_nullable():
    schema = property_of(Annotated[int, "How many"], None)

    assert schema == {"anyOf": [{"type": "integer"}, {"type": "null"}], "description": "How many", "default": None}


@pytest.mark.parametrize(
    "hint, default, shown",
    [
        (Color, Color.RED, "red"),
        (list[int], [1], [1]),
        (datetime.date, datetime.date(2026, 7, 28), "2026-07-28"),
        (Plain, Plain(1), {"a": 1}),
    ],
)
def test_a_default_is_shown_in_its_json_form(hint: Any, default: Any, shown: Any):
    assert property_of(hint, default)["default"] == shown


@pytest.mark.parametrize("default", [object(), float("inf")])
def test_a_default_without_a_json_form_is_left_out(default: Any):
    assert schema_of(Any, default) == {"type": "object", "properties": {"x": {}}}


def test_a_union_lists_its_members_in_order():
    assert property_of(Union[int, str, None]) == {  # noqa: UP007 -- the older spelling works, too
        "anyOf": [{"type": "integer"}, {"type": "string"}, {"type": "null"}],
    }


def test_a_dataclass_is_an_object_in_place():
    assert property_of(Point) == {
        "type": "object",
        "properties": {
            "x": {"type": "integer", "description": "To the right"},
            "y": {"type": "integer", "default": 2},
            "tags": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["x"],
        "description": "Where it is.",
    }


def test_a_parameters_own_description_wins_over_its_class():
    assert property_of(Annotated[Point, "The centre"])["description"] == "The centre"


def test_a_class_without_a_docstring_is_not_described():
    assert property_of(Plain) == {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}


def test_a_typed_dict_requires_what_is_not_marked_otherwise():
    assert property_of(Filter) == {
        "type": "object",
        "properties": {"name": {"type": "string"}, "size": {"type": "integer"}},
        "required": ["name"],
    }


def test_a_named_tuple_is_an_array_of_titled_places():
    assert property_of(Pair) == {
        "type": "array",
        "prefixItems": [{"type": "integer", "title": "first"}, {"type": "string", "title": "second"}],
        "minItems": 1,
        "maxItems": 2,
    }


def test_a_struct_has_its_names_on_the_wire():
    assert property_of(Settings) == {
        "type": "object",
        "properties": {
            "maxSize": {"type": "integer"},
            "note": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
        },
        "required": ["maxSize"],
        "additionalProperties": False,
    }


def test_tagged_structs_show_their_tags():
    circle = property_of(Circle | Square)["anyOf"][0]

    assert circle == {
        "type": "object",
        "properties": {"type": {"type": "string", "enum": ["circle"]}, "radius": {"type": "number"}},
        "required": ["type", "radius"],
    }


def test_a_pydantic_model_is_an_object_in_place_without_titles():
    assert property_of(Model) == {
        "type": "object",
        "description": "A model.",
        "properties": {
            "title": {"type": "string", "description": "What it is called"},
            "inner": {"type": "object", "properties": {"n": {"type": "integer", "minimum": 1}}, "required": ["n"]},
        },
        "required": ["title", "inner"],
    }


def test_a_generic_dataclass_shows_its_argument():
    assert property_of(Box[int])["properties"] == {"item": {"type": "integer"}}


def test_a_class_that_contains_itself_goes_to_defs():
    """mcp.md S25."""
    schema = schema_of(Tree)

    assert schema["properties"]["x"] == {"$ref": "#/$defs/Tree"}
    assert schema["$defs"]["Tree"]["properties"]["children"] == {"type": "array", "items": {"$ref": "#/$defs/Tree"}}


def test_a_model_that_contains_itself_goes_to_defs():
    schema = schema_of(list[ModelTree])

    assert schema["properties"]["x"] == {"type": "array", "items": {"$ref": "#/$defs/ModelTree"}}
    assert schema["$defs"]["ModelTree"]["properties"]["children"]["items"] == {"$ref": "#/$defs/ModelTree"}


@pytest.mark.parametrize(
    "hint, schema",
    [
        (
            Annotated[int, "d", annotated_types.Ge(1), annotated_types.Lt(9)],
            {"type": "integer", "minimum": 1, "exclusiveMaximum": 9, "description": "d"},
        ),
        (
            Annotated[str, pydantic.Field(description="d", min_length=2, pattern="^a")],
            {"type": "string", "minLength": 2, "pattern": "^a", "description": "d"},
        ),
        (
            Annotated[list[int], msgspec.Meta(max_length=3, description="d", examples=[[1]])],
            {"type": "array", "items": {"type": "integer"}, "maxItems": 3, "description": "d", "examples": [[1]]},
        ),
        (
            Annotated[int | None, msgspec.Meta(ge=0)],
            {"anyOf": [{"type": "integer", "minimum": 0}, {"type": "null"}]},
        ),
        (Annotated[int, msgspec.Meta(extra_json_schema={"x-unit": "m"})], {"type": "integer", "x-unit": "m"}),
    ],
    ids=["annotated-types", "pydantic", "msgspec", "nullable", "extra"],
)
def test_the_notes_of_annotated_limit_and_describe(hint: Any, schema: dict[str, Any]):
    assert property_of(hint) == schema


def test_any_note_with_a_description_describes():
    class Doc:
        description = "From an object"

    assert property_of(Annotated[int, Doc()]) == {"type": "integer", "description": "From an object"}


def test_the_docstring_describes_the_tool_and_what_annotated_does_not():
    @tool
    def move(where: Point, count: Annotated[int, "Steps"], fast: bool = False) -> None:
        """Move the arm,
        slowly.

        It beeps.

        Args:
            where: the goal,
                in metres.
            count (int): not used, because Annotated says it.
            fast: hurry up.

        Returns:
            fast: nothing.
        """

    shown = move.input_schema["properties"]
    assert move.description == "Move the arm, slowly."
    assert shown["where"]["description"] == "the goal, in metres."
    assert shown["count"]["description"] == "Steps"
    assert shown["fast"] == {"type": "boolean", "description": "hurry up.", "default": False}


def test_the_context_is_injected_and_not_in_the_schema():
    class OwnContext(ToolContext):
        pass

    @tool
    def by_hint(a: int, context: ToolContext) -> None: ...

    @tool
    def by_subclass(a: int, c: OwnContext | None = None) -> None: ...

    @tool
    def by_name(ctx: Any, a: int) -> None: ...

    for made in (by_hint, by_subclass, by_name):
        assert made.input_schema == {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}


@pytest.mark.parametrize("hint", [Callable[[int], int], complex, type, Opaque, range], ids=repr)
def test_a_hint_that_json_cannot_carry_names_the_parameter(hint: Any):
    with pytest.raises(TypeError, match=r"parameter 'x': .* has no JSON Schema; use a type that JSON can carry"):
        schema_of(hint)


def test_a_limit_that_does_not_fit_the_type_names_the_parameter():
    with pytest.raises(TypeError, match=r"parameter 'x' has the hint .*numeric type"):
        schema_of(Annotated[str, annotated_types.Ge(1)])
