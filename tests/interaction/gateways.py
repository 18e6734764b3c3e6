"""A gateway and an agent attached to it, in this process and without sockets; it asserts nothing.

The agent's link is the real one on both sides, over ASGI's WebSocket events instead of a network.
"""

from collections.abc import AsyncGenerator, MutableMapping
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anyio

from toolwire.agent.agent import Agent
from toolwire.agent.attach import Target, attached
from toolwire.agent.journal import MemoryJournal
from toolwire.agent.link import Link, LinkLost
from toolwire.config import Config
from toolwire.gateway.host import Gateway, open_gateway

App = Any
OWNER = "own_bench"
PATH = "/api/v1/agents/link"


class Attached:
    """An agent that is attached to a gateway, and how its callers reach it."""

    def __init__(self, gateway: Gateway, agent_id: str, agent_key: str, bak: str) -> None:
        self.gateway = gateway
        self.agent_id = agent_id
        self.agent_key = agent_key
        self.bak = bak
        self.links = Links(gateway.app, agent_key)

    async def app(self, scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        """The agent's endpoint at `/mcp`, for whoever has no key."""
        headers = [*scope["headers"], (b"x-agent-api-key", self.bak.encode())]
        path = f"/{self.agent_id}/mcp"
        mine = scope["path"] == "/mcp"
        await self.gateway.app({**scope, "path": path, "headers": headers} if mine else scope, receive, send)


class Links:
    """Opens links of one agent; `cut` breaks those that are open."""

    def __init__(self, app: App, key: str) -> None:
        self._app = app
        self._key = key
        self._open: list[_Wire] = []

    def cut(self) -> None:
        """Break all links."""
        for wire in self._open:
            wire.cut()

    @asynccontextmanager
    async def open(self) -> AsyncGenerator["_Wire"]:
        """A link, as `OpenSocket` wants it."""
        wire = _Wire()
        scope: dict[str, Any] = {
            "type": "websocket",
            "path": PATH,
            "headers": [(b"authorization", f"Bearer {self._key}".encode()), (b"host", b"localhost:8094")],
            "extensions": {"websocket.http.response": {}},
        }
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(wire.serve, self._app, scope)
            self._open.append(wire)
            try:
                yield wire
            finally:
                self._open.remove(wire)
                wire.cut()


class _Wire:
    """Both ends of a WebSocket; it is a `Socket` to the agent."""

    def __init__(self) -> None:
        self._to_gateway, self._from_agent = anyio.create_memory_object_stream[MutableMapping[str, Any]](10_000)
        self._to_agent, self._from_gateway = anyio.create_memory_object_stream[bytes](10_000)
        self._gone = False
        self._to_gateway.send_nowait({"type": "websocket.connect"})

    async def serve(self, app: App, scope: MutableMapping[str, Any]) -> None:
        try:
            await app(scope, self._from_agent.receive, self._take)
        finally:
            self.cut()
            for stream in (self._to_gateway, self._from_agent, self._from_gateway):
                stream.close()

    def cut(self) -> None:
        if not self._gone:
            self._gone = True
            self._to_gateway.send_nowait({"type": "websocket.disconnect", "code": 1006})
            self._to_agent.close()

    async def send(self, data: bytes) -> None:
        if self._gone:
            raise LinkLost("cut")
        self._to_gateway.send_nowait({"type": "websocket.receive", "text": data.decode()})

    async def receive(self) -> bytes:
        try:
            return await self._from_gateway.receive()
        except (anyio.EndOfStream, anyio.ClosedResourceError):
            raise LinkLost("cut") from None

    async def _take(self, event: MutableMapping[str, Any]) -> None:
        await anyio.lowlevel.checkpoint()
        if event["type"] == "websocket.send" and not self._gone:
            self._to_agent.send_nowait(event["text"].encode())
        elif event["type"] == "websocket.close":
            self.cut()


@asynccontextmanager
async def gateway_with(agent: Agent, data: Path | None = None) -> AsyncGenerator[Attached]:
    """A gateway of its own, with `agent` attached until the block ends."""
    with TemporaryDirectory() as folder:
        async with open_gateway(Config(data=str(data or folder))) as gateway:
            record = await gateway.agents.create(OWNER, agent.name)
            _, agent_key = await gateway.keys.create("agk", OWNER, record.agent_id)
            _, bak = await gateway.keys.create("bak", OWNER, record.agent_id)
            there = Attached(gateway, record.agent_id, agent_key, bak)
            async with attach(agent, there):
                yield there


@asynccontextmanager
async def attach(agent: Agent, there: Attached) -> AsyncGenerator[Link]:
    """`agent`, attached until the block ends."""
    target = Target("in-process", "", grace_s=1)
    async with agent.worker(MemoryJournal()) as worker, attached(worker, there.links.open, target) as link:
        yield link
