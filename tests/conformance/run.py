"""`python -m tests.conformance.run`: runs the official conformance suite against a server and prints what it found.

Without options it starts our everything-server and runs the scenarios of scenarios.py; it chooses none of its own.
"""

import argparse
import contextlib
import sys
from collections.abc import Generator

from tests.conformance.scenarios import SCENARIOS
from tests.conformance.serving import EVERYTHING, ServerError, serving
from tests.conformance.suite import Outcome, Suite, SuiteError, installed


def main() -> int:
    """Run the suite; exit status 1 tells of failures, 2 that it could not run."""
    arguments = _parser().parse_args()
    revisions: list[str] = arguments.spec_version or list(SCENARIOS)
    try:
        suite = installed()
        with _server(arguments) as url:
            counts = [_revision(suite, url, revision, arguments) for revision in revisions]
    except (SuiteError, ServerError, OSError) as error:
        print(f"conformance: {error}", file=sys.stderr)
        return 2
    passed, total = map(sum, zip(*counts, strict=True))
    print(
        "\n" + ", ".join(f"{revision}: {mine}/{all_}" for revision, (mine, all_) in zip(revisions, counts, strict=True))
    )
    print(f"{passed} passed, {total - passed} failed")
    return 1 if passed < total else 0


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
        prog="python -m tests.conformance.run", description="Run the official MCP conformance suite against a server."
    )
    parser.add_argument("--scenario", action="append", metavar="NAME", help="run this one (may be repeated)")
    parser.add_argument(
        "--spec-version", action="append", metavar="REVISION", help="only this revision (may be repeated)"
    )
    parser.add_argument("--requirements", action="store_true", help="run all that a revision requires, as frozen")
    parser.add_argument("--server", default=EVERYTHING, metavar="COMMAND", help="starts the server; {port} is its port")
    parser.add_argument("--url", help="test a server that is already running, such as http://localhost:8094/mcp")
    return parser


if __name__ == "__main__":
    sys.exit(main())
