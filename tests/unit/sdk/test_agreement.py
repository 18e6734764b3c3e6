"""The schema a model reads and the conversion of its arguments say the same, for every kind of hint."""

import enum
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, NamedTuple, NotRequired, TypedDict, TypeVar

import attrs
import jsonschema
import msgspec
import pydantic
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolwire.sdk import DecoratedTool, tool

T = TypeVar("T")


class Color(enum.Enum):
    RED = "a"
    BLUE = "b"


@dataclass
class Point:
    a: int
    b: int | None = None
    c: list[str] = field(default_factory=list[str])


@dataclass
class Box(Generic[T]):
    a: T


class Filter(TypedDict):
    a: str
    b: NotRequired[int]


class Pair(NamedTuple):
    first: int
    second: str = "x"


class Settings(msgspec.Struct, forbid_unknown_fields=True):
    a: int | msgspec.UnsetType = msgspec.UNSET
    b: str | None = None


class Row(msgspec.Struct, array_like=True):
    a: int
    b: str


class Cat(msgspec.Struct, tag="a"):
    b: int


class Dog(msgspec.Struct, tag="b"):
    b: int


class Model(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(strict=True)
    a: int
    b: str | None = None


@attrs.define
class Classic:
    a: int
    b: str = "x"
    _c: list[int] = attrs.field(factory=list[int])


@dataclass
class Tree:
    a: list["Tree"]


HINTS: list[Any] = [
    int,
    float,
    str,
    bool,
    None,
    Any,
    int | None,
    int | str,
    list,
    list[int],
    list[int | None],
    tuple[int, str],
    tuple[int, ...],
    dict,
    dict[str, int],
    dict[str, list[bool]],
    Literal["a", "b"],
    Literal[1, "a", None],
    Literal[True],
    Color,
    Point,
    Point | None,
    Box[int],
    Box[Box[str]],
    Filter,
    Pair,
    Settings,
    Row,
    Cat | Dog,
    Model,
    list[Model],
    Classic,
    Tree,
    Point | Filter,
    Point | list[Point],
    Model | int,
]
LEAVES = (
    st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from([0.5, 1.0]) | st.sampled_from(["a", "b", "x", "1"])
)
KEYS = st.sampled_from(["a", "b", "c", "_c", "type"])
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=8
)


def taking(hint: Any) -> DecoratedTool:
    def f(x: Any) -> None: ...

    f.__annotations__["x"] = hint
    return tool(f, strict=True)


TOOLS = {repr(hint): taking(hint) for hint in HINTS}


@pytest.mark.parametrize("hint", TOOLS)
@settings(max_examples=40)
@given(value=VALUES)
def test_a_value_is_taken_exactly_when_the_schema_allows_it(hint: str, value: Any):
    made = TOOLS[hint]
    reference: Any = jsonschema.Draft202012Validator(made.input_schema)

    assert made.invoke({"x": value}).success is reference.is_valid({"x": value})
