"""A disk that takes nothing more, under a real process: what needs it is refused, the rest goes on, and it recovers.

The disk is made to fail by the limit on file sizes that a process has (`prlimit`), which needs no rights and can be
lifted again. What happens when SQLite itself finds the disk full is in tests/contracts/test_sqlite.py.
"""

import json
import resource
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.faults import Faulty, RawAgent, code, faulty_agent
from tests.e2e.running import Host, eventually

pytestmark = pytest.mark.e2e

LIMIT_BYTES = 16 * 1024


@asynccontextmanager
async def no_room(host: Host) -> AsyncGenerator[None]:
    """While the block lasts, no file of the host grows beyond a limit that its database has reached.

    What little the store's redo log still takes is kept; the block begins when the database has refused it.
    """
    pid = host.ready.pid
    assert (Path(host.ready.data) / "toolwire.db-wal").stat().st_size > LIMIT_BYTES
    _, hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (LIMIT_BYTES, hard))
    try:
        await eventually(lambda: host.client.get("/readyz").status_code == 503)
        yield
    finally:
        with suppress(ProcessLookupError):
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (hard, hard))


async def test_without_a_disk_plain_calls_are_answered_and_promises_are_not_given(tmp_path: Path):
    """ARCHITECTURE §2, durability classes; gateway.md D16: no path, no traceback; §6: nothing of it takes the key."""
    with faulty_agent(tmp_path) as faulty:
        host = faulty.host
        async with no_room(host):
            for number in range(20):
                assert faulty.text("echo", {"text": str(number)}) == str(number)
            refused: list[Any] = [
                faulty.call("echo", {"text": "x", "idempotency_key": "k"}),
                faulty.call("echo", {"text": "x"}, **session_of(faulty)),
            ]
            for response in refused:
                error = response["error"]
                assert (error["code"], code(response)) == (-32603, "agent_service_unavailable")
                assert error["data"]["retryable"] is True
            created = host.client.post("/api/v1/agents", json={"name": "new"}, headers=faulty.key)
            ready = host.client.get("/readyz")
            for answer in (created, ready):
                assert (answer.status_code, answer.json()["error"]["code"]) == (503, "agent_service_unavailable")
            told = json.dumps([refused, created.json(), ready.json()])
            assert str(tmp_path) not in told
            assert "Traceback" not in told
            assert host.client.get("/healthz").status_code == 200
            doctor = host.toolwire("doctor", "--json")
            wrong = [found["check"] for found in doctor.json()["findings"] if found["state"] == "wrong"]
            assert (doctor.code, wrong) == (1, ["store"])

        await eventually(lambda: host.client.get("/readyz").status_code == 200)
        assert faulty.text("echo", {"text": "x", "idempotency_key": "k"}) == "x"
        assert host.client.post("/api/v1/agents", json={"name": "new"}, headers=faulty.key).status_code == 201
        log = host.errors.read_text()
        assert "Traceback" not in log
        assert str(tmp_path) in log  # who runs it learns which disk


async def test_an_answer_that_cannot_be_kept_is_kept_when_the_disk_is_back(tmp_path: Path):
    """gateway.md D5: the agent is asked once, however long its answer waits for the disk."""
    with faulty_agent(tmp_path) as faulty:
        agent = RawAgent(faulty.host, "raw")
        keyed = {"idempotency_key": "k"}
        with agent.link() as link:
            calling = agent.faulty.calling("do", keyed, {"toolwire/timeout_ms": 500})
            message = link.delivered()
            async with no_room(faulty.host):
                assert link.reply(message, {"text": "kept"}, ref=1)["code"] == "agent_service_unavailable"
                late = calling.outcome()
                assert (late["error"]["code"], late["error"]["data"]["retryable"]) == (-32003, True)
            await eventually(lambda: faulty.host.client.get("/readyz").status_code == 200)
            assert link.reply(message, {"text": "kept"}, ref=2)["frame"] == "published"
            assert agent.faulty.text("do", keyed) == "kept"


async def test_a_host_that_cannot_write_stops_all_the_same(tmp_path: Path):
    with faulty_agent(tmp_path) as faulty:
        async with no_room(faulty.host):
            assert faulty.text("echo", {"text": "x"}) == "x"
            assert faulty.host.stop() == 0
            assert "Traceback" not in faulty.host.errors.read_text()


def session_of(faulty: Faulty) -> dict[str, str]:
    """The header of a new session."""
    params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    body: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
    opened = faulty.host.client.post(f"/{faulty.agent_id}/mcp", json=body, headers=faulty.key)
    return {"mcp-session-id": opened.headers["mcp-session-id"]}
