"""Arguments as models write them, and results of tools that fail, on every cell (mcp.md S21, S22, S23, S27)."""

import json
from typing import Any

import pytest

from tests.interaction.bench import Gate
from tests.interaction.cells import CELLS, talking
from tests.interaction.requirements import Cell, proves
from toolwire.sdk import ToolContext, ToolError
from toolwire.sdk.result import ToolResult
from toolwire.server import Server

FILTER = {"type": "object", "properties": {"size": {"type": "integer"}}, "required": ["size"]}
RAW: dict[str, Any] = {"type": "object", "properties": {"text": {"type": "string"}, "filter": FILTER}}
FITS: dict[str, Any] = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


def offer(gate: Gate) -> Server:
    server = Server("bench", "1.0")

    @server.tool
    async def typed(text: str = "", number: int = 0, names: list[str] | None = None) -> str:
        """Say what came."""
        return json.dumps([text, number, names])

    @server.tool(strict=True)
    async def exact(text: str = "", number: int = 0) -> str:
        """Say what came, to the letter."""
        return json.dumps([text, number])

    @server.tool(name="raw", version="1", input_schema=RAW)
    async def raw(arguments: dict[str, Any], ctx: ToolContext) -> str:
        """Say what came."""
        return json.dumps(arguments)

    @server.tool(output_schema=FITS)
    async def raises() -> dict[str, Any]:
        """Fail with words."""
        raise ToolError("the river has run dry")

    @server.tool(output_schema=FITS)
    async def returns_failed() -> ToolResult:
        """Fail with a result."""
        return ToolResult(success=False, summary="the river has run dry")

    @server.tool(output_schema=FITS)
    async def unfit() -> dict[str, Any]:
        """Say that it worked with what the schema does not know."""
        return {"m": 1}

    return server


@proves("tools.repaired")
@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize(
    ("name", "sent", "came"),
    [
        ("typed", {"text": '{"a": 1}'}, ['{"a": 1}', 0, None]),
        ("typed", {"text": "[1]", "number": "3"}, ["[1]", 3, None]),
        ("typed", {"text": "12", "names": '["x"]'}, ["12", 0, ["x"]]),
        ("exact", {"text": '{"a": 1}', "number": 3}, ['{"a": 1}', 3]),
        ("raw", {"text": "7", "filter": '{"size": 2}'}, {"text": "7", "filter": {"size": 2}}),
        ("raw", {"filter": {"size": "2"}}, {"filter": {"size": 2}}),
    ],
)
async def test_a_text_is_decoded_only_where_the_schema_wants_what_it_holds(
    cell: Cell, name: str, sent: dict[str, Any], came: Any
):
    """mcp.md S27."""
    async with talking(cell, offer) as talk:
        result = await talk.result("tools/call", {"name": name, "arguments": sent})
        assert not result.get("isError")
        assert json.loads(result["content"][0]["text"]) == came


@proves("tools.repaired")
@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize(
    ("name", "sent"),
    [
        ("exact", {"number": "3"}),
        ("typed", {"number": "three"}),
        ("typed", {"number": '{"a": 1}'}),
        ("typed", {"text": 7}),
        ("raw", {"filter": '{"size": "big"}'}),
        ("raw", {"filter": "{size: 2}"}),
    ],
)
async def test_what_does_not_fit_either_way_is_told_to_the_model_in_words(cell: Cell, name: str, sent: dict[str, Any]):
    """mcp.md S27, S21: a strict tool is never guessed for, and bad arguments of a known tool are a result."""
    async with talking(cell, offer) as talk:
        result = await talk.result("tools/call", {"name": name, "arguments": sent})
        assert result["isError"] is True
        assert next(iter(sent)) in result["content"][0]["text"]


@proves("tools.failed")
@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("name", ["raises", "returns_failed"])
async def test_the_check_of_structured_content_does_not_hide_a_tools_own_error(cell: Cell, name: str):
    """mcp.md S23."""
    async with talking(cell, offer) as talk:
        result = await talk.result("tools/call", {"name": name})
        assert (result["isError"], result["content"][0]["text"]) == (True, "the river has run dry")
        assert "structuredContent" not in result


@proves("tools.failed")
@pytest.mark.parametrize("cell", CELLS)
async def test_a_result_that_claims_to_have_worked_is_held_to_its_schema(cell: Cell):
    """mcp.md S23, the other way round."""
    async with talking(cell, offer) as talk:
        result = await talk.result("tools/call", {"name": "unfit"})
        assert result["isError"] is True
        assert "structuredContent" not in result


@proves("tools.unknown")
@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("name", ["nothing", "", "TYPED", "tools/call"])
async def test_a_name_that_is_no_tool_is_bad_params_and_no_missing_method(cell: Cell, name: str):
    """mcp.md S21, S22: neither a result with isError nor -32601."""
    async with talking(cell, offer) as talk:
        error = await talk.error("tools/call", {"name": name, "arguments": {}})
        assert error["code"] == -32602
        assert (await talk.error("tools/calls", {"name": "typed"}))["code"] == -32601
