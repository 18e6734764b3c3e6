"""cards.md §7, 60, decision 24: a Python card as a child process of a real host, called by an official MCP client."""

import json
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.e2e.canvas_hosts import running_host, toolbox

CARD = """
import os
import sys

from toolwire.card import Card, tool_error, tool_image

card = Card()


@card.tools.handle("run_tests")
async def run_tests(arguments, call):
    call.progress("running the tests")
    what = arguments.get("filter")
    if what == "crash":
        os._exit(3)
    if what == "environment":
        return sorted(name for name in os.environ if "KEY" in name or "SECRET" in name)
    if what == "keep":
        await card.storage.set("seen", [1, {"a": None}])
        return await card.storage.get("seen")
    if what == "who":
        return {"agent": call.agent.name, "card": call.card.name, "peers": [p.name for p in await card.agents.list()]}
    if what == "print":
        print("a line on stdout")
        print("a line on stderr", file=sys.stderr)
    return None


card.run()
"""


def write_card(folder: Path, code: str = CARD, **changes: Any) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "main.py").write_text(code)
    tool = {
        "name": "run_tests",
        "description": "Runs the tests.",
        "inputSchema": {"type": "object", "properties": {"filter": {"type": "string"}}},
    }
    manifest = {
        "manifestVersion": 1,
        "name": "test-radar",
        "displayName": "Test radar",
        "version": "1.0.0",
        "protocol": 1,
        "entry": "main.py",
        "permissions": ["agents.read", "terminals.write"],
        "tools": [tool],
    }
    (folder / "toolwire-card.json").write_text(json.dumps({**manifest, **changes}))
    return folder


def text_of(result: Any) -> str:
    return result.content[0].text


@pytest.mark.e2e
async def test_a_python_card_is_started_called_and_started_again(tmp_path: Path) -> None:
    async with running_host(tmp_path) as host:
        agent, card, path = await host.desk(write_card(tmp_path / "radar"))
        async with toolbox(agent) as client:
            assert "test_radar_run_tests" in [tool.name for tool in (await client.list_tools()).tools]
            with anyio.fail_after(30):
                done = await client.call_tool("test_radar_run_tests", {})
                assert text_of(done) == "OK"
                who = json.loads(text_of(await client.call_tool("test_radar_run_tests", {"filter": "who"})))
                assert who == {"agent": "writer", "card": "Test radar", "peers": ["writer"]}
                kept = await client.call_tool("test_radar_run_tests", {"filter": "keep"})
                assert json.loads(text_of(kept)) == [1, {"a": None}]
                environment = await client.call_tool("test_radar_run_tests", {"filter": "environment"})
                assert json.loads(text_of(environment)) == []
                crashed = await client.call_tool("test_radar_run_tests", {"filter": "crash"})
                assert crashed.is_error
                assert "stopped while it ran this" in text_of(crashed)
                again = await client.call_tool("test_radar_run_tests", {"filter": "print"})
                assert text_of(again) == "OK"
        lines = (await host.ask("GET", f"{path}/cards/{card['id']}/log"))["lines"]
        texts = [line["text"] for line in lines]
        assert "a line on stdout" in texts
        assert "a line on stderr" in texts
        assert any("code 3" in text for text in texts)


@pytest.mark.e2e
async def test_a_python_card_that_cannot_start_says_why(tmp_path: Path) -> None:
    async with running_host(tmp_path) as host:
        agent, _, _ = await host.desk(write_card(tmp_path / "radar", "raise SystemExit('no database here')"))
        async with toolbox(agent) as client:
            with anyio.fail_after(30):
                result = await client.call_tool("test_radar_run_tests", {})
            assert result.is_error
            assert "did not start" in text_of(result)
            assert "no database here" in text_of(result)
