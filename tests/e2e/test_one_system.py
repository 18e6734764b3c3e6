"""An agent that a process attaches is the same agent on the canvas (issue, item 10)."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest

from tests.e2e.canvas_hosts import Moments, running_host
from tests.e2e.running import Process, toolwire
from tests.e2e.test_python_card import write_card

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


TESTER = """
import os

from toolwire.agent import Agent
from toolwire.sdk import LLMResponse, Options, TextBlock, Toolbox, ToolUseBlock
from toolwire.sdk.testing import FakeLLMProvider


def answer(request):
    last = request.messages[-1]
    if last.role == "tool":
        return LLMResponse("end_turn", [TextBlock(str(last.content[0].output or last.content[0].error))])
    return LLMResponse("tool_use", [ToolUseBlock("t1", "test_radar_run_tests", {"filter": "who"})])


agent = Agent.from_options(
    Options(
        system_prompt="You test.",
        name="writer",
        allowed_tools=(),
        permission_mode="bypassPermissions",
        toolbox=Toolbox(os.environ["TOOLBOX_URL"]),
    ),
    provider=FakeLLMProvider(responder=answer),
)
"""


async def test_an_attached_agent_of_the_sdk_uses_its_own_toolbox_with_the_one_key_it_has(tmp_path: Path):
    """The message comes by the gateway, the tool by the arrow; both show, one on the card and one on the arrow."""
    (tmp_path / "tester.py").write_text(TESTER)
    async with running_host(tmp_path) as host:
        agent, _, path = await host.desk(write_card(tmp_path / "radar"))
        (arrow,) = (await host.ask("GET", path))["arrows"]
        variables = {"TOOLBOX_URL": agent["toolbox_url"], "TOOLWIRE_AGENT_KEY": agent["agent_key"]}
        with Process(["agent", "run", "tester:agent"], tmp_path, variables) as running:
            await anyio.to_thread.run_sync(running.errors_say, "attached")
            call = partial(toolwire, "call", "writer", "message", "--args", '{"message": "run them"}', cwd=tmp_path)
            shown: list[dict[str, Any]] = []
            async with host.feed(path) as moments, anyio.create_task_group() as tasks:
                tasks.start_soon(anyio.to_thread.run_sync, call)
                while not shown or (shown[-1].get("card"), shown[-1]["status"]) != (agent["id"], "ok"):
                    shown += await calls_told(moments, 1)
            done = await anyio.to_thread.run_sync(call)
        assert json.loads(done.out)["agent"] == "writer"
        by_arrow = [moment for moment in shown if moment.get("arrow") == arrow["id"]]
        assert [moment["status"] for moment in by_arrow][-1] == "ok"
        assert {moment["tool"] for moment in by_arrow} == {"test_radar_run_tests"}
        assert {moment["tool"] for moment in shown if moment.get("card") == agent["id"]} == {"message"}
