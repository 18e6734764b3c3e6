"""Remote connections on the loop thread, used from other loops (sdk.md 52; S35)."""

import math
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from tests.unit.providers.remote_rig import child, ignore, our_server
from toolwire.core.call import Call
from toolwire.core.event import Event, Progress
from toolwire.sdk import ToolContext, tool
from toolwire.sdk.options import ToolPlace
from toolwire.sdk.remote.servers import McpConfigError, McpHttpServerSpec, McpServerSpec, RemoteServers
from toolwire.sdk.remote.tools import CALLER


@asynccontextmanager
async def on_the_loop_thread(spec: McpServerSpec | McpHttpServerSpec) -> AsyncGenerator[RemoteServers]:
    servers = RemoteServers(lambda _alias: spec)
    try:
        yield servers
    finally:
        with anyio.fail_after(20):
            await servers.aclose()


def place(*aliases: str) -> ToolPlace:
    return ToolPlace("task-1", Path(), aliases)


def call_of(name: str) -> Call:
    return Call("call_1", CALLER, name, {"a": 1, "b": 2}, math.inf)


def calc() -> McpServerSpec:
    server = child("ours.py")
    return McpServerSpec("calc", server.argv, cwd=server.cwd)


@pytest.mark.both_backends
async def test_a_client_on_any_loop_calls_the_tools_and_hears_of_progress():
    async with on_the_loop_thread(calc()) as servers:
        with anyio.fail_after(20):
            (entry,) = (await servers.turn(place("calc"))).tools
            events: list[Event] = []
            result = await entry.tool.handler(call_of(entry.tool.name), events.append)

        assert result.structured == {"sum": 3}
        assert events == [Progress(1, 2, "adding")]


def test_a_connection_outlives_the_loop_that_asked_for_it(tmp_path: Path):
    """A synchronous program may run one loop after another."""
    notes = tmp_path / "notes"
    server = child("hostile.py", "plain", str(notes))
    servers = RemoteServers(lambda alias: McpServerSpec(alias, server.argv, cwd=server.cwd))

    first = anyio.run(servers.turn, place("far"))
    second = anyio.run(servers.turn, place("far"), backend="trio")
    anyio.run(servers.aclose)

    assert [entry.tool.name for entry in first.tools] == [entry.tool.name for entry in second.tools]
    assert notes.read_text().count("start") == 1
    assert notes.read_text().endswith("end\n")


async def test_a_cancelled_call_is_cancelled_on_the_server():
    begun, stopped = anyio.Event(), anyio.Event()

    @tool
    async def wait(ctx: ToolContext) -> None:
        """Wait for ever."""
        begun.set()
        try:
            await anyio.sleep_forever()
        finally:
            stopped.set()

    async with our_server(wait) as (server, _), on_the_loop_thread(McpHttpServerSpec("far", server.url)) as servers:
        with anyio.fail_after(20):
            (entry,) = (await servers.turn(place("far"))).tools

            async def call() -> None:
                await entry.tool.handler(call_of(entry.tool.name), ignore)

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(call)
                await begun.wait()
                tasks.cancel_scope.cancel()
            await stopped.wait()


async def test_errors_come_over():
    async with on_the_loop_thread(McpServerSpec("far", ("no-such-program-anywhere",))) as servers:
        with anyio.fail_after(20):
            (skipped,) = (await servers.turn(place("far"))).skipped

    assert "cannot be started" in skipped.reason


async def test_without_the_extra_one_line_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("importlib.util.find_spec", dict[str, object]().get)
    async with on_the_loop_thread(calc()) as servers:
        with pytest.raises(McpConfigError, match=r"^the MCP client is not installed; install it with: pip install"):
            await servers.turn(place("calc"))


async def test_closed_servers_say_so():
    servers = RemoteServers(lambda _alias: calc())
    await servers.turn(place("calc"))
    await servers.aclose()

    with pytest.raises(RuntimeError, match="were closed"):
        await servers.turn(place("calc"))


async def test_servers_that_were_never_used_close_at_once():
    await RemoteServers().aclose()
