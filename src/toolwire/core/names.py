"""The rule for names that a model sees; it does not know which names are taken."""

import re

TOOL_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""What every model's API takes (gateway.md D28)."""


def valid_tool_name(name: str) -> bool:
    """Whether `name` may be shown to a model as a tool's name."""
    return TOOL_NAME.fullmatch(name) is not None


MCP_NAME = re.compile(r"[A-Za-z0-9_./-]{1,64}")
"""What MCP allows as a tool's name, and the official suite asks for (mcp.md 2.2, tools-list)."""


def valid_mcp_name(name: str) -> bool:
    """Whether MCP allows `name` for a tool, whatever models take."""
    return MCP_NAME.fullmatch(name) is not None
