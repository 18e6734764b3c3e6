"""What importing an SDK costs, each time in a new interpreter; it knows no SDK."""

import statistics
import subprocess
import time
from pathlib import Path

from benchmarks.launcher import LaunchError

TIMES = 5


def import_cost(python: Path, imports: str) -> dict[str, float]:
    """Milliseconds and modules of importing the module that `imports` names (`sdk_…`), and of `imports` itself.

    Raises:
        LaunchError: it cannot be imported.
    """
    module = imports.split()[1]
    empty = _took_ms(python, "pass")
    _took_ms(python, imports)  # so that everything is compiled
    return {
        "sdk_ms": _took_ms(python, f"import {module}") - empty,
        "ms": _took_ms(python, imports) - empty,
        "sdk_modules": float(
            _run(python, f"import sys; n = len(sys.modules); import {module}; print(len(sys.modules) - n)")
        ),
    }


def _took_ms(python: Path, code: str) -> float:
    took: list[float] = []
    for _ in range(TIMES):
        began = time.perf_counter()
        _run(python, code)
        took.append((time.perf_counter() - began) * 1000)
    return statistics.median(took)


def _run(python: Path, code: str) -> str:
    done = subprocess.run([str(python), "-c", code], capture_output=True, text=True, check=False)
    if done.returncode:
        raise LaunchError(f"{code!r} failed:\n{done.stderr.strip()[-2000:]}")
    return done.stdout
