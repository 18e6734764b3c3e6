"""Clients that come back after the gateway was restarted: their calls have records (ARCHITECTURE.md 4; mcp.md 1.2)."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.interaction.bench import OLD, SSE_ONLY, Gate, Peer
from tests.interaction.gateways import OWNER, Attached
from tests.interaction.requirements import HTTP_2025, proves
from tests.interaction.test_resume import back, steps_of, text_of
from tests.interaction.transport import Answer, connect
from toolwire.agent import Agent
from toolwire.agent.attach import Target, attached
from toolwire.agent.journal import MemoryJournal
from toolwire.agent.worker import Worker
from toolwire.config import Config
from toolwire.gateway.host import open_gateway
from toolwire.sdk import ToolContext, tool


def agent_with(gate: Gate) -> Agent:
    @tool
    async def quick(ctx: ToolContext) -> str:
        """Be done at once."""
        await ctx.progress("half", 1, 2)
        return "done"

    @tool
    async def hold() -> str:
        """Wait until it is let go."""
        await gate.hold()
        return "held"

    return Agent("worker", tools=(quick, hold))


class Place:
    """A gateway that can be started again, its agent, and its agent's keys once it has them."""

    def __init__(self, data: Path, worker: Worker) -> None:
        self._data = data
        self._worker = worker
        self._keys: tuple[str, str, str] | None = None

    @asynccontextmanager
    async def open(self, session: str = "") -> AsyncGenerator[Peer]:
        """Start it and give a client of it, which has this session or a new one."""
        async with open_gateway(Config(data=str(self._data))) as gateway:
            if self._keys is None:
                record = await gateway.agents.create(OWNER, "worker")
                _, agent_key = await gateway.keys.create("agk", OWNER, record.agent_id)
                _, bak = await gateway.keys.create("bak", OWNER, record.agent_id)
                self._keys = record.agent_id, agent_key, bak
            there = Attached(gateway, *self._keys)
            target = Target("in-process", "", grace_s=1)
            async with attached(self._worker, there.links.open, target), connect(there.app) as client:
                peer = Peer(client, OLD, accept=SSE_ONLY)
                yield Peer(client, OLD, accept=SSE_ONLY, mcp_session_id=session) if session else await peer.session()


@asynccontextmanager
async def place(data: Path) -> AsyncGenerator[tuple[Place, Gate]]:
    gate = Gate()
    async with agent_with(gate).worker(MemoryJournal()) as worker:
        yield Place(data, worker), gate


async def primed(answer: Answer) -> str:
    """The id with which a stream begins."""
    frame = await answer.raw_frame()
    assert frame is not None
    return frame.split("\n")[0].removeprefix("id: ")


@proves("resume.restart")
async def test_an_answer_that_was_missed_is_there_after_a_restart(tmp_path: Path):
    async with place(tmp_path) as (site, _):
        async with site.open() as peer:
            answer = await peer.ask("tools/call", {"name": "quick", "_meta": {"progressToken": 1}}, "id")
            *told, last = await answer.frames()
            assert steps_of(told) == [1]
        for _ in range(2):
            async with site.open(peer.more["mcp_session_id"]) as again:
                [repeat] = await (await back(again, answer.ids[0])).frames()
                assert repeat == last
                assert (await back(again, answer.ids[-1])).status == 204


@proves("resume.restart")
async def test_a_call_that_outlasts_a_restart_is_answered_by_who_comes_back(tmp_path: Path):
    async with place(tmp_path) as (site, gate):
        async with site.open() as peer:
            answer = await peer.ask("tools/call", {"name": "hold"}, "id", idempotency_key="order-7")
            id_ = await primed(answer)
            await gate.until(entered=1)
        async with site.open(peer.more["mcp_session_id"]) as again:
            waiting = await back(again, id_)
            gate.release.set()
            [last] = await waiting.frames()
            assert (last["id"], text_of(last)) == ("id", "held")


@proves("resume.own", HTTP_2025)
@pytest.mark.parametrize("field", ["session", "principal"])
async def test_a_call_of_before_a_restart_is_told_to_nobody_else(tmp_path: Path, field: str):
    async with place(tmp_path) as (site, _):
        async with site.open() as peer:
            answer = await peer.ask("tools/call", {"name": "quick"}, "id")
            await answer.frames()
        async with site.open() as other:
            more: dict[str, Any] = {} if field == "session" else {"mcp_session_id": ""}
            assert (await back(other, answer.ids[0], **more)).status == 400


@proves("resume.bounded", HTTP_2025)
async def test_of_a_call_without_a_record_nobody_pretends_to_know(tmp_path: Path):
    async with place(tmp_path) as (site, _):
        async with site.open() as peer:
            answer = await peer.ask("tools/call", {"name": "nothing"}, "id")
            [error] = await answer.frames()
            assert error["error"]["code"] == -32601
        async with site.open(peer.more["mcp_session_id"]) as again:
            [told] = await (await back(again, answer.ids[0])).frames()
            assert (told["id"], told["error"]["data"]["code"]) == ("id", "outcome_unknown")
            with anyio.fail_after(5):
                await again.call("quick")
