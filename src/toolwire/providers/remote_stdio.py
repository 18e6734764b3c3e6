"""An MCP server as a child process, and the last words of its stderr; its messages, `remote_pipes` reads."""

import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
from mcp import StdioServerParameters, stdio_client
from mcp.client.stdio import get_default_environment

from toolwire.providers.remote_http import MAX_BODY_BYTES
from toolwire.providers.remote_server import StdioServer

MAX_TAIL_BYTES = 8192
TAIL_GRACE_S = 0.5
"""How long the end of stderr is waited for once the child is gone; a grandchild may hold it open."""
MIN_SECRET_LEN = 6


class Tail:
    """The last bytes that a child has written to its stderr; `too_long` says that a line on its stdout was."""

    def __init__(self) -> None:
        self._kept = bytearray()
        self.too_long = False
        self.ended = anyio.Event()

    async def follow(self, descriptor: int) -> None:
        """Read until the pipe's other end is closed everywhere."""
        try:
            while True:
                await anyio.wait_readable(descriptor)
                try:
                    data = os.read(descriptor, 65536)
                except BlockingIOError:
                    continue
                if not data:
                    return
                self._kept += data
                del self._kept[:-MAX_TAIL_BYTES]
        finally:
            self.ended.set()

    def stop_reading(self) -> None:
        """Note that a line on stdout was too long."""
        self.too_long = True

    def text(self, secrets: tuple[str, ...] = ()) -> str:
        """What is kept, on lines of its own, with `secrets` made unreadable."""
        text = self._kept.decode(errors="replace").strip()
        for secret in secrets:
            if len(secret) >= MIN_SECRET_LEN:
                text = text.replace(secret, "***")
        return text


@asynccontextmanager
async def child_process(server: StdioServer, tail: Tail) -> AsyncGenerator[Any]:
    """The streams of a new child, which is ended with the block, and all that it started with it.

    Raises:
        OSError: the program cannot be started.
    """
    if sys.platform == "win32":  # a pipe cannot be waited for there
        async with stdio_client(_parameters(server)) as streams:
            yield streams
        return
    from toolwire.providers.remote_pipes import piped  # noqa: PLC0415 -- it exists on POSIX alone

    env = get_default_environment() | dict(server.env)
    reading, writing = os.pipe()
    try:
        os.set_blocking(reading, False)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(tail.follow, reading)
            try:
                with os.fdopen(writing, "w") as errlog:
                    async with piped(server, env, errlog, MAX_BODY_BYTES, tail.stop_reading) as streams:
                        errlog.close()  # the child has its own; the pipe ends with the last copy
                        yield streams
            finally:
                with anyio.move_on_after(TAIL_GRACE_S, shield=True):
                    await tail.ended.wait()
                tasks.cancel_scope.cancel()
    finally:
        os.close(reading)


def _parameters(server: StdioServer) -> StdioServerParameters:
    return StdioServerParameters(
        command=server.argv[0],
        args=list(server.argv[1:]),
        env=dict(server.env),
        cwd=server.cwd,
        encoding_error_handler="replace",
    )
