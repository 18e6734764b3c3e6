"""What the interaction tests share: a handful of tools, and how a client of each revision asks; it asserts nothing.

The tools are written as an author writes them. A `Gate` lets a test hold calls in the middle without any time passing.
"""

import json
import threading
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio

from tests.interaction.transport import PATIENCE_S, Answer, Client, connect
from toolwire.compose import ToolServer, open_tool_server
from toolwire.core.result import Link, Result
from toolwire.sdk import ToolContext, ToolError, tool
from toolwire.sdk.tool import DecoratedTool
from toolwire.surfaces.mcp_http import HttpSettings

OLD, NEW = "2025-11-25", "2026-07-28"
ERAS = (OLD, NEW)
BOTH = "application/json, text/event-stream"
JSON_ONLY = "application/json"
SSE_ONLY = "text/event-stream"
SECRET = "the-database-password"
BLOCKED_TOGETHER = 3
"""How many calls of `block` must be under way for any of them to end."""


class Gate:
    """Holds calls until the test lets them on, and counts what becomes of them."""

    def __init__(self) -> None:
        self.entered = 0
        self.finished = 0
        self.cancelled = 0
        self.release = anyio.Event()
        self._changed = anyio.Event()

    async def hold(self) -> None:
        """Be held; being cancelled here is counted."""
        self._count("entered")
        try:
            await self.release.wait()
        except anyio.get_cancelled_exc_class():
            self._count("cancelled")
            raise
        self._count("finished")

    async def until(self, **counts: int) -> None:
        """Wait until so many calls have entered, finished or been cancelled."""
        with anyio.fail_after(PATIENCE_S):
            while any(getattr(self, name) < count for name, count in counts.items()):
                await self._changed.wait()

    def _count(self, name: str) -> None:
        setattr(self, name, getattr(self, name) + 1)
        self._changed.set()
        self._changed = anyio.Event()


@tool
async def echo(text: str) -> str:
    """Say it again."""
    return text


@tool
async def add(a: int, b: int = 1) -> dict[str, int]:
    """Add two numbers."""
    return {"sum": a + b}


@tool
async def steps(ctx: ToolContext, count: int = 3) -> str:
    """Tell how far it is, step by step."""
    for done in range(1, count + 1):
        await ctx.progress(f"step {done}", done, count)
    return "done"


@tool
async def fail() -> str:
    """Fail with words for the model."""
    raise ToolError("it does not work")


@tool
async def crash() -> str:
    """Fail with words for nobody."""
    raise RuntimeError(SECRET)


@tool(structured=False)
async def link() -> Result:
    """Point at something."""
    return Result(content=(Link("file:///notes.txt", "notes"),))


@tool(structured=False)
async def surrogate() -> Result:
    """Give what no wire can carry."""
    return Result(structured={"text": "\ud800"})


def tools(gate: Gate) -> list[DecoratedTool]:
    """The tools under test; some of them are held at `gate`."""
    threads = threading.Barrier(BLOCKED_TOGETHER)

    @tool
    async def hold(text: str = "held") -> str:
        """Wait until it is let go."""
        await gate.hold()
        return text

    @tool
    async def tell_and_hold(ctx: ToolContext) -> str:
        """Tell once how far it is, then wait until it is let go."""
        await ctx.progress("begun", 1, 2)
        await gate.hold()
        await ctx.progress("ended", 2, 2)
        return "done"

    @tool
    def block() -> str:
        """Block a thread until others do."""
        threads.wait(PATIENCE_S)
        return "together"

    return [echo, add, hold, steps, tell_and_hold, fail, crash, link, surrogate, block]


def body(method: str, params: Any = None, id_: Any = 1, era: str = OLD) -> bytes:
    """A message as bytes; on 2026-07-28 a request gets its envelope. `id_=None` makes a notification."""
    message: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
    if id_ is not None:
        message["id"] = id_
    given: dict[str, Any] = dict(params or {})
    if era == NEW and id_ is not None:
        own: dict[str, Any] = {
            "io.modelcontextprotocol/protocolVersion": NEW,
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        given["_meta"] = {**own, **given.get("_meta", {})}
    if given:
        message["params"] = given
    return json.dumps(message).encode()


def headers(era: str, method: str = "", name: str | None = None, **more: Any) -> dict[str, Any]:
    """The headers that go with a message; keyword arguments add to them, with `_` for `-`; "" leaves one out."""
    found: dict[str, Any] = {"content-type": "application/json", "accept": BOTH, "mcp-protocol-version": era}
    if era == NEW:
        found["mcp-method"] = method
        if name is not None:
            found["mcp-name"] = name
    return {**found, **{key.replace("_", "-"): value for key, value in more.items()}}


class Peer:
    """A client of one revision."""

    def __init__(self, client: Client, era: str, **more: Any) -> None:
        self.client = client
        self.era = era
        self.more = more

    def start(self, method: str, params: Any = None, id_: Any = 1, **more: Any) -> Answer:
        """Begin a request; its answer may not have begun yet."""
        name: str | None = None if params is None else params.get("name", params.get("uri", params.get("taskId")))
        sent = headers(self.era, method, name, **{**self.more, **more})
        return self.client.start("POST", "/mcp", sent, body(method, params, id_, self.era))

    async def ask(self, method: str, params: Any = None, id_: Any = 1, **more: Any) -> Answer:
        """Send a request and wait until its answer begins."""
        answer = self.start(method, params, id_, **more)
        with anyio.fail_after(PATIENCE_S):
            await answer.started.wait()
        return answer

    async def call(self, name: str, arguments: Any = None, id_: Any = 1, **more: Any) -> Any:
        """Call a tool and return the one JSON-RPC message of the answer."""
        params = {"name": name, **({} if arguments is None else {"arguments": arguments})}
        return await (await self.ask("tools/call", params, id_, **more)).message()

    async def session(self, can: dict[str, Any] | None = None) -> "Peer":
        """The same client in a session of its own, with these capabilities."""
        params = {"protocolVersion": self.era, "capabilities": can or {}, "clientInfo": {}}
        answer = await self.ask("initialize", params, 0)
        return Peer(self.client, self.era, **self.more, mcp_session_id=answer.headers["mcp-session-id"])


class Bench:
    """A tool server with clients of it."""

    def __init__(self, server: ToolServer, client: Client, gate: Gate) -> None:
        self.server = server
        self.client = client
        self.gate = gate

    def peer(self, era: str, **more: Any) -> Peer:
        """A client of one revision; keyword arguments are headers of all its requests."""
        return Peer(self.client, era, **more)


@asynccontextmanager
async def open_bench(
    settings: HttpSettings | None = None, patience_s: float = PATIENCE_S, gone_raises: bool = False
) -> AsyncGenerator[Bench]:
    """The tools behind MCP over HTTP, in this process."""
    gate = Gate()
    async with (
        open_tool_server(tools(gate), "bench", "1.0", settings=settings) as server,
        connect(server.app, patience_s, gone_raises) as client,
    ):
        yield Bench(server, client, gate)
