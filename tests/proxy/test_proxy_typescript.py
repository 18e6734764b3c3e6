"""The official TypeScript clients and server, unmodified, with our proxy between them and others."""

from typing import Any

import pytest
from mcp import Client, types

from tests.interaction.bench import OLD
from tests.interaction.node_clients import Talker, installed
from tests.interaction.test_typescript_client import CLIENTS, check
from tests.interaction.uvicorns import open_site
from tests.proxy.proxies import proxy_of
from toolwire.providers.remote_server import HttpServer, Protocol, StdioServer


@pytest.fixture(scope="module")
def talker() -> Talker:
    return installed()


@pytest.mark.e2e
@pytest.mark.parametrize("protocol", ["auto", "legacy"])
@pytest.mark.parametrize(("client", "mode", "version"), CLIENTS)
async def test_a_typescript_client_sees_through_a_proxy_what_it_sees_without_one(
    talker: Talker, client: str, mode: str, version: str, protocol: Protocol
):
    async with open_site() as site, proxy_of(HttpServer(site.url, protocol=protocol)) as url:
        seen = await talker.talk(client, mode, [url])

        check(seen)
        assert (seen["version"], seen["problems"]) == (version, [])
        assert [told["progress"] for told in seen["progress"]] == [1, 2, 3]
        await site.gate.until(cancelled=1)


@pytest.mark.e2e
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_typescript_server_of_the_old_revision_is_reached_by_any_client(talker: Talker, mode: str):
    steps: list[float] = []

    async def fill_in(context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
        return types.ElicitResult(action="accept", content={"name": "Ada"})

    async def step(progress: float, total: float | None, message: str | None) -> None:
        steps.append(progress)

    async with (
        proxy_of(StdioServer(talker.server)) as url,
        Client(url, mode=mode, elicitation_callback=fill_in) as client,
    ):
        assert (client.protocol_version == OLD) == (mode == "legacy")
        assert client.session.instructions == "Read before you write."
        assert [each.name for each in (await client.list_tools()).tools] == ["echo", "ask", "steps"]
        said = [
            await client.call_tool("echo", {"text": "hé"}),
            await client.call_tool("ask"),
            await client.call_tool("steps", progress_callback=step),
        ]
        words = [block.text for each in said for block in each.content if isinstance(block, types.TextContent)]
        assert words == ["hé", "hello Ada", "done"]
        assert said[0].meta is not None
        assert said[0].meta["example.org/seen"] == "echo"
        assert steps == [1, 2, 3]
        [contents] = (await client.read_resource("note://1")).contents
        assert isinstance(contents, types.TextResourceContents)
        assert contents.text == "1"
