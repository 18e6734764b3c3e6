"""An agent that a process attaches is the same agent on the canvas (issue, item 10)."""

from functools import partial
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest

from tests.e2e.canvas_hosts import Moments, running_host
from tests.e2e.running import Process, toolwire

pytestmark = pytest.mark.e2e

AGENT = '''
from toolwire.agent import Agent, Ctx, ToolError

agent = Agent("greeter")


@agent.tool
async def greet(name: str, ctx: Ctx) -> str:
    """Greet somebody."""
    await ctx.progress(f"looking for {name}", 1, 2)
    if name == "nobody":
        raise ToolError("there is nobody to greet")
    return f"Hello, {name}!"
'''


async def calls_told(moments: Moments, statuses: int) -> list[dict[str, Any]]:
    """What is told of a call until it has ended in so many steps."""
    told: list[dict[str, Any]] = []
    with anyio.fail_after(30):
        while len(told) < statuses:
            moment = await moments.next()
            assert moment is not None
            if "call_id" in moment:
                told.append(moment)
    return told


async def test_a_gateway_call_shows_on_the_board_where_its_agent_stands(tmp_path: Path):
    (tmp_path / "greeter.py").write_text(AGENT)
    async with running_host(tmp_path) as host:
        with Process(["agent", "run", "greeter:agent"], tmp_path) as running:
            await anyio.to_thread.run_sync(running.errors_say, "attached")
            path = f"/workspaces/{(await host.ask('POST', '/workspaces', {'name': 'desk'}))['id']}"
            (greeter,) = [one for one in await host.ask("GET", "/agents") if one["name"] == "greeter"]
            body = {"kind": "agent", "agent_id": greeter["agent_id"]}
            card = await host.ask("POST", f"{path}/cards", body)
            async with host.feed(path) as moments:
                for name, end in (("Ada", "ok"), ("nobody", "error")):
                    arguments = f'{{"name": "{name}"}}'
                    call = partial(toolwire, "call", "greeter", "greet", "--args", arguments, cwd=tmp_path)
                    told: list[dict[str, Any]] = []
                    async with anyio.create_task_group() as tasks:
                        tasks.start_soon(anyio.to_thread.run_sync, call)
                        told += await calls_told(moments, 3)
                    begun, progress, ended = told
                    assert {moment["card"] for moment in (begun, progress, ended)} == {card["id"]}
                    assert (begun["tool"], begun["status"], begun["caller"]["name"]) == ("greet", "running", "gateway")
                    assert progress["progress"] == f"looking for {name}"
                    assert ended["status"] == end
                    assert "Hello" not in str(ended)
