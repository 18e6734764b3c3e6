"""The official conformance suite against our client (mcp.md 2): every client scenario of scenarios.py is a test."""

import pytest

from tests.conformance.client_tasks import filled
from tests.conformance.scenarios import CLIENT_SCENARIOS
from tests.conformance.serving import CLIENT
from tests.conformance.suite import Suite, installed


@pytest.fixture(scope="module")
def suite() -> Suite:
    return installed()


@pytest.mark.e2e
@pytest.mark.parametrize(
    "revision,scenario", [(revision, each) for revision, scenarios in CLIENT_SCENARIOS.items() for each in scenarios]
)
def test_the_official_suite_finds_nothing_wrong_with_our_client(suite: Suite, revision: str, scenario: str) -> None:
    outcome = suite.run_client(CLIENT, revision, scenario)
    assert outcome.passed, outcome.line()


@pytest.mark.e2e
@pytest.mark.parametrize("revision,count", [("2025-11-25", 18), ("2026-07-28", 32)])
def test_every_required_client_scenario_is_run(suite: Suite, revision: str, count: int) -> None:
    required = suite.required_of_clients(revision)
    assert len(required) == count
    assert set(required) <= set(CLIENT_SCENARIOS[revision])


def test_a_client_that_ends_badly_has_not_passed_whatever_the_checks_say(suite: Suite) -> None:
    outcome = suite.run_client("false", "2025-11-25", "initialize")
    assert not outcome.passed


def test_the_client_under_test_fills_in_what_a_schema_requires() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {}}, "required": ["a"]}
    assert filled(schema) == {"a": 5}
