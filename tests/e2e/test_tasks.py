"""Tasks of a gateway that is killed, and of an agent that is (mcp.md 1.4; ARCHITECTURE.md, after a crash)."""

import signal
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.running import Host, Process, eventually

pytestmark = pytest.mark.e2e

VERSION = "2026-07-28"
META: dict[str, Any] = {
    "io.modelcontextprotocol/protocolVersion": VERSION,
    "io.modelcontextprotocol/clientCapabilities": {"extensions": {"io.modelcontextprotocol/tasks": {}}},
}
WORKER = """
from pathlib import Path
import anyio
from toolwire.agent import Agent

agent = Agent("worker")

@agent.tool(task="optional")
async def work(n: int) -> str:
    with Path("begun.log").open("a") as log:
        log.write(f"{n}\\n")
    while not Path("go").exists():
        await anyio.sleep(0.02)
    return f"done {n}"
"""


class Client:
    """An MCP client of 2026-07-28 that knows tasks."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._path = f"/{host.attached('worker')}/mcp"

    def ask(self, method: str, routed: str, /, **params: Any) -> Any:
        headers = {
            "authorization": f"Bearer {self._host.ready.owner_key}",
            "mcp-protocol-version": VERSION,
            "mcp-method": method,
            "mcp-name": routed,
        }
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": META}}
        return self._host.client.post(self._path, json=body, headers=headers).json()

    def begin(self, n: int) -> str:
        """A call that becomes a task; its id."""
        return self.ask("tools/call", "work", name="work", arguments={"n": n})["result"]["taskId"]

    def look(self, task_id: str) -> Any:
        return self.ask("tasks/get", task_id, taskId=task_id)["result"]


def begun(folder: Path) -> list[int]:
    log = folder / "begun.log"
    return sorted(int(line) for line in log.read_text().split()) if log.exists() else []


async def test_tasks_are_known_and_go_on_when_the_gateway_was_killed(tmp_path: Path):
    (tmp_path / "worker.py").write_text(WORKER)
    numbers = list(range(20))
    with Host(tmp_path) as first, Process(["agent", "run", "worker"], tmp_path):
        tasks = {n: Client(first).begin(n) for n in numbers}
        await eventually(lambda: begun(tmp_path) == numbers)
        first.stop(signal.SIGKILL)
        with Host(tmp_path, port=first.port) as second:
            client = Client(second)
            assert {client.look(task_id)["status"] for task_id in tasks.values()} == {"working"}
            (tmp_path / "go").touch()
            await eventually(lambda: all(client.look(task_id)["status"] == "completed" for task_id in tasks.values()))
            texts = {n: client.look(task_id)["result"]["content"][0]["text"] for n, task_id in tasks.items()}
            assert texts == {n: f"done {n}" for n in numbers}
            second.stop(signal.SIGKILL)
        with Host(tmp_path, port=first.port) as third:
            client = Client(third)
            assert {client.look(task_id)["status"] for task_id in tasks.values()} == {"completed"}
    assert begun(tmp_path) == numbers


async def test_a_task_whose_agent_was_killed_fails_and_says_that_the_agent_is_lost(tmp_path: Path):
    (tmp_path / "worker.py").write_text(WORKER)
    with Host(tmp_path, env={"TOOLWIRE_DELIVERY_LEASE_S": "0.5"}) as host:
        with Process(["agent", "run", "worker"], tmp_path) as agent:
            client = Client(host)
            task_id = client.begin(1)
            await eventually(lambda: begun(tmp_path) == [1])
            agent.stop(signal.SIGKILL)
        await eventually(lambda: client.look(task_id)["status"] != "working")
        task = client.look(task_id)
        assert (task["status"], task["error"]["data"]["code"]) == ("failed", "agent_lost")
        assert "result" not in task


async def test_a_task_of_a_short_life_is_forgotten_in_time(tmp_path: Path):
    (tmp_path / "worker.py").write_text(WORKER)
    times = {"TOOLWIRE_TASK_TIMEOUT_S": "0.5", "TOOLWIRE_TASK_TTL_S": "1", "TOOLWIRE_HISTORY_TTL_S": "0.1"}
    with Host(tmp_path, env=times) as host, Process(["agent", "run", "worker"], tmp_path):
        client = Client(host)
        task_id = client.begin(1)
        await eventually(lambda: client.look(task_id)["status"] == "failed")
        assert client.look(task_id)["error"]["data"]["code"] == "service_timeout"
        await eventually(lambda: "error" in client.ask("tasks/get", task_id, taskId=task_id))
        assert client.ask("tasks/get", task_id, taskId=task_id)["error"]["code"] == -32602
