"""An agent of the SDK on the canvas: its toolbox is `Options(toolbox=…)`, and follows its arrows turn by turn."""

import json
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.e2e.canvas_hosts import running_host
from tests.e2e.test_python_card import write_card
from toolwire.sdk import AsyncClient, Options, Toolbox
from toolwire.sdk.events import EventEnvelope
from toolwire.sdk.messages import LLMRequest, LLMResponse, TextBlock, ToolResultBlock, ToolUseBlock
from toolwire.sdk.testing import FakeLLMProvider

pytestmark = pytest.mark.e2e

RUN_TESTS = "test_radar_run_tests"
PROPERTIES = {"filter": {"type": "string"}}


def tool_of(name: str, **more: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": PROPERTIES}
    return {"name": name, "description": "Runs the tests.", "inputSchema": schema, **more}


def model() -> FakeLLMProvider:
    """A model that calls the tool when it is told to run the tests, and only looks at its tools otherwise."""

    async def answer(request: LLMRequest) -> LLMResponse:
        block = request.messages[-1].content[0]
        if isinstance(block, TextBlock) and "run" in block.text:
            called = ToolUseBlock(f"use_{len(request.messages)}", RUN_TESTS, {"filter": "who"})
            return LLMResponse("tool_use", [called])
        return LLMResponse("end_turn", [TextBlock("done")])

    return FakeLLMProvider(responder=answer)


def offered(provider: FakeLLMProvider) -> set[str]:
    """The tools that the model was shown last, without those that are always there."""
    names = {shown["function"]["name"] for shown in provider.received_requests[-1].tools}
    assert {"toolwire_list_tools", "toolwire_call_tool"} <= names
    return {name for name in names if not name.startswith("toolwire_")}


def last_result(provider: FakeLLMProvider) -> ToolResultBlock:
    block = provider.received_requests[-1].messages[-1].content[0]
    assert isinstance(block, ToolResultBlock)
    return block


def asked_for(events: list[EventEnvelope]) -> list[Any]:
    return [event.payload for event in events if event.type == "ToolCallApprovalRequested"]


async def test_a_turn_has_what_the_arrows_grant_when_it_begins(tmp_path: Path):
    """Issue, item 10; cards.md 2, 5, 32."""
    async with running_host(tmp_path) as host:
        agent, _, path = await host.desk(write_card(tmp_path / "radar"))
        (arrow,) = (await host.ask("GET", path))["arrows"]
        provider = model()
        options = Options(
            "You test things.",
            model="m",
            allowed_tools=(),
            toolbox=Toolbox(agent["toolbox_url"], agent["agent_key"]),
            can_use_tool=lambda name, arguments: True,
        )
        async with AsyncClient(options, provider=provider, workspace_dir=tmp_path) as client:
            first = await client.start(goal="run the tests")
            assert offered(provider) == {RUN_TESTS}
            assert json.loads(str(last_result(provider).output))["agent"] == "writer"
            (asked,) = asked_for(await client.events(first.task_id))
            assert (asked.tool_name, asked.rule) == (RUN_TESTS, "risk:medium")

            async def look_until(names: set[str]) -> None:
                """The host tells of a change in a moment, and a turn goes by what has been told."""
                with anyio.fail_after(20):
                    while offered(provider) != names:
                        await client.send_goal(first.task_id, goal="look at your tools")

            await host.ask("DELETE", f"{path}/arrows/{arrow['id']}")
            await look_until(set())
            await host.ask("POST", f"{path}/arrows", {"source": arrow["source"], "target": arrow["target"]})
            await look_until({RUN_TESTS})
            await client.send_goal(first.task_id, goal="run them again")
            assert last_result(provider).success is True


async def test_a_tool_that_was_accepted_as_read_only_runs_without_being_asked_for(tmp_path: Path):
    """Decision 36."""
    async with running_host(tmp_path) as host:
        card = write_card(tmp_path / "radar", tools=[tool_of("run_tests", readOnly=True)])
        agent, _, _ = await host.desk(card)
        provider = model()
        options = Options("x", model="m", allowed_tools=(), toolbox=Toolbox(agent["toolbox_url"], agent["agent_key"]))
        async with AsyncClient(options, provider=provider, workspace_dir=tmp_path) as client:
            outcome = await client.start(goal="run the tests")
            assert asked_for(await client.events(outcome.task_id)) == []
        assert json.loads(str(last_result(provider).output))["agent"] == "writer"
