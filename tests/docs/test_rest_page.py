"""What docs/how-to/rest.md says is so: its examples run against a real host."""

import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.docs.pages import ROOT
from tests.e2e.running import Host, environment

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Generator[Host]:
    with Host(tmp_path_factory.mktemp("rest")) as running:
        running.attached("demo")
        yield running


def printed(host: Host, tutorial: str, cwd: Path) -> list[str]:
    settings = {"TOOLWIRE_URL": host.ready.url, "TOOLWIRE_KEY": host.ready.owner_key}
    done = subprocess.run(
        [sys.executable, str(ROOT / "docs_src" / "rest" / f"{tutorial}.py")],
        cwd=cwd,
        env=environment(settings),
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_agents_are_listed_and_called(host: Host, tmp_path: Path):
    first, *rest = printed(host, "tutorial001", tmp_path)
    assert first.startswith("demo attached ['web_search', 'screenshot', 'summarize'")
    assert "tide" in "\n".join(rest).lower()


def test_a_task_tells_of_its_progress_and_a_refusal_has_its_code(host: Host, tmp_path: Path):
    *events, answer, refusal = printed(host, "tutorial002", tmp_path)
    assert events != []
    assert all(line.startswith("… ") for line in events)
    assert "Tides rise twice a day." in answer
    assert refusal == "tool_not_found 404 False"


def test_files_and_boards_are_there_for_whoever_awaits_them(host: Host, tmp_path: Path):
    assert printed(host, "tutorial003", tmp_path) == ["tides.txt 12 b'Twice a day.'", "['plan', 'demo']"]


def test_the_document_and_its_page_are_read_without_a_key(host: Host):
    assert "/api/v1/agents" in host.client.get("/openapi.json").json()["paths"]
    assert "REST reference" in host.client.get("/docs/api").text
