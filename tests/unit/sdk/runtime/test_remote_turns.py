"""Where remote tools meet a turn: mounted per turn, graded, skipped and refused (sdk.md 52-54, §3.7, §3.14)."""

from collections.abc import Sequence
from typing import Any

from tests.unit.sdk.runtime.script import agent, model, noting, payloads, say, use
from toolwire.sdk import AsyncClient, HostConfig
from toolwire.sdk.options import RemoteTool, RemoteTurn, Skipped, ToolPlace


class Servers:
    """A source of remote tools that offers what it was made with."""

    def __init__(self, tools: Sequence[RemoteTool] = (), error: Exception | None = None) -> None:
        self.asked: list[ToolPlace] = []
        self.closed = False
        self._tools = tools
        self._error = error

    async def turn(self, place: ToolPlace) -> RemoteTurn:
        self.asked.append(place)
        if self._error is not None:
            raise self._error
        if not place.enabled_mcp:
            return RemoteTurn()
        return RemoteTurn(self._tools, [Skipped("down", "connection refused")], [{"alias": "fs"}])

    async def aclose(self) -> None:
        self.closed = True


def shown(provider: Any, number: int) -> list[str]:
    return [entry["function"]["name"] for entry in provider.received_requests[number].tools]


async def test_remote_tools_are_there_in_the_turn_that_asks_for_them_and_are_graded():
    ran: list[Any] = []
    servers = Servers([RemoteTool(noting("mcp__fs__write", ran, "medium"), "the server 'fs'")])
    provider = model(use(("t1", "mcp__fs__write", {})), say(), say())
    config = HostConfig(remote_tools=servers)
    async with AsyncClient(agent(), provider=provider, host_config=config) as client:
        outcome = await client.start(goal="go", enabled_mcp=("fs", "down"))
        assert (outcome.wake_handle, ran) == ("approval-t1", [])
        events = await client.events(outcome.task_id)
        decision = await client.explain("mcp__fs__write", {}, enabled_mcp=("fs",))
        await client.deny(outcome.task_id)
        await client.send_goal(outcome.task_id, goal="more")

    assert payloads(events, "McpServerSkipped")[0].reason == "connection refused"
    assert payloads(events, "McpProvenanceRecorded")[0].servers == [{"alias": "fs"}]
    assert (decision.verdict, decision.rule) == ("ask", "risk:medium")
    assert (shown(provider, 0), shown(provider, -1)) == (["mcp__fs__write"], [])
    assert servers.closed


async def test_an_approved_remote_call_still_has_its_tool_after_the_wait():
    ran: list[Any] = []
    servers = Servers([RemoteTool(noting("mcp__fs__write", ran, "high"), "the server 'fs'")])
    provider = model(use(("t1", "mcp__fs__write", {})), say())
    config = HostConfig(remote_tools=servers)
    async with AsyncClient(agent(), provider=provider, host_config=config) as client:
        outcome = await client.start(goal="go", enabled_mcp=("fs",))
        await client.approve(outcome.task_id)

    assert len(ran) == 1
    assert shown(provider, 1) == ["mcp__fs__write"]


async def test_a_collision_fails_the_turn_and_names_both_sources():
    servers = Servers([RemoteTool(noting("look", []), "the server 'fs'")])
    config = HostConfig(remote_tools=servers)
    async with AsyncClient(agent(noting("look", [])), provider=model(), host_config=config) as client:
        outcome = await client.start(goal="go", enabled_mcp=("fs",))
        events = await client.events(outcome.task_id)

    (failed,) = payloads(events, "TaskFailed")
    assert failed.detail == "tool name collision: 'look' comes from allowed_tools and from the server 'fs'"


async def test_a_source_that_raises_is_skipped():
    config = HostConfig(remote_tools=Servers(error=OSError("no route")))
    async with AsyncClient(agent(), provider=model(say()), host_config=config) as client:
        outcome = await client.start(goal="go", enabled_mcp=("fs",))
        events = await client.events(outcome.task_id)

    assert payloads(events, "McpServerSkipped")[0].reason == "OSError: no route"
    assert outcome.status == "suspended"
