"""Large boards with two editors, two hundred calls at once, and a host that is killed in the middle of calls."""

import contextlib
import signal
import sqlite3
from collections import Counter
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest

from tests.e2e.canvas_hosts import Host, running_host, toolbox
from tests.e2e.running import eventually
from tests.e2e.test_python_card import text_of, write_card
from tests.pids import until_gone
from toolwire.canvas.card_lines import MAX_IN_FLIGHT
from toolwire.canvas.history import MAX_STEPS

pytestmark = pytest.mark.e2e

CARDS, ARROWS, CALLS = 300, 400, 200
PATIENCE_S = 60.0

COUNTING = """
import asyncio
import os
from pathlib import Path

from toolwire.card import Card

card = Card()
here = Path({folder!r})
(here / "pid").write_text(str(os.getpid()))


@card.tools.handle("run_tests")
async def run_tests(arguments, call):
    number = arguments["filter"]
    with (here / "ran.log").open("a") as log:
        log.write(number + "\\n")
    while number.startswith("held") and not (here / "let go").exists():
        await asyncio.sleep(0.02)
    await asyncio.sleep(0.01)
    return f"done {{number}}"


card.run()
"""


def counting(folder: Path) -> Path:
    """A card that writes down each call that reaches it."""
    return write_card(folder / "radar", COUNTING.format(folder=str(folder)))


def ran(folder: Path) -> Counter[str]:
    log = folder / "ran.log"
    return Counter(log.read_text().split() if log.exists() else ())


def kept_calls(folder: Path) -> int:
    """The calls of arrows that are on disk."""
    with sqlite3.connect(f"file:{folder / '.toolwire' / 'toolwire.db'}?mode=ro", uri=True) as database:
        (count,) = database.execute("SELECT count(*) FROM records WHERE kind = 'arrow_call'").fetchone()
    database.close()
    return count


class Editor:
    """Edits a board in the version that it has seen, and reads it anew where that is stale."""

    def __init__(self, host: Host, path: str) -> None:
        self._host = host
        self._path = path
        self._version = 0
        self.refused = 0

    async def post(self, kind: str, body: dict[str, Any]) -> dict[str, Any]:
        while True:
            headers = {"if-match": f'"{self._version}"'}
            answer = await self._host.client.post(f"/api/v1{self._path}/{kind}", json=body, headers=headers)
            if answer.status_code == 201:
                self._version += 1
                return answer.json()["data"]
            assert answer.status_code == 409, answer.text
            error = answer.json()["error"]
            assert error["code"] == "conflict"
            self._version = error["details"]["present"]["version"]
            self.refused += 1


async def test_two_editors_fill_a_large_board_and_no_edit_is_lost(tmp_path: Path) -> None:
    async with running_host(tmp_path) as host:
        path = f"/workspaces/{(await host.ask('POST', '/workspaces', {'name': 'desk'}))['id']}"
        editors = Editor(host, path), Editor(host, path)
        cards: dict[int, str] = {}
        drawn: set[str] = set()

        async def put(editor: Editor, numbers: range) -> None:
            for number in numbers:
                placed = await editor.post("cards", {"kind": "note", "title": f"note {number}", "x": number})
                cards[number] = placed["id"]

        async def draw(editor: Editor, numbers: range) -> None:
            for number in numbers:
                ends = cards[number % CARDS], cards[(number + 1 + number // CARDS) % CARDS]
                drawn.add((await editor.post("arrows", {"source": ends[0], "target": ends[1]}))["id"])

        with anyio.fail_after(PATIENCE_S):
            for work, count in ((put, CARDS), (draw, ARROWS)):
                async with anyio.create_task_group() as tasks:
                    for at, editor in enumerate(editors):
                        tasks.start_soon(work, editor, range(at, count, 2))
        board = await host.ask("GET", path)
        assert {card["id"] for card in board["cards"]} == set(cards.values())
        assert {arrow["id"] for arrow in board["arrows"]} == drawn
        assert (len(board["cards"]), len(board["arrows"])) == (CARDS, ARROWS)
        assert board["version"] == 1 + CARDS + ARROWS
        assert all(editor.refused for editor in editors)
        assert host.process.stop() == 0
    async with running_host(tmp_path) as again:
        assert await again.ask("GET", path) == board


async def test_two_hundred_calls_at_once_each_get_their_own_answer(tmp_path: Path) -> None:
    """cards.md 38, 64, decision 37: sixteen at a time, the others in line; all of them in the arrow's log."""
    async with running_host(tmp_path) as host:
        agent, _, path = await host.desk(counting(tmp_path))
        answers: dict[int, str] = {}
        async with toolbox(agent) as client:

            async def call(number: int) -> None:
                answers[number] = text_of(await client.call_tool("test_radar_run_tests", {"filter": str(number)}))

            with anyio.fail_after(PATIENCE_S):
                async with anyio.create_task_group() as calls:
                    for number in range(CALLS):
                        calls.start_soon(call, number)
        assert answers == {number: f"done {number}" for number in range(CALLS)}
        assert ran(tmp_path) == Counter(str(number) for number in range(CALLS))
        [arrow] = (await host.ask("GET", path))["arrows"]
        logged = (await host.ask("GET", f"{path}/arrows/{arrow['id']}/log?limit={CALLS}"))["calls"]
        assert [one["status"] for one in logged] == ["ok"] * CALLS
        assert len({one["call_id"] for one in logged}) == CALLS


async def test_a_killed_host_comes_back_with_everything_and_runs_nothing_twice(tmp_path: Path) -> None:
    """Boards, packages, names, keys and logs are there again; calls that were under way are not repeated.

    The card's process has ended with its host.
    """
    async with running_host(tmp_path) as first:
        agent, card, path = await first.desk(counting(tmp_path))
        packages, board = await first.ask("GET", "/card-packages"), await first.ask("GET", path)
        [arrow] = board["arrows"]
        log = f"{path}/arrows/{arrow['id']}/log"
        async with toolbox(agent) as client:
            for number in range(10):
                await client.call_tool("test_radar_run_tests", {"filter": f"ended-{number}"})
        ended = (await first.ask("GET", log))["calls"]
        await eventually(lambda: kept_calls(tmp_path) == len(ended))
        with anyio.fail_after(PATIENCE_S):
            await call_while_it_is_killed(first, agent, tmp_path)
            await until_gone(int((tmp_path / "pid").read_text()))
    before = ran(tmp_path)
    assert [name for name, times in before.items() if times > 1] == []
    (tmp_path / "let go").touch()
    async with running_host(tmp_path) as second:
        assert await second.ask("GET", "/card-packages") == packages
        assert paused(await second.ask("GET", path)) == paused(board)
        assert (await second.ask("GET", log))["calls"] == ended
        agent["toolbox_url"] = agent["toolbox_url"].replace(first.ready.url, second.ready.url)
        async with toolbox(agent) as client:
            with anyio.fail_after(PATIENCE_S):
                assert "test_radar_run_tests" in [tool.name for tool in (await client.list_tools()).tools]
                again = await client.call_tool("test_radar_run_tests", {"filter": "again", "card": card["id"]})
        assert text_of(again) == "done again"
        assert ran(tmp_path) - before == Counter(["again"])


async def call_while_it_is_killed(host: Host, agent: dict[str, Any], folder: Path) -> None:
    """Have 40 calls under way, or in line, and kill the host once the card has those that it may have at once."""
    headers = {"authorization": f"Bearer {agent['agent_key']}", "accept": "application/json"}

    async def call(number: int) -> None:
        params = {"name": "test_radar_run_tests", "arguments": {"filter": f"held-{number}"}}
        request = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
        with pytest.raises(httpx2.TransportError):
            await http.post(agent["toolbox_url"], json=request)

    async with (
        httpx2.AsyncClient(headers=headers, timeout=PATIENCE_S, trust_env=False) as http,
        anyio.create_task_group() as calls,
    ):
        for number in range(40):
            calls.start_soon(call, number)
        await eventually(lambda: sum(name.startswith("held") for name in ran(folder)) == MAX_IN_FLIGHT)
        host.process.stop(signal.SIGKILL)


def paused(board: dict[str, Any]) -> dict[str, Any]:
    """A board without how its cards do, which starts anew with the host."""
    return {**board, "cards": [{**card, "state": ""} for card in board["cards"]]}


async def test_edits_that_were_answered_survive_a_kill_in_the_middle_of_others(tmp_path: Path) -> None:
    answered: list[str] = []
    async with running_host(tmp_path) as first:
        path = f"/workspaces/{(await first.ask('POST', '/workspaces', {'name': 'desk'}))['id']}"

        async def edit() -> None:
            with contextlib.suppress(httpx2.TransportError):
                while True:
                    answered.append((await first.ask("POST", f"{path}/cards", {"kind": "note"}))["id"])

        async with anyio.create_task_group() as editors:
            for _ in range(8):
                editors.start_soon(edit)
            await eventually(lambda: len(answered) > 100)
            first.process.stop(signal.SIGKILL)
    async with running_host(tmp_path) as second:
        board = await second.ask("GET", path)
        cards = {card["id"] for card in board["cards"]}
        assert cards >= set(answered)
        assert board["version"] == 1 + len(cards)
        steps = min(len(cards), MAX_STEPS)
        for _ in range(steps):
            board = await second.ask("POST", f"{path}/undo")
        assert (len(board["cards"]), board["can_undo"]) == (len(cards) - steps, False)
