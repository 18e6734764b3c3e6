"""`python -m benchmarks agents`: runs the programs in interleaved rounds, prints one table, keeps every figure."""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks import machine
from benchmarks.agents.imports import import_cost
from benchmarks.agents.rows import IMPORT, OURS, PEERS, Measured, Row, Subject, select
from benchmarks.agents.table import Figures, markdown, missed
from benchmarks.launcher import LaunchError
from benchmarks.paths import ROOT, WORK
from benchmarks.toolchain import ToolchainError

LIMIT_S = 600.0


def main(tokens: Sequence[str]) -> int:
    """Measure; the status is 0, 1 with --strict after a missed target, 2 if it could not run."""
    arguments = _parser().parse_args(tokens)
    rows = select([text for text in arguments.only.split(",") if text])
    if arguments.list:
        print("\n".join(row.text for row in rows))
        return 0
    figures = Figures()
    try:
        _measure(rows, arguments.rounds, figures)
    except (ToolchainError, LaunchError, OSError) as error:
        print(f"benchmarks: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    print(f"{machine.description()}; {time.strftime('%Y-%m-%d')}; medians of {arguments.rounds} round(s)\n")
    print(markdown(rows, figures))
    document = {"machine": machine.description(), "finished_at": time.time(), "figures": figures.plain()}
    arguments.out.write_text(json.dumps(document, indent=1) + "\n")
    return 1 if arguments.strict and missed(rows, figures) else 0


def _measure(rows: Sequence[Row], rounds: int, figures: Figures) -> None:
    runs = list(dict.fromkeys(row.run for row in rows))
    pythons = {subject: subject.python(Path(sys.executable)) for subject in (OURS, *PEERS)}
    WORK.mkdir(exist_ok=True)
    for number in range(rounds):
        for run in runs:
            for subject in (OURS, *run.peers):
                found = _figures(run, subject, pythons[subject])
                figures.add(run, subject, found)
                shown = "  ".join(f"{name} {value:,.2f}" for name, value in found.items())
                title = f"{run.scenario} {run.storage}"
                print(f"round {number + 1} {title:<16} {subject.name:<24} {shown}", file=sys.stderr, flush=True)


def _figures(run: Measured, subject: Subject, python: Path) -> dict[str, float]:
    if run.scenario == IMPORT:
        return import_cost(python, subject.imports)
    with tempfile.TemporaryDirectory(prefix="agents-", dir=WORK) as folder:  # on the project's disk, as in production
        plan = run.plan(subject, str(Path(folder) / "tasks.db"))
        done = subprocess.run(
            [str(python), "-m", f"benchmarks.agents.subjects.{subject.module}", json.dumps(plan)],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT), "BENCH_FOLDER": folder, **dict(subject.env)},
            capture_output=True,
            text=True,
            check=False,
            timeout=LIMIT_S,
        )
    if done.returncode:
        raise LaunchError(f"{subject.name} cannot do {run.scenario}:\n{done.stderr.strip()[-2000:]}")
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    if "last_per_s" in found:
        found["kept"] = found["last_per_s"] / found["first_per_s"]
    return found


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks agents", description="Measure the agent SDK beside its peers, with scripted models."
    )
    parser.add_argument("--only", default="", metavar="TEXT,TEXT", help="rows whose text has one of the texts")
    parser.add_argument("--list", action="store_true", help="print the rows and stop")
    parser.add_argument("--strict", action="store_true", help="exit with 1 if Toolwire misses what it asks of itself")
    parser.add_argument("--rounds", type=int, default=2, help="interleaved rounds (default %(default)s)")
    parser.add_argument(
        "--out", type=Path, default=WORK / "agents.json", help="where the JSON goes (default %(default)s)"
    )
    return parser
