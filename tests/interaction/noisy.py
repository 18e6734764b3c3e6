"""A tool server on stdio whose tools do all that a stdio server must survive; run as a script."""

import os
import subprocess
import sys
import threading

import anyio

from toolwire.compose import open_tool_server
from toolwire.sdk import ToolContext, tool


@tool
def noise() -> str:
    """Write to standard output in every way there is."""
    print("printed")
    print("printed and flushed", flush=True)
    print("x" * 100_000)
    os.write(1, b"written\n")
    subprocess.run([sys.executable, "-c", "print('a child printed')"], check=True)
    return "quiet"


@tool
def greedy() -> str:
    """Let a child process read standard input to its end."""
    reads = "import sys; print(len(sys.stdin.read()), file=sys.stderr)"
    subprocess.run([sys.executable, "-c", reads], check=True)
    try:
        return input()
    except EOFError:
        return "nothing to read"


@tool
async def held_back() -> str:
    """Print something that nobody flushes."""
    sys.stdout.write("held back")
    return "ok"


@tool
async def slow(ctx: ToolContext) -> str:
    """Say that it has begun, then never end by itself; cleaning up is written to standard error."""
    await ctx.progress("begun", 1)
    try:
        await anyio.sleep_forever()
    finally:
        print("cleaned up", file=sys.stderr, flush=True)
    return ""


@tool
def stuck() -> str:
    """Block a thread for good."""
    print("stuck", file=sys.stderr, flush=True)
    threading.Event().wait()
    return ""


@tool
async def large(size: int) -> str:
    """Answer with so many characters."""
    return "x" * size


async def main() -> None:
    """Serve until standard input ends."""
    async with open_tool_server([noise, greedy, held_back, slow, stuck, large], "noisy") as server:
        await server.serve_stdio()


if __name__ == "__main__":
    anyio.run(main)
