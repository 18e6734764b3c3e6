"""Our own tool server over stdio."""

import anyio

from toolwire.compose import open_tool_server
from toolwire.sdk import ToolContext, tool


@tool
async def add(a: int, b: int, ctx: ToolContext) -> dict[str, int]:
    """Add two numbers."""
    ctx.progress("adding", 1, 2)
    return {"sum": a + b}


async def main() -> None:
    async with open_tool_server([add], "ours") as server:
        await server.serve_stdio()


if __name__ == "__main__":
    anyio.run(main)
