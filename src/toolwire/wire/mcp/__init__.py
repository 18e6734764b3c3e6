"""The MCP codec: both wire revisions, sans-I/O. Above it only the surfaces know which revision a request spoke."""
