"""What is of an agent on a gateway alone: what tells of it, what it need not be there for, and what becomes of it.

That an agent serves what any other server does is told in the tests of resources, prompts, logs and changes.
"""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.interaction.answering import ABLE, Asked, form
from tests.interaction.bench import NEW, OLD, Gate, Peer, headers
from tests.interaction.cells import Talk, era_of
from tests.interaction.gateways import Attached, attach, gateway_with, reopened
from tests.interaction.requirements import GATEWAY_2025, GATEWAY_2026, Cell, proves
from tests.interaction.transport import Answer, Client, connect
from toolwire.agent import Agent, Ctx
from toolwire.gateway.attached_link import GOING_AWAY
from toolwire.server import Server
from toolwire.wire.link import Answered, Ask, Hello, Registration, Skill

on_the_gateway = pytest.mark.parametrize("cell", [GATEWAY_2025, GATEWAY_2026])
LISTS = ("tools", "prompts", "resources")
HI = {"type": "text", "text": "hi"}
HELD = Registration(
    "bench",
    skills=(Skill("dig", "Dig a hole."),),
    resources=(
        {"uri": "held://text", "mimeType": "text/plain", "text": "kept"},
        {"uri": "held://octets", "name": "octets", "blob": "AAE="},
        {"uri": "asked://one"},
        {"uriTemplate": "asked://{number}"},
    ),
    prompts=(
        {
            "name": "hello",
            "description": "d",
            "messages": [{"role": "user", "content": {"type": "text", "text": "hi"}}],
        },
        {"name": "asked", "arguments": [{"name": "a", "required": True}]},
    ),
    completions=True,
)


class Caller:
    """A client of an agent, on one revision."""

    def __init__(self, peer: Peer) -> None:
        self.peer = peer

    async def message(self, method: str, params: Any = None) -> Any:
        return await (await self.peer.ask(method, params)).message()

    async def result(self, method: str, params: Any = None) -> Any:
        return (await self.message(method, params))["result"]

    async def read(self, uri: str) -> Any:
        """The text at a URI as JSON."""
        [contents] = (await self.result("resources/read", {"uri": uri}))["contents"]
        assert contents["uri"] == uri
        return json.loads(contents["text"])

    async def code(self, method: str, params: Any) -> str:
        error = (await self.message(method, params))["error"]
        return error["data"]["code"]

    async def listen(self, *uris: str) -> "Ear":
        """Hear of every list, and of these resources."""
        if self.peer.era == OLD:
            for uri in uris:
                await self.result("resources/subscribe", {"uri": uri})
            sent = headers(OLD, accept="text/event-stream", **self.peer.more)
            return Ear(await self.peer.client.ask("GET", "/mcp", sent))
        wanted: dict[str, Any] = {f"{which}ListChanged": True for which in LISTS}
        if uris:
            wanted["resourceSubscriptions"] = list(uris)
        ear = Ear(await self.peer.ask("subscriptions/listen", {"notifications": wanted}, 50))
        await ear.next()
        return ear


class Ear:
    def __init__(self, answer: Answer) -> None:
        self._answer = answer

    async def next(self) -> str:
        """What the next notification is of, a list or a URI."""
        message = await self._answer.frame()
        method: str = message["method"]
        return message["params"].get("uri") or method.removeprefix("notifications/").removesuffix("/list_changed")


async def caller(client: Client, cell: Cell) -> Caller:
    peer = Peer(client, era_of(cell))
    return Caller(await peer.session() if peer.era == OLD else peer)


@asynccontextmanager
async def calling(cell: Cell, agent: Agent) -> AsyncGenerator[tuple[Attached, Caller]]:
    async with gateway_with(agent) as there, connect(there.app) as client:
        yield there, await caller(client, cell)


@proves("agent.own-resources")
@on_the_gateway
async def test_every_agent_tells_of_itself_whether_it_is_attached_or_not(cell: Cell):
    """gateway.md 51, §6: the same under `beeos://`."""
    agent = Agent("bench", version="2", description="Digs.")

    @agent.tool
    def dig(depth: int) -> str:
        """Dig a hole."""
        return f"{depth} deep"

    @agent.tool(expose=False)
    def hide() -> None:
        """Not for callers."""

    async with calling(cell, agent) as (there, client):
        listed = [each["uri"] for each in (await client.result("resources/list"))["resources"]]
        for attached in (True, False):
            if not attached:
                there.links.close()
                await there.offline()
            for scheme in ("toolwire", "beeos"):
                assert {f"{scheme}://agent/config", f"{scheme}://agent/skills"} <= set(listed)
                assert await client.read(f"{scheme}://agent/config") == {
                    "agent_id": there.agent_id,
                    "name": "bench",
                    "display_name": "bench",
                    "description": "Digs.",
                    "version": "2",
                    "visibility": "private",
                    "delivery_mode": "push",
                }
                [skill] = (await client.read(f"{scheme}://agent/skills"))["skills"]
                assert (skill["name"], skill["description"]) == ("dig", "Dig a hole.")
                assert skill["inputSchema"]["required"] == ["depth"]


@proves("agent.capabilities")
@on_the_gateway
async def test_an_agent_without_anything_has_empty_lists_and_completes_nothing(cell: Cell):
    """gateway.md 51; mcp.md S36."""
    async with calling(cell, Agent("bench")) as (_, client):
        opening = "server/discover" if client.peer.era == NEW else "initialize"
        said = await client.result(opening, {"protocolVersion": OLD, "capabilities": {}, "clientInfo": {}})
        assert {name for name in said["capabilities"] if name != "extensions"} == {*LISTS, "logging"}
        assert (await client.result("prompts/list"))["prompts"] == []
        assert (await client.result("resources/templates/list"))["resourceTemplates"] == []
        assert await client.code("completion/complete", {}) == "method_not_found"
        assert await client.code("prompts/get", {"name": "x"}) == "invalid_param"
        assert await client.code("resources/read", {"uri": "x://y"}) == "resource_not_found"


@proves("agent.offline")
@on_the_gateway
async def test_an_agent_that_is_away_still_has_its_lists_and_what_it_registered_with_contents(cell: Cell):
    """gateway.md §6: only what the agent itself must answer is `agent_offline`. It speaks the plain contract here."""
    async with calling(cell, Agent("bench")) as (there, client):
        there.links.close()
        await there.offline()
        await there.gateway.agents.sync(there.agent_id, HELD)
        names = [each["name"] for each in (await client.result("resources/list"))["resources"]]
        assert names[:3] == ["text", "octets", "one"]
        [text] = (await client.result("resources/read", {"uri": "held://text"}))["contents"]
        assert text == {"uri": "held://text", "mimeType": "text/plain", "text": "kept"}
        [octets] = (await client.result("resources/read", {"uri": "held://octets"}))["contents"]
        assert octets["blob"] == "AAE="
        said = await client.result("prompts/get", {"name": "hello"})
        assert (said["description"], said["messages"][0]["content"]["text"]) == ("d", "hi")
        assert await client.code("prompts/get", {"name": "hello", "arguments": {"a": "b"}}) == "invalid_param"
        ref = {"ref": {"type": "ref/prompt", "name": "asked"}, "argument": {"name": "a", "value": ""}}
        for method, params in (
            ("resources/read", {"uri": "asked://one"}),
            ("resources/read", {"uri": "asked://7"}),
            ("prompts/get", {"name": "asked", "arguments": {"a": "b"}}),
            ("completion/complete", ref),
        ):
            assert await client.code(method, params) == "agent_offline"
        assert await client.code("resources/read", {"uri": "asked://a/b"}) == "resource_not_found"


@proves("agent.offline")
@on_the_gateway
async def test_a_link_that_breaks_takes_its_questions_with_it(cell: Cell):
    agent = Agent("bench")
    begun, ended = anyio.Event(), anyio.Event()

    @agent.resource("slow://one")
    async def slow() -> str:
        begun.set()
        try:
            await anyio.sleep_forever()
        finally:
            ended.set()
        return ""

    async with calling(cell, agent) as (there, client):
        reading = client.peer.start("resources/read", {"uri": "slow://one"})
        with anyio.fail_after(5):
            await begun.wait()
            there.links.close()
            await ended.wait()
            await reading.started.wait()
        error = (await reading.message())["error"]
        assert (error["data"]["code"], error["data"]["retryable"]) == ("agent_offline", True)


@proves("agent.lists-changed")
@on_the_gateway
async def test_a_registration_that_differs_is_told_and_the_same_one_is_not(cell: Cell):
    agent = Agent("bench")

    @agent.resource("one://a")
    def one() -> str:
        return "a"

    async with calling(cell, agent) as (there, client):
        ear = await client.listen("toolwire://agent/skills", "one://a")
        there.links.cut()  # the agent comes again, as the same
        await there.attached_again()
        agent.prompt(name="late")(one)
        assert await ear.next() == "prompts"
        agent.tool(name="late")(one)
        assert [await ear.next(), await ear.next()] == ["tools", "toolwire://agent/skills"]
        agent.resource("late://b")(one)
        assert await ear.next() == "resources"
        assert (await client.result("resources/read", {"uri": "late://b"}))["contents"][0]["text"] == "a"


@proves("agent.lists-changed")
@on_the_gateway
async def test_contents_that_a_registration_changes_are_told_to_who_subscribed(cell: Cell):
    async with calling(cell, Agent("bench")) as (there, client):
        await there.gateway.agents.sync(there.agent_id, HELD)
        ear = await client.listen("held://text", "toolwire://agent/config")
        entry = {**HELD.resources[0], "text": "new"}
        changed = Registration(
            "other", skills=HELD.skills, resources=(entry, *HELD.resources[1:]), prompts=HELD.prompts
        )
        await there.gateway.agents.sync(there.agent_id, changed)
        assert {await ear.next(), await ear.next()} == {"toolwire://agent/config", "held://text"}
        assert (await client.read("toolwire://agent/config"))["display_name"] == "other"


@proves("agent.restart")
@on_the_gateway
async def test_after_a_restart_of_the_gateway_a_question_waits_for_the_agent(cell: Cell, tmp_path: Path):
    agent = Agent("bench")

    @agent.resource("one://a")
    def one() -> str:
        return "a"

    async with gateway_with(agent, tmp_path) as before:
        before.links.close(GOING_AWAY)
        await before.offline()
    async with reopened(before, tmp_path) as there, connect(there.app) as http:
        client = await caller(http, cell)
        reading = client.peer.start("resources/read", {"uri": "one://a"})
        await anyio.wait_all_tasks_blocked()
        assert not reading.started.is_set()
        async with attach(agent, there):
            with anyio.fail_after(5):
                await reading.started.wait()
            assert (await reading.message())["result"]["contents"][0]["text"] == "a"
        await there.offline()
        assert await client.code("resources/read", {"uri": "one://a"}) == "agent_offline"


@proves("agent.asking")
@on_the_gateway
async def test_an_answer_reaches_the_agent_after_its_link_broke(cell: Cell):
    agent = Agent("bench")

    @agent.tool
    async def greet(ctx: Ctx) -> str:
        """Ask for a name."""
        said = await ctx.elicit("Who?", {"type": "object", "properties": {"name": {"type": "string"}}})
        return f"{said.content}"

    def answer(method: str, params: Any) -> Any:
        there.links.cut()
        return form(name="Ann")

    async with gateway_with(agent) as there, connect(there.app) as client:
        peer = Peer(client, era_of(cell))
        peer = await peer.session(ABLE) if peer.era == OLD else peer
        talk = Talk(cell, Server("bench"), Gate(), peer, None)
        assert await Asked(talk, answer, ABLE).text("greet") == "{'name': 'Ann'}"


@proves("agent.bad-answer")
@on_the_gateway
@pytest.mark.parametrize(
    ("method", "params", "answers"),
    [
        (
            "resources/read",
            {"uri": "asked://one"},
            [None, {}, {"contents": "x"}, {"contents": [{"uri": "a"}]}, {"contents": [{"uri": "a", "blob": "?"}]}],
        ),
        ("prompts/get", {"name": "asked", "arguments": {}}, [{}, {"messages": [{"role": "user"}]}]),
        (
            "completion/complete",
            {"ref": {"type": "ref/prompt", "name": "asked"}, "argument": {"name": "a", "value": ""}},
            [{}, {"completion": {"values": [1]}}],
        ),
    ],
)
async def test_an_answer_that_is_none_is_said_to_be_that(cell: Cell, method: str, params: Any, answers: list[Any]):
    """gateway.md D17; the agent is somebody's own program on the link."""
    async with calling(cell, Agent("bench")) as (there, client):
        there.links.close()
        await there.offline()
        async with there.links.wire() as wire:
            await wire.say(Hello(1, "journal_1", HELD, answers=True))
            await wire.hear()
            for answer in answers:
                asking = client.peer.start(method, params)
                ask = await wire.hear()
                assert isinstance(ask, Ask)
                assert ask.method == method
                await wire.say(Answered(ask.ref, answer))
                with anyio.fail_after(5):
                    await asking.started.wait()
                assert (await asking.message())["error"]["data"]["code"] == "invalid_agent_response"
