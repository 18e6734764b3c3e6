"""The command line as a whole: exit codes, one line for what went wrong, and no more imported than is used."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from toolwire import __version__
from toolwire.cli.main import execute


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_version_is_printed_alone(capsys: pytest.CaptureFixture[str]):
    assert execute(["--version"]) == 0
    assert capsys.readouterr().out.strip() == __version__


@pytest.mark.parametrize(
    ("tokens", "problem"),
    [
        (["cal"], "unknown command 'cal'; did you mean 'call'?"),
        (["key", "xyz"], "unknown command 'xyz'; there are create, list, revoke"),
        (["call"], 'Command "call" parameter PLACE requires an argument; `--help` says how'),
        (["up", "--prot", "1"], "Unknown option: --prot. Did you mean --port?; `--help` says how"),
        (["key", "create"], "say what the key is for: --agent AGENT or --owner"),
        (["key", "create", "--owner", "--agent", "a"], "say what the key is for: --agent AGENT or --owner"),
        (["call", "http://127.0.0.1/mcp", "t", "--args", "[1]"], "--args must be a JSON object, not '[1]'"),
        (["call", "http://127.0.0.1/mcp", "t", "--timeout", "0"], "--timeout is a number of seconds above 0, not 0"),
        (["agent", "list", "--url", "127.0.0.1"], "'127.0.0.1' is no address of a host; it looks like http://"),
        (["agent", "list", "--url", "http://h", "--key", "a b"], "the key has characters that no key has"),
        (["tools", "serve", "x", "--stdio", "--http"], "--stdio goes with neither --http nor --port"),
        (["up", "--port", "70000"], "--port: expected a port number from 0 to 65535 for port, got 70000"),
    ],
)
def test_a_misused_command_ends_with_2_and_one_line_that_says_how(
    tokens: list[str], problem: str, capsys: pytest.CaptureFixture[str]
):
    assert execute(tokens) == 2

    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith(f"toolwire: {problem}")
    assert printed.err.count("\n") == 1


def test_without_a_host_a_command_ends_with_3_and_says_what_to_start(capsys: pytest.CaptureFixture[str]):
    assert execute(["agent", "list"]) == 3
    assert "no host runs on the data folder '.toolwire'; start one with `toolwire up`" in capsys.readouterr().err


def test_with_json_a_failure_is_one_line_of_json_too(capsys: pytest.CaptureFixture[str]):
    assert execute(["agent", "list", "--json"]) == 3

    error = json.loads(capsys.readouterr().out)["error"]
    assert error["code"] == "no_host"
    assert "toolwire up" in error["message"]


def test_every_problem_of_the_settings_has_a_line_of_its_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (tmp_path / "toolwire.toml").write_text("prot = 1\nport = 'x'\n")

    assert execute(["config", "explain"]) == 2
    assert [line[:10] for line in capsys.readouterr().err.splitlines()] == ["toolwire: ", "toolwire: "]


def test_a_traceback_is_shown_only_when_it_is_asked_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setenv("TOOLWIRE_DEBUG", "1")
    with pytest.raises(Exception, match="no host runs"):
        execute(["agent", "list"])

    monkeypatch.setenv("TOOLWIRE_DEBUG", "0")
    assert execute(["agent", "list"]) == 3
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("tokens", "unwanted"),
    [
        (["--version"], {"toolwire.gateway", "uvicorn", "mcp", "httpx2", "anyio"}),
        (["config", "explain"], {"toolwire.gateway", "uvicorn", "mcp", "httpx2", "anyio"}),
        (["agent", "list"], {"toolwire.gateway", "uvicorn", "mcp", "toolwire.adapters"}),
        (["call", "x", "y", "--args", "["], {"toolwire.gateway", "uvicorn", "mcp", "toolwire.adapters"}),
        (["up", "--config", "gone.toml"], {"mcp", "toolwire.agent"}),
    ],
)
def test_a_command_imports_only_what_it_uses(tokens: list[str], unwanted: set[str], tmp_path: Path):
    program = f"import sys; from toolwire.cli.main import execute; execute({tokens!r}); print(*sys.modules)"

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=tmp_path)

    assert unwanted & set(done.stdout.split()) == set()


def test_a_reader_that_goes_away_is_no_error(tmp_path: Path):
    program = f"{sys.executable} -c 'from toolwire.cli.main import main; main()' config explain | true; echo done"

    done = subprocess.run(["sh", "-c", program], capture_output=True, text=True, check=True, cwd=tmp_path)

    assert (done.stdout, done.stderr) == ("done\n", "")
