"""gateway.md 27, D1-D5: many callers with one idempotency key are one execution, whatever happens to the gateway."""

import signal
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest

from tests.e2e.running import Host, Process, eventually

pytestmark = pytest.mark.e2e

CALLERS = 20
WORKER = """
from pathlib import Path
import anyio
from toolwire.agent import Agent

agent = Agent("worker")

@agent.tool
async def work(n: int) -> str:
    with Path("begun.log").open("a") as log:
        log.write(f"{n}\\n")
    while not Path("go").exists():
        await anyio.sleep(0.02)
    return f"done {n}"
"""


class Callers:
    """Twenty callers of one call, who try again until they are answered."""

    def __init__(self, host: Host) -> None:
        self._url = f"{host.ready.url}/{host.attached('worker')}/mcp"
        limits = httpx2.Limits(max_connections=CALLERS)
        headers = {"authorization": f"Bearer {host.ready.owner_key}"}
        self.http = httpx2.AsyncClient(headers=headers, timeout=30, limits=limits, trust_env=False)
        self.tries = 0
        self.answers: list[dict[str, Any]] = []

    async def call(self) -> None:
        arguments = {"n": 7, "idempotency_key": "user_7:q3"}
        params = {"name": "work", "arguments": arguments}
        request = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        while True:
            self.tries += 1
            try:
                answer = (await self.http.post(self._url, json=request)).json()
            except httpx2.TransportError:
                await anyio.sleep(0.05)  # the gateway is away: a caller tries again
                continue
            if "result" in answer:
                self.answers.append(answer["result"])
                return
            assert answer["error"]["data"]["retryable"] is True, answer
            await anyio.sleep(0.05)


def begun(folder: Path) -> list[str]:
    log = folder / "begun.log"
    return log.read_text().split() if log.exists() else []


@pytest.mark.parametrize("killed", [False, True], ids=["undisturbed", "killed"])
async def test_twenty_callers_with_one_key_are_one_execution_with_twenty_equal_answers(
    tmp_path: Path, killed: bool
) -> None:
    (tmp_path / "worker.py").write_text(WORKER)
    with Host(tmp_path) as first, Process(["agent", "run", "worker"], tmp_path):
        callers = Callers(first)
        async with callers.http, anyio.create_task_group() as tasks:
            for _ in range(CALLERS):
                tasks.start_soon(callers.call)
            await eventually(lambda: begun(tmp_path) == ["7"] and callers.tries >= CALLERS)
            if killed:
                first.stop(signal.SIGKILL)
                with Host(tmp_path, port=first.port) as second:
                    second.attached("worker")
                    (tmp_path / "go").touch()
                    await eventually(lambda: len(callers.answers) == CALLERS)
            else:
                (tmp_path / "go").touch()
        told = [(answer["content"], answer["_meta"]["toolwire/task_id"]) for answer in callers.answers]
    assert len(told) == CALLERS
    assert told == [told[0]] * CALLERS
    assert told[0][0] == [{"type": "text", "text": "done 7"}]
    assert begun(tmp_path) == ["7"]
