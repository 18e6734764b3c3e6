"""The official Python client, unmodified, with all that an agent's process offers through a real gateway."""

import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal

import anyio
import httpx2
import pytest
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPDeprecationWarning
from mcp.types import ElicitResult

from tests.e2e.running import STOP_LIMIT_S, Host, Process

pytestmark = pytest.mark.e2e

CURIOUS = """
from dataclasses import dataclass

from toolwire.agent import Agent, Ctx

agent = Agent("curious")


@dataclass
class Person:
    name: str


@agent.tool
async def greet(greeting: str, ctx: Ctx) -> str:
    "Greet whoever is there."
    said = await ctx.elicit("Who are you?", Person)
    return f"{greeting}, {said.content.name}!"


@agent.prompt
async def about(ctx: Ctx) -> str:
    said = await ctx.elicit("About whom?", Person)
    return f"Tell me about {said.content.name}."
"""
NOTES = Path(__file__).parents[2] / "docs_src" / "agent_library" / "tutorial001.py"
Mode = Literal["legacy", "2026-07-28"]
on_both_revisions = pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])


@asynccontextmanager
async def client_of(host: Host, agent_id: str, mode: Mode, **more: Any) -> AsyncGenerator[Client]:
    headers = {"authorization": f"Bearer {host.ready.owner_key}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=30, trust_env=False) as http,
        Client(
            streamable_http_client(f"{host.ready.url}/{agent_id}/mcp", http_client=http), mode=mode, **more
        ) as client,
    ):
        yield client


@on_both_revisions
async def test_the_python_client_reads_completes_and_is_prompted(host: Host, mode: Mode):
    """gateway.md 51, §6: a process of its own, on a link of its own."""
    logged: list[Any] = []

    async def log(params: Any) -> None:
        logged.append(params.data)

    with Process(["agent", "run", str(NOTES)], host.cwd):
        agent_id = host.attached("notes")
        async with client_of(host, agent_id, mode, logging_callback=log, log_level="info") as client:
            if mode == "legacy":
                with pytest.warns(MCPDeprecationWarning):
                    await client.set_logging_level("info")  # pyright: ignore[reportDeprecated] -- it is this wire's way
            uris = [str(each.uri) for each in (await client.list_resources()).resources]
            assert uris[:2] == ["notes://index", "clock://zone"]
            templates = (await client.list_resource_templates()).resource_templates
            assert [each.uri_template for each in templates] == ["notes://{number}"]
            read = await client.read_resource("notes://2")
            assert read.contents[0].model_dump()["text"] == "Call Ada."
            told = await client.read_resource("toolwire://agent/skills")
            assert "add_note" in told.contents[0].model_dump()["text"]
            assert [each.name for each in (await client.list_prompts()).prompts] == ["summary"]
            said = await client.get_prompt("summary", {"style": "long"})
            assert "a long summary" in said.messages[0].content.model_dump()["text"]
            ref: Any = {"type": "ref/resource", "uri": "notes://{number}"}
            found = await client.complete(ref, {"name": "number", "value": "2"})
            assert found.completion.values == ["2"]
            result = await client.call_tool("add_note", {"text": "Sleep."})
            assert result.content[0].model_dump()["text"] == "3"
    assert logged == ["note 3 was written"]


@on_both_revisions
async def test_what_the_agents_process_leaves_behind_is_still_there_when_it_is_gone(host: Host, mode: Mode):
    """gateway.md §6: a broken link is offline at once; the agent that comes again is asked again."""
    with Process(["agent", "run", str(NOTES)], host.cwd) as process:
        agent_id = host.attached("notes")
        async with client_of(host, agent_id, mode) as client:
            assert (await client.read_resource("notes://1")).contents
            process.stop(signal.SIGKILL)
            with anyio.fail_after(STOP_LIMIT_S):
                while (error := await failure_of(client, "notes://1")) is None:
                    pass
            assert error["code"] == "agent_offline"
            assert [each.name for each in (await client.list_prompts()).prompts] == ["summary"]
            assert (await client.read_resource("beeos://agent/config")).contents
            with Process(["agent", "run", str(NOTES)], host.cwd):
                assert host.attached("notes") == agent_id
                assert (await client.read_resource("notes://1")).contents


@on_both_revisions
async def test_a_tool_of_an_agents_process_asks_the_person_behind_the_client(host: Host, mode: Mode):
    """mcp.md 1.2: a request on the older wire, several rounds on the newer; the agent is written once."""
    (host.cwd / "curious.py").write_text(CURIOUS)
    asked: list[str] = []

    async def fill_in(_: Any, params: Any) -> ElicitResult:
        asked.append(params.message)
        return ElicitResult(action="accept", content={"name": "Ada"})

    with Process(["agent", "run", "curious:agent"], host.cwd):
        agent_id = host.attached("curious")
        async with client_of(host, agent_id, mode, elicitation_callback=fill_in) as client:
            result = await client.call_tool("greet", {"greeting": "Hello"})
            assert result.content[0].model_dump()["text"] == "Hello, Ada!"
            said = await client.get_prompt("about")
            assert said.messages[0].content.model_dump()["text"] == "Tell me about Ada."
        assert asked == ["Who are you?", "About whom?"]
        async with client_of(host, agent_id, mode) as client:
            with pytest.raises(MCPError) as refused:
                await client.call_tool("greet", {"greeting": "Hello"})
            assert refused.value.code == -32021


async def failure_of(client: Client, uri: str) -> Any:
    """The data of the error that reading ends with; `None` if it does not."""
    try:
        await client.read_resource(uri)
    except MCPError as error:
        return error.data
    return None
