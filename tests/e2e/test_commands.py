"""The commands that talk to a running host, as programs use them (`--json`) and as people do."""

import json
from base64 import b64decode
from pathlib import Path

import pytest

from tests.e2e.running import Host, Process, toolwire
from tests.unit.cli.demo.test_agent import SEED_TOOLS

pytestmark = pytest.mark.e2e

HELLO = '''
from toolwire.agent import Agent, ToolError

agent = Agent("hello")

@agent.tool
def greet(name: str) -> str:
    """Greet somebody."""
    if name == "nobody":
        raise ToolError("there is nobody to greet")
    return f"Hello, {name}!"
'''


def test_agents_are_created_and_listed(host: Host):
    made = host.toolwire("agent", "create", "maker", "--json").json()

    assert set(made) == {"agent_id", "agent_key"}
    assert made["agent_key"].startswith("agk_")
    listed = {agent["name"]: agent for agent in host.toolwire("agent", "list", "--json").json()["agents"]}
    assert (listed["maker"]["agent_id"], listed["maker"]["attached"]) == (made["agent_id"], False)
    assert listed["demo"]["attached"] is True
    assert made["agent_id"] in host.toolwire("agent", "list").out
    again = host.toolwire("agent", "create", "maker", "--json")
    assert (again.code, again.json()["error"]["code"]) == (3, "conflict")


def test_keys_are_created_listed_and_revoked(host: Host):
    made = host.toolwire("key", "create", "--agent", "demo", "--name", "mine", "--json").json()
    assert set(made) == {"key_id", "key"}
    assert host.rpc("ping", **{"x-agent-api-key": made["key"]})["result"] == {}

    listed = host.toolwire("key", "list", "--agent", "agent_demo", "--json")
    (mine,) = [key for key in listed.json()["keys"] if key["key_id"] == made["key_id"]]
    assert (mine["prefix"], mine["name"], mine["revoked_at"]) == (made["key"][:12], "mine", None)
    assert made["key"] not in listed.out

    assert host.toolwire("key", "revoke", made["key_id"], "--json").json() == {
        "key_id": made["key_id"],
        "revoked": True,
    }
    assert host.rpc("ping", **{"x-agent-api-key": made["key"]})["error"]["data"]["code"] == "unauthorized"
    gone = host.toolwire("key", "revoke", "key_gone", "--json")
    assert (gone.code, gone.json()["error"]["code"]) == (3, "key_not_found")


def test_another_owner_has_agents_of_its_own(host: Host):
    other = host.toolwire("owner", "create", "Ada", "--json").json()
    assert set(other) == {"owner_id", "owner_key"}

    theirs = host.toolwire("agent", "list", "--json", env={"TOOLWIRE_KEY": other["owner_key"]})
    assert theirs.json() == {"agents": []}
    refused = host.toolwire("owner", "create", "Eve", "--json", "--key", other["owner_key"])
    assert (refused.code, refused.json()["error"]["code"]) == (3, "forbidden")


def test_a_command_from_elsewhere_takes_url_and_key(host: Host, tmp_path: Path):
    flags = ["--url", host.ready.url, "--key", host.ready.owner_key]
    assert toolwire("agent", "list", "--json", *flags, cwd=tmp_path).code == 0
    by_folder = toolwire("agent", "list", "--json", "--data", host.ready.data, cwd=tmp_path)
    assert by_folder.code == 0
    wrong = toolwire("agent", "list", "--json", "--url", host.ready.url, "--key", "oag_wrong", cwd=tmp_path)
    assert (wrong.code, wrong.json()["error"]["code"]) == (3, "unauthorized")


def test_tools_are_listed_by_url_id_and_name(host: Host):
    url = f"{host.ready.url}/agent_demo/mcp"
    listed = host.toolwire("tools", "list", url, "--json").json()["tools"]

    assert listed[:2] == SEED_TOOLS
    for place in ("agent_demo", "demo"):
        assert host.toolwire("tools", "list", place, "--json").json()["tools"] == listed
    assert "web_search\tquery [max_results]\tSearch the web" in host.toolwire("tools", "list", "demo").out


def test_a_call_prints_the_text_and_nothing_else_on_stdout(host: Host):
    done = host.toolwire("call", "demo", "web_search", "--args", '{"query": "tides", "max_results": 1}')

    assert done.code == 0
    assert done.out.startswith("Here are the top 1 results for 'tides':\n\n1. ")


def test_a_call_shows_progress_while_it_waits(host: Host):
    text = "Tides rise twice a day. The moon pulls the tides. Cats sleep all day long."

    done = host.toolwire("call", "demo", "summarize", "--args", "-", stdin=json.dumps({"text": text}))

    assert done.out.startswith("Tides rise twice a day. ")
    assert "summarize: Tides rise twice a day.\n" in done.err


def test_a_call_saves_a_picture_and_prints_the_whole_result_for_programs(host: Host):
    done = host.toolwire("call", "agent_demo", "screenshot", "--json", "--output", "shot.png")

    (block,) = done.json()["content"]
    assert (block["type"], block["mimeType"]) == ("image", "image/png")
    assert (host.cwd / "shot.png").read_bytes() == b64decode(block["data"])
    assert "saved as shot.png" in done.err


def test_exit_codes_tell_a_failed_tool_from_one_that_could_not_be_asked(host: Host, tmp_path: Path):
    failed = host.toolwire("call", "demo", "web_search", "--args", '{"query": "?"}')
    assert (failed.code, failed.err) == (1, "")
    assert "has no word to search for" in failed.out

    unknown = host.toolwire("call", "demo", "nope", "--json")
    assert (unknown.code, unknown.json()["error"]["code"]) == (3, "tool_not_found")
    unfit = host.toolwire("call", "demo", "web_search", "--json")
    assert (unfit.code, unfit.json()["error"]["data"]["jsonrpc"]) == (3, -32602)
    key = host.toolwire("call", f"{host.ready.url}/agent_demo/mcp", "screenshot", "--key", "bak_wrong", "--json")
    assert (key.code, key.json()["error"]["code"]) == (3, "unauthorized")
    header = f"X-Agent-API-Key: {host.ready.bak}"
    url = f"{host.ready.url}/agent_demo/mcp"
    assert toolwire("call", url, "screenshot", "--header", header, cwd=tmp_path).code == 0
    nobody = toolwire("call", "http://127.0.0.1:1/mcp", "t", cwd=tmp_path)
    assert (nobody.code, nobody.out) == (3, "")
    assert nobody.err.startswith("toolwire: nobody answers at http://127.0.0.1:1/mcp")
    no_mcp = host.toolwire("call", f"{host.ready.url}/healthz", "t", "--header", "a: b")
    assert no_mcp.code == 3
    assert "is the address right?" in no_mcp.err
    for done in (failed, unknown, unfit, key, nobody, no_mcp):
        assert "Traceback" not in done.err


def test_an_agent_that_is_offline_fails_at_once(host: Host):
    host.toolwire("agent", "create", "sleeper", "--json")
    done = host.toolwire("call", "sleeper", "message", "--args", '{"message": "hi"}', "--json")
    assert (done.code, done.json()["error"]["code"]) == (3, "agent_offline")


def test_an_agent_is_run_by_its_name_and_answers_a_call(host: Host):
    (host.cwd / "hello.py").write_text(HELLO)
    with Process(["agent", "run", "hello:agent"], host.cwd) as agent:
        host.attached("hello")
        assert host.toolwire("call", "hello", "greet", "--args", '{"name": "Ada"}').out == "Hello, Ada!\n"
        failed = host.toolwire("call", "hello", "greet", "--args", '{"name": "nobody"}')
        assert (failed.code, failed.out) == (1, "there is nobody to greet\n")
        assert agent.stop() == 0

    with Process(["agent", "run", "hello.py"], host.cwd) as again:
        host.attached("hello")
        again.stop()
    assert "registered" not in again.errors.read_text()
    hellos = [a for a in host.toolwire("agent", "list", "--json").json()["agents"] if a["name"] == "hello"]
    assert len(hellos) == 1


def test_an_agent_runs_elsewhere_by_url_and_key(host: Host, tmp_path: Path):
    (tmp_path / "hello.py").write_text(HELLO)
    made = host.toolwire("agent", "create", "remote", "--json").json()
    env = {"TOOLWIRE_AGENT_KEY": made["agent_key"], "TOOLWIRE_URL": host.ready.url}

    with Process(["agent", "run", "hello:agent", "--journal", "hello.journal"], tmp_path, env):
        host.attached("remote")
        assert host.toolwire("call", "remote", "greet", "--args", '{"name": "Ada"}').out == "Hello, Ada!\n"
    assert (tmp_path / "hello.journal").exists()


def test_a_wrong_agent_key_is_told_in_one_line(host: Host, tmp_path: Path):
    (tmp_path / "hello.py").write_text(HELLO)
    done = toolwire("agent", "run", "hello", "--url", host.ready.url, "--key", "agk_wrong", cwd=tmp_path)

    assert done.code == 3
    assert done.err.splitlines()[-1].startswith("toolwire: ")
    assert "Traceback" not in done.err


def test_doctor_finds_a_running_host_and_its_agents(host: Host):
    told = host.toolwire("doctor", "--json").json()

    assert told["ok"] is True
    states = {finding["check"]: finding["state"] for finding in told["findings"]}
    assert {check: states[check] for check in ("host", "store", "clock", "data folder")} == dict.fromkeys(
        ("host", "store", "clock", "data folder"), "ok"
    )
    assert any("demo (agent_demo) is attached with 4 tools" in finding["found"] for finding in told["findings"])
