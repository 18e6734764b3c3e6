"""A strict tool stays strict on its way from its author over the gateway to the caller (mcp.md S27)."""

import msgspec

from toolwire.agent.tools import checked_tools
from toolwire.gateway.registration import tools_of
from toolwire.sdk import tool as make_tool
from toolwire.wire.link import Skill


@make_tool(strict=True)
def exact(number: int) -> str:
    """Take a number."""
    return str(number)


@make_tool
def lenient(number: int) -> str:
    """Take a number."""
    return str(number)


def test_an_agents_strict_tool_is_strict_at_the_gateway():
    sent = msgspec.json.encode(checked_tools((exact, lenient)).skills)
    read = msgspec.json.decode(sent, type=list[Skill])
    made = tools_of("agent_1", "1", read)
    assert [(tool.name, tool.strict) for tool in made] == [("exact", True), ("lenient", False)]
