"""gateway.md 1H, 54, §6: an SDK agent behind the gateway that asks, as its callers and its owner see it."""

import json
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest

from tests.interaction.answering import ABLE, Asked, form
from tests.interaction.bench import NEW, OLD, Gate, Peer
from tests.interaction.cells import Talk, era_of
from tests.interaction.gateways import OWNER, Attached, attach, gateway_with, reopened
from tests.interaction.requirement import Cell
from tests.interaction.test_tasks_of_agents import Client
from tests.interaction.transport import connect
from tests.unit.gateway.hooked import open_receiver
from tests.unit.gateway.test_routes_calls import Site
from toolwire import Server
from toolwire.agent import Agent
from toolwire.agent.attach import Target, attached, open_journal
from toolwire.agent.journal import MemoryJournal
from toolwire.config import Config
from toolwire.gateway.host import open_gateway
from toolwire.sdk import (
    HostConfig,
    LLMRequest,
    LLMResponse,
    Options,
    TextBlock,
    ToolContext,
    ToolUseBlock,
    tool,
)
from toolwire.sdk.testing import FakeLLMProvider

PLACE = {"type": "object", "properties": {"place": {"type": "string"}}, "required": ["place"]}


@tool(risk_level="high")
def send_mail(to: str) -> str:
    """Send a mail."""
    return f"sent to {to}"


@tool
async def locate(ctx: ToolContext) -> str:
    """Ask where."""
    said = await ctx.elicit("Where?", PLACE)
    return str(said.content)


@tool
async def sign_in(ctx: ToolContext) -> str:
    """Have somebody sign in."""
    visit = await ctx.elicit_url("Please sign in.", "https://id.example.com/", sign_in=True)
    return "signed in" if visit.accepted else "not signed in"


def acting(request: LLMRequest) -> LLMResponse:
    """Use the tool that the message names, and say what came of it."""
    last: Any = request.messages[-1]
    if last.role == "tool":
        block = last.content[0]
        return LLMResponse("end_turn", [TextBlock(str(block.output or f"no: {block.error}"))])
    name, _, to = last.text.partition(" ")
    use = ToolUseBlock(f"t{len(request.messages)}", name, {"to": to} if to else {})
    return LLMResponse("tool_use", [use])


def mailer(storage: Path | None = None, **more: Any) -> Agent:
    options = Options(system_prompt="You help.", name="mailer", allowed_tools=(send_mail, locate, sign_in))
    host = None if storage is None else HostConfig(storage_path=storage)
    return Agent.from_options(options, provider=FakeLLMProvider(responder=acting), host_config=host, **more)


@asynccontextmanager
async def site_of(agent: Agent, data: Path | None = None) -> AsyncGenerator[Site]:
    async with gateway_with(agent, data) as there, site_at(there) as site:
        yield site


@asynccontextmanager
async def site_at(there: Attached) -> AsyncGenerator[Site]:
    transport = httpx2.ASGITransport(there.gateway.app)
    async with httpx2.AsyncClient(transport=transport, base_url="http://localhost", timeout=30) as client:
        yield Site(there, client)


async def begin(site: Site, message: str, **more: Any) -> str:
    return (await site.ask("POST", "/tasks", {"message": message, **more}, 202))["task_id"]


async def test_a_task_that_waits_for_an_approval_says_so_and_continue_answers_it():
    """gateway.md 54, §6 (REST)"""
    async with site_of(mailer()) as site:
        task_id = await begin(site, "send_mail ada")
        task = await site.until(task_id, "input_required")
        [question] = task["questions"]
        assert question["method"] == "elicitation/create"
        assert question["params"]["message"].startswith('The agent asks for approval of send_mail {"to":"ada"}')
        about = question["params"]["_meta"]["toolwire/approval"]
        assert (about["tool"], about["arguments"]) == ("send_mail", {"to": "ada"})
        assert question["params"]["requestedSchema"]["properties"]["decision"]["enum"] == ["approve", "deny"]
        listed = await site.ask("GET", "/tasks?status=input_required")
        assert [one["task_id"] for one in listed["tasks"]] == [task_id]

        answers = {question["key"]: {"action": "accept", "content": {"decision": "approve"}}}
        await site.ask("POST", f"/tasks/{task_id}/continue", {"answers": answers})
        ended = await site.until(task_id, "completed", "failed")
        assert ended["result"]["text"] == "sent to ada"
        assert "questions" not in ended


async def test_who_follows_a_task_hears_what_it_asks():
    """gateway.md 54, §6 (REST)"""
    async with site_of(mailer()) as site, anyio.create_task_group() as tasks:
        task_id = await begin(site, "send_mail ada")
        told: list[str] = []

        async def follow() -> None:
            told.append((await site.send("GET", f"/tasks/{task_id}/events")).text)

        tasks.start_soon(follow)
        task = await site.until(task_id, "input_required")
        await decide(site, task, {"deny": True})
        await site.until(task_id, "completed")
        with anyio.fail_after(10):
            while not told:
                await anyio.lowlevel.checkpoint()
        assert '"type":"input_required","questions":[{"key":"approve_' in told[0]


async def test_a_no_and_other_arguments_are_answers_too():
    async with site_of(mailer()) as site:
        for content, text in (
            ({"decision": "deny", "reason": "not her"}, "no: not her"),
            ({"decision": "approve", "arguments": {"to": "bob"}}, "sent to bob"),
        ):
            task_id = await begin(site, "send_mail ada")
            [question] = (await site.until(task_id, "input_required"))["questions"]
            answers = {question["key"]: {"action": "accept", "content": content}}
            await site.ask("POST", f"/tasks/{task_id}/continue", {"answers": answers})
            assert (await site.until(task_id, "completed"))["result"]["text"] == text


async def test_an_answer_that_does_not_fit_is_refused_and_the_question_stays():
    async with site_of(mailer()) as site:
        task_id = await begin(site, "send_mail ada")
        [question] = (await site.until(task_id, "input_required"))["questions"]
        answers = {question["key"]: {"action": "accept", "content": {"decision": "perhaps"}}}
        refused = await site.ask("POST", f"/tasks/{task_id}/continue", {"answers": answers}, 400)
        assert refused["details"]["param"] == f"answers.{question['key']}"
        assert (await site.ask("GET", f"/tasks/{task_id}"))["status"] == "input_required"


async def test_the_owner_may_decide_on_the_channel_and_nobody_else_is_asked_any_more():
    async with site_of(mailer()) as site:
        task_id = await begin(site, "send_mail ada")
        task = await site.until(task_id, "input_required")
        await decide(site, task, {"approve": True})
        assert (await site.until(task_id, "completed"))["result"]["text"] == "sent to ada"


async def test_an_agent_may_leave_approvals_to_the_owner_alone():
    async with site_of(mailer(callers_approve=False)) as site:
        task_id = await begin(site, "send_mail ada")
        with anyio.fail_after(10):
            while not (task := await site.ask("GET", f"/tasks/{task_id}")).get("progress"):
                await anyio.lowlevel.checkpoint()
            while "approval" not in (task := await site.ask("GET", f"/tasks/{task_id}"))["progress"]["message"]:
                await anyio.lowlevel.checkpoint()
        assert task["status"] == "running"
        await decide(site, task, {"deny": True, "reason": "no"})
        assert (await site.until(task_id, "completed"))["result"]["text"] == "no: no"


async def test_what_a_tool_of_the_agent_asks_is_asked_of_whoever_looks_after_the_task():
    """gateway.md 54: input_required, auth_required"""
    async with site_of(mailer()) as site:
        for message, status, answer, text in (
            ("locate", "input_required", {"action": "accept", "content": {"place": "here"}}, "{'place': 'here'}"),
            ("sign_in", "auth_required", {"action": "accept"}, "signed in"),
        ):
            task_id = await begin(site, message)
            [question] = (await site.until(task_id, status))["questions"]
            await site.ask("POST", f"/tasks/{task_id}/continue", {"answers": {question["key"]: answer}})
            assert (await site.until(task_id, "completed"))["result"]["text"] == text


async def test_a_sign_in_is_granted_on_the_channel():
    """gateway.md 1H: user.auth_grant"""
    async with site_of(mailer()) as site:
        task_id = await begin(site, "sign_in")
        task = await site.until(task_id, "auth_required")
        await decide(site, task, {}, "user.auth_grant")
        assert (await site.until(task_id, "completed"))["result"]["text"] == "signed in"


async def test_the_second_message_of_a_conversation_is_queued_while_the_first_one_asks():
    """gateway.md 53, 54: queued"""
    async with site_of(mailer()) as site:
        first = await begin(site, "send_mail ada")
        task = await site.until(first, "input_required")
        second = await begin(site, "send_mail bob", context_id=task["context_id"])
        assert (await site.ask("GET", f"/tasks/{second}"))["status"] == "queued"
        await decide(site, task, {"deny": True})
        await site.until(first, "completed")
        assert (await site.until(second, "input_required"))["questions"]


async def test_what_the_owner_says_while_the_link_is_down_is_heard_when_it_is_there_again():
    """gateway.md 1H: user.continue"""
    async with site_of(mailer()) as site:
        task_id = await begin(site, "send_mail ada")
        task = await site.until(task_id, "input_required")
        site.there.links.cut()
        await site.there.links.until(lambda: not site.there.links.served)
        published = await decide(site, task, {"approve": True})
        assert published["recipients"] == [site.there.agent_id]
        await site.there.attached_again()
        assert (await site.until(task_id, "completed"))["result"]["text"] == "sent to ada"


async def decide(site: Site, task: dict[str, Any], payload: Any, kind: str = "user.continue") -> Any:
    """Answer the question of a task as its owner, on the channel."""
    gateway = site.there.gateway
    _, owner_key = await gateway.keys.create("oag", OWNER)
    asked: list[Any] = []
    started = time.monotonic()
    while not asked and time.monotonic() < started + 10:
        messages = (await site.ask("GET", f"/tasks/{task['task_id']}/messages"))["messages"]
        asked = [row for row in messages if row["type"] == "agent.input_required"]
    draft = {"type": kind, "in_reply_to": asked[-1]["message_id"], "payload": payload}
    transport = httpx2.ASGITransport(gateway.app)
    async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as client:
        path = f"/api/v1/channels/{task['context_id']}/messages"
        answer = await client.post(path, json=draft, headers={"authorization": f"Bearer {owner_key}"})
        assert answer.status_code < 300, answer.text
        return answer.json()["data"]


async def test_webhooks_are_told_that_a_task_asks(tmp_path: Path):
    """gateway.md 32, X14"""
    settings: dict[str, Any] = {"webhook_allow_cidrs": ("127.0.0.1/32",)}
    async with (
        gateway_with(mailer(), tmp_path, **settings) as there,
        site_at(there) as site,
        open_receiver() as receiver,
    ):
        await begin(site, "send_mail ada", webhook={"url": receiver.url})
        assert json.loads((await receiver.next()).body)["status"] == "input_required"


@pytest.mark.parametrize("cell", [Cell.GATEWAY_2025, Cell.GATEWAY_2026])
@pytest.mark.parametrize(("decision", "said"), [("approve", "sent to ada"), ("deny", "no: not now")])
async def test_a_client_that_can_be_asked_is_asked_for_the_approval(cell: Cell, decision: str, said: str):
    """gateway.md 54; mcp.md 1.2"""
    async with gateway_with(mailer()) as there, connect(there.app) as http:
        era = era_of(cell)
        peer = Peer(http, era)
        peer = await peer.session(ABLE) if era == OLD else peer
        talk = Talk(cell, Server("mailer"), Gate(), peer, None)
        asked = Asked(talk, lambda _method, _params: form(decision=decision, reason="not now"))
        assert await asked.text("message", {"message": "send_mail ada"}) == said
        assert len(asked.questions) == 1
        _, method, params = asked.questions[0]
        assert method == "elicitation/create"
        assert params["message"].startswith('The agent asks for approval of send_mail {"to":"ada"}')


async def test_a_task_of_a_client_of_the_tasks_extension_asks():
    """mcp.md 1.4"""
    async with gateway_with(mailer()) as there, connect(there.app) as http, site_at(there) as site:
        client = Client(Peer(http, NEW))
        task_id = await begin(site, "send_mail ada")
        await site.until(task_id, "input_required")
        task = await client.look(task_id)
        [(key, request)] = task["inputRequests"].items()
        assert (task["status"], request["method"]) == ("input_required", "elicitation/create")
        await client.ask("tasks/update", taskId=task_id, inputResponses={key: form(decision="approve")})
        assert (await client.end_of(task_id))["result"]["content"][0]["text"] == "sent to ada"


@pytest.mark.parametrize("meanwhile", [False, True])
async def test_an_agent_that_is_started_again_goes_on_with_what_it_asks(tmp_path: Path, meanwhile: bool):
    """gateway.md §6 (a call that its agent took and lost): the journal that comes back goes on."""

    async def answer(site: Site, task: dict[str, Any]) -> None:
        [question] = task["questions"]
        answers = {question["key"]: form(decision="approve")}
        await site.ask("POST", f"/tasks/{task['task_id']}/continue", {"answers": answers})

    async with alone(tmp_path / "gateway") as there, site_at(there) as site:
        async with process(there, tmp_path):
            task_id = await begin(site, "send_mail ada")
            task = await site.until(task_id, "input_required")
        if meanwhile:
            await answer(site, task)
        async with process(there, tmp_path):
            if not meanwhile:
                assert (await site.until(task_id, "input_required"))["questions"] == task["questions"]
                await answer(site, task)
            assert (await site.until(task_id, "completed"))["result"]["text"] == "sent to ada"


async def test_a_gateway_that_is_started_again_asks_what_an_agent_still_asks(tmp_path: Path):
    """gateway.md D6: a durable call goes on over a restart."""
    agent, journal = mailer(tmp_path / "mailer.db"), MemoryJournal()
    data = tmp_path / "gateway"
    target = Target("in-process", "", grace_s=0)
    async with agent.worker(journal) as worker:
        async with alone(data) as there, site_at(there) as site, attached(worker, there.links.open, target):
            task_id = await begin(site, "send_mail ada")
            asked = await site.until(task_id, "input_required")
            there.links.close(1012)
        async with reopened(there, data) as again, site_at(again) as site, attached(worker, again.links.open, target):
            task = await site.until(task_id, "input_required")
            assert task["questions"] == asked["questions"]
            answers = {task["questions"][0]["key"]: form(decision="approve")}
            await site.ask("POST", f"/tasks/{task_id}/continue", {"answers": answers})
            assert (await site.until(task_id, "completed"))["result"]["text"] == "sent to ada"


@asynccontextmanager
async def alone(data: Path) -> AsyncGenerator[Attached]:
    """A gateway that knows an agent of which nothing is attached yet."""
    async with open_gateway(Config(data=str(data), rate_limit_per_minute=0)) as gateway:
        record = await gateway.agents.create(OWNER, "mailer")
        _, agent_key = await gateway.keys.create("agk", OWNER, record.agent_id)
        _, bak = await gateway.keys.create("bak", OWNER, record.agent_id)
        yield Attached(gateway, record.agent_id, agent_key, bak)


@asynccontextmanager
async def process(there: Attached, folder: Path) -> AsyncGenerator[None]:
    """A process of the agent, with its journal and its conversations on the disk, that dies at the end of the block."""
    journal = open_journal(folder / "mailer.journal")
    try:
        async with attach(mailer(folder / "mailer.db"), there, journal, grace_s=0):
            yield
    finally:
        await journal.close()
