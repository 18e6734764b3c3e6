"""The tools under test on a socket of this machine, behind uvicorn as in production; it asserts nothing."""

import contextlib
import socket
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import uvicorn

from tests.interaction.bench import Gate, tools
from toolwire.compose import open_tool_server
from toolwire.server import Server

GRACE_S = 1


class Uvicorn(uvicorn.Server):
    """A uvicorn without signals that tells when it listens."""

    def __init__(self, app: Any) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                http="httptools",
                ws="websockets-sansio",
                lifespan="off",
                log_config=None,
                access_log=False,
                timeout_graceful_shutdown=GRACE_S,
            )
        )
        self.listening = anyio.Event()

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        """Leave them to the test runner."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, then say so."""
        await super().startup(sockets)
        self.listening.set()


class Site:
    """A server with its address; `stop` ends it as a signal would."""

    def __init__(self, url: str, gate: Gate, server: Uvicorn, ended: anyio.Event) -> None:
        self.url = url
        self.gate = gate
        self.ended = ended
        self._server = server

    def stop(self) -> None:
        """Begin the graceful end."""
        self._server.should_exit = True


@asynccontextmanager
async def open_site(offered: Server | None = None) -> AsyncGenerator[Site]:
    """The tools behind MCP, or a whole server, on a free port of 127.0.0.1, until the block ends."""
    gate, ended = Gate(), anyio.Event()
    opening = open_tool_server(tools(gate), "bench", "1.0") if offered is None else offered.open()
    # The protocol is named because event loops turn Nagle's algorithm off only where it is.
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as bound:
        bound.bind(("127.0.0.1", 0))
        bound.listen()
        bound.setblocking(False)
        async with opening as server, anyio.create_task_group() as tasks:
            uvicorns = Uvicorn(server.app)

            async def serve() -> None:
                try:
                    await uvicorns.serve([bound])
                finally:
                    ended.set()

            tasks.start_soon(serve)
            await uvicorns.listening.wait()
            site = Site(f"http://127.0.0.1:{bound.getsockname()[1]}/mcp", gate, uvicorns, ended)
            try:
                yield site
            finally:
                site.stop()
