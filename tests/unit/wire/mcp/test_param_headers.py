"""Which arguments stand in headers, read off a schema (mcp.md 1.2, parameter headers)."""

from typing import Any

import pytest

from toolwire.core.errors import HeaderMismatch
from toolwire.wire.mcp.param_headers import ParamHeader, check_param_headers, read_param_headers

REGION = {"type": "string", "x-mcp-header": "Region"}


def of(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def test_a_schema_without_annotations_has_none():
    assert read_param_headers({}) == ()
    assert read_param_headers(of(a={"type": "string"}, b=True)) == ()


def test_properties_lead_to_an_argument():
    schema = of(region=REGION, where=of(shard={"type": "integer", "x-mcp-header": "Shard-No"}))
    assert read_param_headers(schema) == (
        ParamHeader(b"mcp-param-region", ("region",), "string"),
        ParamHeader(b"mcp-param-shard-no", ("where", "shard"), "integer"),
    )


@pytest.mark.parametrize(
    "schema",
    [{"type": ["boolean", "null"]}, {"anyOf": [{"type": "boolean"}, {"type": "null"}]}, {"type": "boolean"}],
)
def test_an_argument_may_also_be_null(schema: dict[str, Any]):
    [found] = read_param_headers(of(dry={**schema, "x-mcp-header": "Dry"}))
    assert found.kind == "boolean"


def test_a_property_of_that_name_and_a_value_of_it_are_no_annotation():
    assert read_param_headers(of(**{"x-mcp-header": {"type": "string", "default": REGION, "enum": [REGION]}})) == ()


@pytest.mark.parametrize("name", ["", "a b", "a:b", "é", 7, None])
def test_a_name_that_no_header_can_have_is_refused(name: Any):
    with pytest.raises(ValueError, match="must be the end of a header's name"):
        read_param_headers(of(a={"type": "string", "x-mcp-header": name}))


@pytest.mark.parametrize("kind", ["number", "object", "array", "null", ["string", "integer"], None, {}])
def test_an_argument_of_another_type_is_refused(kind: Any):
    schema = {"x-mcp-header": "A"} if kind is None else {"type": kind, "x-mcp-header": "A"}
    with pytest.raises(ValueError, match="must stand at a string, an integer or a boolean"):
        read_param_headers(of(a=schema))


@pytest.mark.parametrize(
    "schema",
    [
        {**REGION},
        of(a={"type": "array", "items": REGION}),
        of(a={"type": "array", "prefixItems": [REGION]}),
        of(a={"anyOf": [REGION, {"type": "null"}]}),
        {"allOf": [of(a=REGION)]},
        {"if": of(a=REGION)},
        {"$defs": {"region": REGION}},
        {"additionalProperties": REGION},
        {"patternProperties": {"a": REGION}},
    ],
)
def test_an_annotation_elsewhere_is_refused(schema: dict[str, Any]):
    with pytest.raises(ValueError, match="that properties alone lead to"):
        read_param_headers(schema)


def test_a_header_is_one_arguments_whatever_its_case():
    with pytest.raises(ValueError, match="two arguments have"):
        read_param_headers(of(a=REGION, b={"type": "string", "x-mcp-header": "REGION"}))


def test_an_inner_argument_is_held_against_its_header():
    mirrored = read_param_headers(of(where=of(region=REGION)))
    check_param_headers(mirrored, {"where": {"region": "eu"}}, [(b"mcp-param-region", b"eu")])
    check_param_headers(mirrored, {"where": "eu"}, [])
    with pytest.raises(HeaderMismatch, match=r"params.arguments.where.region must be repeated"):
        check_param_headers(mirrored, {"where": {"region": "eu"}}, [])


@pytest.mark.parametrize("value", [{"a": 1}, ["eu"], float("inf"), float("nan")])
def test_a_value_that_no_header_can_say_is_a_mismatch(value: Any):
    mirrored = read_param_headers(of(region=REGION))
    with pytest.raises(HeaderMismatch, match="is not what params"):
        check_param_headers(mirrored, {"region": value}, [(b"mcp-param-region", b"7")])
