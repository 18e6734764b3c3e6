"""What needs a client that can do more than it says (mcp.md 1.2, missing client capability)."""

from typing import Any

import pytest

from tests.interaction.bench import NEW
from tests.interaction.cells import EVERY_CELL, Talk, talking
from tests.interaction.requirements import HTTP_2025, HTTP_2026, Cell, proves
from toolwire.wire.mcp.envelope import CAPABILITIES_KEY

ABLE: dict[str, Any] = {"sampling": {"tools": {}}, "elicitation": {"url": {}}, "roots": {"listChanged": True}}
on_every_cell = pytest.mark.parametrize("cell", EVERY_CELL)


def said(talk: Talk, params: dict[str, Any], can: dict[str, Any]) -> dict[str, Any]:
    """Parameters of a client that can do so much; on the older wire it has said so before."""
    return {**params, "_meta": {CAPABILITIES_KEY: can}} if talk.era == NEW else params


@proves("capabilities.missing")
@on_every_cell
@pytest.mark.parametrize(
    ("can", "required"),
    [
        ({}, {"sampling": {}, "elicitation": {"url": {}}}),
        ({"sampling": {}, "elicitation": {"form": {}}, "roots": {}}, {"elicitation": {"url": {}}}),
        ({"elicitation": {"url": {}}}, {"sampling": {}}),
    ],
)
async def test_a_client_is_told_which_capabilities_a_tool_needs(cell: Cell, can: Any, required: Any):
    async with talking(cell, can=can) as talk:
        error = await talk.error("tools/call", said(talk, {"name": "ask_back"}, can))
        assert (error["code"], error["data"]["code"]) == (-32021, "missing_client_capability")
        assert error["data"]["requiredCapabilities"] == required


@proves("capabilities.missing")
@on_every_cell
async def test_a_client_that_can_is_answered(cell: Cell):
    async with talking(cell, can=ABLE) as talk:
        result = await talk.result("tools/call", said(talk, {"name": "ask_back"}, ABLE))
        assert result["content"][0]["text"] == "can be asked"
        prompt = await talk.result("prompts/get", said(talk, {"name": "needy"}, ABLE))
        assert prompt["messages"][0]["content"]["text"] == "sampling: True"


@proves("capabilities.missing")
@on_every_cell
async def test_a_prompt_may_need_something_too(cell: Cell):
    async with talking(cell, can={"sampling": {}}) as talk:
        error = await talk.error("prompts/get", said(talk, {"name": "needy"}, {"sampling": {}}))
        assert (error["code"], error["data"]["requiredCapabilities"]) == (-32021, {"roots": {}})


@proves("capabilities.missing", HTTP_2025, HTTP_2026)
@pytest.mark.parametrize("cell", [HTTP_2025, HTTP_2026])
async def test_it_is_a_400(cell: Cell):
    async with talking(cell) as talk:
        assert talk.peer is not None
        answer = await talk.peer.ask("tools/call", {"name": "ask_back"})
        assert answer.status == 400


@proves("capabilities.missing", HTTP_2026)
async def test_nothing_is_concluded_from_an_earlier_request():
    async with talking(HTTP_2026) as talk:
        assert "content" in await talk.result("tools/call", said(talk, {"name": "ask_back"}, ABLE))
        assert (await talk.error("tools/call", {"name": "ask_back"}))["code"] == -32021
