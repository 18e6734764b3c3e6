"""`$ref`s written in place for clients that cannot follow them, and nothing else changed (mcp.md S25)."""

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolwire.core.errors import InvalidParam
from toolwire.providers.schema import compile_validator
from toolwire.sdk import tool
from toolwire.sdk.authoring.inlining import inline_refs

POINT: dict[str, Any] = {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}
TREE: dict[str, Any] = {
    "type": "object",
    "properties": {"at": {"$ref": "#/$defs/Point"}, "below": {"type": "array", "items": {"$ref": "#/$defs/Tree"}}},
}


def test_what_a_reference_names_is_written_in_its_place_and_the_definitions_go():
    """mcp.md S25."""
    schema = {"type": "object", "properties": {"a": {"$ref": "#/$defs/Point"}}, "$defs": {"Point": POINT}}
    before = copy.deepcopy(schema)
    assert inline_refs(schema) == {"type": "object", "properties": {"a": POINT}}
    assert schema == before


def test_references_may_lead_to_others_through_anchors_and_older_names():
    schema = {
        "type": "object",
        "properties": {"a": {"$ref": "#/definitions/Pair"}, "b": {"$ref": "#point"}, "c": {"$ref": "#/properties/b"}},
        "definitions": {"Pair": {"type": "array", "items": {"$ref": "#point"}}, "P/t": {"$anchor": "point", **POINT}},
    }
    pair = {"type": "array", "items": POINT}
    assert inline_refs(schema) == {"type": "object", "properties": {"a": pair, "b": POINT, "c": POINT}}
    slashed = {"properties": {"a": {"$ref": "#/$defs/P~1t%20x"}}, "$defs": {"P/t x": POINT}}
    assert inline_refs(slashed) == {"properties": {"a": POINT}}


def test_what_contains_itself_stays_a_reference_and_its_definition_stays_with_it():
    """mcp.md S25: recursion kept."""
    schema = {
        "type": "object",
        "properties": {"tree": {"$ref": "#/$defs/Tree"}, "at": {"$ref": "#/$defs/Point"}},
        "$defs": {"Tree": TREE, "Point": POINT},
    }
    written = inline_refs(schema)
    assert written["properties"] == {"tree": {"$ref": "#/$defs/Tree"}, "at": POINT}
    assert written["$defs"] == {
        "Tree": {
            "type": "object",
            "properties": {"at": POINT, "below": {"type": "array", "items": {"$ref": "#/$defs/Tree"}}},
        }
    }
    whole: dict[str, Any] = {"type": "object", "properties": {"child": {"$ref": "#"}}}
    assert inline_refs(whole) == whole


def test_what_stands_beside_a_reference_still_holds():
    schema: dict[str, Any] = {
        "properties": {
            "a": {"$ref": "#/$defs/Point", "description": "where"},
            "b": {"$ref": "#/$defs/Point", "required": ["y"]},
            "c": {"$ref": "#/$defs/Never", "title": "never"},
        },
        "$defs": {"Point": {**POINT, "description": "a point"}, "Never": False},
    }
    assert inline_refs(schema)["properties"] == {
        "a": {**POINT, "description": "where"},
        "b": {"allOf": [{**POINT, "description": "a point"}], "required": ["y"]},
        "c": {"allOf": [False], "title": "never"},
    }


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"$ref": {"type": "string"}}, "enum": [{"$ref": "#/$defs/A"}], "default": {"$ref": "#"}},
        {"properties": {"a": {"$ref": "https://example.com/schema"}}},
        {"properties": {"a": {"$ref": "#/$defs/Missing"}}},
        {"properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"$id": "a", "$ref": "#/$defs/B"}}},
        {"properties": {"a": {"$dynamicRef": "#a"}}, "$defs": {"A": {"$dynamicAnchor": "a"}}},
    ],
)
def test_data_and_what_cannot_be_written_in_place_stay_as_they_are(schema: dict[str, Any]):
    assert inline_refs(schema) == schema


def test_definitions_that_double_each_other_do_not_grow_out_of_hand():
    definitions: dict[str, Any] = {
        f"D{n}": {"anyOf": [{"$ref": f"#/$defs/D{n + 1}"}, {"$ref": f"#/$defs/D{n + 1}"}]} for n in range(40)
    }
    schema = {"properties": {"a": {"$ref": "#/$defs/D0"}}, "$defs": {**definitions, "D40": {"type": "null"}}}
    assert inline_refs(schema) == schema


def made(keyword: str, inner: Any, more: Any) -> dict[str, Any]:
    """A schema that has others in it."""
    match keyword:
        case "properties":
            return {"type": "object", "properties": {"p": inner}, "required": ["p"]}
        case "items":
            return {"type": "array", "items": inner}
        case "anyOf":
            return {"anyOf": [inner, more]}
        case _:
            return {"$ref": f"#/$defs/{keyword}", "not": inner}


NAMES = st.sampled_from(["A", "B", "C", "D"])
KEYWORDS = st.sampled_from(["properties", "items", "anyOf"])
SIMPLE: Any = st.sampled_from([{"type": "integer"}, {"type": "string"}, {"type": "null"}, True, {"minimum": 2}])
SCHEMA: Any = st.recursive(
    SIMPLE | NAMES.map(lambda name: {"$ref": f"#/$defs/{name}"}),
    lambda inner: st.builds(made, KEYWORDS | NAMES, inner, inner),
    max_leaves=4,
)
DEFINITIONS: Any = st.fixed_dictionaries({"A": SCHEMA, "B": SCHEMA, "C": SCHEMA, "D": SCHEMA})
VALUE: Any = st.recursive(
    st.none() | st.integers(-3, 5) | st.sampled_from(["", "x"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.just("p"), inner, max_size=1),
    max_leaves=4,
)


@given(root=SCHEMA, definitions=DEFINITIONS, values=st.lists(VALUE))
def test_the_same_values_fit_before_and_after(root: Any, definitions: Any, values: list[Any]):
    schema = {"properties": {"p": root}, "$defs": definitions}
    written = inline_refs(schema)
    try:
        before = compile_validator(schema)
    except InvalidParam:  # a reference that leads to itself at once
        return
    after = compile_validator(written)
    for value in ({"p": value} for value in values):
        assert after.valid(value) == before.valid(value), (written, value)


def test_it_is_for_the_author_of_a_tool_to_ask_for():
    """mcp.md S25: untouched by default."""
    schema = {"type": "object", "properties": {"a": {"$ref": "#/$defs/Point"}}, "$defs": {"Point": POINT}}

    def body(arguments: dict[str, Any], ctx: Any) -> dict[str, Any]:
        return arguments

    plain = tool(body, name="plain", version="1", input_schema=schema, output_schema=schema)
    inlined = tool(body, name="inlined", version="1", input_schema=schema, output_schema=schema, inline_refs=True)

    assert plain.tool.input_schema == plain.tool.output_schema == schema
    written = {"type": "object", "properties": {"a": POINT}}
    assert inlined.tool.input_schema == inlined.tool.output_schema == written
