"""The official Python client, unmodified, in both revisions, over HTTP and stdio."""

import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
from mcp import Client, MCPError, StdioServerParameters

from tests.interaction.bench import ERAS, NEW, OLD, Gate
from tests.interaction.requirements import HTTP_2025, HTTP_2026, STDIO_2025, STDIO_2026, proves
from tests.interaction.transport import PATIENCE_S
from tests.interaction.uvicorns import open_site

pytestmark = pytest.mark.e2e

ROOT = Path(__file__).parents[2]
MODES = {OLD: "legacy", NEW: NEW}
TRANSPORTS = ("http", "stdio")


@asynccontextmanager
async def connected(transport: str, mode: str) -> AsyncGenerator[tuple[Client, Gate]]:
    """A client, and the gate of its server where that is in this process."""
    if transport == "stdio":
        command = StdioServerParameters(command=sys.executable, args=["-m", "tests.interaction.served"], cwd=ROOT)
        async with Client(command, mode=mode) as client:
            yield client, Gate()
    else:
        async with open_site() as site, Client(site.url, mode=mode) as client:
            yield client, site.gate


@proves("clients.python")
@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("era", ERAS)
async def test_the_python_client_lists_and_calls(transport: str, era: str):
    async with connected(transport, MODES[era]) as (client, _):
        assert client.protocol_version == era
        listed = await client.list_tools()
        assert [tool.name for tool in listed.tools][:2] == ["echo", "add"]
        said = await client.call_tool("echo", {"text": "hé\n"})
        assert not said.is_error
        assert said.content[0].model_dump()["text"] == "hé\n"
        assert (await client.call_tool("add", {"a": 2, "b": 40})).structured_content == {"sum": 42}


@proves("clients.python")
@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("era", ERAS)
async def test_the_python_client_sees_progress(transport: str, era: str):
    heard: list[tuple[float, float | None, str | None]] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append((progress, total, message))

    async with connected(transport, MODES[era]) as (client, _):
        result = await client.call_tool("steps", {"count": 3}, progress_callback=hear)
        assert result.content[0].model_dump()["text"] == "done"
    assert heard == [(1, 3, "step 1"), (2, 3, "step 2"), (3, 3, "step 3")]


@proves("clients.python")
@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("era", ERAS)
async def test_the_python_client_sees_each_kind_of_error(transport: str, era: str):
    async with connected(transport, MODES[era]) as (client, _):
        for name in ("fail", "crash", "echo"):
            assert (await client.call_tool(name)).is_error
        with pytest.raises(MCPError) as unknown:
            await client.call_tool("nothing")
        assert (unknown.value.code, unknown.value.data["code"]) == (-32602, "tool_not_found")
        with pytest.raises(MCPError):
            await client.list_resources()
        assert not (await client.call_tool("echo", {"text": "still here"})).is_error


@proves("clients.python", HTTP_2026, STDIO_2026)
@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_the_python_client_finds_the_newer_wire_by_itself(transport: str):
    async with connected(transport, "auto") as (client, _):
        assert client.protocol_version == NEW
        assert not (await client.call_tool("echo", {"text": "hi"})).is_error


@proves("clients.python", HTTP_2025, HTTP_2026)
@pytest.mark.parametrize("era", ERAS)
async def test_the_python_client_cancels_by_giving_up(era: str):
    async with connected("http", MODES[era]) as (client, gate):
        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(client.call_tool, "tell_and_hold")
                await gate.until(entered=1)
                scope.cancel()
        await gate.until(cancelled=1)
        assert not (await client.call_tool("echo", {"text": "still here"})).is_error


@proves("clients.python", STDIO_2025, STDIO_2026)
@pytest.mark.parametrize("era", ERAS)
async def test_the_python_client_goes_on_after_it_gave_up(era: str):
    async with connected("stdio", MODES[era]) as (client, _):
        begun = anyio.Event()

        async def hear(progress: float, total: float | None, message: str | None) -> None:
            begun.set()

        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(lambda: client.call_tool("tell_and_hold", progress_callback=hear))
                with anyio.fail_after(PATIENCE_S):
                    await begun.wait()
                scope.cancel()
        assert not (await client.call_tool("echo", {"text": "still here"})).is_error
