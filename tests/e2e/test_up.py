"""`toolwire up`: what it prints and keeps, who may not start, and how it ends."""

import itertools
import json
import os
import signal
import stat
import subprocess
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.e2e.running import STOP_LIMIT_S, TOOLWIRE, Host, Process, environment, toolwire

pytestmark = pytest.mark.e2e

PATIENT = """
import anyio
from toolwire.agent import Agent
agent = Agent("patient")
@agent.tool
async def wait() -> str:
    await anyio.sleep(60)
    return "late"
"""
WAIT: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "wait", "arguments": {}}}


def test_one_line_tells_a_program_what_it_needs(host: Host):
    """gateway.md §6: `{"url", "owner_key", "data", "pid"}` and the demo's `{"agent_id", "agent_key", "bak"}`."""
    ready = host.ready
    assert ready.pid == host.popen.pid
    assert Path(ready.data) == host.cwd / ".toolwire"
    assert [key[:4] for key in (ready.owner_key, ready.agent_key, ready.bak)] == ["oag_", "agk_", "bak_"]
    assert host.client.get("/healthz").status_code == 200
    assert host.client.get("/readyz").status_code == 200


def test_host_json_says_where_it_is_and_where_the_owners_key_is(host: Host):
    folder = Path(host.ready.data)
    told = json.loads((folder / "host.json").read_text())

    assert told == {"url": host.ready.url, "pid": host.ready.pid, "owner_key_file": str(folder / "owner.key")}
    assert Path(told["owner_key_file"]).read_text().strip() == host.ready.owner_key


def test_only_the_user_may_read_what_holds_keys(host: Host):
    for name in ("owner.key", "demo.key", "host.json", "toolwire.db"):
        path = Path(host.ready.data) / name
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, name


def test_a_second_process_on_the_folder_is_refused_and_the_first_goes_on(host: Host):
    second = host.toolwire("up", "--port", "0")

    assert second.code == 3
    assert f"in use by the host at {host.ready.url} (process {host.ready.pid})" in second.err
    assert host.client.get("/healthz").status_code == 200
    assert json.loads((Path(host.ready.data) / "host.json").read_text())["pid"] == host.ready.pid


def test_a_port_that_is_taken_is_named(host: Host, tmp_path: Path):
    second = toolwire("up", "--json", "--port", str(host.port), cwd=tmp_path)

    assert second.code == 3
    assert second.json()["error"]["code"] == "port_in_use"
    assert f"cannot listen on 127.0.0.1:{host.port}: address already in use" in second.err
    assert not (tmp_path / ".toolwire" / "host.json").exists()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_well_even_with_an_open_stream(tmp_path: Path, number: signal.Signals):
    (tmp_path / "patient.py").write_text(PATIENT)
    with Host(tmp_path) as host, Process(["agent", "run", "patient:agent"], tmp_path):
        agent_id = host.attached("patient")
        headers = {"authorization": f"Bearer {host.ready.owner_key}", "accept": "text/event-stream"}
        with host.client.stream("POST", f"/{agent_id}/mcp", json=WAIT, headers=headers) as stream:
            assert stream.status_code == 200

            assert host.stop(number) == 0

        assert not (Path(host.ready.data) / "host.json").exists()
        assert "Traceback" not in host.errors.read_text()


def test_whoever_is_told_that_it_is_ready_may_stop_it_at_once(tmp_path: Path):
    for _ in range(3):
        with Host(tmp_path) as host:
            assert host.stop(signal.SIGTERM) == 0
            assert not (Path(host.ready.data) / "host.json").exists()


def test_a_person_is_told_commands_that_work_where_no_environment_is_active(tmp_path: Path):
    """`make run` starts it by a path; the commands that it prints begin with that path then."""
    bare = {"PATH": os.defpath, "HOME": str(tmp_path)}
    with subprocess.Popen(
        [TOOLWIRE, "up", "--demo", "--port", "0"], cwd=tmp_path, env=bare, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            told = list(itertools.takewhile(lambda line: "Ctrl-C stops it" not in line, process.stdout))
        finally:
            process.send_signal(signal.SIGINT)
            assert process.wait(STOP_LIMIT_S) == 0
    assert any(line.startswith(f"  {TOOLWIRE} call agent_demo") for line in told), told


def test_a_second_ctrl_c_ends_it_at_once(tmp_path: Path):
    (tmp_path / "patient.py").write_text(PATIENT)
    with Host(tmp_path) as host, Process(["agent", "run", "patient:agent"], tmp_path):
        agent_id = host.attached("patient")
        headers = {"authorization": f"Bearer {host.ready.owner_key}", "accept": "text/event-stream"}
        with host.client.stream("POST", f"/{agent_id}/mcp", json=WAIT, headers=headers):
            host.popen.send_signal(signal.SIGINT)
            host.errors_say("stopping; Ctrl-C again stops at once")
            assert host.stop(signal.SIGINT) == 130
        assert not (Path(host.ready.data) / "host.json").exists()


def test_keys_and_agent_are_the_same_after_a_restart_and_the_agent_attaches_again(tmp_path: Path):
    with Host(tmp_path) as first:
        first.stop()
    with Host(tmp_path) as second:
        kept = [(ready.owner_key, ready.agent_id, ready.agent_key, ready.bak) for ready in (first.ready, second.ready)]
        assert kept[0] == kept[1]
        assert second.rpc("tools/call", {"name": "screenshot"})["result"]["content"][0]["type"] == "image"


def test_a_killed_host_leaves_a_folder_that_can_be_used_at_once(tmp_path: Path):
    with Host(tmp_path) as first:
        first.stop(signal.SIGKILL)
    assert (tmp_path / ".toolwire" / "host.json").exists()

    with Host(tmp_path) as second:
        assert second.ready.bak == first.ready.bak
        assert second.toolwire("agent", "list", "--json").json()["agents"][0]["attached"] is True


def test_a_data_folder_that_cannot_be_written_is_told(tmp_path: Path):
    (tmp_path / "file").write_text("")

    done = toolwire("up", "--data", "file/data", "--port", "0", cwd=tmp_path)

    assert done.code == 3
    assert "cannot write the data folder 'file/data'" in done.err
    assert "Traceback" not in done.err


def test_a_store_that_is_none_is_told(tmp_path: Path):
    (tmp_path / ".toolwire").mkdir()
    (tmp_path / ".toolwire" / "toolwire.db").write_bytes(b"this is not a database" * 100)

    done = toolwire("up", "--port", "0", cwd=tmp_path)

    assert done.code == 3
    assert done.err.startswith("toolwire: ")
    assert "Traceback" not in done.err


def test_a_person_is_told_a_curl_line_that_works_when_it_is_pasted(tmp_path: Path):
    with subprocess.Popen(
        ["toolwire", "up", "--demo", "--port", "0"], cwd=tmp_path, env=environment(), stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            told = list(itertools.takewhile(lambda line: "Ctrl-C stops it" not in line, process.stdout))
            assert any(str(Path(".toolwire") / "owner.key") in line for line in told)
            (curl,) = [line for line in told if line.startswith("  curl")]
            pasted = subprocess.run(["bash", "-c", curl], capture_output=True, text=True, check=True, timeout=30)
            text = json.loads(pasted.stdout)["result"]["content"][0]["text"]
            assert text.startswith("Here are the top 3 results for 'how do tides work'")
            (command,) = [line for line in told if line.startswith("  toolwire call")]
            called = subprocess.run(
                ["bash", "-c", command],
                cwd=tmp_path,
                env=environment(),
                capture_output=True,
                text=True,
                timeout=30,
                check=True,
            )
            assert called.stdout.startswith("Here are the top 5 results")
        finally:
            process.send_signal(signal.SIGINT)
            assert process.wait(STOP_LIMIT_S) == 0


def test_settings_come_from_file_variable_and_flag(tmp_path: Path):
    (tmp_path / "toolwire.toml").write_text("request_limit_bytes = 2048\ncall_timeout_s = 5\n")
    with Host(tmp_path, "--data", "elsewhere", env={"TOOLWIRE_PUBLIC_URL": "https://tools.example.com"}) as host:
        assert Path(host.ready.data) == tmp_path / "elsewhere"
        answer = host.client.post(
            f"/{host.ready.agent_id}/mcp",
            json={"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"x": "y" * 3000}},
            headers={"x-agent-api-key": host.ready.bak},
        )
        assert answer.status_code == 413
        refused = host.client.post(f"/{host.ready.agent_id}/mcp", json={})
        assert "https://tools.example.com/.well-known/" in refused.headers["www-authenticate"]


def test_a_wrong_setting_is_told_before_anything_is_made(tmp_path: Path):
    done = toolwire("up", cwd=tmp_path, env={"TOOLWIRE_CALL_TIMEOUT": "5"})

    assert (done.code, list(tmp_path.iterdir())) == (2, [])
    assert done.err == "toolwire: TOOLWIRE_CALL_TIMEOUT: unknown variable; did you mean 'TOOLWIRE_CALL_TIMEOUT_S'?\n"


def test_requests_for_another_host_name_are_refused(host: Host):
    """DNS rebinding: the Host header must name us (gateway.md D22)."""
    with httpx2.Client(base_url=host.ready.url, headers={"host": "evil.example"}) as client:
        assert client.get("/healthz").status_code == 421
