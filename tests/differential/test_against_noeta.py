"""The page "build custom tools", on its own SDK and on ours: the same events of the same calls (sdk.md §4.9).

Each SDK runs in a process of its own. Where the two differ on purpose (sdk.md §4) there is no scenario here, and a test
of ours elsewhere.
"""

import json
import subprocess
import sys
from importlib.metadata import version
from typing import Any

import pytest

from tests.differential.scenarios import SCENARIOS
from tests.docs.pages import ROOT

RUNS = ["ToolCallStarted", "ToolResultRecorded", "ToolCallFinished"]
ASKS = ["ToolCallApprovalRequested"]


def outcomes(sdk: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "tests.differential.scenarios", sdk],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def ours() -> dict[str, Any]:
    return outcomes("toolwire.sdk")


@pytest.fixture(scope="module")
def theirs() -> dict[str, Any]:
    return outcomes("noeta.sdk")


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_calls_have_the_same_events(scenario: str, ours: dict[str, Any], theirs: dict[str, Any]):
    assert ours[scenario]["calls"], "a scenario without calls proves nothing"
    assert ours[scenario] == theirs[scenario]


@pytest.mark.parametrize("mode", ["default", "acceptEdits", "bypassPermissions"])
@pytest.mark.parametrize("risk", ["low", "medium", "high"])
def test_the_table_of_risks_and_modes_is_the_pages(risk: str, mode: str, ours: dict[str, Any]):
    """sdk.md 29, 30: both being wrong alike would not do."""
    free = risk == "low" or mode == "bypassPermissions"

    seen = ours[f"{risk}_in_{mode}"]

    assert seen["calls"] == {"t1": RUNS if free else ASKS}
    assert seen["ran"] == (["fetch_weather"] if free else [])


def test_the_reference_is_the_one_that_the_contract_describes():
    assert version("noeta-sdk") == "0.6.42"
