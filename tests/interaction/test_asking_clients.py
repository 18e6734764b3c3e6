"""The official Python client, unmodified, is asked on both wires, over HTTP and stdio."""

import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import mcp_types
import pytest
from mcp import Client, StdioServerParameters

from tests.conformance.everything import server
from tests.interaction.bench import ERAS, NEW, OLD
from tests.interaction.requirements import proves
from tests.interaction.uvicorns import open_site

pytestmark = pytest.mark.e2e

ROOT = Path(__file__).parents[2]
TOOLWIRE = str(Path(sys.executable).with_name("toolwire"))
MODES = {OLD: "legacy", NEW: NEW}
on_each = pytest.mark.parametrize(("era", "transport"), [(era, by) for era in ERAS for by in ("http", "stdio")])


async def elicit(context: Any, params: Any) -> mcp_types.ElicitResult:
    if params.mode == "url":
        return mcp_types.ElicitResult(action="accept")
    properties = params.requested_schema["properties"]
    content = {name: schema.get("default", "Ann") for name, schema in properties.items()}
    return mcp_types.ElicitResult(action="accept", content=content)


async def sample(context: Any, params: Any) -> mcp_types.CreateMessageResult:
    said = mcp_types.TextContent(type="text", text=f"{params.max_tokens} tokens")
    return mcp_types.CreateMessageResult(role="assistant", content=said, model="a-model")


async def roots(context: Any) -> mcp_types.ListRootsResult:
    return mcp_types.ListRootsResult.model_validate({"roots": [{"uri": "file:///home"}]})


@asynccontextmanager
async def connected(era: str, transport: str) -> AsyncGenerator[Client]:
    asks: dict[str, Any] = {
        "elicitation_callback": elicit,
        "sampling_callback": sample,
        "list_roots_callback": roots,
        "mode": MODES[era],
    }
    if transport == "stdio":
        command = ["tools", "serve", "tests.conformance.everything:server"]
        async with Client(StdioServerParameters(command=TOOLWIRE, args=command, cwd=ROOT), **asks) as client:
            yield client
    else:
        async with open_site(server) as site, Client(site.url, **asks) as client:
            yield client


async def said(client: Client, tool: str, **arguments: Any) -> str:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result
    return result.content[0].model_dump()["text"]


@proves("asking.clients")
@on_each
async def test_the_python_client_answers_each_kind_of_question(era: str, transport: str):
    async with connected(era, transport) as client:
        assert await said(client, "test_sampling", prompt="hi") == "LLM response: 100 tokens"
        assert "'username': 'Ann'" in await said(client, "test_elicitation", message="who?")
        assert "'score': 95.5" in await said(client, "test_elicitation_sep1034_defaults")
        assert "file:///home" in await said(client, "test_input_required_result_list_roots")


@proves("asking.clients")
@on_each
async def test_the_python_client_answers_several_rounds_and_several_questions(era: str, transport: str):
    async with connected(era, transport) as client:
        assert await said(client, "test_input_required_result_multi_round") == "{'name': 'Ann'} {'color': 'Ann'}"
        assert (await said(client, "test_input_required_result_multiple_inputs")).startswith("50 tokens")
        prompt = await client.get_prompt("test_input_required_result_prompt")
        assert prompt.messages[0].content.model_dump()["text"] == "Use this context: Ann"
