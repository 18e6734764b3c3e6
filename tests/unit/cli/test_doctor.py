"""What `doctor` finds where no host runs; with one it is looked at in tests/e2e."""

import json
import socket
from pathlib import Path
from typing import Any

import pytest

from toolwire.cli.main import execute


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TOOLWIRE_PORT", "0")
    return tmp_path


def findings(capsys: pytest.CaptureFixture[str], *flags: str) -> tuple[int, dict[str, dict[str, Any]]]:
    code = execute(["doctor", "--json", *flags])
    told = json.loads(capsys.readouterr().out)
    assert told["ok"] is (code == 0)
    return code, {finding["check"]: finding for finding in told["findings"]}


def test_where_nothing_runs_it_is_said_what_to_start(capsys: pytest.CaptureFixture[str]):
    code, found = findings(capsys)

    assert code == 0
    assert found["settings"]["state"] == "ok"
    assert found["data folder"]["state"] == "note"
    assert found["host"] == {
        "check": "host",
        "state": "note",
        "found": "none runs on '.toolwire'",
        "advice": "start one with `toolwire up`",
    }
    assert found["port"]["state"] == "ok"


def test_a_port_that_another_program_has_is_wrong(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    with socket.create_server(("127.0.0.1", 0)) as other:
        monkeypatch.setenv("TOOLWIRE_PORT", str(other.getsockname()[1]))
        code, found = findings(capsys)

    assert (code, found["port"]["state"]) == (1, "wrong")
    assert "choose another port" in found["port"]["advice"]


def test_a_host_that_was_killed_is_not_taken_for_running(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (tmp_path / ".toolwire").mkdir()
    dead = {"url": "http://127.0.0.1:1", "pid": 2**22 + 1, "owner_key_file": "k"}
    (tmp_path / ".toolwire" / "host.json").write_text(json.dumps(dead))

    code, found = findings(capsys)

    assert (code, found["host"]["state"]) == (0, "note")
    assert found["data folder"]["found"] == "'.toolwire' can be written and has no owner.key we may read"


def test_a_data_folder_that_cannot_be_written_is_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (tmp_path / "file").write_text("")

    code, found = findings(capsys, "--data", "file")

    assert (code, found["data folder"]["state"]) == (1, "wrong")


def test_settings_that_cannot_be_used_are_wrong(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.setenv("TOOLWIRE_PROT", "1")

    code, found = findings(capsys)

    assert (code, found["settings"]["state"]) == (1, "wrong")
    assert "did you mean 'TOOLWIRE_PORT'?" in found["settings"]["found"]


def test_a_host_elsewhere_that_does_not_answer_is_wrong(capsys: pytest.CaptureFixture[str]):
    code, found = findings(capsys, "--url", "http://127.0.0.1:1")

    assert (code, found["host"]["state"]) == (1, "wrong")
    assert found["host"]["found"].startswith("nobody answers at http://127.0.0.1:1")


def test_a_person_gets_a_line_and_the_advice_below(capsys: pytest.CaptureFixture[str]):
    assert execute(["doctor"]) == 0

    out = capsys.readouterr().out
    assert "note  host: none runs on '.toolwire'\n        start one with `toolwire up`\n" in out
