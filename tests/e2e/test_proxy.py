"""`tools serve --proxy`, `tools accept`, and `call` and `tools list` of a command, as a person uses them."""

import sys
from pathlib import Path

import pytest

from tests.e2e.running import Process, toolwire

ROOT = Path(__file__).resolve().parents[2]
HOSTILE = ROOT / "tests" / "unit" / "providers" / "hostile.py"

pytestmark = pytest.mark.e2e


def server(mode: str = "plain") -> str:
    return f"'{sys.executable}' '{HOSTILE}' {mode}"


def test_a_server_that_a_command_starts_is_listed_and_called(tmp_path: Path):
    listed = toolwire("tools", "list", server(), "--json", cwd=tmp_path)
    called = toolwire("call", server(), "work", cwd=tmp_path)

    assert [tool["name"] for tool in listed.json()["tools"]] == ["work", "change", "die", "hang", "pid"]
    assert (called.code, called.out) == (0, "work\n")


def test_a_server_that_dies_or_hangs_or_never_ends_its_list_is_told_in_one_line(tmp_path: Path):
    dead = toolwire("call", server(), "die", "--json", cwd=tmp_path)
    hung = toolwire("call", server(), "hang", "--timeout", "0.2", cwd=tmp_path)
    endless = toolwire("tools", "list", server("endless"), cwd=tmp_path)
    absent = toolwire("tools", "list", "./there-is-no-such-server", cwd=tmp_path)

    assert (dead.code, dead.json()["error"]["code"]) == (3, "agent_lost")
    assert "dying of a broken heart" in dead.err
    assert (hung.code, "'hang' has not answered within 0.2 s" in hung.err) == (3, True)
    assert (endless.code, "it lists more than 5000 tools or 200 pages" in endless.err) == (3, True)
    assert (absent.code, "cannot be started: No such file or directory" in absent.err) == (3, True)


def test_a_proxy_serves_a_command_over_http_and_holds_what_changes(tmp_path: Path):
    pins = ["--pins", "pins.json"]
    with Process(["tools", "serve", "--proxy", server(), *pins, "--http", "--port", "0", "--json"], tmp_path) as proxy:
        url = proxy.line()["url"]
        assert toolwire("call", url, "work", cwd=tmp_path).out == "work\n"
        assert toolwire("call", url, "change", cwd=tmp_path).out == "change\n"

        refused = toolwire("call", url, "work", cwd=tmp_path)
        assert refused.code == 1
        assert "has changed the definition of its tool 'work'" in refused.out + refused.err

        unchanged = toolwire("tools", "accept", server(), *pins, "--json", cwd=tmp_path)
        assert (unchanged.code, unchanged.json()) == (0, {"held": [], "accepted": []})  # a new process is as it was


def test_what_has_changed_is_shown_and_accepted(tmp_path: Path):
    pins = ["--pins", str(tmp_path / "pins.json")]

    first = toolwire("tools", "accept", server("names"), *pins, cwd=tmp_path)
    everything = toolwire("tools", "accept", server(), *pins, "--all", cwd=tmp_path)
    again = toolwire("tools", "accept", server(), *pins, cwd=tmp_path)
    unknown = toolwire("tools", "accept", server(), "nothing", *pins, cwd=tmp_path)

    assert (first.code, "nothing was accepted" in first.err) == (1, True)
    assert (everything.code, everything.err) == (0, "accepted: work, change, die, hang, pid\n")
    assert (again.code, again.out) == (0, "")
    assert (unknown.code, "lists no tool 'nothing'" in unknown.err) == (3, True)


def test_a_server_that_cannot_be_reached_ends_the_command_with_one_line(tmp_path: Path):
    done = toolwire("tools", "serve", "--proxy", "http://127.0.0.1:1/mcp", cwd=tmp_path)

    assert done.code == 3
    assert done.err.startswith("toolwire: http://127.0.0.1:1/mcp is not available: cannot reach http://127.0.0.1:1/mcp")
    assert done.err.count("\n") == 1
