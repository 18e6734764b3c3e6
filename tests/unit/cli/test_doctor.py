"""What `doctor` finds where no host runs, and what it makes of the answers of one."""

import json
import os
import socket
import sys
import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from toolwire.cli.main import execute

Answers = Mapping[str, tuple[int, Any, str | None]]
"""By path: status, JSON body, and the Date header (the time of day if `None`)."""

EMPTY: dict[str, Any] = {}
NOTHING: list[Any] = []
WELL: Answers = {
    "/healthz": (200, EMPTY, None),
    "/readyz": (200, EMPTY, None),
    "/api/v1/agents": (
        200,
        {
            "success": True,
            "data": [
                {"name": "a", "agent_id": "agent_1", "attached": True, "skills": [1, 2]},
                {"name": "b", "agent_id": "agent_2", "attached": False, "skills": NOTHING},
            ],
        },
        None,
    ),
}


@contextmanager
def host_that_answers(answers: Answers) -> Generator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, body, date = answers[self.path]
            content = json.dumps(body).encode()
            self.send_response_only(status)
            if date != "":
                self.send_header("date", date or self.date_time_string())
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:
            return

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


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


def test_a_host_that_is_well_is_shown_with_its_agents(capsys: pytest.CaptureFixture[str]):
    with host_that_answers(WELL) as url:
        code = execute(["doctor", "--json", "--url", url, "--key", "oag_1"])

    found = json.loads(capsys.readouterr().out)["findings"]
    assert code == 0
    assert [(finding["check"], finding["state"]) for finding in found[3:]] == [
        ("host", "ok"),
        ("store", "ok"),
        ("clock", "ok"),
        ("agent", "ok"),
        ("agent", "note"),
    ]
    assert found[-1]["advice"] == "start its process; calls to it are refused until then"


@pytest.mark.parametrize(
    ("path", "answer", "check", "state", "words"),
    [
        ("/healthz", (404, EMPTY, None), "host", "wrong", "answers HTTP 404"),
        ("/readyz", (503, {"error": {"message": "the disk is full"}}, None), "store", "wrong", "the disk is full"),
        ("/readyz", (502, NOTHING, None), "store", "wrong", "/readyz answers HTTP 502"),
        ("/healthz", (200, EMPTY, "Mon, 01 Jan 2024 00:00:00 GMT"), "clock", "wrong", "differs from the host's by"),
        ("/healthz", (200, EMPTY, ""), "clock", "note", "tells no time"),
        ("/api/v1/agents", (200, {"success": True, "data": NOTHING}, None), "agents", "note", "none are registered"),
        (
            "/api/v1/agents",
            (403, {"success": False, "error": {"code": "forbidden", "message": "an owner's key, please"}}, None),
            "agents",
            "note",
            "an owner's key, please",
        ),
    ],
)
def test_what_is_wrong_with_a_host_is_told(
    path: str,
    answer: tuple[int, Any, str | None],
    check: str,
    state: str,
    words: str,
    capsys: pytest.CaptureFixture[str],
):
    with host_that_answers({**WELL, path: answer}) as url:
        _, found = findings(capsys, "--url", url, "--key", "oag_1")

    assert found[check]["state"] == state
    assert words in found[check]["found"]


def test_without_a_key_the_agents_are_not_looked_at(capsys: pytest.CaptureFixture[str]):
    with host_that_answers(WELL) as url:
        code, found = findings(capsys, "--url", url)

    assert (code, found["agents"]["found"]) == (0, "not looked at: no key to ask with")


def test_a_host_of_this_machine_is_found_by_its_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (tmp_path / ".toolwire").mkdir()
    (tmp_path / ".toolwire" / "owner.key").write_text("oag_1")
    with host_that_answers(WELL) as url:
        living = {"url": url, "pid": os.getpid(), "owner_key_file": "k"}
        (tmp_path / ".toolwire" / "host.json").write_text(json.dumps(living))
        code, found = findings(capsys)

    assert (code, found["host"]["found"]) == (0, f"answers at {url}")
    assert found["data folder"]["state"] == "ok"


def test_a_missing_client_is_noted(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.setattr(sys, "path", [])
    monkeypatch.delitem(sys.modules, "mcp", raising=False)

    _, found = findings(capsys)

    assert (found["mcp client"]["state"], found["mcp client"]["advice"]) == ("note", 'pip install "mcp>=2.3"')
