"""`tools serve --proxy`: clients and servers of either revision reach each other through us (mcp.md §1)."""

import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import anyio
import pytest
from anyio.abc import TaskStatus
from mcp import Client, MCPError, StdioServerParameters, types
from pydantic import FileUrl

from tests.interaction.bench import Gate
from tests.interaction.cells import notes
from tests.proxy.proxies import behind, proxy_of
from tests.unit.providers.remote_rig import child, official_server
from toolwire.providers.remote_server import HttpServer, Protocol
from toolwire.sdk import ToolContext
from toolwire.server import ResourceUpdated, Server

MODES = {"auto": "2026-07-28", "legacy": "2025-11-25"}
each_client = pytest.mark.parametrize("mode", MODES)
each_server = pytest.mark.parametrize("protocol", MODES)
BETWEEN = {"meta"}
"""What one hop says of itself."""


def text(result: types.CallToolResult) -> str:
    [block] = result.content
    assert isinstance(block, types.TextContent)
    return block.text


Ask = Callable[[Client], Awaitable[Any]]

CALLS: list[tuple[str, dict[str, Any]]] = [
    ("echo", {"text": "hé"}),
    ("everything", {}),
    ("fail", {}),
    ("big", {"size": 10**5}),
]


@each_client
@each_server
async def test_an_official_server_answers_any_client_through_us_as_it_does_without_us(protocol: Protocol, mode: str):
    async with (
        official_server(protocol) as (place, _),
        proxy_of(place) as url,
        Client(url, mode=mode) as through,
        Client(place.url, mode=mode) as direct,
    ):
        assert through.protocol_version == direct.protocol_version == MODES[mode]
        assert through.server_info is not None
        assert (through.server_info.name, through.server_info.version) == ("official", "7")
        assert (await through.list_tools()).tools == (await direct.list_tools()).tools
        for name, arguments in CALLS:
            answers = [await client.call_tool(name, arguments) for client in (through, direct)]
            assert answers[0].model_dump(exclude=BETWEEN) == answers[1].model_dump(exclude=BETWEEN)


async def complete(client: Client) -> Any:
    ref = types.PromptReference(name="summary")
    return await client.complete(ref, {"name": "topic", "value": "t"}, {"style": "long"})


ANSWERED: dict[str, Ask] = {
    "resources/list": Client.list_resources,
    "resources/templates/list": Client.list_resource_templates,
    "prompts/list": Client.list_prompts,
    "resources/read": lambda client: client.read_resource("notes://7"),
    "resources/read of bytes": lambda client: client.read_resource("notes://picture"),
    "prompts/get": lambda client: client.get_prompt("review", {"uri": "notes://1"}),
    "completion/complete": complete,
}


@each_client
@each_server
async def test_what_is_no_tool_is_answered_as_without_us(protocol: Protocol, mode: str):
    async with (
        behind(notes(Gate()), protocol) as (url, own),
        Client(url, mode=mode) as through,
        Client(own, mode=mode) as direct,
    ):
        for ask in ANSWERED.values():
            answers = [await ask(client) for client in (through, direct)]
            assert answers[0].model_dump(exclude=BETWEEN) == answers[1].model_dump(exclude=BETWEEN)


REFUSED: dict[str, Ask] = {
    "no resource": lambda client: client.read_resource("notes://1000"),
    "an argument is missing": lambda client: client.get_prompt("summary", {}),
    "no prompt": lambda client: client.get_prompt("nothing", {}),
    "no tool": lambda client: client.call_tool("nothing", {}),
}


@each_client
@each_server
async def test_a_refusal_of_the_server_keeps_its_code(protocol: Protocol, mode: str):
    async with (
        behind(notes(Gate()), protocol) as (url, own),
        Client(url, mode=mode) as through,
        Client(own, mode=mode) as direct,
    ):
        for why, ask in REFUSED.items():
            codes: list[int] = []
            for client in (through, direct):
                with pytest.raises(MCPError) as refused:
                    await ask(client)
                codes.append(refused.value.code)
            assert codes[0] == codes[1], why


@dataclass
class Who:
    name: str


def asking() -> Server:
    server = Server("asking")

    @server.tool
    async def greet(ctx: ToolContext) -> str:
        """Greet."""
        answer = await ctx.elicit("Who are you?", Who)
        await ctx.progress("greeting", 1, 2)
        ctx.log.warning("nearly done")
        return answer.action if answer.content is None else f"hello {answer.content.name}"

    @server.tool
    async def think(ctx: ToolContext) -> str:
        """Think."""
        return (await ctx.sample("hm?")).text

    @server.tool
    async def where(ctx: ToolContext) -> str:
        """Say where."""
        return ",".join(root.uri for root in await ctx.roots())

    return server


@each_client
@each_server
async def test_what_a_server_asks_the_client_in_front_is_asked(protocol: Protocol, mode: str):
    """A server request on one wire, a result that needs input on the other, in all four pairs."""
    asked: list[str] = []
    steps: list[Any] = []

    async def fill_in(context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
        asked.append(params.message)
        return types.ElicitResult(action="accept", content={"name": "Ada"})

    async def sample(context: Any, params: types.CreateMessageRequestParams) -> types.CreateMessageResult:
        words = types.TextContent(type="text", text="deep")
        return types.CreateMessageResult(role="assistant", content=words, model="m")

    async def roots(context: Any) -> types.ListRootsResult:
        return types.ListRootsResult(roots=[types.Root(uri=FileUrl("file:///a"))])

    async def step(progress: float, total: float | None, message: str | None) -> None:
        steps.append((progress, total, message))

    async with behind(asking(), protocol) as (url, _):
        able = Client(url, mode=mode, elicitation_callback=fill_in, sampling_callback=sample, list_roots_callback=roots)
        async with able as client:
            assert text(await client.call_tool("greet", {}, progress_callback=step)) == "hello Ada"
            assert text(await client.call_tool("think", {})) == "deep"
            assert text(await client.call_tool("where", {})) == "file:///a"
            assert asked == ["Who are you?"]
            assert steps == [(1, 2, "greeting")]


@each_client
@each_server
async def test_a_client_that_cannot_be_asked_is_told_what_it_would_need(protocol: Protocol, mode: str):
    async with behind(notes(Gate()), protocol) as (url, _), Client(url, mode=mode) as client:
        with pytest.raises(MCPError) as refused:
            await client.call_tool("ask_back", {})

        needed: dict[str, Any] = {"sampling": {}, "elicitation": {"url": {}}}
        assert (refused.value.code, refused.value.data["requiredCapabilities"]) == (-32021, needed)


@each_client
@each_server
async def test_a_call_that_its_client_gives_up_is_cancelled_on_the_server(protocol: Protocol, mode: str):
    gate = Gate()
    server = Server("held")

    @server.tool
    async def hold() -> str:
        """Be held."""
        await gate.hold()
        return "let go"

    async with behind(server, protocol) as (url, _), Client(url, mode=mode) as client:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.call_tool, "hold")
            await gate.until(entered=1)
            tasks.cancel_scope.cancel()

        await gate.until(cancelled=1)


@each_client
async def test_a_server_by_hand_of_the_old_revision_is_reached_by_any_client(mode: str):
    async with proxy_of(child("hostile.py", "plain")) as url, Client(url, mode=mode) as client:
        assert [each.name for each in (await client.list_tools()).tools] == ["work", "change", "die", "hang", "pid"]
        assert text(await client.call_tool("work", {})) == "work"


@each_client
async def test_a_crash_in_a_call_is_told_and_the_next_call_has_a_new_process(mode: str):
    async with proxy_of(child("hostile.py", "plain")) as url, Client(url, mode=mode) as client:
        first = text(await client.call_tool("pid", {}))
        lost = await client.call_tool("die", {})

        assert lost.is_error
        assert "whether the call took effect is not known" in text(lost)
        assert "dying of a broken heart" in text(lost)
        assert text(await client.call_tool("pid", {})) != first


@each_client
@each_server
async def test_a_tool_that_appears_is_told_to_clients_and_can_be_called(protocol: Protocol, mode: str):
    heard = anyio.Event()

    async def hear(message: Any) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            heard.set()

    async with (
        official_server(protocol) as (place, _),
        proxy_of(place) as url,
        Client(url, mode=mode, message_handler=hear) as client,
        anyio.create_task_group() as tasks,
    ):
        if mode == "auto":
            await tasks.start(_listen, client, heard)
        await client.call_tool("grow", {})
        with anyio.fail_after(10):
            await heard.wait()

        assert text(await client.call_tool("extra", {})) == "new"
        tasks.cancel_scope.cancel()


async def _listen(client: Client, heard: anyio.Event, *, task_status: TaskStatus[None]) -> None:
    async with client.listen(tools_list_changed=True) as changes:
        task_status.started()
        async for _ in changes:
            heard.set()


@each_client
@each_server
@pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")
async def test_a_resource_that_a_client_watches_is_watched_on_the_server(protocol: Protocol, mode: str):
    server = notes(Gate())
    heard = anyio.Event()

    @server.tool
    def change() -> str:
        """Change a note."""
        server.tell(ResourceUpdated("notes://all"))
        return "changed"

    async def hear(message: Any) -> None:
        if isinstance(message, types.ResourceUpdatedNotification) and message.params.uri == "notes://all":
            heard.set()

    async with (
        behind(server, protocol) as (url, _),
        Client(url, mode=mode, message_handler=hear) as client,
        anyio.create_task_group() as tasks,
    ):
        if mode == "auto":
            await tasks.start(_watch, client, heard)
        else:
            await client.subscribe_resource("notes://all")  # pyright: ignore[reportDeprecated] -- the old wire has it
        with anyio.fail_after(20):
            while not heard.is_set():  # the server may be asked a moment later
                await client.call_tool("change")
        tasks.cancel_scope.cancel()


async def _watch(client: Client, heard: anyio.Event, *, task_status: TaskStatus[None]) -> None:
    async with client.listen(resource_subscriptions=["notes://all"]) as changes:
        task_status.started()
        async for _ in changes:
            heard.set()


@each_client
async def test_the_command_serves_a_server_that_a_command_starts_on_stdio(mode: str):
    inner = f"{sys.executable} -m tests.interaction.served"
    command = StdioServerParameters(
        command=sys.executable, args=["-m", "toolwire.cli.main", "tools", "serve", "--proxy", inner]
    )
    async with Client(command, mode=mode) as client:
        assert client.server_info is not None
        assert client.server_info.name == "bench"
        assert text(await client.call_tool("echo", {"text": "hé\n\u2028"})) == "hé\n\u2028"
        assert (await client.call_tool("echo", {"text": 7})).is_error


async def test_arguments_that_do_not_fit_never_reach_the_server():
    async with official_server() as (place, seen), proxy_of(place) as url, Client(url) as client:
        refused = await client.call_tool("echo", {"text": 7})

        assert text(refused) == "arguments of 'echo' do not fit its inputSchema: /text: must be a string, got 7"
        assert "tools/call" not in seen.methods


async def test_a_proxy_of_a_proxy_serves_the_same():
    async with (
        official_server() as (place, _),
        proxy_of(place) as url,
        proxy_of(HttpServer(url, protocol="legacy")) as outer,
        Client(outer) as client,
    ):
        assert text(await client.call_tool("echo", {"text": "hi"})) == "hi"
