"""The gateway is killed in the middle of 200 calls with sessions, and started again.

ARCHITECTURE.md, "Durability classes", "Execution after a crash"; gateway.md §6, "A call that its agent took and lost".
"""

import signal
import sqlite3
from collections import Counter
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest

from tests.e2e.running import Host, Process, eventually

pytestmark = pytest.mark.e2e

CALLS, SESSIONS = 200, 20

WORKER = """
import os
from pathlib import Path
import anyio
from toolwire.agent import Agent

agent = Agent("worker")

@agent.tool
async def work(n: int) -> str:
    with Path("ran.log").open("a") as log:
        log.write(f"{n}\\n")
    await anyio.sleep(0.3)
    return f"done {n}"
"""


class Caller:
    """An MCP client of protocol 2025-11-25 with many sessions, which keeps what it was answered."""

    def __init__(self, url: str, key: str) -> None:
        limits = httpx2.Limits(max_connections=CALLS)
        headers = {"authorization": f"Bearer {key}", "mcp-protocol-version": "2025-11-25"}
        self.http = httpx2.AsyncClient(headers=headers, timeout=60, limits=limits, trust_env=False)
        self.url = url
        self.sessions: list[str] = []
        self.answers: dict[int, dict[str, Any]] = {}

    async def open_sessions(self) -> None:
        params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        for _ in range(SESSIONS):
            request = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}
            self.sessions.append((await self.http.post(self.url, json=request)).headers["mcp-session-id"])

    async def call(self, n: int) -> None:
        """One call, in its session, under a key if `n` is even; nothing is kept when the gateway goes away."""
        arguments: dict[str, Any] = {"n": n}
        if n % 2 == 0:
            arguments["idempotency_key"] = f"user_7:call {n}"
        request = {
            "jsonrpc": "2.0",
            "id": n,
            "method": "tools/call",
            "params": {"name": "work", "arguments": arguments},
        }
        session = {"mcp-session-id": self.sessions[n % SESSIONS]}
        try:
            answer = (await self.http.post(self.url, json=request, headers=session)).json()
        except httpx2.TransportError:
            return
        assert answer["id"] == n
        assert n not in self.answers
        self.answers[n] = answer


def ran(folder: Path) -> list[int]:
    log = folder / "ran.log"
    return [int(line) for line in log.read_text().split()] if log.exists() else []


def open_calls(folder: Path) -> int:
    with sqlite3.connect(f"file:{folder / '.toolwire' / 'toolwire.db'}?mode=ro", uri=True) as database:
        (count,) = database.execute("SELECT count(*) FROM records WHERE kind = 'open_call'").fetchone()
    database.close()
    return count


async def test_nothing_runs_twice_and_no_call_is_left_open(tmp_path: Path):
    (tmp_path / "worker.py").write_text(WORKER)
    with Host(tmp_path) as first, Process(["agent", "run", "worker"], tmp_path) as agent:
        url = f"{first.ready.url}/{first.attached('worker')}/mcp"
        caller = Caller(url, first.ready.owner_key)
        async with caller.http:
            await caller.open_sessions()
            async with anyio.create_task_group() as calls:
                for n in range(CALLS):
                    calls.start_soon(caller.call, n)
                await eventually(lambda: len(ran(tmp_path)) >= CALLS * 0.6)
                first.stop(signal.SIGKILL)
            answered = dict(caller.answers)
            assert 0 < len(answered) < CALLS

            with Host(tmp_path, port=first.port) as second:
                second.attached("worker")
                async with anyio.create_task_group() as calls:
                    for n in range(0, CALLS, 2):
                        if n not in answered:
                            calls.start_soon(caller.call, n)
                await eventually(lambda: not open_calls(tmp_path))
                assert second.stop() == 0
        assert agent.stop() == 0

    assert [n for n, times in Counter(ran(tmp_path)).items() if times > 1] == []
    texts = {n: caller.answers[n]["result"]["content"][0]["text"] for n in caller.answers}
    assert texts == {n: f"done {n}" for n in {*answered, *range(0, CALLS, 2)}}
    assert set(texts) <= set(ran(tmp_path))


async def test_what_a_killed_agent_had_taken_is_lost_and_not_run_again(tmp_path: Path):
    """The agent took the calls and nobody knows how far they came: they are lost, and a retry runs none."""
    (tmp_path / "worker.py").write_text(WORKER.replace("0.3", "60"))
    with Host(tmp_path, env={"TOOLWIRE_DELIVERY_LEASE_S": "0.5"}) as host:
        with Process(["agent", "run", "worker"], tmp_path) as agent:
            caller = Caller(f"{host.ready.url}/{host.attached('worker')}/mcp", host.ready.owner_key)
            async with caller.http:
                await caller.open_sessions()
                async with anyio.create_task_group() as calls:
                    for n in range(4):
                        calls.start_soon(caller.call, n)
                    await eventually(lambda: len(ran(tmp_path)) == 4)
                    agent.stop(signal.SIGKILL)
                codes = {n: answer["error"]["data"]["code"] for n, answer in caller.answers.items()}
                assert codes == dict.fromkeys(range(4), "agent_lost")

                with Process(["agent", "run", "worker"], tmp_path):
                    host.attached("worker")
                    retried = Caller(caller.url, host.ready.owner_key)
                    retried.sessions = caller.sessions
                    async with retried.http:
                        await retried.call(2)
                    assert retried.answers[2]["error"]["data"]["code"] == "outcome_unknown"
        assert sorted(ran(tmp_path)) == [0, 1, 2, 3]
        assert open_calls(tmp_path) == 0
