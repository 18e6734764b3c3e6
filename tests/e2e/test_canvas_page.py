"""docs/tutorial/canvas.md, walked through as it stands there, in one shell; only the port and the folder are others."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from tests.docs.pages import blocks, read
from tests.e2e.running import Host, environment

pytestmark = pytest.mark.e2e

PAGE = "docs/tutorial/canvas.md"
WATCH = 'api -N "$BOARD/events"'


def walk(host: Host) -> list[str]:
    """What each block prints."""
    script = ["set -meuo pipefail"]  # with jobs, so that all of one can be ended
    for block in blocks(read(PAGE)):
        assert block.language == "bash"
        text = block.text.replace(". .venv/bin/activate", "true").replace("http://127.0.0.1:8094", host.ready.url)
        if text.strip() == WATCH:
            text = f"{WATCH} > told.txt & WATCHER=$!\nuntil grep -q . told.txt; do sleep 0.05; done\n"
        script += [text, "echo ---"]
    script += ['until grep -q \'"status":"ok"\' told.txt; do sleep 0.05; done', "kill -- -$WATCHER"]
    done = subprocess.run(
        ["bash", "-c", "\n".join(script)],
        cwd=host.cwd,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split("---\n")


def test_the_page_is_walked_through_as_it_stands(tmp_path: Path) -> None:
    with Host(tmp_path) as host:
        printed = dict(enumerate(walk(host)))
        told = (tmp_path / "told.txt").read_text()
        assert host.stop() == 0
    names = [text for text in printed.values() if text.startswith("TOOL\t")]
    assert "word_counter_count_words\ttext [card]\t[Custom card" in names[0]
    assert "toolwire_list_tools" in names[0]
    answers = [json.loads(text) for text in printed.values() if text.startswith("{")]
    assert answers[:3] == [
        {"words": 4, "longest": "quick"},
        {
            "tool": "word_counter_count_words",
            "status": "ok",
            "progress": "counting the words",
            "caller": "writer",
        },
        {"exit_code": 0, "output": "/\n", "truncated": False, "timed_out": False},
    ]
    assert answers[-1]["code"] == "conflict"
    [taken_back] = [text for text in printed.values() if "toolwire_list_tools" in text and "count_words" not in text]
    assert json.loads(taken_back[taken_back.index("\n{") :])["arrows"]
    assert "counting the words" in told
    assert re.search(r"^id: \S+-\d+$", told, re.MULTILINE)
