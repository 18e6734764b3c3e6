"""Real MCP servers for tests of remote tools: over HTTP in this process, over stdio in a child."""

import json
import math
import socket
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import uvicorn

from toolwire.core.call import Call, Caller
from toolwire.core.event import Event
from toolwire.providers.remote_server import HttpServer, Protocol, StdioServer
from toolwire.sdk.tool import DecoratedTool

HERE = Path(__file__).parent
CALLER = Caller("someone", "someone", "sdk")


def call_of(tool: str, deadline: float = math.inf, **arguments: Any) -> Call:
    return Call("call_1", CALLER, tool, arguments, deadline)


def ignore(_event: Event) -> None:
    """An emit for which nobody listens."""


class Counted:
    """An ASGI app in front of another, which counts the JSON-RPC methods that come in and can be given another."""

    def __init__(self, app: Any) -> None:
        self.app = app
        self.methods: list[str] = []
        self.headers: list[dict[str, str]] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        async def counted() -> Any:
            message = await receive()
            if message["type"] == "http.request" and message.get("body"):
                self.methods.append(json.loads(message["body"])["method"])
            return message

        if scope["type"] == "http":
            self.headers.append({key.decode(): value.decode() for key, value in scope["headers"]})
        await self.app(scope, counted if scope["type"] == "http" else receive, send)


@asynccontextmanager
async def serving(app: Any, lifespan: Any = "off", port: int = 0) -> AsyncGenerator[str]:
    """Serve an ASGI app on a free port of this machine and yield its URL without a path."""
    config = uvicorn.Config(
        app, log_level="critical", lifespan=lifespan, ws="none", interface="asgi3", timeout_graceful_shutdown=1
    )
    server = _Started(config)
    with socket.socket() as bound:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(("127.0.0.1", port))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(server.serve, [bound])
            with anyio.fail_after(10):
                await server.ready.wait()
            yield f"http://127.0.0.1:{bound.getsockname()[1]}"
            server.should_exit = True


class _Started(uvicorn.Server):
    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = anyio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready.set()

    def install_signal_handlers(self) -> None:
        """Signals belong to pytest."""


@asynccontextmanager
async def our_server(*tools: DecoratedTool, protocol: Protocol = "auto") -> AsyncGenerator[tuple[HttpServer, Counted]]:
    """Our own tool server over HTTP."""
    from toolwire.compose import open_tool_server  # noqa: PLC0415 -- brings the store

    async with open_tool_server(tools, "ours") as server:
        counted = Counted(server.app)
        async with serving(counted) as url:
            yield HttpServer(f"{url}/mcp", protocol=protocol), counted


@asynccontextmanager
async def official_server(protocol: Protocol = "auto", **app: Any) -> AsyncGenerator[tuple[HttpServer, Counted]]:
    """The official SDK's server over HTTP, with the tools of official.py."""
    from tests.unit.providers.official import make_server  # noqa: PLC0415 -- brings the official SDK

    counted = Counted(make_server().streamable_http_app(**app))
    async with serving(counted, "on") as url:
        yield HttpServer(f"{url}/mcp", protocol=protocol), counted


def child(script: str, *arguments: str, protocol: Protocol = "auto", **env: str) -> StdioServer:
    """A script of this folder as a server over stdio."""
    return StdioServer(
        (sys.executable, str(HERE / script), *arguments),
        tuple(env.items()),
        protocol=protocol,
        cwd=str(HERE.parents[2]),
    )
