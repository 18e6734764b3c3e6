"""A gateway that is killed loses no webhook and executes no call twice (gateway.md 37; ARCHITECTURE.md, after a crash).

Once at the worst moment there is, once at any: the crash benchmark, with fewer calls.
"""

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.e2e.running import Host, environment
from tests.unit.gateway.hooked import SECRET, open_receiver

pytestmark = pytest.mark.e2e

ROOT = Path(__file__).parents[2]


HOOKS = {"TOOLWIRE_WEBHOOK_ALLOW_CIDRS": "127.0.0.0/8", "TOOLWIRE_WEBHOOK_TIMEOUT_S": "1"}


async def test_a_gateway_killed_between_the_end_of_a_call_and_its_delivery_tells_it_when_it_is_back(tmp_path: Path):
    async with open_receiver("hang") as receiver:
        with Host(tmp_path, env=HOOKS) as first:
            meta: dict[str, Any] = {"toolwire/webhook": {"url": receiver.url, "secret": SECRET}}
            params = {"name": "web_search", "arguments": {"query": "otters"}, "_meta": meta}
            answer = await anyio.to_thread.run_sync(first.rpc, "tools/call", params)
            untaken = await receiver.next()
            first.stop(signal.SIGKILL)
        with Host(tmp_path, env=HOOKS):
            told = await receiver.next()
    assert (told.body, told.headers["webhook-id"]) == (untaken.body, untaken.headers["webhook-id"])
    assert told.json()["task_id"] == answer["result"]["_meta"]["toolwire/task_id"]
    assert told.json()["status"] == "completed"


def test_nothing_is_lost_and_nothing_runs_twice_when_the_gateway_is_killed():
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", "crash", "--calls", "300", "--kills", "2", "--json"],
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr + done.stdout
    found = json.loads(done.stdout)
    assert (found["answered"], found["failed"]) == (300, {})
    assert (found["lost_webhooks"], found["double_executions"]) == (0, 0)
    assert found["requests_sent_again"] > 0
