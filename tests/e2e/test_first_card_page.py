"""docs/tutorial/first-card.md, as it stands there: only the port is another, and `--yes` is what a person types."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.docs.pages import ROOT, blocks, read
from tests.e2e.running import Host, Process, environment

pytestmark = pytest.mark.e2e

PAGE = read("docs/tutorial/first-card.md")
SCRIPTS = [block.text for block in blocks(PAGE) if block.language == "bash"]
NEW, VALIDATE, DEV, JOIN, CALL, TEST, ADD, CONNECT = SCRIPTS
TEMPLATE = ROOT / "src" / "toolwire" / "cli" / "card" / "templates" / "python" / "main.py"


def bash(script: str, host: Host) -> subprocess.CompletedProcess[str]:
    script = script.replace("http://127.0.0.1:8094", host.ready.url)
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=host.cwd,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def done(script: str, host: Host) -> str:
    ended = bash(script, host)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def change(file: Path, old: str, new: str) -> None:
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new))


def test_the_page_shows_the_card_that_is_begun():
    assert (ROOT / "docs_src/first_card/tutorial001.py").read_text() == TEMPLATE.read_text()


def test_the_page_is_so_from_its_beginning_to_its_end(host: Host):
    folder = host.cwd / "word-counter"
    done(NEW, host)
    assert "ok: word-counter 0.1.0" in done(VALIDATE, host)
    with Process([*DEV.split()[1:], "--yes"], host.cwd) as dev:
        dev.errors_say("Ctrl-C stops it")
        joined = f"{JOIN}\n{CALL}"
        (answer,) = [block for block in PAGE.split("```\n") if block.startswith('{\n  "words"')]
        assert done(joined, host) == answer
        functions = JOIN.split("\n\n")[0]

        refused = bash(f"{functions}\n{CALL}".replace("three little words", ""), host)
        assert refused.returncode != 0
        assert (
            "Send one that has some." in bash(f"{functions}\n{CALL}".replace("three little words", "  "), host).stdout
        )

        change(folder / "main.py", '"longest"', '"longest_word"')
        dev.errors_say("has changed")
        while "longest_word" not in done(f"{functions}\n{CALL}", host):
            assert dev.popen.poll() is None
        change(folder / "toolwire-card.json", "Counts the words", "Counts all words")
        dev.errors_say("+[Custom card")
        assert dev.stop() == 0

    done(TEST, host)
    shown = bash(ADD, host)
    assert shown.returncode in (0, 3)
    done(ADD.replace("add", "add --yes"), host)
    assert "longest_word" in done(f"{functions}\n{CALL}", host)
    done(CONNECT, host)
    server = json.loads((host.cwd / ".mcp.json").read_text())["mcpServers"]["toolwire"]
    assert server["url"] == json.loads((host.cwd / "writer.json").read_text())["data"]["toolbox_url"]
