"""Long work of an attached agent as tasks of the gateway's clients (mcp.md 1.4; gateway.md §6)."""

import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest

from tests.interaction.bench import NEW, Gate, Peer
from tests.interaction.gateways import OWNER, Attached, gateway_with, reopened
from tests.interaction.requirements import GATEWAY_2026, proves
from tests.interaction.transport import connect
from toolwire.agent import Agent
from toolwire.agent.attach import Target, attached
from toolwire.agent.journal import MemoryJournal
from toolwire.client import AsyncClient
from toolwire.config import Config
from toolwire.gateway.host import open_gateway
from toolwire.sdk import ToolContext, ToolError

EXTENSION = "io.modelcontextprotocol/tasks"
CAN: dict[str, Any] = {"io.modelcontextprotocol/clientCapabilities": {"elicitation": {}, "extensions": {EXTENSION: {}}}}
PLACE = {"type": "object", "properties": {"place": {"type": "string"}}, "required": ["place"]}


def digger(gate: Gate) -> Agent:
    """An agent whose tools take long; `gate` holds them."""
    agent = Agent("bench")

    @agent.tool(long_running=True)
    async def dig(depth: int, ctx: ToolContext) -> str:
        """Dig a hole."""
        await ctx.progress("digging", 1, 2)
        await gate.hold()
        return f"{depth} deep"

    @agent.tool(task="optional")
    async def fail() -> str:
        """Hit a rock."""
        await gate.hold()
        raise ToolError("a rock")

    @agent.tool(task="optional")
    async def agree(ctx: ToolContext) -> str:
        """Ask where to dig."""
        answer = await ctx.elicit("Where?", PLACE, key="where")
        await gate.hold()
        return f"{answer.action} {answer.content}"

    @agent.tool(task="required")
    async def haul() -> str:
        """Haul everything away."""
        await gate.hold()
        return "hauled"

    @agent.tool(task="later")
    async def blast(ctx: ToolContext) -> str:
        """Ask where, and blast."""
        answer = await ctx.elicit("Where?", PLACE, key="where")
        await ctx.become_task()
        await ctx.become_task()
        await gate.hold()
        place = (answer.content or {}).get("place")
        return f"{place}, {'with time' if ctx.deadline > time.time() + 3600 else 'in haste'}"

    @agent.tool(task="later")
    async def survey(ctx: ToolContext) -> str:
        """Measure everything."""
        await ctx.become_task()
        await gate.hold()
        return "flat"

    @agent.tool(task="later")
    async def peek() -> str:
        """Look whether there is anything to do."""
        return "nothing"

    @agent.tool
    async def look() -> str:
        """Look at the hole."""
        return "dark"

    return agent


class Client:
    """A client of the agent, by the principal of a key."""

    def __init__(self, peer: Peer) -> None:
        self.peer = peer

    async def ask(self, method: str, **params: Any) -> Any:
        return await (await self.peer.ask(method, {**params, "_meta": {**CAN, **params.pop("meta", {})}})).message()

    async def begin(self, name: str, **arguments: Any) -> Any:
        """Call a tool; its task."""
        message = await self.ask("tools/call", name=name, arguments=arguments)
        assert message["result"]["resultType"] == "task", message
        return message["result"]

    async def look(self, task_id: str) -> Any:
        return (await self.ask("tasks/get", taskId=task_id))["result"]

    async def end_of(self, task_id: str) -> Any:
        """A task once it has ended."""
        with anyio.fail_after(5):
            while (task := await self.look(task_id))["status"] == "working":
                await anyio.lowlevel.checkpoint()
        return task


@asynccontextmanager
async def calling(gate: Gate) -> AsyncGenerator[tuple[Attached, Client]]:
    async with gateway_with(digger(gate)) as there, connect(there.app) as http:
        yield there, Client(Peer(http, NEW))


@proves("tasks.agents", GATEWAY_2026)
async def test_long_work_of_an_agent_is_a_task_that_ends_with_its_answer():
    gate = Gate()
    async with calling(gate) as (_, client):
        assert (await client.ask("server/discover"))["result"]["capabilities"]["extensions"] == {EXTENSION: {}}
        assert (await client.ask("tools/call", name="look"))["result"]["content"][0]["text"] == "dark"
        task = await client.begin("dig", depth=3)
        await gate.until(entered=1)
        with anyio.fail_after(5):
            while "statusMessage" not in (found := await client.look(task["taskId"])):
                await anyio.lowlevel.checkpoint()
        assert (found["status"], found["statusMessage"]) == ("working", "digging")
        gate.release.set()
        ended = await client.end_of(task["taskId"])
        assert (ended["status"], ended["result"]["content"][0]["text"]) == ("completed", "3 deep")
        assert ended["result"]["_meta"]["toolwire/task_id"] == task["taskId"]


@proves("tasks.agents", GATEWAY_2026)
async def test_a_client_without_tasks_waits_for_long_work():
    gate = Gate()
    gate.release.set()
    async with calling(gate) as (_, client):
        answer = await client.peer.call("dig", {"depth": 2})
        assert answer["result"]["content"][0]["text"] == "2 deep"


@proves("tasks.agents", GATEWAY_2026)
async def test_what_an_agent_reports_completes_its_task():
    gate = Gate()
    async with calling(gate) as (_, client):
        task = await client.begin("fail")
        gate.release.set()
        ended = await client.end_of(task["taskId"])
        assert (ended["status"], ended["result"]["isError"]) == ("completed", True)
        assert ended["result"]["content"][0]["text"] == "a rock"


@proves("tasks.agents", GATEWAY_2026)
async def test_to_cancel_a_task_stops_the_work():
    """gateway.md D19: the agent is told."""
    gate = Gate()
    async with calling(gate) as (_, client):
        task = await client.begin("dig", depth=1)
        await gate.until(entered=1)
        for _ in range(2):
            assert (await client.ask("tasks/cancel", taskId=task["taskId"]))["result"]["resultType"] == "complete"
        assert (await client.end_of(task["taskId"]))["status"] == "cancelled"
        await gate.until(cancelled=1)


@proves("tasks.agents", GATEWAY_2026)
async def test_a_task_belongs_to_the_key_that_began_it_and_to_its_agent():
    gate = Gate()
    async with calling(gate) as (there, client):
        task_id = (await client.begin("dig", depth=1))["taskId"]
        _, other_key = await there.gateway.keys.create("bak", OWNER, there.agent_id)
        other = Attached(there.gateway, there.agent_id, there.agent_key, other_key)
        async with connect(other.app) as http:
            stranger = Client(Peer(http, NEW))
            for method in ("tasks/get", "tasks/cancel", "tasks/update"):
                error = (await stranger.ask(method, taskId=task_id, inputResponses={}))["error"]
                assert (error["code"], error["data"]["param"]) == (-32602, "taskId")
            params = {"notifications": {"taskIds": [task_id]}, "_meta": CAN}
            answer = await stranger.peer.ask("subscriptions/listen", params)
            assert (await answer.frame())["params"]["notifications"] == {}
        assert (await client.look(task_id))["status"] == "working"


@proves("tasks.agents", GATEWAY_2026)
async def test_an_agent_asks_the_client_of_its_task():
    gate = Gate()
    gate.release.set()
    async with calling(gate) as (_, client):
        task_id = (await client.begin("agree"))["taskId"]
        with anyio.fail_after(5):
            while (task := await client.look(task_id))["status"] == "working":
                await anyio.lowlevel.checkpoint()
        assert (task["status"], task["inputRequests"]["where"]["params"]["message"]) == ("input_required", "Where?")
        answers = {"where": {"action": "accept", "content": {"place": "here"}}}
        done = await client.ask("tasks/update", taskId=task_id, inputResponses=answers)
        assert done["result"]["resultType"] == "complete"
        ended = await client.end_of(task_id)
        assert ended["result"]["content"][0]["text"] == "accept {'place': 'here'}"


@proves("tasks.agents", GATEWAY_2026)
async def test_who_listens_is_told_of_the_end():
    gate = Gate()
    async with calling(gate) as (_, client):
        task_id = (await client.begin("dig", depth=4))["taskId"]
        await gate.until(entered=1)
        params = {"notifications": {"taskIds": [task_id]}, "_meta": CAN}
        answer = await client.peer.ask("subscriptions/listen", params)
        assert (await answer.frame())["params"]["notifications"] == {"taskIds": [task_id]}
        gate.release.set()
        told = await answer.frame()
        while told["params"]["status"] == "working":
            told = await answer.frame()
        assert told["params"]["result"]["content"][0]["text"] == "4 deep"


@proves("tasks.agents", GATEWAY_2026)
@pytest.mark.parametrize("method", ["tasks/get", "tasks/cancel"])
async def test_a_call_that_nobody_else_wants_is_no_task(method: str):
    async with calling(Gate()) as (_, client):
        meta = (await client.ask("tools/call", name="look"))["result"]["_meta"]
        error = (await client.ask(method, taskId=meta["toolwire/task_id"]))["error"]
        assert error["code"] == -32602


@proves("tasks.agents", GATEWAY_2026)
async def test_a_tool_that_requires_a_task_is_one_at_once_and_no_other_client_has_it():
    gate = Gate()
    async with calling(gate) as (there, client):
        task = await client.begin("haul")
        gate.release.set()
        ended = await client.end_of(task["taskId"])
        assert (ended["status"], ended["result"]["content"][0]["text"]) == ("completed", "hauled")

        refused = await client.peer.call("haul")
        assert refused["error"]["code"] == -32021
        assert refused["error"]["data"]["requiredCapabilities"] == {"extensions": {EXTENSION: {}}}
        transport = httpx2.ASGITransport(there.gateway.app)
        async with AsyncClient("http://localhost", there.bak, transport=transport) as rest:
            assert (await rest.calls.invoke(there.agent_id, "haul")).text == "hauled"


@proves("tasks.agents", GATEWAY_2026)
async def test_a_body_asks_first_and_then_says_that_its_call_is_a_task():
    gate = Gate()
    async with calling(gate) as (_, client):
        asked = (await client.ask("tools/call", name="blast", arguments={}))["result"]
        assert asked["resultType"] == "input_required"
        answers = {"where": {"action": "accept", "content": {"place": "north"}}}
        again = {"inputResponses": answers, "requestState": asked["requestState"]}
        task = (await client.ask("tools/call", name="blast", arguments={}, **again))["result"]
        assert task["resultType"] == "task"
        await gate.until(entered=1)
        assert (await client.look(task["taskId"]))["status"] == "working"
        gate.release.set()
        ended = await client.end_of(task["taskId"])
        assert (ended["status"], ended["result"]["content"][0]["text"]) == ("completed", "north, with time")


@proves("tasks.agents", GATEWAY_2026)
async def test_a_body_that_never_says_so_answers_the_call_itself():
    async with calling(Gate()) as (_, client):
        answer = await client.ask("tools/call", name="peek", arguments={})
        assert answer["result"]["content"][0]["text"] == "nothing"
        assert answer["result"]["resultType"] == "complete"


@proves("tasks.agents", GATEWAY_2026)
async def test_a_call_that_became_a_task_outlasts_a_restart_of_the_gateway(tmp_path: Path):
    gate = Gate()
    async with digger(gate).worker(MemoryJournal()) as worker:
        target = Target("in-process", "", grace_s=1)
        async with open_gateway(Config(data=str(tmp_path))) as gateway:
            record = await gateway.agents.create(OWNER, "bench")
            _, agent_key = await gateway.keys.create("agk", OWNER, record.agent_id)
            _, bak = await gateway.keys.create("bak", OWNER, record.agent_id)
            before = Attached(gateway, record.agent_id, agent_key, bak)
            async with attached(worker, before.links.open, target), connect(before.app) as http:
                task = await Client(Peer(http, NEW)).begin("survey")
                await gate.until(entered=1)
        async with (
            reopened(before, tmp_path) as after,
            attached(worker, after.links.open, target),
            connect(after.app) as http,
        ):
            client = Client(Peer(http, NEW))
            assert (await client.look(task["taskId"]))["status"] == "working"
            gate.release.set()
            ended = await client.end_of(task["taskId"])
            assert (ended["status"], ended["result"]["content"][0]["text"]) == ("completed", "flat")
