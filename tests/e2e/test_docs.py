"""The commands and programs on the pages, run as they stand there; only the port is another."""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.docs.pages import ROOT, blocks, read
from tests.e2e.running import Host, Process, environment, toolwire

pytestmark = pytest.mark.e2e


def bash(script: str, host: Host, **env: str) -> str:
    script = script.replace("http://127.0.0.1:8094", host.ready.url)
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=host.cwd,
        env=environment(env),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def commands(page: str, starting: str) -> Iterator[str]:
    """The lines of a page's shell blocks that begin with these words."""
    for block in blocks(read(page)):
        if block.language == "bash":
            yield from (line for line in block.text.splitlines() if line.startswith(starting))


def test_the_readmes_agent_answers_the_readmes_call(host: Host):
    (python,) = [block for block in blocks(read("README.md")) if block.language == "python"]
    (host.cwd / "hello.py").write_text(python.text)
    (run,) = commands("README.md", "toolwire agent run")
    (call,) = commands("README.md", "toolwire call")

    with Process(run.split()[1:], host.cwd):
        host.attached("hello")
        assert bash(call, host) == "Hello, Ada!\n"


def test_the_readmes_curl_lines_answer(host: Host):
    (curl,) = [block.text for block in blocks(read("README.md")) if "curl -s" in block.text]

    *names, text = bash(curl, host).split("\n", 4)

    assert names == ['"web_search"', '"screenshot"', '"summarize"', '"summarize_pdf"']
    assert text.startswith("Here are the top 5 results for 'how do tides work':\n\n1. ")


def test_the_tutorials_commands_work_on_the_tutorials_agents(host: Host):
    page = "docs/tutorial/first-agent.md"
    (run,) = commands(page, "toolwire agent run")
    calls = list(commands(page, "toolwire call"))
    listing = next(commands(page, "toolwire tools list"))
    (host.cwd / "weather.py").write_text((ROOT / "docs_src/first_agent/tutorial002.py").read_text())
    with Process(run.split()[1:], host.cwd) as agent:
        host.attached("weather")
        assert "forecast\tcity [days]\tTell the weather of the next days." in bash(listing, host)
        assert bash(calls[0], host) == "Lisbon, 1 day(s): sunny, 24 °C\n"
        atlantis = host.toolwire("call", "weather", "forecast", "--args", '{"city": "Atlantis"}')
        assert (atlantis.code, atlantis.out) == (1, "no forecast for 'Atlantis'; there are Lisbon, Bergen\n")
        agent.stop()

    (host.cwd / "weather.py").write_text((ROOT / "docs_src/first_agent/tutorial004.py").read_text())
    with Process(run.split()[1:], host.cwd):
        host.attached("weather")
        bash(calls[1], host)
        assert (host.cwd / "sky.png").read_bytes().startswith(b"\x89PNG")


def test_the_sdk_tutorials_agent_answers_callers(host: Host):
    page = "docs/tutorial/agent-sdk.md"
    (run,) = commands(page, "toolwire agent run")
    (call,) = commands(page, "toolwire call")
    shutil.copytree(ROOT / "docs_src" / "agent_sdk", host.cwd / "docs_src" / "agent_sdk")
    with Process(run.split()[1:], host.cwd):
        host.attached("weather-bot")
        assert bash(call, host) == "22°C in Tokyo\n"


def test_the_official_client_lists_calls_and_sees_progress(host: Host):
    env = environment({"MCP_URL": f"{host.ready.url}/{host.ready.agent_id}/mcp", "MCP_KEY": host.ready.bak})

    done = subprocess.run(
        [sys.executable, ROOT / "docs_src/call_tools/tutorial001.py"],
        env=env,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )

    *lines, last = done.stdout.splitlines()
    assert lines == [
        "web_search",
        "screenshot",
        "summarize",
        "summarize_pdf",
        "… Tides rise twice a day.",
        "… The moon pulls the tides.",
    ]
    assert "Tides rise twice a day. The moon pulls the tides." in last


def test_a_repeated_key_is_replayed_as_the_page_says(host: Host):
    (curl,) = [block.text for block in blocks(read("docs/how-to/call-tools.md")) if "idempotency_key" in block.text]

    first, second = (json.loads(bash(curl, host, KEY=host.ready.bak)) for _ in range(2))

    assert first["toolwire/task_id"] == second["toolwire/task_id"]
    assert second["toolwire/idempotency"]["replayed"] is True
    by_header: dict[str, Any] = {"name": "screenshot", "arguments": {}}
    replayed = host.rpc("tools/call", by_header, **{"idempotency-key": "monday:shot"})
    assert replayed["result"]["_meta"]["toolwire/task_id"] == first["toolwire/task_id"]


def test_a_shorter_time_out_may_be_asked_for(host: Host):
    (host.cwd / "slow.py").write_text(
        'import anyio\nfrom toolwire.agent import Agent\nagent = Agent("slow")\n'
        "@agent.tool\nasync def wait() -> str:\n    await anyio.sleep(60)\n    return 'late'\n"
    )
    with Process(["agent", "run", "slow"], host.cwd):
        host.attached("slow")
        done = host.toolwire("call", "slow", "wait", "--timeout", "0.2", "--json")
    assert (done.code, done.json()["error"]["message"]) == (3, "Agent reply timeout")
    assert done.json()["error"]["data"]["jsonrpc"] == -32003


def test_tools_are_served_over_http_and_stdio_as_the_page_says(tmp_path: Path):
    page = "docs/how-to/serve-tools.md"
    (tmp_path / "sums.py").write_text((ROOT / "docs_src/serve_tools/tutorial001.py").read_text())

    with Process(["tools", "serve", "sums.py", "--http", "--port", "0", "--json"], tmp_path) as server:
        url = server.line()["url"]
        (call,) = commands(page, "toolwire call")
        assert "http://127.0.0.1:8095/mcp add" in call
        added = toolwire("call", url, "add", "--args", '{"a": 1, "b": 2}', cwd=tmp_path)
        assert (added.code, added.out) == (0, "3.0\n")
        converted = toolwire("call", url, "convert_temperature", "--args", '{"value": 20, "to": "F"}', cwd=tmp_path)
        assert converted.out == "68.0 °F\n"
        assert server.stop() == 0

    request: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    served = toolwire("tools", "serve", "sums:add", cwd=tmp_path, stdin=json.dumps(request) + "\n")
    assert [tool["name"] for tool in served.json()["result"]["tools"]] == ["add"]
