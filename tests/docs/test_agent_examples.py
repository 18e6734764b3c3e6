"""examples/custom_tool.py and examples/mcp_server.py: each runs as it is, without a network, and ends by itself."""

import importlib.util
import subprocess
import sys
from types import ModuleType
from typing import Any

import pytest

from tests.docs.pages import ROOT
from toolwire.sdk import query
from toolwire.sdk.testing import FakeLLMProvider


def example(name: str) -> ModuleType:
    path = ROOT / "examples" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"examples_{name}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(name: str) -> list[str]:
    """What the example prints, run as a reader would."""
    done = subprocess.run(
        [sys.executable, "-W", "error", str(ROOT / "examples" / f"{name}.py")],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def tools_shown(module: Any, provider: FakeLLMProvider) -> list[str]:
    query(module.options, goal="?", provider=provider, workspace_dir=ROOT, model="stub-model")
    return [entry["function"]["name"] for entry in provider.received_requests[0].tools]


def test_the_custom_tool_is_called_and_its_answer_read():
    """sdk.md 78"""
    printed = run("custom_tool")

    assert printed[0] == "['fetch_weather']"
    assert printed[-1] == "Result(answer='It is 22 degrees in Tokyo.', status='completed')"


def test_the_custom_tool_fails_with_words_that_a_model_can_use():
    """sdk.md 13"""
    module: Any = example("custom_tool")
    known = module.fetch_weather
    city, fahrenheit = {"city": "Atlantis"}, {"city": "Tokyo", "units": "fahrenheit"}

    failed, read = known.invoke(city, None), known.invoke(fahrenheit, None)

    assert (failed.success, failed.summary) == (False, "no weather for 'Atlantis'; there is Bergen, Lisbon, Tokyo")
    assert (read.success, read.output) == (True, "71.6°F in Tokyo")
    assert tools_shown(module, module.scripted()) == ["Read", "Grep", "fetch_weather"]


def test_the_bundle_is_offered_under_bare_names_and_its_agent_ends_by_itself():
    """sdk.md 49"""
    assert run("mcp_server") == [
        "the model saw: list_cities, fetch_weather",
        "it called: list_cities fetch_weather fetch_weather fetch_weather",
        "it answered: Lisbon is the warmest, with 24 degrees.",
    ]


@pytest.mark.parametrize("name", ["custom_tool", "mcp_server"])
def test_an_example_does_nothing_when_it_is_imported(name: str, capsys: pytest.CaptureFixture[str]):
    example(name)
    assert capsys.readouterr().out == ""
