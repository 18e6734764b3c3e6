"""Cards in TypeScript, bundled and run without a page, answer real agents of a real host (issue: "It shows")."""

import json
import shutil
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import httpx2
import pytest
from mcp.types import TextContent

from tests.card_sdk.bundles import bundled, headless
from tests.card_sdk.package import built
from tests.e2e.canvas_hosts import Host, running_host, toolbox
from tests.e2e.running import POLL_S, STOP_LIMIT_S, toolwire
from tests.unit.card.manifests import GOOD, manifest

pytestmark = pytest.mark.e2e

TOOLS = manifest(
    entry="index.html",
    tools=[
        GOOD["tools"][0],
        {"name": "shout", "description": "Shouts.", "inputSchema": {"type": "object"}},
        {"name": "wait", "description": "Waits.", "inputSchema": {"type": "object"}, "timeoutMs": 1000},
        {"name": "hang", "description": "Waits for long.", "inputSchema": {"type": "object"}, "timeoutMs": 120000},
    ],
)

MORE = """
card.tools.handle<{ text: string }>("shout", async ({ text }, call) => {
  call.progress("shouting");
  await card.storage.set("last", text);
  await card.log.info(`${call.agent.name} shouts`);
  return { was: await card.storage.get("last"), now: text.toUpperCase(), by: call.agent.name, on: call.card.name };
});
for (const name of ["wait", "hang"]) card.tools.handle(name, (_, call) => new Promise((_resolve, reject) => {
  void card.log.info("waits");
  call.signal.addEventListener("abort", () => {
    void card.log.info(`gave up: ${call.signal.reason.code}`);
    reject(call.signal.reason);
  });
}));
"""


def radar(tmp_path: Path) -> Path:
    """The card of the page, word for word, with two tools that need nobody else."""
    source = tmp_path / "src" / "main.ts"
    source.parent.mkdir()
    shutil.copy(built().folder / "tests" / "seed" / "test-radar.ts", source)
    with source.open("a") as file:
        file.write(MORE)
    return bundled(built(), tmp_path / "card", source, TOOLS)


async def test_a_card_without_a_page_answers_agents_and_uses_what_its_host_has(tmp_path: Path):
    """cards.md 28-36, 42, 45, 55-58, 72."""
    async with running_host(tmp_path) as host:
        folder = radar(tmp_path)
        agent, card, path = await host.desk(folder)
        key, entry = host.ready.owner_key, folder / "index.html"
        async with (
            headless(built(), host.ready.url, key, "test-radar", entry) as running,
            toolbox(agent) as session,
        ):
            assert await running.says("connected:") == "connected: test-radar 1.2.0, 1 on boards"

            shouted = await session.call_tool("test_radar_shout", {"text": "hello"})
            assert isinstance(shouted.content[0], TextContent)
            assert '"now": "HELLO"' in shouted.content[0].text
            assert '"by": "writer"' in shouted.content[0].text

            alone = await session.call_tool("test_radar_run_tests", {"filter": "login"})
            assert alone.is_error
            assert isinstance(alone.content[0], TextContent)
            assert alone.content[0].text == "Connect a terminal card to the Test radar card first."

            late = await session.call_tool("test_radar_wait", {})
            assert late.is_error
            for line in ("writer shouts", "gave up: deadline"):
                await logged(host, f"{path}/cards/{card['id']}/log", line)


async def test_a_key_that_opens_nothing_and_a_package_that_is_not_there_end_it_with_words(tmp_path: Path):
    async with running_host(tmp_path) as host:
        entry = tmp_path / "main.js"
        entry.write_text("")
        async with headless(built(), host.ready.url, "oag_wrong", "test-radar", entry) as running:
            assert "does not take this key" in await running.says("the host at")
            with anyio.fail_after(10):
                assert await running.process.wait() == 1
        async with headless(built(), host.ready.url, host.ready.owner_key, "no-such", entry) as running:
            assert "has no package no-such; add it first" in await running.says("the host at")


async def test_a_card_outlives_its_host_and_answers_the_next_one(tmp_path: Path):
    """Its handlers stay; a call that was under way is cancelled, and what it says of that waits for the next host."""
    folder = radar(tmp_path)
    async with AsyncExitStack() as stack:
        async with running_host(tmp_path) as host:
            agent, card, path = await host.desk(folder)
            url, key = host.ready.url, host.ready.owner_key
            running = await stack.enter_async_context(headless(built(), url, key, "test-radar", folder / "index.html"))
            await running.says("connected:")
            tasks = await stack.enter_async_context(anyio.create_task_group())
            tasks.start_soon(hang, agent)
            await logged(host, f"{path}/cards/{card['id']}/log", "waits")
        await running.says("not connected:")
        async with running_host(tmp_path, httpx2.URL(url).port or 0) as host, toolbox(agent) as session:
            await running.says("connected:")
            await logged(host, f"{path}/cards/{card['id']}/log", "gave up: unloaded")
            shouted = await session.call_tool("test_radar_shout", {"text": "again"})
            assert isinstance(shouted.content[0], TextContent)
            assert '"now": "AGAIN"' in shouted.content[0].text


async def hang(agent: dict[str, Any]) -> None:
    """A call whose host goes away."""
    params: dict[str, Any] = {"name": "test_radar_hang", "arguments": {}}
    body: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    headers = {"authorization": f"Bearer {agent['agent_key']}", "accept": "application/json, text/event-stream"}
    async with httpx2.AsyncClient(timeout=60) as client:
        with pytest.raises(httpx2.TransportError):
            await client.post(agent["toolbox_url"], json=body, headers=headers)


async def logged(host: Host, path: str, text: str) -> None:
    """Wait until a card's log has a line."""
    lines: list[str] = []
    for _ in range(int(STOP_LIMIT_S / POLL_S)):
        lines = [line["text"] for line in (await host.ask("GET", path))["lines"]]
        if text in lines:
            return
        await anyio.sleep(POLL_S)
    raise AssertionError(f"the log has no line {text!r}: {lines}")


async def test_one_process_answers_for_all_copies_and_gives_way_to_the_next(tmp_path: Path):
    """cards.md 15, decision 41."""
    folder = radar(tmp_path)
    async with running_host(tmp_path) as host:
        agent, card, path = await host.desk(folder)
        more = {"kind": "card", "package": card["package"], "title": "Second"}
        second = await host.ask("POST", f"{path}/cards", more)
        await host.ask("POST", f"{path}/arrows", {"source": agent["id"], "target": second["id"]})
        start = (built(), host.ready.url, host.ready.owner_key, card["package"], folder / "dist" / "main.js")
        async with headless(*start) as running, toolbox(agent) as session:
            assert await running.says("connected:") == "connected: test-radar 1.2.0, 2 on boards"
            for one, name in ((card["id"], card["title"]), ("second", "Second")):
                shouted = await session.call_tool("test_radar_shout", {"text": name, "card": one})
                assert isinstance(shouted.content[0], TextContent)
                assert f'"on": "{name}"' in shouted.content[0].text
            async with headless(*start) as another:
                await another.says("connected:")
                await running.says("another connection speaks for the card now")
                with anyio.fail_after(10):
                    assert await running.process.wait() == 1


async def test_a_card_that_the_command_line_began_compiles_and_answers(tmp_path: Path):
    made = await anyio.to_thread.run_sync(lambda: toolwire("card", "new", "word-count", "--typescript", cwd=tmp_path))
    assert made.code == 0, made.err
    folder = tmp_path / "word-count"
    scope = tmp_path / "node_modules" / "@toolwire"
    scope.mkdir(parents=True)
    (scope / "card-sdk").symlink_to(built().folder)
    built().tool("tsc", "--noEmit", "-p", ".", cwd=folder)
    build = json.loads((folder / "package.json").read_text())["scripts"]["build"].split()
    built().tool(*build, cwd=folder)
    async with running_host(tmp_path) as host:
        agent, _, _ = await host.desk(folder)
        start = (built(), host.ready.url, host.ready.owner_key, "word-count", folder / "index.html")
        async with headless(*start) as running, toolbox(agent) as session:
            await running.says("connected:")
            counted = await session.call_tool("word_count_count_words", {"text": "three short words"})
            assert isinstance(counted.content[0], TextContent)
            assert json.loads(counted.content[0].text) == {"words": 3, "longest": "three"}
