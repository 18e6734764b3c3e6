"""A proxy of ours in front of a server, which it talks to in the revision that a test wants; it asserts nothing."""

import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio

from tests.interaction.uvicorns import Uvicorn
from toolwire.cli.proxy import NO_PROXY, ProxyFlags, proxied
from toolwire.providers.remote_server import HttpServer, Protocol
from toolwire.providers.remote_server import Server as Place
from toolwire.server import Server


@asynccontextmanager
async def site_of(app: Any) -> AsyncGenerator[str]:
    """`app` on a port of this machine; the URL of its endpoint."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as bound:
        bound.bind(("127.0.0.1", 0))
        bound.listen()
        bound.setblocking(False)
        server = Uvicorn(app)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(server.serve, [bound])
            await server.listening.wait()
            try:
                yield f"http://127.0.0.1:{bound.getsockname()[1]}/mcp"
            finally:
                server.should_exit = True


@asynccontextmanager
async def proxy_of(place: Place, flags: ProxyFlags = NO_PROXY) -> AsyncGenerator[str]:
    """A proxy of the server at `place`, over HTTP; its URL."""
    async with proxied(place, flags) as served, site_of(served.app) as url:
        yield url


@asynccontextmanager
async def behind(server: Server, protocol: Protocol, flags: ProxyFlags = NO_PROXY) -> AsyncGenerator[tuple[str, str]]:
    """`server` behind a proxy that talks to it in one revision; the proxy's URL, and the server's own."""
    async with (
        server.open() as served,
        site_of(served.app) as own,
        proxy_of(HttpServer(own, protocol=protocol), flags) as url,
    ):
        yield url, own
