"""The tools of remote MCP servers that behave, in both revisions over both transports (mcp.md §1, S35)."""

from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import anyio
import msgspec
import pytest

from tests.unit.providers.official import PIXEL, SOUND
from tests.unit.providers.remote_rig import call_of, child, ignore, official_server, our_server
from toolwire.core.errors import ServiceTimeout, ToolNotFound
from toolwire.core.event import Event, Progress
from toolwire.core.handler import Provider
from toolwire.core.result import Audio, Embedded, Image, Link, ResourceContents, Text
from toolwire.providers.remote import RemoteProvider, open_remote
from toolwire.providers.remote_server import HttpServer, Patience, Protocol, Server
from toolwire.providers.remote_values import grade
from toolwire.sdk import ToolContext, tool

REVISIONS: dict[Protocol, str] = {"auto": "2026-07-28", "legacy": "2025-11-25"}
both_revisions = pytest.mark.parametrize("protocol", REVISIONS)
both_transports = pytest.mark.parametrize("transport", ["stdio", "http"])


@tool
async def add(a: int, b: int, ctx: ToolContext) -> dict[str, int]:
    """Add two numbers."""
    ctx.progress("adding", 1, 2)
    return {"sum": a + b}


@asynccontextmanager
async def ours(transport: str, protocol: Protocol) -> AsyncGenerator[Server]:
    if transport == "stdio":
        yield child("ours.py", protocol=protocol)
        return
    async with our_server(add, protocol=protocol) as (server, _):
        yield server


@asynccontextmanager
async def official(transport: str, protocol: Protocol) -> AsyncGenerator[Server]:
    if transport == "stdio":
        yield child("official.py", protocol=protocol)
        return
    async with official_server(protocol) as (server, _):
        yield server


def connected(server: Server, patience: Patience | None = None) -> AbstractAsyncContextManager[RemoteProvider]:
    return open_remote(server, "far", patience)


@both_revisions
@both_transports
async def test_our_own_server_is_listed_and_called_in_both_revisions(transport: str, protocol: Protocol):
    async with ours(transport, protocol) as server, connected(server) as provider:
        events: list[Event] = []

        result = await provider.call(call_of("add", a=1, b=2), events.append)

        assert provider.about() == {"server": "ours", "version": "0", "protocol": REVISIONS[protocol]}
        assert [(each.name, each.source, each.risk_level) for each in provider.tools()] == [
            ("add", "mcp:far", "medium")
        ]
        assert (result.content, result.structured) == ((Text('{"sum":3}'),), {"sum": 3})
        assert events == [Progress(1, 2, "adding")]


@both_revisions
@both_transports
async def test_a_result_of_the_official_server_comes_whole(transport: str, protocol: Protocol):
    async with official(transport, protocol) as server, connected(server) as provider:
        result = await provider.call(call_of("everything"), ignore)

        assert result.content == (
            Text("words"),
            Image(data=PIXEL, mime_type="image/png"),
            Audio(data=SOUND, mime_type="audio/wav"),
            Embedded(resource=ResourceContents("file:///a.txt", "text/plain", "A")),
            Embedded(resource=ResourceContents("file:///b.bin", blob=SOUND)),
            Link(uri="file:///c.txt", name="c"),
        )
        assert result.structured == {"n": 1}
        assert result.error is None


@both_revisions
@both_transports
async def test_an_error_keeps_the_servers_words(transport: str, protocol: Protocol):
    """sdk.md 55: the reference tells only how long the text was."""
    async with official(transport, protocol) as server, connected(server) as provider:
        result = await provider.call(call_of("fail"), ignore)

        assert result.error is not None
        assert (result.error.code, result.error.message) == ("tool_failed", "the disk is full")


@both_revisions
@both_transports
async def test_ten_megabytes_arrive(transport: str, protocol: Protocol):
    async with official(transport, protocol) as server, connected(server) as provider:
        result = await provider.call(call_of("big", size=10_000_000), ignore)

        assert isinstance(result.content[0], Text)
        assert len(result.content[0].text) == 10_000_000


@both_revisions
async def test_ten_megabytes_arrive_as_one_json_body_too(protocol: Protocol):
    async with official_server(protocol, json_response=True) as (server, _), connected(server) as provider:
        result = await provider.call(call_of("big", size=10_000_000), ignore)

        assert isinstance(result.content[0], Text)
        assert len(result.content[0].text) == 10_000_000


@both_revisions
@both_transports
async def test_progress_is_relayed_in_order(transport: str, protocol: Protocol):
    async with official(transport, protocol) as server, connected(server) as provider:
        events: list[Event] = []

        await provider.call(call_of("steps"), events.append)

        assert events == [Progress(1, 2, "one"), Progress(2, 2, "two")]


@both_transports
async def test_a_list_is_asked_for_again_when_the_server_says_that_it_changed(transport: str):
    async with official(transport, "auto") as server, connected(server) as provider:
        assert "extra" not in [each.name for each in provider.tools()]

        await provider.call(call_of("grow"), ignore)

        with anyio.fail_after(5):
            while "extra" not in [each.name for each in await provider.current()]:
                await anyio.lowlevel.checkpoint()
        result = await provider.call(call_of("extra"), ignore)
        assert result.content[0] == Text("new")


@pytest.mark.parametrize(("protocol", "opening"), [("auto", "server/discover"), ("legacy", "initialize")])
async def test_one_connection_and_one_list_serve_all_calls(protocol: Protocol, opening: str):
    """S35: a proxy that opens a session for each call is a hundred times slower."""
    async with our_server(add, protocol=protocol) as (server, seen), connected(server) as provider:
        async with anyio.create_task_group() as tasks:
            for number in range(20):
                tasks.start_soon(provider.call, call_of("add", a=number, b=1), ignore)
        await provider.current()

        assert seen.methods.count(opening) == 1
        assert seen.methods.count("tools/list") == 1
        assert seen.methods.count("tools/call") == 20


async def test_a_list_without_notifications_is_asked_for_again_when_it_is_old():
    always = Patience(list_max_age_s=0)
    async with our_server(add) as (server, seen), connected(server, always) as provider:
        await provider.current()
        await provider.current()
        await provider.call(call_of("add", a=1, b=1), ignore)

        assert seen.methods.count("tools/list") == 3


async def test_an_unknown_tool_is_refused_without_asking_the_server():
    async with our_server(add) as (server, seen), connected(server) as provider:
        with pytest.raises(ToolNotFound, match="far has no tool 'subtract'"):
            await provider.call(call_of("subtract"), ignore)

        assert "tools/call" not in seen.methods


@both_revisions
async def test_a_call_that_takes_too_long_is_stopped_on_the_server(protocol: Protocol):
    begun, stopped = anyio.Event(), anyio.Event()

    @tool
    async def wait() -> None:
        """Wait for ever."""
        begun.set()
        try:
            await anyio.sleep_forever()
        finally:
            stopped.set()

    async with our_server(wait, protocol=protocol) as (server, _), connected(server, Patience(call_s=0.2)) as provider:
        with pytest.raises(ServiceTimeout, match=r"far did not answer 'wait' within 0\.2 s"):
            await provider.call(call_of("wait"), ignore)

        with anyio.fail_after(5):
            await stopped.wait()


@both_revisions
async def test_a_deadline_that_has_passed_is_a_time_out(protocol: Protocol):
    async with our_server(add, protocol=protocol) as (server, _), connected(server) as provider:
        with pytest.raises(ServiceTimeout):
            await provider.call(call_of("add", 1.0, a=1, b=1), ignore)


@both_revisions
async def test_a_cancelled_call_is_cancelled_on_the_server_and_the_connection_lives_on(protocol: Protocol):
    begun, stopped = anyio.Event(), anyio.Event()

    @tool
    async def wait() -> None:
        """Wait for ever."""
        begun.set()
        try:
            await anyio.sleep_forever()
        finally:
            stopped.set()

    async with our_server(add, wait, protocol=protocol) as (server, seen), connected(server) as provider:
        with anyio.fail_after(5):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(provider.call, call_of("wait"), ignore)
                await begun.wait()
                tasks.cancel_scope.cancel()
            await stopped.wait()

        result = await provider.call(call_of("add", a=1, b=2), ignore)
        assert result.structured == {"sum": 3}
        assert seen.methods.count("tools/list") == 1


async def test_headers_go_with_every_request_and_are_shown_nowhere():
    async with our_server(add) as (server, seen):
        secret = msgspec.structs.replace(server, headers=(("Authorization", "Bearer swordfish"),))
        async with connected(secret) as provider:
            await provider.call(call_of("add", a=1, b=2), ignore)

        assert {headers.get("authorization") for headers in seen.headers} == {"Bearer swordfish"}
        assert "swordfish" not in repr(secret)


async def test_nothing_is_connected_before_it_is_needed():
    async with anyio.create_task_group() as tasks:
        provider = RemoteProvider(HttpServer("http://127.0.0.1:9/mcp"), tasks, "far")
        as_any_other: Provider = provider

        assert (as_any_other.tools(), provider.about()) == ((), {})
        await provider.aclose()


@pytest.mark.parametrize(
    ("hints", "trusted", "level"),
    [
        (None, False, "medium"),
        (None, True, "medium"),
        ({"readOnlyHint": True}, False, "medium"),
        ({"readOnlyHint": True}, True, "low"),
        ({"readOnlyHint": False}, True, "medium"),
        ({"destructiveHint": True}, False, "high"),
        ({"destructiveHint": True, "readOnlyHint": True}, True, "high"),
        ({"destructiveHint": False}, True, "medium"),
    ],
)
def test_hints_raise_a_grade_and_only_a_trusted_server_lowers_one(
    hints: dict[str, bool] | None, trusted: bool, level: str
):
    """sdk.md §3.7: unknown risk means ask."""
    assert grade(hints, trusted) == level
