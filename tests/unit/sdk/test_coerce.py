"""JSON arguments as the values that the hints promise, and the words for those that do not fit (sdk.md §4.1)."""

import datetime
import enum
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, NotRequired, Optional, TypedDict

import annotated_types
import msgspec
import pydantic
import pytest

from tests.unit.sdk.calls import called, text_of
from toolwire.core.result import Failure
from toolwire.sdk import DecoratedTool, tool


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


@dataclass
class Point:
    x: int
    y: int = 2
    tags: list[str] = field(default_factory=list[str])


@dataclass
class Range:
    low: int
    high: int

    def __post_init__(self) -> None:
        if self.low > self.high:
            raise ValueError("low must not be above high")


class Filter(TypedDict):
    name: str
    size: NotRequired[int]


class Pair(NamedTuple):
    first: int
    second: str = "x"


class Settings(msgspec.Struct, rename="camel"):
    max_size: int


class Model(pydantic.BaseModel):
    n: int = pydantic.Field(ge=1)


def taking(hint: Any, *default: Any, **options: Any) -> tuple[DecoratedTool, list[Any]]:
    """A tool with one parameter `x`, and the list of what its body got."""
    got: list[Any] = []

    async def f(x: Any) -> str:
        got.append(x)
        return "ok"

    f.__annotations__["x"] = hint
    f.__defaults__ = default
    return tool(f, **options), got


@pytest.mark.parametrize(
    "hint, given, value",
    [
        (str, "a", "a"),
        (int, 3, 3),
        (float, 3, 3.0),
        (bool, True, True),
        (None, None, None),
        (Any, {"a": [1]}, {"a": [1]}),
        (bytes, "aGk=", b"hi"),
        (datetime.datetime, "2026-07-28T12:00:00Z", datetime.datetime(2026, 7, 28, 12, tzinfo=datetime.UTC)),
        (datetime.date, "2026-07-28", datetime.date(2026, 7, 28)),
        (datetime.timedelta, "PT90S", datetime.timedelta(seconds=90)),
        (uuid.UUID, "00000000-0000-0000-0000-000000000001", uuid.UUID(int=1)),
        (Decimal, "1.50", Decimal("1.50")),
        (Path, "a/b", Path("a/b")),
        (Path | None, None, None),
        (Color, "red", Color.RED),
        (Literal["a", "b"], "b", "b"),
        (Literal[True, "x"], True, True),
        (Literal[Color.RED], "red", Color.RED),
        (list[int], [1, 2], [1, 2]),
        (Sequence[Path], ["a"], [Path("a")]),
        (set[int], [1, 2, 2], {1, 2}),
        (frozenset[str], ["a"], frozenset({"a"})),
        (tuple[int, str], [1, "a"], (1, "a")),
        (tuple[int, ...], [1, 2], (1, 2)),
        (dict[str, int], {"a": 1}, {"a": 1}),
        (Mapping[str, Point], {"a": {"x": 1}}, {"a": Point(1)}),
        (Point, {"x": 1, "tags": ["t"]}, Point(1, 2, ["t"])),
        (Filter, {"name": "a"}, {"name": "a"}),
        (Pair, [1], Pair(1)),
        (Settings, {"maxSize": 1}, Settings(1)),
        (Model, {"n": 1}, Model(n=1)),
        (list[Model], [{"n": 2}], [Model(n=2)]),
        (Optional[int], None, None),  # noqa: UP045 -- the older spelling works, too
        (int | str | None, "a", "a"),
        (Point | Range, {"low": 1, "high": 2}, Range(1, 2)),
        (Point | Model | None, {"n": 2}, Model(n=2)),
        (str | datetime.date, "2026-07-28", "2026-07-28"),
        (list[Path | int], ["a", 1], [Path("a"), 1]),
        (Annotated[int | None, annotated_types.Ge(1)], 1, 1),
    ],
    ids=lambda value: repr(value)[:40],
)
async def test_a_value_arrives_as_its_hint_says(hint: Any, given: Any, value: Any):
    made, got = taking(hint)

    assert text_of(await called(made, x=given)) == "ok"
    assert got == [value]
    assert type(got[0]) is type(value)


@pytest.mark.parametrize(
    "hint, given, words",
    [
        (int, "three", 'x: must be an integer, got "three"'),
        (int, True, "x: must be an integer, got true"),
        (int, 1.5, "x: must be an integer, got 1.5"),
        (str, None, "x: must be a string, got null"),
        (Color, "green", 'x: must be one of "red", "blue", got "green"'),
        (list[int], [1, "b"], 'x[1]: must be an integer, got "b"'),
        (Point, {"y": 1}, "x.x: is missing"),
        (int | None, "a", 'x: must be an integer or null, got "a"'),
        (datetime.date, "tomorrow", "x: invalid RFC3339 encoded date"),
        (bytes, "%%%", "x: invalid base64 encoded string"),
        (Range, {"low": 2, "high": 1}, "x: low must not be above high"),
        (Annotated[int, annotated_types.Ge(1)], 0, "x: must be at least 1, got 0"),
        (Annotated[str, msgspec.Meta(max_length=2)], "abc", 'x: "abc" is longer than 2 characters'),
        (Literal[True], False, "x: must be one of true, got false"),
    ],
    ids=lambda value: repr(value)[:40],
)
async def test_a_value_that_does_not_fit_is_told_in_the_schemas_terms(hint: Any, given: Any, words: str):
    made, got = taking(hint)

    result = await called(made, x=given)

    assert text_of(result) == f"invalid arguments: {words}"
    assert result.error is not None
    assert result.error.code == "invalid_param"
    assert got == []


async def test_missing_arguments_are_named_all_at_once():
    @tool
    async def f(a: int, b: str, c: bool = False) -> None: ...

    result = await called(f, a="x", c=False)

    assert result.error == Failure(
        code="invalid_param",
        message='invalid arguments: a: must be an integer, got "x"; b: is missing',
        data={
            "param": "arguments/a",
            "violations": [
                {"path": "/a", "message": 'must be an integer, got "x"'},
                {"path": "/b", "message": "is missing"},
            ],
        },
    )


@pytest.mark.parametrize(
    "hint, given, value",
    [
        (int, "3", 3),
        (bool, "true", True),
        (list[int], "[1, 2]", [1, 2]),
        (Point, '{"x": 1}', Point(1)),
        (dict[str, int], {"a": "1"}, {"a": 1}),
        (Point, '{"x": "1"}', Point(1)),
        (int | None, "null", None),
    ],
    ids=lambda value: repr(value)[:40],
)
async def test_a_text_is_decoded_when_the_schema_refuses_it_and_takes_its_content(hint: Any, given: Any, value: Any):
    """mcp.md S27."""
    made, got = taking(hint)

    assert text_of(await called(made, x=given)) == "ok"
    assert got == [value]


@pytest.mark.parametrize("given", ['{"a": 1}', "3", "null", "[]"])
async def test_a_text_that_looks_like_json_stays_a_text_where_a_text_is_wanted(given: str):
    """mcp.md S27."""
    for hint in (str, str | None, Any):
        made, got = taking(hint)
        await called(made, x=given)
        assert got == [given]


async def test_strict_decodes_no_text():
    made, got = taking(int, strict=True)

    assert text_of(await called(made, x="3")) == 'invalid arguments: x: must be an integer, got "3"'
    assert got == []


async def test_a_whole_float_is_an_integer():
    made, got = taking(list[int])

    await called(made, x=[1.0, 2])

    assert got == [[1, 2]]
    assert [type(item) for item in got[0]] == [int, int]


async def test_arguments_that_the_tool_does_not_have_are_ignored_as_its_schema_says():
    made, got = taking(int)

    assert text_of(await called(made, x=1, y=2)) == "ok"
    assert got == [1]


async def test_a_default_is_used_as_the_function_has_it():
    shared: list[int] = [1]
    made, got = taking(list[int], shared)

    await called(made)

    assert got[0] is shared


async def test_nothing_of_the_arguments_is_shared_with_the_body():
    """sdk.md 18."""
    made, got = taking(dict[str, Any])
    given: dict[str, Any] = {"a": {"b": [1]}}

    await called(made, x=given)
    got[0]["a"]["b"].append(2)

    assert given == {"a": {"b": [1]}}
