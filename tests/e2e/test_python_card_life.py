"""cards.md 24, 25, 60, 67, §7, decisions 24, 25: Python cards over time, on a real host, called by a real client."""

import os
import signal
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.e2e.canvas_hosts import running_host, toolbox
from tests.e2e.running import eventually
from tests.e2e.test_python_card import text_of, write_card
from tests.pids import until_gone
from toolwire.card import Card, CardError, ToolCall

pytestmark = pytest.mark.e2e

TOOL = "test_radar_run_tests"

WHO = """
import os
from toolwire.card import Card

card = Card()


@card.tools.handle("run_tests")
def run_tests(arguments, call):
    return f"{os.getpid()} {call.card.name} {[copy.name for copy in card.copies]}"


card.run()
"""

FAULTY = """
import os, subprocess, sys, time
import anyio
from toolwire.card import Card

card = Card()


@card.tools.handle("run_tests")
async def run_tests(arguments, call):
    what = arguments.get("filter")
    if what == "print":
        print("x" * 10_000_000)
        print("y\\n" * 100_000)
    elif what == "large":
        return "x" * 2_000_000
    elif what == "parts":
        return {"content": [{"type": "text", "text": "x"}] * 17}
    elif what == "throw":
        raise LookupError("no such check: \\udcff")
    elif what == "flood":
        for number in range(10_000):
            call.progress(str(number))
            await anyio.sleep(0)
    elif what == "hang":
        await anyio.sleep_forever()
    elif what == "block":
        time.sleep(1.5)
    elif what == "leave":
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        print(f"child {child.pid}", flush=True)
        os._exit(3)
    return "fine"


card.run()
"""


async def test_one_process_serves_all_copies_until_the_last_is_removed(tmp_path: Path) -> None:
    async with running_host(tmp_path) as host:
        agent, first, path = await host.desk(write_card(tmp_path / "radar", WHO))
        body = {"kind": "card", "package": first["package"], "title": "Second"}
        second = await host.ask("POST", f"{path}/cards", body)
        await host.ask("POST", f"{path}/arrows", {"source": second["id"], "target": agent["id"]})
        async with toolbox(agent) as client:
            with anyio.fail_after(30):
                answers = [text_of(await client.call_tool(TOOL, {"card": name})) for name in ("Test radar", "Second")]
        (pid, one), (same, other) = [answer.split(" ", 1) for answer in answers]
        assert pid == same
        assert one == "Test radar ['Test radar', 'Second']"
        assert other == "Second ['Test radar', 'Second']"
        await host.ask("DELETE", f"{path}/cards/{first['id']}")
        os.kill(int(pid), 0)
        await host.ask("DELETE", f"{path}/cards/{second['id']}")
        await until_gone(int(pid))


async def test_an_accepted_update_takes_over_from_what_runs(tmp_path: Path) -> None:
    async with running_host(tmp_path) as host:
        agent, card, _ = await host.desk(write_card(tmp_path / "radar", WHO))
        async with toolbox(agent) as client:
            with anyio.fail_after(30):
                pid = text_of(await client.call_tool(TOOL, {})).split()[0]
            newer = WHO.replace('return f"', 'return f"new ')
            folder = write_card(tmp_path / "radar", newer, version="2.0.0")
            offer = await host.ask("POST", "/card-packages", {"source": str(folder)})
            assert offer["package"] == card["package"]
            with anyio.fail_after(30):
                await until_gone(int(pid))
                assert text_of(await client.call_tool(TOOL, {})).startswith("new ")


async def test_whatever_a_handler_does_the_agent_gets_words_and_the_card_goes_on(tmp_path: Path) -> None:
    tool = {
        "name": "run_tests",
        "description": "Runs the tests.",
        "inputSchema": {"type": "object", "properties": {"filter": {"type": "string"}}},
        "timeoutMs": 1000,
    }
    async with running_host(tmp_path) as host:
        agent, card, path = await host.desk(write_card(tmp_path / "radar", FAULTY, tools=[tool]))
        async with toolbox(agent) as client:

            async def call(what: str) -> str:
                with anyio.fail_after(30):
                    return text_of(await client.call_tool(TOOL, {"filter": what}))

            assert await call("print") == "fine"
            assert await call("flood") == "fine"
            assert "1048576 are allowed" in await call("large")
            assert "17 parts" in await call("parts")
            assert await call("throw") == "no such check: ?"
            assert "timed out after 1 s" in await call("hang")
            assert "timed out after 1 s" in await call("block")
            assert "stopped while it ran this" in await call("leave")
            assert await call("again") == "fine"
        lines = [line["text"] for line in (await host.ask("GET", f"{path}/cards/{card['id']}/log"))["lines"]]
        assert len(lines) <= 1000
        child = next(line for line in lines if line.startswith("child "))
        await until_gone(int(child.split()[1]))


def attached(url: str, key: str, package: str, name: str) -> Card:
    """A card that its author runs, in this process."""
    card = Card(url, key, package)

    @card.tools.handle("run_tests")
    async def run_tests(arguments: dict[str, Any], call: ToolCall) -> str:
        return f"{name} {arguments.get('filter')}"

    assert run_tests is not None
    return card


async def there(card: Card) -> None:
    """Wait until the host takes what a card says."""
    with anyio.fail_after(20):
        while True:
            with suppress(CardError):
                return await card.log.info("here")


async def test_a_card_by_key_attaches_again_after_a_restart_and_gives_way_to_a_newer_one(tmp_path: Path) -> None:
    """Decision 24: and the host starts no process of its own where one is attached."""
    refused: list[str] = []

    async def serve(card: Card) -> None:
        try:
            await card.serve()
        except CardError as error:
            refused.append(error.code)

    async def called(agent: dict[str, Any], word: str) -> str:
        async with toolbox(agent) as client:
            return text_of(await client.call_tool(TOOL, {"filter": word}))

    async with anyio.create_task_group() as tasks:
        async with running_host(tmp_path) as host:
            agent, placed, _ = await host.desk(write_card(tmp_path / "radar", "raise SystemExit(9)"))
            where = (host.ready.url, host.ready.owner_key, placed["package"])
            first = attached(*where, "first")
            tasks.start_soon(serve, first)
            await there(first)
            assert await called(agent, "a") == "first a"
        async with running_host(tmp_path, int(where[0].rpartition(":")[2])):
            await there(first)
            assert await called(agent, "b") == "first b"
            second = attached(*where, "second")
            tasks.start_soon(serve, second)
            await there(second)
            await eventually(lambda: refused == ["replaced"])
            assert await called(agent, "c") == "second c"
            tasks.cancel_scope.cancel()


async def test_a_card_with_a_wrong_key_or_package_is_told_and_gives_up(tmp_path: Path) -> None:
    async with running_host(tmp_path) as host:
        agent, placed, _ = await host.desk(write_card(tmp_path / "radar"))
        url, key, package = host.ready.url, host.ready.owner_key, placed["package"]
        for given in (("oag_foreign", package), (agent["agent_key"], package), ("crd_used", package)):
            with pytest.raises(CardError, match="does not take this key") as refused:
                await Card(url, *given).serve()
            assert refused.value.code == "unauthorized"
        with pytest.raises(CardError, match="no such package"):
            await Card(url, key, "pkg_gone").serve()
        with pytest.raises(CardError, match="no such package"):
            await Card(url, key).serve()


HUNG = """
import os, time
from toolwire.card import Card

card = Card()


@card.tools.handle("run_tests")
def run_tests(arguments, call):
    call.progress(str(os.getpid()))
    time.sleep(600)


card.run()
"""


async def test_a_card_ends_with_its_host_even_if_that_is_killed_and_a_handler_hangs(tmp_path: Path) -> None:
    async with running_host(tmp_path) as host, anyio.create_task_group() as tasks:
        agent, _, path = await host.desk(write_card(tmp_path / "radar", HUNG))

        async def call() -> None:
            with suppress(Exception):  # the host is killed meanwhile
                async with toolbox(agent) as client:
                    await client.call_tool(TOOL, {})

        async with host.feed(path) as moments:
            tasks.start_soon(call)
            progress = ""
            while not progress and (moment := await moments.next()) is not None:
                progress = moment.get("progress") or ""
        host.process.stop(signal.SIGKILL)
        await until_gone(int(progress))
        tasks.cancel_scope.cancel()
