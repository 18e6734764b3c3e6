"""The tools under test on stdin and stdout, for clients that start a process; run as a script."""

import anyio

from tests.interaction.bench import Gate, tools
from toolwire.compose import open_tool_server


async def main() -> None:
    """Serve until standard input ends."""
    async with open_tool_server(tools(Gate()), "bench", "1.0") as server:
        await server.serve_stdio()


if __name__ == "__main__":
    anyio.run(main)
