"""Remote servers in an agent's turns: selection, permission, events (sdk.md 52-55, §3.7)."""

from pathlib import Path
from typing import Any

import pytest

from tests.unit.providers.remote_rig import child, our_server
from toolwire.sdk import tool
from toolwire.sdk.async_client import AsyncClient
from toolwire.sdk.client import Client
from toolwire.sdk.events import EventEnvelope
from toolwire.sdk.messages import LLMResponse, TextBlock, ToolResultBlock, ToolUseBlock
from toolwire.sdk.options import HostConfig, Options
from toolwire.sdk.remote.servers import McpServerSpec, Toolbox
from toolwire.sdk.testing import FakeLLMProvider


def calling(name: str, **arguments: Any) -> FakeLLMProvider:
    return FakeLLMProvider(
        responses=[
            LLMResponse("tool_use", [ToolUseBlock("t1", name, arguments)]),
            LLMResponse("end_turn", [TextBlock("done")]),
        ]
    )


def known(alias: str) -> McpServerSpec | None:
    server = child("ours.py") if alias == "calc" else child("hostile.py", alias)
    return McpServerSpec(alias, server.argv, cwd=server.cwd)


def payloads(events: list[EventEnvelope], kind: str) -> list[Any]:
    return [event.payload for event in events if event.type == kind]


def result_of(provider: FakeLLMProvider) -> ToolResultBlock:
    block = provider.received_requests[-1].messages[-1].content[0]
    assert isinstance(block, ToolResultBlock)
    return block


def options_of(**more: Any) -> Options:
    return Options("x", model="m", allowed_tools=(), **more)


def yes(_name: str, _arguments: object) -> bool:
    return True


def test_an_enabled_servers_tool_asks_first_and_then_runs(tmp_path: Path):
    provider = calling("mcp__calc__add", a=1, b=2)
    host = HostConfig(mcp_server_resolver=known)
    options = options_of(can_use_tool=yes)
    with Client(options, provider=provider, workspace_dir=tmp_path, host_config=host) as client:
        outcome = client.start(goal="add", enabled_mcp=("calc",))
        events = client.events(outcome.task_id)

    assert result_of(provider).output == {"sum": 3}
    assert payloads(events, "McpProvenanceRecorded")[0].servers[0]["tools"] == ["mcp__calc__add"]
    assert payloads(events, "ToolCallApprovalRequested")[0].rule == "risk:medium"


def test_a_turn_that_enables_nothing_has_no_remote_tools(tmp_path: Path):
    provider = calling("mcp__calc__add", a=1, b=2)
    host = HostConfig(mcp_server_resolver=known)
    with Client(options_of(), provider=provider, workspace_dir=tmp_path, host_config=host) as client:
        outcome = client.start(goal="add")
        events = client.events(outcome.task_id)

    assert len(provider.received_requests[0].tools) == 0
    assert len(payloads(events, "ToolCallDenied")) == 1


async def test_a_dead_server_is_skipped_and_the_turn_goes_on(tmp_path: Path):
    provider = FakeLLMProvider(responses=[LLMResponse("end_turn", [TextBlock("done")])])
    host = HostConfig(mcp_server_resolver=known)
    async with AsyncClient(options_of(), provider=provider, workspace_dir=tmp_path, host_config=host) as client:
        outcome = await client.start(goal="x", enabled_mcp=("exit",))
        (skipped,) = payloads(await client.events(outcome.task_id), "McpServerSkipped")

    assert skipped.alias == "exit"
    assert "no licence for key" in skipped.reason
    assert outcome.wake_handle == "next-goal"


async def test_two_remote_tools_of_one_name_end_the_turn_naming_both(tmp_path: Path):
    """sdk.md 53: collisions fail fast."""
    provider = FakeLLMProvider(responses=[])
    host = HostConfig(mcp_server_resolver=known)
    async with AsyncClient(options_of(), provider=provider, workspace_dir=tmp_path, host_config=host) as client:
        outcome = await client.start(goal="x", enabled_mcp=("collision",))
        (failed,) = payloads(await client.events(outcome.task_id), "TaskFailed")

    assert "'a.b'" in failed.detail
    assert "'a_b'" in failed.detail


async def test_a_dying_server_is_a_failed_result_that_the_model_reads(tmp_path: Path):
    provider = calling("mcp__plain__die")
    host = HostConfig(mcp_server_resolver=known)
    options = options_of(permission_mode="bypassPermissions")
    async with AsyncClient(options, provider=provider, workspace_dir=tmp_path, host_config=host) as client:
        await client.start(goal="x", enabled_mcp=("plain",))

    block = result_of(provider)
    assert block.success is False
    assert "dying of a broken heart" in (block.error or "")


@pytest.mark.parametrize("by_url", [True, False])
async def test_a_toolbox_is_one_line(by_url: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    @tool
    async def shout(text: str) -> str:
        """Say it loudly."""
        return text.upper()

    monkeypatch.setenv("TOOLWIRE_AGENT_KEY", "agk_1")
    provider = calling("shout", text="hello")
    async with our_server(shout) as (server, seen):
        toolbox = server.url if by_url else Toolbox(server.url, "agk_1")
        options = options_of(toolbox=toolbox, can_use_tool=yes)
        async with AsyncClient(options, provider=provider, workspace_dir=tmp_path) as client:
            await client.start(goal="x")

    assert result_of(provider).output == "HELLO"
    assert {headers.get("authorization") for headers in seen.headers} == {"Bearer agk_1"}
