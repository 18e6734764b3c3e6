"""Lists of tools change as arrows are drawn and removed, and official clients hear of it (cards.md 2, 3, 5; §6.1, 2).

Each client asks for its list anew because it was told to, never because a test waits or asks it to.
"""

import json
import signal
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, TypeAlias

import anyio
import httpx2
import mcp_types as types
import pytest
from anyio.streams.buffered import BufferedByteReceiveStream
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.e2e.canvas_hosts import Host, running_host
from tests.e2e.test_python_card import write_card
from tests.interaction.node_clients import Talker, installed

pytestmark = pytest.mark.e2e

NextList: TypeAlias = Callable[[], Awaitable[list[str]]]
"""The names that a client sees after the next change, or at first; without the two that are always there."""
PATIENCE_S = 30.0
GRANTED = ["test_radar_run_tests"]


@pytest.fixture(scope="module")
def talker() -> Talker:
    return installed()


def granted(names: list[str]) -> list[str]:
    assert {"toolwire_list_tools", "toolwire_call_tool"} <= set(names)
    return [name for name in names if not name.startswith("toolwire_")]


async def draw_and_remove(host: Host, agent: dict[str, Any], package: str, path: str, next_list: NextList) -> None:
    """Change the agent's arrows, its packages' tools and its board; look at its list after each."""
    with anyio.fail_after(PATIENCE_S):
        assert await next_list() == []
        card = await host.ask("POST", f"{path}/cards", {"kind": "card", "package": package})
        arrow = await host.ask("POST", f"{path}/arrows", {"source": card["id"], "target": agent["id"]})
        assert await next_list() == GRANTED
        await host.ask("DELETE", f"{path}/arrows/{arrow['id']}")
        assert await next_list() == []
        await host.ask("POST", f"{path}/undo")
        assert await next_list() == GRANTED
        await host.ask("DELETE", f"{path}/cards/{card['id']}")
        assert await next_list() == []


@asynccontextmanager
async def placed(tmp_path: Path) -> AsyncGenerator[tuple[Host, dict[str, Any], str, str]]:
    """A host with an agent that nothing is joined to, a package, and the path of their workspace."""
    async with running_host(tmp_path) as host:
        agent, card, path = await host.desk(write_card(tmp_path / "radar"))
        await host.ask("DELETE", f"{path}/cards/{card['id']}")
        yield host, agent, card["package"], path


async def listed(client: Client) -> list[str]:
    return granted([tool.name for tool in (await client.list_tools(cache_mode="refresh")).tools])


@asynccontextmanager
async def listening_session(agent: dict[str, Any]) -> AsyncGenerator[NextList]:
    """The Python client on 2025-11-25: it hears of changes on the stream of its session."""
    send, told = anyio.create_memory_object_stream[None](16)
    hears = anyio.Event()

    async def on_message(message: Any) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            send.send_nowait(None)

    async def on_response(response: httpx2.Response) -> None:
        if response.request.method == "GET" and response.is_success:
            hears.set()

    hooks: Any = {"response": [on_response]}
    async with (
        send,
        told,
        connection(agent, event_hooks=hooks) as transport,
        Client(transport, mode="legacy", message_handler=on_message) as client,
    ):
        await hears.wait()
        send.send_nowait(None)

        async def next_list() -> list[str]:
            await told.receive()
            return await listed(client)

        yield next_list


@asynccontextmanager
async def subscription(agent: dict[str, Any]) -> AsyncGenerator[NextList]:
    """The Python client on 2026-07-28: it asks to be told."""
    async with (
        connection(agent) as transport,
        Client(transport, mode="2026-07-28") as client,
        client.listen(tools_list_changed=True) as news,
    ):
        first = [await listed(client)]

        async def next_list() -> list[str]:
            if first:
                return first.pop()
            async for _ in news:
                break
            return await listed(client)

        yield next_list


@asynccontextmanager
async def connection(agent: dict[str, Any], **settings: Any) -> AsyncGenerator[Any]:
    """What a client goes over to an agent's toolbox."""
    headers = {"authorization": f"Bearer {agent['agent_key']}"}
    async with httpx2.AsyncClient(headers=headers, timeout=60, trust_env=False, **settings) as http:
        yield streamable_http_client(agent["toolbox_url"], http_client=http)


@asynccontextmanager
async def typescript_client(command: list[str]) -> AsyncGenerator[NextList]:
    async with await anyio.open_process(command, stderr=None) as process:
        assert process.stdout is not None
        lines = BufferedByteReceiveStream(process.stdout)

        async def next_list() -> list[str]:
            return granted(json.loads(await lines.receive_until(b"\n", 100_000)))

        yield next_list
        assert process.stdin is not None
        await process.stdin.aclose()


@pytest.mark.parametrize("hearing", [listening_session, subscription])
async def test_the_python_client_sees_what_arrows_grant_as_they_change(
    tmp_path: Path, hearing: Callable[[dict[str, Any]], AbstractAsyncContextManager[NextList]]
) -> None:
    async with placed(tmp_path) as (host, agent, package, path), hearing(agent) as next_list:
        await draw_and_remove(host, agent, package, path, next_list)


@pytest.mark.parametrize(("client", "mode"), [("v1", "legacy"), ("v2", "legacy"), ("v2", "auto")])
async def test_a_typescript_client_sees_what_arrows_grant_as_they_change(
    talker: Talker, tmp_path: Path, client: str, mode: str
) -> None:
    async with placed(tmp_path) as (host, agent, package, path):
        command = talker.lists(client, mode, agent["toolbox_url"], agent["agent_key"])
        async with typescript_client(command) as next_list:
            await draw_and_remove(host, agent, package, path, next_list)


async def test_a_session_goes_on_over_a_restart_and_hears_of_arrows_drawn_after_it(tmp_path: Path) -> None:
    """The client comes back by itself; its session, its key and its address are as they were."""
    async with AsyncExitStack() as stack:
        async with placed(tmp_path) as (first, agent, package, path):
            next_list = await stack.enter_async_context(listening_session(agent))
            with anyio.fail_after(PATIENCE_S):
                assert await next_list() == []
            port = httpx2.URL(first.ready.url).port or 0
            first.process.stop(signal.SIGKILL)
        async with running_host(tmp_path, port) as second:
            card = await second.ask("POST", f"{path}/cards", {"kind": "card", "package": package})
            arrow = {"source": card["id"], "target": (await second.ask("GET", path))["cards"][0]["id"]}
            await second.ask("POST", f"{path}/arrows", arrow)
            with anyio.fail_after(PATIENCE_S):
                assert await next_list() == GRANTED
            await stack.aclose()
