"""Echo server on the official SDK, on stdin and stdout."""

from mcp.server import MCPServer

server = MCPServer("bench", log_level="WARNING")


@server.tool()
async def echo(text: str) -> str:
    """Return the text."""
    return text


server.run("stdio")
