"""A gateway and an agent attached to it, in this process and without sockets; it asserts nothing.

The agent's link is the real one on both sides, over ASGI's WebSocket events instead of a network.
"""

from collections.abc import AsyncGenerator, Callable, MutableMapping
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anyio

from tests.interaction.transport import PATIENCE_S
from toolwire.agent.agent import Agent
from toolwire.agent.attach import Target, attached
from toolwire.agent.journal import Journal, MemoryJournal
from toolwire.agent.link import Link, LinkLost
from toolwire.config import Config
from toolwire.gateway.host import Gateway, open_gateway
from toolwire.wire.link import FromAgent, FromGateway, decode_from_gateway, encode_frames

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

    async def offline(self) -> None:
        """Wait until the gateway knows that no link is there; `links` must be closed."""
        await self.links.until(lambda: not self.links.served)

    async def attached_again(self) -> None:
        """Wait until a link is there after those that were cut."""
        await self.links.until(lambda: any(wire.welcomed and not wire.gone for wire in self.links.served))


class Links:
    """Opens links of one agent; `cut` breaks those that are open, and after `close` the agent cannot open more."""

    def __init__(self, app: App, key: str) -> None:
        self._app = app
        self._key = key
        self._closed = False
        self._changed = anyio.Event()
        self.served: list[Wire] = []

    def cut(self, code: int = 1006) -> None:
        """Break all links."""
        for wire in self.served:
            wire.cut(code)

    def close(self, code: int = 1006) -> None:
        """Break all links for good."""
        self._closed = True
        self.cut(code)

    @asynccontextmanager
    async def open(self) -> AsyncGenerator["Wire"]:
        """A link of the agent's, as `OpenSocket` wants it."""
        if self._closed:
            raise LinkLost("closed")
        async with self.wire() as wire:
            yield wire

    @asynccontextmanager
    async def wire(self) -> AsyncGenerator["Wire"]:
        """A link of the test's own."""
        wire = Wire(self.tell)
        scope: dict[str, Any] = {
            "type": "websocket",
            "path": PATH,
            "headers": [(b"authorization", f"Bearer {self._key}".encode()), (b"host", b"localhost:8094")],
            "extensions": {"websocket.http.response": {}},
        }

        async def serve() -> None:
            self.served.append(wire)
            try:
                await wire.serve(self._app, scope)
            finally:
                self.served.remove(wire)
                self.tell()

        lost: list[LinkLost] = []  # raised outside the task group, so that it comes out as it is
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(serve)
            try:
                yield wire
            except LinkLost as error:
                lost.append(error)
            finally:
                wire.cut()
        if lost:
            raise lost[0]

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait until something is so."""
        with anyio.fail_after(PATIENCE_S):
            while not condition():
                await self._changed.wait()

    def tell(self) -> None:
        """Something has changed."""
        self._changed.set()
        self._changed = anyio.Event()


class Wire:
    """Both ends of a WebSocket; it is a `Socket` to the agent."""

    def __init__(self, tell: Callable[[], None]) -> None:
        self._to_gateway, self._from_agent = anyio.create_memory_object_stream[MutableMapping[str, Any]](10_000)
        self._to_agent, self._from_gateway = anyio.create_memory_object_stream[bytes](10_000)
        self._tell = tell
        self.gone = False
        self.welcomed = False
        self._to_gateway.send_nowait({"type": "websocket.connect"})

    async def serve(self, app: App, scope: MutableMapping[str, Any]) -> None:
        """Be the server of the gateway's end."""
        try:
            await app(scope, self._from_agent.receive, self._take)
        finally:
            self.cut()
            for stream in (self._to_gateway, self._from_agent, self._from_gateway):
                stream.close()

    def cut(self, code: int = 1006) -> None:
        """The connection is gone."""
        if not self.gone:
            self.gone = True
            self._to_gateway.send_nowait({"type": "websocket.disconnect", "code": code})
            self._to_agent.close()

    @property
    def has_more(self) -> bool:
        """See `Socket`."""
        return self._from_gateway.statistics().current_buffer_used > 0

    async def send(self, data: bytes) -> None:
        """See `Socket`."""
        if self.gone:
            raise LinkLost("cut")
        self._to_gateway.send_nowait({"type": "websocket.receive", "text": data.decode()})

    def send_now(self, data: bytes) -> bool:
        """See `Socket`."""
        if self.gone:
            return False
        self._to_gateway.send_nowait({"type": "websocket.receive", "text": data.decode()})
        return True

    async def receive(self) -> bytes:
        """See `Socket`."""
        try:
            return await self._from_gateway.receive()
        except (anyio.EndOfStream, anyio.ClosedResourceError):
            raise LinkLost("cut") from None

    async def say(self, frame: FromAgent) -> None:
        """Send a frame."""
        await self.send(encode_frames([frame]))

    async def hear(self) -> FromGateway:
        """The next frame, which comes alone."""
        with anyio.fail_after(PATIENCE_S):
            [frame] = decode_from_gateway(await self.receive())
        return frame

    async def _take(self, event: MutableMapping[str, Any]) -> None:
        await anyio.lowlevel.checkpoint()
        if event["type"] == "websocket.send" and not self.gone:
            self._to_agent.send_nowait(event["text"].encode())
            self.welcomed = True
            self._tell()
        elif event["type"] == "websocket.close":
            self.cut()


@asynccontextmanager
async def gateway_with(agent: Agent, data: Path | None = None, **settings: Any) -> AsyncGenerator[Attached]:
    """A gateway of its own, with `agent` attached until the block ends."""
    with TemporaryDirectory() as folder:
        kept: dict[str, Any] = {"rate_limit_per_minute": 0, **settings}
        async with open_gateway(Config(data=str(data or folder), **kept)) as gateway:
            record = await gateway.agents.create(OWNER, agent.name)
            _, agent_key = await gateway.keys.create("agk", OWNER, record.agent_id)
            _, bak = await gateway.keys.create("bak", OWNER, record.agent_id)
            there = Attached(gateway, record.agent_id, agent_key, bak)
            async with attach(agent, there):
                yield there


@asynccontextmanager
async def reopened(before: Attached, data: Path) -> AsyncGenerator[Attached]:
    """A gateway on the folder of one that has ended; nothing is attached yet."""
    async with open_gateway(Config(data=str(data))) as gateway:
        yield Attached(gateway, before.agent_id, before.agent_key, before.bak)


@asynccontextmanager
async def attach(
    agent: Agent, there: Attached, journal: Journal | None = None, grace_s: float = 1
) -> AsyncGenerator[Link]:
    """`agent`, attached until the block ends."""
    target = Target("in-process", "", grace_s=grace_s)
    async with agent.worker(journal or MemoryJournal()) as worker, attached(worker, there.links.open, target) as link:
        yield link
