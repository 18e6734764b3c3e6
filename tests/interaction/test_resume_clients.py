"""The official clients, unmodified, whose connection breaks in the middle of a call (mcp.md 1.2, resumability)."""

from urllib.parse import urlsplit

import anyio
import pytest
from mcp import Client

from tests.interaction.bench import Gate
from tests.interaction.breaking import Proxy, proxied
from tests.interaction.node_clients import Talker, installed
from tests.interaction.requirements import proves
from tests.interaction.uvicorns import Site, open_site

pytestmark = pytest.mark.e2e

PATIENCE_S = 30.0


@pytest.fixture(scope="module")
def talker() -> Talker:
    return installed()


def port_of(site: Site) -> int:
    port = urlsplit(site.url).port
    assert port is not None
    return port


async def break_then_let_go(proxy: Proxy, gate: Gate) -> None:
    """Break the connection once the tool is held, and let it go on while its client is away."""
    await gate.until(entered=1)
    await proxy.passed(b"notifications/progress")
    assert proxy.cut() >= 1
    gate.release.set()
    await gate.until(finished=1)


@proves("resume.clients")
async def test_the_python_client_comes_back_for_its_answer():
    heard: list[float] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append(progress)

    async with (
        open_site() as site,
        proxied(port_of(site)) as proxy,
        Client(f"http://127.0.0.1:{proxy.port}/mcp", mode="legacy") as client,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(break_then_let_go, proxy, site.gate)
        with anyio.fail_after(PATIENCE_S):
            result = await client.call_tool("tell_and_hold", progress_callback=hear)
        assert result.content[0].model_dump()["text"] == "done"
        assert (heard, site.gate.entered) == ([1, 2], 1)


@proves("resume.clients")
@pytest.mark.parametrize("kind", ["v1", "v2"])
async def test_a_typescript_client_comes_back_for_its_answer(talker: Talker, kind: str):
    async with open_site() as site, proxied(port_of(site)) as proxy, anyio.create_task_group() as tasks:
        tasks.start_soon(break_then_let_go, proxy, site.gate)
        seen = await talker.resume(kind, f"http://127.0.0.1:{proxy.port}/mcp", "tell_and_hold")
        assert (seen, site.gate.entered) == ({"told": [1, 2], "text": "done"}, 1)
