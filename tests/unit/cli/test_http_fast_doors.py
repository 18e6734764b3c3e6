"""Plain calls with a known head are let in each time, and count each time, as those with a new one (gateway.md 45)."""

import json
import re
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from tests.unit.cli.test_http_fast import HEAD, META, Talk, answers, request, talking
from tests.unit.gateway.world import World, open_world
from toolwire.adapters.memory_blobs import MemoryBlobs
from toolwire.cli.http_connection import HttpConnection
from toolwire.cli.http_fast import FastConnection
from toolwire.engine.engine import Engine
from toolwire.gateway.agent_record import AgentPatch
from toolwire.gateway.door import Behind, GatewayDoor
from toolwire.gateway.rates import Rates
from toolwire.providers.function import FunctionProvider, LocalTool
from toolwire.sdk import tool
from toolwire.surfaces.held_open import HeldOpen
from toolwire.surfaces.limits import Guard
from toolwire.surfaces.mcp_http import HttpSettings, McpHttp
from toolwire.surfaces.sessions import Sessions

pytestmark = pytest.mark.anyio

TOOLS = ("echo", "later")


@tool
async def echo(text: str) -> str:
    """Return the text."""
    return text


@tool
async def later(text: str) -> str:
    """Return the text after the loop's next turn."""
    await anyio.lowlevel.checkpoint()
    return text


class Gateway:
    """The tools of this process behind a gateway's door, and one key to it. `seconds` is the clock of its paces."""

    def __init__(self, world: World, agent_id: str, key_id: str, secret: str, per_minute: int) -> None:
        self.world = world
        self.agent_id = agent_id
        self.key_id = key_id
        self.seconds = 0.0
        self._secret = secret
        self._per_minute = per_minute

    @asynccontextmanager
    async def app(self) -> AsyncGenerator[Any]:
        world = self.world
        engine = Engine(world.store, MemoryBlobs(), world.clock)
        rates = Rates(self._per_minute, 0, lambda: self.seconds)
        door = GatewayDoor(world.auth, world.agents, behind=Behind(rates=rates))
        sessions = Sessions(world.store, engine.recorder, world.clock, b"secret", 60.0)
        held_open = HeldOpen()
        world.keys.on_revoked(lambda key: held_open.end(key.key_id))
        http = McpHttp(engine, door, sessions, Guard(), HttpSettings(), held_open)
        async with engine.running(), http.running():

            async def app(scope: Any, receive: Any, send: Any) -> None:
                await http(scope, receive, send)

            yield app

    def call(self, name: str, **arguments: Any) -> bytes:
        params = {"name": name, "arguments": arguments, "_meta": META}
        head = HEAD.replace("/mcp", f"/{self.agent_id}/mcp") + (
            f"MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: {name}\r\n"
            f"Accept: application/json, text/event-stream\r\nAuthorization: Bearer {self._secret}\r\n"
        )
        return request(json.dumps({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}).encode(), head)


async def open_gateway(per_minute: int = 0, tools: Sequence[LocalTool] = (echo, later)) -> Gateway:
    world = await open_world()
    agent = await world.agents.create("owner", "demo")
    key, secret = await world.keys.create("bak", "owner", agent.agent_id)
    provider = FunctionProvider(tools)
    world.agents.catalog(agent.agent_id).replace(provider.tools(), provider, handlers=provider.handlers)
    return Gateway(world, agent.agent_id, key.key_id, secret, per_minute)


async def statuses(talk: Talk, asked: bytes, times: int = 1) -> list[int]:
    return [int((await talk.ask(asked)).split(b" ", 2)[1]) for _ in range(times)]


@pytest.mark.parametrize("name", TOOLS)
async def test_a_revoked_key_opens_nothing_on_a_connection_that_it_has_opened(name: str):
    """gateway.md 46."""
    gateway = await open_gateway()
    async with gateway.app() as app, talking(app) as talk:
        assert await statuses(talk, gateway.call(name, text="hi"), 3) == [200, 200, 200]
        await gateway.world.keys.revoke("owner", gateway.key_id)
        assert await statuses(talk, gateway.call(name, text="hi"), 2) == [401, 401]


async def test_what_it_has_under_way_ends_with_it():
    """gateway.md 46."""
    entered, stopped = anyio.Event(), anyio.Event()

    @tool
    async def hold(text: str) -> str:
        """Never end, but `soon`."""
        if text == "soon":
            return text
        entered.set()
        try:
            await anyio.sleep_forever()
        finally:
            stopped.set()
        return text

    gateway = await open_gateway(tools=[hold])
    held = gateway.call("hold", text="held").replace(b", text/event-stream", b"")
    async with gateway.app() as app, talking(app) as talk:
        soon = gateway.call("hold", text="soon").replace(b", text/event-stream", b"")
        assert await statuses(talk, soon, 2) == [200, 200]
        await talk.send(held)
        await entered.wait()
        await gateway.world.keys.revoke("owner", gateway.key_id)
        with anyio.fail_after(5):
            await stopped.wait()
            answer = await talk.answer()
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["error"]["data"]["code"] == "unauthorized"


@pytest.mark.parametrize("name", TOOLS)
async def test_nor_does_a_key_to_an_agent_that_is_not_published_any_more(name: str):
    gateway = await open_gateway()
    async with gateway.app() as app, talking(app) as talk:
        assert await statuses(talk, gateway.call(name, text="hi"), 3) == [200, 200, 200]
        await gateway.world.agents.patch(gateway.agent_id, AgentPatch(mcp_enabled=False))
        assert await statuses(talk, gateway.call(name, text="hi")) == [404]
        await gateway.world.agents.patch(gateway.agent_id, AgentPatch(mcp_enabled=True))
        assert await statuses(talk, gateway.call(name, text="hi"), 2) == [200, 200]


@pytest.mark.parametrize("name", TOOLS)
async def test_each_counts_once_against_the_pace_of_its_credential(name: str):
    """gateway.md 49, X21."""
    gateway = await open_gateway(per_minute=3)
    async with gateway.app() as app, talking(app) as talk:
        for allowed in (3, 1, 1):
            assert await statuses(talk, gateway.call(name, text="hi"), allowed + 2) == [200] * allowed + [429, 429]
            gateway.seconds += 20


async def test_what_is_refused_before_it_is_a_call_counts_once_too():
    gateway = await open_gateway(per_minute=4)
    async with gateway.app() as app, talking(app) as talk:
        assert await statuses(talk, gateway.call("echo", text="hi"), 1) == [200]
        assert await statuses(talk, gateway.call("echo", text="hi", attachments="none"), 1) == [400]
        assert await statuses(talk, gateway.call("echo", text=3, idempotency_key="k"), 1) == [400]
        assert await statuses(talk, gateway.call("echo", text="hi"), 2) == [200, 429]


@pytest.mark.parametrize("name", TOOLS)
async def test_arguments_that_are_the_gateways_own_are_read_as_ever(name: str):
    own: tuple[dict[str, Any], ...] = (
        {},
        {"attachments": "none"},
        {"attachments": [{"file_id": "file_1"}]},
        {"idempotency_key": 3},
        {"idempotency_key": ""},
        {"idempotency_key": "k"},
        {"idempotency_key": "k"},
        {"idempotency_key": "k", "text": "other"},
        {},
    )
    said: list[list[bytes]] = []
    for protocol in (FastConnection, HttpConnection):
        gateway = await open_gateway()
        asked = [gateway.call(name, **{"text": "hi", **each}) for each in own]
        async with gateway.app() as app:
            answered = await answers(protocol, app, asked)
        said.append([re.sub(rb'(ch_|_seen":"|_at":")[^"]*', rb"\1", each) for each in answered])
    assert said[0] == said[1]
