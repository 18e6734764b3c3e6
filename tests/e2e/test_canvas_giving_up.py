"""An agent's client that gives up: the card hears of it, the arrow's log has it (cards.md 34, 58; §6.1, 5).

On 2025-11-25 a client says so; on 2026-07-28 it closes the stream of its request, as a client that dies does.
"""

from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.e2e.canvas_hosts import Host, running_host
from tests.e2e.running import eventually
from tests.e2e.test_python_card import write_card

pytestmark = pytest.mark.e2e

PATIENCE_S = 30.0
TOOL = "test_radar_run_tests"

WAITING = """
from pathlib import Path

from toolwire.card import Card

card = Card()


@card.tools.handle("run_tests")
async def run_tests(arguments, call):
    call.progress("begun")
    cancelled = await call.signal
    with Path({told!r}).open("a") as told:
        told.write(f"{{cancelled.code}}: {{cancelled.reason}}\\n")


card.run()
"""


async def log_of(host: Host, path: str) -> list[dict[str, Any]]:
    [arrow] = (await host.ask("GET", path))["arrows"]
    return (await host.ask("GET", f"{path}/arrows/{arrow['id']}/log"))["calls"]


@pytest.mark.parametrize("by_way_of", [None, "toolwire_call_tool"])
@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
async def test_a_card_hears_that_its_agent_gave_up(tmp_path: Path, mode: str, by_way_of: str | None) -> None:
    told = tmp_path / "told.txt"
    name, arguments = by_way_of or TOOL, dict[str, Any]()
    if by_way_of is not None:
        arguments = {"name": TOOL, "arguments": arguments}
    async with running_host(tmp_path) as host:
        agent, _, path = await host.desk(write_card(tmp_path / "radar", WAITING.format(told=str(told))))
        headers = {"authorization": f"Bearer {agent['agent_key']}"}
        begun = anyio.Event()

        async def hear(progress: float, total: float | None, message: str | None) -> None:
            assert message == "begun"
            begun.set()

        async with (
            httpx2.AsyncClient(headers=headers, timeout=60, trust_env=False) as http,
            Client(streamable_http_client(agent["toolbox_url"], http_client=http), mode=mode) as client,
        ):
            with anyio.fail_after(PATIENCE_S):
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(lambda: client.call_tool(name, arguments, progress_callback=hear))
                    await begun.wait()
                    tasks.cancel_scope.cancel()
                await eventually(lambda: told.exists() and told.read_text() != "")
            assert told.read_text().startswith("cancelled: ")
            [logged] = await log_of(host, path)
            assert (logged["tool"], logged["status"], logged["progress"]) == (TOOL, "cancelled", "begun")
            assert len((await client.list_tools()).tools) >= 3
