"""A gateway that is killed loses no webhook and executes no call twice (gateway.md 37; ARCHITECTURE.md, after a crash).

The crash benchmark, with fewer calls.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.running import environment

pytestmark = pytest.mark.e2e

ROOT = Path(__file__).parents[2]


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
