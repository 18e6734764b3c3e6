"""`python -m tests.conformance.run`: runs the official conformance suite and prints what it found.

Without options it runs the scenarios of scenarios.py, against our everything-server and against our client; it chooses
none of its own.
"""

import argparse
import contextlib
import sys
from collections.abc import Generator

from tests.conformance.scenarios import CLIENT_SCENARIOS, SCENARIOS
from tests.conformance.serving import CLIENT, EVERYTHING, ServerError, serving
from tests.conformance.suite import Outcome, Suite, SuiteError, installed


def main() -> int:
    """Run the suite; exit status 1 tells of failures, 2 that it could not run."""
    arguments = _parser().parse_args()
    arguments.side = arguments.side or ["server", "client"]
    wanted: list[str] | None = arguments.spec_version or (list(SCENARIOS) if arguments.requirements else None)
    counts: dict[str, dict[str, tuple[int, int]]] = {}
    try:
        suite = installed()
        if "server" in arguments.side:
            with _server(arguments) as url:
                counts["server"] = {each: _revision(suite, url, each, arguments) for each in wanted or SCENARIOS}
        if "client" in arguments.side:
            counts["client"] = {each: _clients(suite, each, arguments) for each in wanted or CLIENT_SCENARIOS}
    except (SuiteError, ServerError, OSError) as error:
        print(f"conformance: {error}", file=sys.stderr)
        return 2
    print()
    for side, found in counts.items():
        print(f"{side}: {', '.join(f'{revision}: {mine}/{all_}' for revision, (mine, all_) in found.items())}")
    passed, total = map(sum, zip(*(count for found in counts.values() for count in found.values()), strict=True))
    print(f"{passed} passed, {total - passed} failed")
    return 1 if passed < total else 0


def _clients(suite: Suite, revision: str, arguments: argparse.Namespace) -> tuple[int, int]:
    """Run and print one revision's client scenarios; return how many passed, and of how many."""
    required = suite.required_of_clients(revision) if arguments.requirements else CLIENT_SCENARIOS.get(revision, ())
    wanted = arguments.scenario or required
    outcomes: list[Outcome] = []
    for scenario in wanted:
        outcomes.append(suite.run_client(arguments.client, revision, scenario))
        _show(outcomes[-1:])
    return sum(outcome.passed for outcome in outcomes), len(outcomes)


def _revision(suite: Suite, url: str, revision: str, arguments: argparse.Namespace) -> tuple[int, int]:
    """Run and print one revision's scenarios; return how many passed, and of how many."""
    if arguments.requirements:
        scored, others = suite.run_required(url, revision)
        _show(scored)
        if others:
            print(f"not required by {revision}: {sum(outcome.passed for outcome in others)}/{len(others)}")
            _show(others)
    else:
        scored: list[Outcome] = []
        for scenario in arguments.scenario or SCENARIOS.get(revision, ()):
            scored.append(suite.run(url, revision, scenario))
            _show(scored[-1:])
    return sum(outcome.passed for outcome in scored), len(scored)


def _show(outcomes: list[Outcome]) -> None:
    for outcome in outcomes:
        print(outcome.line(), flush=True)


@contextlib.contextmanager
def _server(arguments: argparse.Namespace) -> Generator[str]:
    if arguments.url:
        yield arguments.url
        return
    with serving(arguments.server) as url:
        yield url


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.conformance.run", description="Run the official MCP conformance suite."
    )
    parser.add_argument("--scenario", action="append", metavar="NAME", help="run this one (may be repeated)")
    parser.add_argument(
        "--spec-version", action="append", metavar="REVISION", help="only this revision (may be repeated)"
    )
    parser.add_argument("--requirements", action="store_true", help="run all that a revision requires, as frozen")
    parser.add_argument("--server", default=EVERYTHING, metavar="COMMAND", help="starts the server; {port} is its port")
    parser.add_argument("--client", default=CLIENT, metavar="COMMAND", help="starts the client; a URL is added to it")
    parser.add_argument(
        "--side", action="append", choices=("server", "client"), help="test this side only (may be repeated)"
    )
    parser.add_argument("--url", help="test a server that is already running, such as http://localhost:8094/mcp")
    return parser


if __name__ == "__main__":
    sys.exit(main())
