"""Echo server on the official SDK; MODE (stateless, session or sse) chooses its transport options."""

import os

from mcp.server import MCPServer

mode = os.environ["MODE"]
server = MCPServer("bench", log_level="WARNING")


@server.tool()
async def echo(text: str) -> str:
    """Return the text."""
    return text


app = server.streamable_http_app(stateless_http=mode == "stateless", json_response=mode != "sse")
