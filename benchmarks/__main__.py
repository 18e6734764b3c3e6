"""`python -m benchmarks`: measures the chosen cases in interleaved rounds and prints the tables.

With `agents` as its first word it measures the agent SDK instead, with `memory` what sessions take, with `crash` what a
gateway loses that is killed, with `page` whether the page of the canvas keeps up.
"""

import argparse
import contextlib
import dataclasses
import json
import os
import sys
import time
from pathlib import Path

from benchmarks import canvas_page, crash, machine, memory, report
from benchmarks.agents import command as agents
from benchmarks.cases import CASES, Case, select
from benchmarks.launcher import Endpoint, Launcher, LaunchError
from benchmarks.measure import Measurement, Options, check_answers, measure
from benchmarks.paths import WORK
from benchmarks.toolchain import ToolchainError, loadgen

PAUSE_AFTER_START_S = 1.0


def main() -> int:
    """Run the benchmark; the status is 1 after a wrong answer (--strict: a missed target), 2 if it could not run."""
    if sys.argv[1:2] == ["agents"]:
        return agents.main(sys.argv[2:])
    if sys.argv[1:2] == ["memory"]:
        return memory.main(sys.argv[2:])
    if sys.argv[1:2] == ["crash"]:
        return crash.main(sys.argv[2:])
    if sys.argv[1:2] == ["page"]:
        return canvas_page.main(sys.argv[2:])
    arguments = _parser().parse_args()
    if arguments.list:
        print("\n".join(case.name for case in CASES))
        return 0
    cases = select([text for text in arguments.only.split(",") if text])
    try:
        if arguments.nice:
            machine.set_nice(os.getpid(), arguments.nice)
        measurements = _run(cases, arguments)
    except (ToolchainError, LaunchError, OSError) as error:
        print(f"benchmarks: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    print(f"{machine.description()}; {time.strftime('%Y-%m-%d')}; medians of {arguments.rounds} round(s)\n")
    print(report.markdown(measurements))
    wrong = any(row.errors or not row.rps for row in measurements)
    return 1 if wrong or (arguments.strict and report.missed(measurements)) else 0


def _run(cases: list[Case], arguments: argparse.Namespace) -> list[Measurement]:
    options = Options(
        loadgen=loadgen(),
        stdiogen=loadgen("stdiogen"),
        duration_s=arguments.duration,
        warmup_s=arguments.warmup,
        client_core=arguments.client_core,
        tries=max(1, arguments.tries),
        quiet_wait_s=arguments.quiet_wait,
    )
    levels = [int(level) for level in arguments.conns.split(",")]
    measurements: list[Measurement] = []
    cores = {"server_core": arguments.server_core, "agent_core": arguments.agent_core}
    with Launcher(**cores, nice=arguments.nice) as launcher:
        endpoints = _start(cases, launcher)
        for case in cases:
            check_answers(case, endpoints[case.service.name])
        time.sleep(PAUSE_AFTER_START_S)
        with contextlib.suppress(KeyboardInterrupt):  # what has been measured by then is still reported
            for round_number in range(arguments.rounds):
                for conns in levels:
                    for case in cases:
                        row = measure(case, endpoints[case.service.name], round_number, conns, options)
                        measurements.append(row)
                        _show(row)
    _keep(measurements, arguments)
    return measurements


def _start(cases: list[Case], launcher: Launcher) -> dict[str, Endpoint]:
    endpoints: dict[str, Endpoint] = {}
    for case in cases:
        if case.service.name not in endpoints:
            endpoints[case.service.name] = case.service.launch(launcher)
    return endpoints


def _show(row: Measurement) -> None:
    print(
        f"round {row.round + 1} c={row.conns:<3} {row.case:<44} {row.rps:>8.0f} req/s  p50 {row.p50_ms:8.3f} ms  "
        f"p99 {row.p99_ms:8.3f} ms  CPU {row.cpu_us:5.0f} µs  server {row.server_cpu:4.2f}  "
        f"other {row.other_cpu:4.2f}" + (f"  {row.errors} errors: {row.first_error}" if row.errors else ""),
        file=sys.stderr,
        flush=True,
    )


def _keep(measurements: list[Measurement], arguments: argparse.Namespace) -> None:
    document = {
        "machine": machine.description(),
        "finished_at": time.time(),
        "options": {name: value for name, value in vars(arguments).items() if not isinstance(value, Path)},
        "summary": report.summary(measurements),
        "measurements": [dataclasses.asdict(row) for row in measurements],
    }
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(json.dumps(document, indent=1) + "\n")


def _parser() -> argparse.ArgumentParser:
    cores = machine.cores()
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure Toolwire beside its peers.")
    parser.add_argument(
        "--only", default="", metavar="TEXT,TEXT", help="cases whose name has one of the texts, and the baseline"
    )
    parser.add_argument("--list", action="store_true", help="print the names of the cases and stop")
    parser.add_argument("--strict", action="store_true", help="exit with 1 if Toolwire misses what it asks of itself")
    parser.add_argument("--rounds", type=int, default=3, help="interleaved rounds (default %(default)s)")
    parser.add_argument("--duration", type=float, default=2.0, help="seconds of each measurement (default %(default)s)")
    parser.add_argument(
        "--warmup", type=float, default=0.5, help="seconds before each measurement (default %(default)s)"
    )
    parser.add_argument("--conns", default="1,16,64", help="concurrent connections (default %(default)s)")
    parser.add_argument(
        "--out", type=Path, default=WORK / "results.json", help="where the JSON goes (default %(default)s)"
    )
    parser.add_argument(
        "--tries", type=int, default=2, help="attempts while other programs are busy (default %(default)s)"
    )
    parser.add_argument("--quiet-wait", type=float, default=4.0, help="longest wait for an idle machine, in seconds")
    parser.add_argument("--nice", type=int, default=0, help="niceness of everything started (below 0 needs root)")
    parser.add_argument("--server-core", type=int, default=cores[0], help="core of the servers (default %(default)s)")
    parser.add_argument(
        "--client-core", type=int, default=cores[-1], help="core of the load generator (default %(default)s)"
    )
    parser.add_argument(
        "--agent-core", type=int, default=cores[0], help="core of attached agents (default %(default)s)"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
