"""A short run of the fuzzer on each target, from the same seeds each time; `make fuzz` makes it long.

atheris has wheels for Linux on x86-64 alone; elsewhere test_inputs.py is all there is, and there are no tests here.
"""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fuzz.targets import TARGETS

ROOT = Path(__file__).resolve().parents[2]
RUNS = {"http": 3000, "connection": 500, "stdio": 300, "tokens": 3000, "link": 50_000}
LIMIT_S = 6
"""Seconds after which a target's run ends all the same; what is slow is no failure, and a hang has its own limit."""

if importlib.util.find_spec("atheris") is not None:

    @pytest.mark.e2e
    @pytest.mark.parametrize("name", TARGETS)
    def test_the_fuzzer_finds_nothing(name: str, tmp_path: Path):
        command = [sys.executable, "-m", "tests.fuzz.run", name, "-seed=1", f"-runs={RUNS[name]}"]
        done = subprocess.run(
            [*command, f"-max_total_time={LIMIT_S}"],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr[-4000:]
        assert "Done " in done.stderr


def test_every_target_has_a_bound():
    assert set(RUNS) == set(TARGETS)
