"""Arguments that clients of 2026-07-28 repeat in `Mcp-Param-*` (mcp.md 1.2, parameter headers; 1.3 step 10)."""

from typing import Any

import pytest

from tests.interaction.cells import CELLS, Talk, talking
from tests.interaction.requirements import HTTP_2026, Cell, proves

LONG = "=?base64?SGVsbG8=?="


async def answered(talk: Talk, arguments: dict[str, Any], **headers: Any) -> tuple[int, Any]:
    """The status and the message of a call with these headers, as in `mcp_param_region="eu"`."""
    assert talk.peer is not None
    answer = await talk.peer.ask("tools/call", {"name": "route", "arguments": arguments}, **headers)
    return answer.status, await answer.json()


@proves("params.match", HTTP_2026)
@pytest.mark.parametrize(
    ("arguments", "headers"),
    [
        ({}, {}),
        ({"region": "eu"}, {"mcp_param_region": "eu"}),
        ({"region": "eu"}, {"Mcp_Param_REGION": " eu\t"}),
        ({"region": "Hello"}, {"mcp_param_region": LONG}),
        ({"region": "SGVsbG8="}, {"mcp_param_region": "SGVsbG8="}),
        ({"region": "=?base64?SGVsbG8="}, {"mcp_param_region": "=?base64?SGVsbG8="}),
        ({"shard": 7}, {"mcp_param_shard": "7"}),
        ({"shard": 7}, {"mcp_param_shard": "7.0"}),
        ({"shard": -70}, {"mcp_param_shard": "-7e1"}),
        ({"shard": 10**30}, {"mcp_param_shard": "1" + "0" * 30}),
        ({"dry": True}, {"mcp_param_dry_run": "true"}),
        ({"dry": False, "region": "a"}, {"mcp_param_dry_run": "false", "mcp_param_region": "a"}),
        ({"region": "eu"}, {"mcp_param_region": "eu", "mcp_param_other": "x"}),
    ],
)
async def test_a_header_that_says_what_the_argument_says_is_let_through(arguments: Any, headers: dict[str, Any]):
    async with talking(HTTP_2026) as talk:
        status, message = await answered(talk, arguments, **headers)
        assert status == 200
        assert message["result"].get("isError") is None


@proves("params.match", HTTP_2026)
@pytest.mark.parametrize(
    ("arguments", "headers"),
    [
        ({"region": "eu"}, {}),
        ({"region": "eu"}, {"mcp_param_region": "us"}),
        ({"region": "eu"}, {"mcp_param_region": "EU"}),
        ({"region": "eu"}, {"mcp_param_region": ["eu", "eu"]}),
        ({"region": "eu, eu"}, {"mcp_param_region": ["eu", "eu"]}),
        ({}, {"mcp_param_region": "eu"}),
        ({"region": None}, {"mcp_param_region": "null"}),
        ({"region": "Hello"}, {"mcp_param_region": "=?base64?SGVsbG8?="}),
        ({"region": "Hello"}, {"mcp_param_region": "=?base64?SGVs!!!bG8=?="}),
        ({"region": "Hello"}, {"mcp_param_region": "=?base64?SGVsbG9=?="}),
        ({"shard": 7}, {"mcp_param_shard": "8"}),
        ({"shard": 7}, {"mcp_param_shard": "seven"}),
        ({"shard": 7}, {"mcp_param_shard": "0x7"}),
        ({"shard": 7}, {"mcp_param_shard": "7e9999"}),
        ({"dry": True}, {"mcp_param_dry_run": "True"}),
        ({"dry": True}, {"mcp_param_dry_run": "1"}),
        ({"shard": True}, {"mcp_param_shard": "1"}),
        ({"region": ["eu"]}, {"mcp_param_region": "eu"}),
    ],
)
async def test_a_header_that_says_something_else_is_refused(arguments: Any, headers: dict[str, Any]):
    async with talking(HTTP_2026) as talk:
        status, message = await answered(talk, arguments, **headers)
        assert (status, message["error"]["code"]) == (400, -32020)
        assert "Mcp-Param-" in message["error"]["message"] or "base64" in message["error"]["message"]


@proves("params.match", HTTP_2026)
async def test_an_unknown_tool_and_arguments_that_are_none_are_told_as_ever():
    async with talking(HTTP_2026) as talk:
        assert talk.peer is not None
        wrong: list[dict[str, Any]] = [{"name": "nothing"}, {"name": "route", "arguments": []}]
        for params in wrong:
            answer = await talk.peer.ask("tools/call", params)
            assert (await answer.json())["error"]["code"] == -32602


@proves("params.none")
@pytest.mark.parametrize("cell", [cell for cell in CELLS if cell is not HTTP_2026])
async def test_where_the_wire_has_no_such_headers_nobody_asks_for_them(cell: Cell):
    async with talking(cell) as talk:
        result = await talk.result("tools/call", {"name": "route", "arguments": {"region": "eu"}})
        assert result["content"][0]["text"] == "eu 0 False"
