"""Tasks of a server go through a proxy: to clients that know tasks as tasks, to others as answers (mcp.md 1.4)."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from mcp import Client, types

from tests.interaction.bench import NEW, Gate, Peer
from tests.interaction.transport import connect
from tests.proxy.proxies import proxy_of, site_of
from tests.proxy.test_proxy import MODES, each_client, text
from tests.unit.providers.remote_rig import serving
from tests.unit.providers.spoken import Spoken
from tests.unit.providers.spoken import tool as listed
from toolwire.cli.proxy import proxied
from toolwire.providers.remote_server import HttpServer
from toolwire.sdk import ToolContext, ToolError
from toolwire.server import Server

EXTENSION = "io.modelcontextprotocol/tasks"
CAN: dict[str, Any] = {"io.modelcontextprotocol/clientCapabilities": {"elicitation": {}, "extensions": {EXTENSION: {}}}}
NAME: dict[str, Any] = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}


def digger(gate: Gate) -> Server:
    server = Server("digger")

    @server.tool(task="required")
    async def dig(ctx: ToolContext) -> str:
        """Dig."""
        await ctx.progress("digging", 1, 2)
        await gate.hold()
        return "deep"

    @server.tool(task="required")
    async def name_it(ctx: ToolContext) -> str:
        """Name it."""
        answer = await ctx.elicit("Its name?", NAME, key="name")
        return f"{answer.action} {answer.content}"

    @server.tool(task="required")
    async def fail() -> str:
        """Hit a rock."""
        raise ToolError("a rock")

    @server.tool(task="optional")
    async def look() -> str:
        """Look."""
        return "dark"

    return server


class Knowing:
    """A client that knows tasks."""

    def __init__(self, peer: Peer) -> None:
        self.peer = peer

    async def ask(self, method: str, **params: Any) -> Any:
        return (await (await self.peer.ask(method, {**params, "_meta": CAN})).message())["result"]

    async def begin(self, name: str) -> str:
        result = await self.ask("tools/call", name=name, arguments={})
        assert result["resultType"] == "task", result
        return result["taskId"]

    async def until(self, task_id: str, *stages: str) -> Any:
        """The task once it is in one of these stages."""
        with anyio.fail_after(15):
            while (task := await self.ask("tasks/get", taskId=task_id))["status"] not in stages:
                await anyio.lowlevel.checkpoint()
        return task


@asynccontextmanager
async def knowing(gate: Gate) -> AsyncGenerator[Knowing]:
    """A client that knows tasks, of a proxy of a server that has some."""
    async with (
        digger(gate).open() as far,
        site_of(far.app) as place,
        proxied(HttpServer(place)) as proxy,
        connect(proxy.app) as http,
    ):
        yield Knowing(Peer(http, NEW))


async def test_a_task_of_the_server_is_one_for_a_client_that_knows_tasks():
    gate = Gate()
    async with knowing(gate) as client:
        task_id = await client.begin("dig")
        await gate.until(entered=1)
        with anyio.fail_after(15):
            while "statusMessage" not in (found := await client.ask("tasks/get", taskId=task_id)):
                await anyio.lowlevel.checkpoint()
        assert (found["status"], found["statusMessage"]) == ("working", "digging")
        gate.release.set()
        ended = await client.until(task_id, "completed")
        assert ended["result"]["content"][0]["text"] == "deep"
        quick = await client.ask("tools/call", name="look", arguments={})
        assert (quick["resultType"], quick["content"][0]["text"]) == ("complete", "dark")


async def test_what_a_task_asks_is_asked_by_the_proxys_task():
    async with knowing(Gate()) as client:
        task_id = await client.begin("name_it")
        asked = (await client.until(task_id, "input_required"))["inputRequests"]
        ((key, question),) = asked.items()
        assert (question["method"], question["params"]["message"]) == ("elicitation/create", "Its name?")
        answer = {"action": "accept", "content": {"name": "Ada"}}
        await client.ask("tasks/update", taskId=task_id, inputResponses={key: answer})
        ended = await client.until(task_id, "completed")
        assert ended["result"]["content"][0]["text"] == "accept {'name': 'Ada'}"


async def test_to_cancel_the_proxys_task_cancels_the_servers_and_a_failure_is_told():
    gate = Gate()
    async with knowing(gate) as client:
        task_id = await client.begin("dig")
        await gate.until(entered=1)
        await client.ask("tasks/cancel", taskId=task_id)
        assert (await client.until(task_id, "cancelled"))["status"] == "cancelled"
        await gate.until(cancelled=1)
        ended = await client.until(await client.begin("fail"), "completed")
        assert (ended["result"]["isError"], ended["result"]["content"][0]["text"]) == (True, "a rock")


@each_client
async def test_a_client_without_tasks_waits_for_what_only_others_could_call(mode: str):
    gate = Gate()
    gate.release.set()
    async with (
        digger(gate).open() as far,
        site_of(far.app) as place,
        proxy_of(HttpServer(place)) as url,
        Client(url, mode=mode) as client,
    ):
        assert client.protocol_version == MODES[mode]
        assert text(await client.call_tool("dig", {})) == "deep"
        failed = await client.call_tool("fail", {})
        assert (failed.is_error, text(failed)) == (True, "a rock")


AT = {"createdAt": "2026-01-01T00:00:00Z", "lastUpdatedAt": "2026-01-01T00:00:00Z", "ttl": None, "pollInterval": 20}


def by_hand() -> Spoken:
    """A server of 2025-11-25 whose tool must be asked for a task; `stages` are what it says of that, in turn."""
    far = Spoken([listed("dig", execution={"taskSupport": "required"}), listed("look")])
    stages = ["working", "working", "completed"]

    def get(params: dict[str, Any]) -> dict[str, Any]:
        return {"taskId": params["taskId"], "status": stages.pop(0) if len(stages) > 1 else stages[0], **AT}

    def call(params: dict[str, Any]) -> dict[str, Any]:
        if params["name"] == "dig" and "task" not in params:
            return {"error": {"code": -32601, "message": "dig must be a task"}}
        if "task" in params:
            return {"task": {"taskId": "t-1", "status": "working", **AT}}
        return {"content": [{"type": "text", "text": params["name"]}]}

    del far.answers["server/discover"]
    far.answers |= {
        "initialize": lambda _: {
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {}, "tasks": {"requests": {"tools": {"call": {}}}, "cancel": {}}},
            "serverInfo": {"name": "by hand", "version": "1"},
        },
        "tools/call": call,
        "tasks/get": get,
        "tasks/result": lambda params: {"content": [{"type": "text", "text": f"result of {params['taskId']}"}]},
    }
    return far


@each_client
async def test_a_server_of_the_old_revision_is_asked_for_a_task_where_its_tool_insists(mode: str):
    far = by_hand()
    async with serving(far) as place, proxy_of(HttpServer(f"{place}/mcp")) as url, Client(url, mode=mode) as client:
        assert text(await client.call_tool("dig", {})) == "result of t-1"
        assert text(await client.call_tool("look", {})) == "look"
        assert far.count("tasks/get") == 3


async def test_a_task_of_the_old_revision_is_one_for_a_client_that_knows_tasks():
    far = by_hand()
    async with serving(far) as place, proxied(HttpServer(f"{place}/mcp")) as proxy, connect(proxy.app) as http:
        client = Knowing(Peer(http, NEW))
        ended = await client.until(await client.begin("dig"), "completed")
        assert ended["result"]["content"][0]["text"] == "result of t-1"


@pytest.mark.parametrize("mode", MODES)
async def test_what_a_tool_carries_for_programs_is_in_the_proxys_list(mode: str):
    meta = {"example.com/view": {"template": "ui://dig"}}
    far = Spoken([listed("dig", _meta=meta)])
    async with serving(far) as place, proxy_of(HttpServer(f"{place}/mcp")) as url, Client(url, mode=mode) as client:
        (tool,) = (await client.list_tools()).tools
        assert isinstance(tool, types.Tool)
        assert tool.meta == meta
        assert tool.description == "The tool dig."
