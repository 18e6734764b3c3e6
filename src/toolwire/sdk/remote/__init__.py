"""The tools of remote MCP servers as an agent's own; the protocol itself is spoken in `providers/`."""
