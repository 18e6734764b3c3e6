"""The card of the page, in both languages: an agent has it run a real project's tests in a real terminal.

cards.md 1-5, 13-18, 28-36, 40, 45, 63, 64, 72-74, 76, §7.
"""

import shutil
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import msgspec
import pytest
from mcp.client.session import ClientSession

from tests.card_sdk.bundles import bundled, headless
from tests.card_sdk.package import built
from tests.e2e.canvas_hosts import Host, Moments, running_host, toolbox
from tests.e2e.running import toolwire
from tests.e2e.test_python_card import text_of
from tests.node_packages import ROOT

pytestmark = pytest.mark.e2e

PATIENCE_S = 60.0
EXAMPLES = ROOT / "examples" / "cards"
SEED = ROOT / "packages" / "card-sdk" / "tests" / "seed" / "test-radar.ts"
TOOL = "test_radar_run_tests"

PASSES = "def test_adds():\n    assert 1 + 1 == 2\n"
FAILS = "\n\ndef test_subtracts():\n    assert 2 - 1 == 2, 'they differ'\n"
NODE_PASSES = """import assert from "node:assert";
import { test } from "node:test";
test("adds", () => assert.equal(1 + 1, 2));
"""
NODE_FAILS = 'test("subtracts", () => assert.equal(2 - 1, 2, "they differ"));\n'


def pytest_project(folder: Path) -> Path:
    """A project of Python; its tests, to which one that fails can be added."""
    folder.mkdir()
    (folder / "test_sums.py").write_text(PASSES)
    return folder / "test_sums.py"


def npm_project(folder: Path) -> Path:
    """A project of npm; its tests, to which one that fails can be added."""
    folder.mkdir()
    package = {"name": "sums", "type": "module", "scripts": {"test": "node --test --test-reporter=spec"}}
    (folder / "package.json").write_bytes(msgspec.json.encode(package))
    (folder / "sums.test.js").write_text(NODE_PASSES)
    return folder / "sums.test.js"


@asynccontextmanager
async def python_card(host: Host, folder: Path) -> AsyncGenerator[tuple[dict[str, Any], dict[str, Any], str]]:
    """The example in Python, which the host runs by itself."""
    yield await placed(host, EXAMPLES / "test-radar", folder.parent)


@asynccontextmanager
async def typescript_card(host: Host, folder: Path) -> AsyncGenerator[tuple[dict[str, Any], dict[str, Any], str]]:
    """The example in TypeScript, built as its author would, and run without a page."""
    shutil.copytree(EXAMPLES / "test-radar-ts", folder)
    manifest = msgspec.json.decode((folder / "toolwire-card.json").read_bytes())
    bundled(built(), folder / "built", folder / "src" / "main.ts", manifest)
    desk = await placed(host, folder / "built", folder.parent)
    start = (built(), host.ready.url, host.ready.owner_key, desk[1]["package"], folder / "built" / "index.html")
    async with headless(*start) as running:
        await running.says("connected:")
        yield desk


async def placed(host: Host, folder: Path, cwd: Path) -> tuple[dict[str, Any], dict[str, Any], str]:
    """An agent joined to a copy of the card in `folder`, which the command line installs: see `Host.desk`."""
    installed = await anyio.to_thread.run_sync(
        lambda: toolwire("card", "add", str(folder), "--yes", "--json", cwd=cwd).json()
    )
    assert (installed["status"], [tool["exposed_name"] for tool in installed["tools"]]) == ("installed", [TOOL])
    return await host.place(installed["package"])


CardIn = Callable[[Host, Path], AbstractAsyncContextManager[tuple[dict[str, Any], dict[str, Any], str]]]
BOTH = [(python_card, pytest_project, FAILS, "adds"), (typescript_card, npm_project, NODE_FAILS, "sums.test.js")]


@pytest.mark.parametrize(("card_in", "project", "failing", "filter_"), BOTH, ids=["python", "typescript"])
async def test_an_agent_runs_the_tests_of_a_project_through_the_card(
    tmp_path: Path, card_in: CardIn, project: Callable[[Path], Path], failing: str, filter_: str
) -> None:
    tests = project(tmp_path / "project")
    async with (
        running_host(tmp_path) as host,
        card_in(host, tmp_path / "card") as (agent, card, path),
        toolbox(agent) as client,
        host.feed(path) as feed,
    ):
        with anyio.fail_after(PATIENCE_S):
            await check_listed(client)
            alone = await client.call_tool(TOOL, {})
            assert (alone.is_error, text_of(alone)) == (True, "Connect a terminal card to the Test radar card first.")

            content = {"cwd": str(tests.parent)}
            terminal = await host.ask("POST", f"{path}/cards", {"kind": "terminal", "content": content})
            await host.ask("POST", f"{path}/arrows", {"source": card["id"], "target": terminal["id"]})
            heard: list[str | None] = []

            async def hear(progress: float, total: float | None, message: str | None) -> None:
                heard.append(message)

            passed = await client.call_tool(TOOL, {"filter": filter_}, progress_callback=hear)
            assert (passed.is_error, text_of(passed), heard) == (False, "All tests passed", ["running the tests…"])

            with tests.open("a") as file:
                file.write(failing)
            failed = await client.call_tool(TOOL, {})
            assert not failed.is_error
            assert "they differ" in text_of(failed)
            assert "subtracts" in text_of(failed)

            told = [await ended_call(feed) for _ in range(3)]
        assert [[one["status"] for one in each][:: len(each) - 1] for each in told] == [
            ["running", "error"],
            ["running", "ok"],
            ["running", "ok"],
        ]
        assert all(
            "running the tests…" in [one["progress"] for one in each if one["status"] == "running"] for each in told
        )
        [arrow] = {one["arrow"] for each in told for one in each}
        logged = (await host.ask("GET", f"{path}/arrows/{arrow}/log"))["calls"]
        assert [(one["tool"], one["caller"]["name"], one["progress"]) for one in logged] == [
            (TOOL, "writer", "running the tests…")
        ] * 3
        assert [one["result_preview"] for one in logged][1] == "All tests passed"


def test_the_example_in_typescript_is_the_pages_handler() -> None:
    assert (EXAMPLES / "test-radar-ts" / "src" / "main.ts").read_text() == SEED.read_text()


async def check_listed(client: ClientSession) -> None:
    """The tool is listed as the page says."""
    [tool] = [tool for tool in (await client.list_tools()).tools if tool.name == TOOL]
    assert (tool.description or "").startswith('[Custom card "Test radar" by Ada, community code] Runs the project')
    assert set(tool.input_schema["properties"]) == {"filter", "card"}


async def ended_call(feed: Moments) -> list[dict[str, Any]]:
    """What the feed tells of the next call, from its beginning to its end."""
    told: list[dict[str, Any]] = []
    while not told or told[-1]["status"] == "running":
        moment = await feed.next()
        assert moment is not None
        if moment["type"] == "call":
            told.append(moment)
    assert len({one["call_id"] for one in told}) == 1
    return told
