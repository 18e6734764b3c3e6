"""Compiled schemas: what they find, what they repair, and which schemas are refused (mcp.md §1.2, S27)."""

import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolwire.core.errors import InvalidParam
from toolwire.core.schema import Violation
from toolwire.providers.schema import MAX_FINDINGS, MAX_SCHEMA_BYTES, compile_validator, explain, pointer

POINT = {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}


def findings(schema: dict[str, Any], value: Any) -> list[tuple[str, str]]:
    return [(violation.path, violation.message) for violation in compile_validator(schema).check(value)]


def of_property(schema: dict[str, Any], value: Any) -> list[tuple[str, str]]:
    return findings({"type": "object", "properties": {"a": schema}}, {"a": value})


def test_a_value_that_fits_has_no_findings():
    assert findings(POINT, {"x": 1, "more": True}) == []


@pytest.mark.parametrize(
    "schema, value, message",
    [
        ({"type": "integer"}, "b", 'must be an integer, got "b"'),
        ({"type": ["string", "null"]}, 1, "must be a null or string, got 1"),
        ({"enum": ["x", 1]}, "y", 'must be one of "x", 1, got "y"'),
        ({"minimum": 2}, 1, "must be at least 2, got 1"),
        ({"maximum": 2}, 3, "must be at most 2, got 3"),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "b", 'must be an integer or null, got "b"'),
        ({"anyOf": [{"minimum": 2}, {"multipleOf": 7}]}, 1, "fits none of the alternatives, got 1"),
        ({"oneOf": [{"type": "integer"}, {"type": "number"}]}, 3, "3 is valid under more than one of the schemas"),
        ({"minLength": 2}, "b", '"b" is shorter than 2 characters'),
        (False, 1, "False schema does not allow 1"),
    ],
)
def test_a_finding_says_what_was_wanted_and_what_came(schema: Any, value: Any, message: str):
    ((path, found),) = of_property(schema, value)

    assert path == "/a"
    assert found.startswith(message)


def test_a_missing_and_an_unknown_argument_are_findings_at_their_own_path():
    schema = {**POINT, "additionalProperties": False}

    assert findings(schema, {"y": 1}) == [("/x", "is missing"), ("/y", "is not a known argument")]


def test_several_unknown_arguments_are_one_finding_of_the_whole():
    (finding,) = findings({**POINT, "additionalProperties": False}, {"x": 1, "y": 1, "z": 1})

    assert finding[0] == ""
    assert "'y', 'z' were unexpected" in finding[1]


def test_inside_a_union_the_member_of_the_values_type_is_looked_into():
    nullable = {"anyOf": [POINT, {"type": "null"}]}

    assert of_property(nullable, {"x": "b"}) == [("/a/x", 'must be an integer, got "b"')]
    assert of_property(nullable, 1) == [("/a", "must be an object or null, got 1")]


def test_a_finding_does_not_repeat_a_large_value():
    ((_, message),) = of_property({"type": "integer"}, "x" * 10_000)

    assert len(message) < 200


def test_findings_are_sorted_and_limited():
    schema = {"type": "object", "required": [f"a{index:02}" for index in range(50, 0, -1)]}

    found = findings(schema, {})

    assert [path for path, _ in found] == [f"/a{index:02}" for index in range(1, MAX_FINDINGS + 1)]


@pytest.mark.parametrize("value", ["\ud800", float("nan"), object(), 2**80, {1: 2}])
def test_what_is_no_json_is_a_finding_and_no_crash(value: Any):
    schema: dict[str, Any] = {"type": "object", "properties": {"a": {"type": "object", "required": ["b"]}}}

    assert findings(schema, {"a": value}) != []


def test_a_value_that_is_nested_too_deeply_is_a_finding_and_no_crash():
    deep: list[Any] = []
    for _ in range(5_000):
        deep = [deep]

    assert of_property({"type": "integer"}, deep) == [("", "cannot be checked: Recursion limit reached")]


@pytest.mark.parametrize(
    "schema, value, mended",
    [
        ({"type": "integer"}, "3", 3),
        ({"type": "array", "items": {"type": "integer"}}, '["1", 2]', [1, 2]),
        (POINT, ' {"x": 1}', {"x": 1}),
        ({"anyOf": [POINT, {"type": "null"}]}, {"x": "1"}, {"x": 1}),
        ({"anyOf": [POINT, {"type": "null"}]}, "null", None),
    ],
)
def test_a_refused_text_is_replaced_by_its_content(schema: Any, value: Any, mended: Any):
    validator = compile_validator({"type": "object", "properties": {"a": schema, "b": {}}})
    given_arguments = {"a": value, "b": "3"}

    assert validator.repaired(given_arguments) == {"a": mended, "b": "3"}
    assert given_arguments == {"a": value, "b": "3"}


@pytest.mark.parametrize("value", ["three", "3.5", '"3"', "{", "", "\ud800", 3.5, None, [3]], ids=repr)
def test_what_cannot_be_repaired_is_not(value: Any):
    validator = compile_validator({"type": "object", "properties": {"a": {"type": "integer"}}})

    assert validator.repaired({"a": value}) is None


def test_the_explanation_writes_paths_as_people_do():
    violations = [
        Violation(pointer(["filters", 0, "name"]), "is bad"),
        Violation(pointer(["a b", "x/y"]), "too"),
        Violation("", "all"),
    ]

    assert explain(violations) == 'filters[0].name: is bad; ["a b"]["x/y"]: too; all'


def test_a_pointer_escapes_its_separators():
    """RFC 6901."""
    assert pointer(["a/b", "~", 0]) == "/a~1b/~0/0"


def test_draft_2020_12_is_the_default_and_a_named_draft_is_followed():
    """MCP 2026-07-28, SEP-2106."""
    pair = {"prefixItems": [{"type": "integer"}], "items": [{"type": "string"}]}

    with pytest.raises(InvalidParam):
        compile_validator({"properties": {"a": pair}})
    assert findings({"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"type": "string"}]}, [1]) == [
        ("/0", "must be a string, got 1")
    ]


@pytest.mark.parametrize(
    "schema, problem",
    [
        ({"type": "objekt"}, "cannot be used"),
        ({"properties": {"a": {"pattern": "("}}}, "cannot be used"),
        ({"$ref": "#/$defs/nowhere"}, "cannot be used"),
        ({"$schema": "http://example.com/own"}, "cannot be used"),
        ({"$ref": "http://127.0.0.1:1/schema.json"}, "is another document; put it under"),
        ({"$ref": "file:///etc/hostname"}, "is another document; put it under"),
        ({"description": "x" * MAX_SCHEMA_BYTES}, "more than 65536; make it smaller"),
        ({"default": object()}, "is not JSON"),
    ],
)
def test_a_schema_that_cannot_be_used_is_refused(schema: dict[str, Any], problem: str):
    with pytest.raises(InvalidParam, match=problem) as caught:
        compile_validator(schema)
    assert caught.value.code == "invalid_param"


def test_a_schema_that_is_nested_too_deeply_is_refused():
    schema: dict[str, Any] = {}
    for _ in range(40):
        schema = {"properties": {"a": schema}}

    with pytest.raises(InvalidParam, match="nested more than 64 deep"):
        compile_validator(schema)


def test_a_remote_reference_is_never_fetched():
    """mcp.md §1.2: never dereference a network `$ref`."""
    asked: list[str] = []

    class Trap(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_error(404)

    with HTTPServer(("127.0.0.1", 0), Trap) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            with pytest.raises(InvalidParam):
                compile_validator({"$ref": f"http://127.0.0.1:{server.server_port}/schema.json"})
        finally:
            server.shutdown()
            thread.join()

    assert asked == []


def test_a_pattern_that_backtracks_for_ever_is_given_up():
    validator = compile_validator({"properties": {"a": {"type": "string", "pattern": r"^(a|a)*(?=b)$"}}})

    assert validator.check({"a": "a" * 40})


SCHEMAS = st.fixed_dictionaries(
    {"type": st.just("object")},
    optional={
        "required": st.lists(st.sampled_from("abc"), unique=True),
        "additionalProperties": st.booleans(),
        "properties": st.dictionaries(
            st.sampled_from("abc"),
            st.sampled_from(
                [
                    {"type": "integer", "minimum": 0},
                    {"type": "string", "maxLength": 2},
                    {"anyOf": [{"type": "null"}, {"type": "array", "items": {"type": "boolean"}}]},
                    {"enum": [1, "x", None]},
                    {"not": {"type": "string"}},
                ]
            ),
        ),
    },
)
LEAVES = st.none() | st.booleans() | st.integers(-5, 5) | st.sampled_from([0.5, 1.0]) | st.text(max_size=4)
VALUES = st.dictionaries(st.sampled_from("abcd"), LEAVES | st.lists(LEAVES, max_size=2), max_size=4)


@given(SCHEMAS, VALUES)
def test_it_agrees_with_the_reference_implementation(schema: dict[str, Any], value: dict[str, Any]):
    reference: Any = jsonschema.Draft202012Validator(schema)
    expected = reference.is_valid(value)

    assert (compile_validator(schema).check(value) == []) is expected
