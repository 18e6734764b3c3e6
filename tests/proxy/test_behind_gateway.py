"""A remote server behind the gateway: what is no tool, what changes, and what is logged reach any client."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from anyio.abc import TaskStatus
from mcp import Client, types
from mcp.client.streamable_http import streamable_http_client

from tests.interaction.bench import Gate
from tests.interaction.cells import notes
from tests.proxy.proxies import site_of
from tests.proxy.test_proxy import ANSWERED, BETWEEN, MODES, each_client, text
from tests.unit.gateway.remote_site import open_remote_site
from tests.unit.providers.spoken import tool as listed
from toolwire.client import AsyncClient
from toolwire.config import Config
from toolwire.gateway.host import open_gateway
from toolwire.sdk import ToolContext
from toolwire.server import ResourceUpdated, Server


@asynccontextmanager
async def behind_gateway(server: Server, folder: Path) -> AsyncGenerator[tuple[str, str, str]]:
    """`server` behind a gateway, as "far"; the URL of its endpoint there, the owner's key, and the server's own URL."""
    async with server.open() as served, site_of(served.app) as own, open_gateway(Config(data=str(folder))) as gateway:
        assert gateway.owner_key is not None
        async with site_of(gateway.app) as url:
            base = url.removesuffix("/mcp")
            async with AsyncClient(base, gateway.owner_key) as client:
                remote = await client.remotes.add("far", url=own)
            yield f"{base}/{remote.agent_id}/mcp", gateway.owner_key, own


@asynccontextmanager
async def client_of(url: str, key: str, mode: str, **more: Any) -> AsyncGenerator[Client]:
    async with (
        httpx2.AsyncClient(headers={"authorization": f"Bearer {key}"}, timeout=30) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode, **more) as client,
    ):
        yield client


@each_client
async def test_what_is_no_tool_is_answered_as_without_us(mode: str, tmp_path: Path):
    async with (
        behind_gateway(notes(Gate()), tmp_path) as (url, key, own),
        client_of(url, key, mode) as through,
        Client(own, mode=mode) as direct,
    ):
        assert through.protocol_version == MODES[mode]
        for what, ask in ANSWERED.items():
            answers = [(await ask(client)).model_dump(exclude=BETWEEN) for client in (through, direct)]
            if what == "resources/list":  # ours tell of the agent, too
                listed = answers[0]["resources"]
                answers[0]["resources"] = [each for each in listed if "://agent/" not in each["uri"]]
            assert answers[0] == answers[1], what


@each_client
@pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")
async def test_a_prompt_that_appears_waits_and_a_watched_resource_is_told_of(mode: str, tmp_path: Path):
    server = notes(Gate())
    heard, lists = anyio.Event(), anyio.Event()

    @server.tool
    def change() -> str:
        """Change a note."""
        server.tell(ResourceUpdated("notes://all"))
        return "changed"

    async def hear(message: Any) -> None:
        if isinstance(message, types.ResourceUpdatedNotification) and message.params.uri == "notes://all":
            heard.set()
        if isinstance(message, types.PromptListChangedNotification):
            lists.set()

    async with (
        behind_gateway(server, tmp_path) as (url, key, _),
        client_of(url, key, mode, message_handler=hear) as client,
        anyio.create_task_group() as tasks,
    ):
        if mode == "auto":
            await tasks.start(_listen, client, heard, lists)
        else:
            await client.subscribe_resource("notes://all")  # pyright: ignore[reportDeprecated] -- the old wire has it
        with anyio.fail_after(20):
            while not heard.is_set():  # the server may be asked a moment later
                await client.call_tool("change")

        before = (await client.list_prompts()).prompts
        server.prompt(late)
        base = url.rpartition("/mcp")[0].rpartition("/")[0]
        async with AsyncClient(base, key) as owner:
            with anyio.fail_after(20):
                while not (waiting := await owner.consents.list()):
                    await client.list_prompts()
            assert [(one.tool, one.kind) for one in waiting] == [("prompt:late", "new")]
            assert (await client.list_prompts()).prompts == before
            await owner.consents.answer(waiting[0].consent_id, accept=True)
        with anyio.fail_after(20):
            await lists.wait()
        assert {one.name for one in (await client.list_prompts()).prompts} - {one.name for one in before} == {"late"}
        tasks.cancel_scope.cancel()


def late() -> str:
    """Come late."""
    return "late"


async def _listen(client: Client, heard: anyio.Event, lists: anyio.Event, *, task_status: TaskStatus[None]) -> None:
    async with client.listen(resource_subscriptions=["notes://all"], prompts_list_changed=True) as changes:
        task_status.started()
        async for change in changes:
            (heard if "uri" in repr(change) else lists).set()


@pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")
async def test_what_a_server_logs_is_told_to_the_client_of_the_call(tmp_path: Path):
    server = Server("logging")
    logged: list[Any] = []
    told = anyio.Event()

    @server.tool
    async def work(ctx: ToolContext) -> str:
        """Work."""
        ctx.log.warning("nearly done")
        return "done"

    async def log(params: types.LoggingMessageNotificationParams) -> None:
        logged.append((params.level, params.data))
        told.set()

    async with (
        behind_gateway(server, tmp_path) as (url, key, _),
        client_of(url, key, "legacy", logging_callback=log) as client,
    ):
        await client.set_logging_level("info")  # pyright: ignore[reportDeprecated] -- the old wire has it
        assert text(await client.call_tool("work", {})) == "done"
        with anyio.fail_after(5):
            await told.wait()
        assert logged == [("warning", "nearly done")]


async def test_a_task_of_the_server_is_waited_for_by_a_client_without_tasks(tmp_path: Path):
    server = Server("tasks")

    @server.tool(task="required")
    async def dig() -> str:
        """Dig."""
        return "deep"

    async with behind_gateway(server, tmp_path) as (url, key, _), client_of(url, key, "auto") as client:
        assert text(await client.call_tool("dig", {})) == "deep"


async def test_what_a_tool_carries_for_programs_is_in_the_gateways_list(tmp_path: Path):
    async with open_remote_site(tmp_path) as site:
        site.far.tools[:] = [listed("dig", _meta={"example.com/view": "ui://dig"})]
        remote = await site.add()
        (shown,) = (await site.rpc(remote, "tools/list"))["result"]["tools"]
        assert shown["_meta"] == {"example.com/view": "ui://dig"}
