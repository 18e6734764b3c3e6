"""Output schemas from return hints, and when there are none (sdk.md §4.1)."""

from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple, TypedDict

import pydantic
import pytest

from toolwire.sdk import ToolResult, tool


@dataclass
class Point:
    """Where it is."""

    x: int
    y: int = 2


class Named(TypedDict):
    name: str


class Model(pydantic.BaseModel):
    n: int = 1


class Pair(NamedTuple):
    first: int
    second: str


POINT = {
    "type": "object",
    "properties": {"x": {"type": "integer"}, "y": {"type": "integer", "default": 2}},
    "required": ["x"],
    "description": "Where it is.",
}


def test_a_record_as_the_return_hint_is_the_output_schema():
    @tool
    def where() -> Point:
        return Point(1)

    assert where.tool.output_schema == POINT


@pytest.mark.parametrize("hint", [str, int, dict, dict[str, int], list[Point], None, Any, Pair, Point | None], ids=repr)
def test_other_return_hints_give_no_output_schema_by_themselves(hint: Any):
    def f() -> Any: ...

    f.__annotations__["return"] = hint
    assert tool(f).tool.output_schema is None


def test_structured_puts_what_is_no_object_into_one():
    @tool(structured=True)
    def primes() -> list[int]:
        return [2, 3]

    assert primes.tool.output_schema == {
        "type": "object",
        "properties": {"result": {"type": "array", "items": {"type": "integer"}}},
        "required": ["result"],
    }


def test_structured_false_gives_no_output_schema():
    @tool(structured=False)
    def where() -> Point:
        return Point(1)

    assert where.tool.output_schema is None


def test_structured_without_a_return_hint_is_a_type_error():
    with pytest.raises(TypeError, match="structured=True: there is no return hint"):
        tool(lambda: None, name="f", structured=True)


def test_a_typed_dict_and_a_model_are_records_too_also_inside_annotated():
    @tool
    def named() -> Annotated[Named, "Who it is"]: ...

    @tool
    def model() -> Model: ...

    assert named.tool.output_schema == {
        "type": "object",
        "properties": {"name": {"type": "string"}},
        "required": ["name"],
        "description": "Who it is",
    }
    assert model.tool.output_schema == {
        "type": "object",
        "properties": {"n": {"type": "integer", "default": 1}},
    }


def test_a_tool_result_is_no_record():
    @tool
    def f() -> ToolResult: ...

    assert f.tool.output_schema is None


def test_a_record_that_holds_what_json_cannot_carry_gives_no_output_schema_by_itself():
    @dataclass
    class Odd:
        number: complex

    def f() -> Odd: ...

    assert tool(f).tool.output_schema is None
    with pytest.raises(TypeError, match="structured=True: complex has no JSON Schema; give output_schema="):
        tool(f, structured=True)


def test_a_written_output_schema_wins():
    @tool(output_schema={"type": "object", "required": ["x"]})
    def where() -> Point: ...

    assert where.tool.output_schema == {"type": "object", "required": ["x"]}
