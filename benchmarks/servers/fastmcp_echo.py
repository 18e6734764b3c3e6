"""Echo server on FastMCP; MODE (stateless, session or sse) chooses its transport options."""
# FastMCP lives in its own environment, where no type checker of this project looks.
# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUntypedFunctionDecorator=false

import os

from fastmcp import FastMCP

mode = os.environ["MODE"]
server = FastMCP("bench")


@server.tool
async def echo(text: str) -> str:
    """Return the text."""
    return text


app = server.http_app(path="/mcp", stateless_http=mode == "stateless", json_response=mode != "sse")
