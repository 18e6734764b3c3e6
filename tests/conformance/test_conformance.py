"""The official conformance suite against our everything-server (mcp.md 2): every scenario of scenarios.py is a test."""

import json
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.conformance.scenarios import SCENARIOS, UNDECIDED
from tests.conformance.serving import EVERYTHING, serving
from tests.conformance.suite import HERE, Check, Outcome, Suite, installed, read_outcome


@pytest.fixture(scope="module")
def suite() -> Suite:
    return installed()


@pytest.fixture(scope="module")
def url() -> Generator[str]:
    with serving(EVERYTHING) as url:
        yield url


@pytest.mark.e2e
@pytest.mark.parametrize(
    "revision,scenario", [(revision, scenario) for revision, scenarios in SCENARIOS.items() for scenario in scenarios]
)
def test_the_official_suite_finds_nothing_wrong(suite: Suite, url: str, revision: str, scenario: str) -> None:
    outcome = suite.run(url, revision, scenario)
    assert outcome.passed, outcome.line()


@pytest.mark.e2e
@pytest.mark.parametrize("scenario", UNDECIDED)
def test_the_suite_still_skips_what_it_has_no_checks_for(suite: Suite, url: str, scenario: str) -> None:
    assert [check.status for check in suite.run(url, "2026-07-28", scenario).checks] == ["SKIPPED"]


@pytest.mark.parametrize(
    "statuses,passed",
    [
        (["SUCCESS", "INFO", "SKIPPED"], True),
        (["SUCCESS", "FAILURE"], False),
        (["SUCCESS", "WARNING"], False),
        (["SKIPPED"], False),
        ([], False),
    ],
)
def test_a_scenario_passes_only_if_a_check_succeeded_and_none_complained(statuses: list[str], passed: bool) -> None:
    checks = tuple(Check(f"check-{number}", status, "") for number, status in enumerate(statuses))
    assert Outcome("2026-07-28", "ping", checks).passed is passed


def test_a_scenario_is_named_after_the_folder_of_its_checks(tmp_path: Path) -> None:
    folder = tmp_path / "server-server-sse-multiple-streams-2026-11-30T14-48-26-258Z"
    folder.mkdir()
    failed = {"id": "a", "status": "FAILURE", "description": "It answers", "errorMessage": "it did not"}
    (folder / "checks.json").write_text(json.dumps([failed]))

    outcome = read_outcome("2025-11-25", folder / "checks.json")

    assert outcome.scenario == "server-sse-multiple-streams"
    assert outcome.line().splitlines() == [
        "FAIL 2025-11-25 server-sse-multiple-streams (0/1 checks)",
        "     FAILURE a: it did not",
    ]


def test_the_lock_file_names_no_download_addresses() -> None:
    assert '"resolved"' not in (HERE / "package-lock.json").read_text()
