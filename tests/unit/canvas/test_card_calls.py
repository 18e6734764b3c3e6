"""cards.md 30-39, 43-65, decisions 14, 15, 20-29, 33, 37-39: the calls of cards' tools, whatever happens on the way."""

import base64
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.abc import TaskGroup

from tests.unit.canvas.cards import Desk, WireCard, connected, desk_with
from tests.unit.canvas.site import open_site
from tests.unit.card.manifests import GOOD, with_tool
from toolwire.canvas import card_calls, card_connections

TOOL = "test_radar_run_tests"
PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(8)).decode()
QUICK = with_tool(timeoutMs=1000)


class Calling:
    """Calls under way, by the order in which they were begun."""

    def __init__(self, desk: Desk, tasks: TaskGroup) -> None:
        self.desk = desk
        self._tasks = tasks
        self._results: dict[int, dict[str, Any]] = {}
        self._news = anyio.Event()
        self._begun = 0

    def begin(self, **arguments: Any) -> int:
        number, self._begun = self._begun, self._begun + 1
        self._tasks.start_soon(self._call, number, arguments)
        return number

    async def result(self, number: int = 0) -> dict[str, Any]:
        with anyio.fail_after(15):
            while number not in self._results:
                self._news = anyio.Event()
                await self._news.wait()
        return self._results[number]

    async def text(self, number: int = 0) -> str:
        result = await self.result(number)
        assert result["isError"] is True, result
        return result["content"][0]["text"]

    async def good(self, number: int = 0) -> None:
        result = await self.result(number)
        assert "isError" not in result, result

    async def _call(self, number: int, arguments: dict[str, Any]) -> None:
        self._results[number] = await self.desk.agent.call(TOOL, **arguments)
        self._news.set()


@asynccontextmanager
async def calling(tmp_path: Path, declared: dict[str, Any] = GOOD) -> AsyncGenerator[tuple[Calling, WireCard]]:
    """A desk whose card is awake."""
    async with open_site(tmp_path / "data") as site:
        desk = await desk_with(site, tmp_path / "radar", declared)
        async with connected(site, desk.package) as card, anyio.create_task_group() as tasks:
            yield Calling(desk, tasks), card
            tasks.cancel_scope.cancel()


async def test_a_call_carries_what_a_card_needs_to_know(tmp_path: Path) -> None:
    """cards.md 30-33, decisions 22, 41."""
    async with calling(tmp_path) as (calls, card):
        calls.begin(filter="a")
        call = await card.event("tools.call")
        assert (call["tool"], call["exposedName"], call["arguments"]) == ("run_tests", TOOL, {"filter": "a"})
        assert call["agent"] == {"id": calls.desk.agent.id, "name": "writer"}
        assert call["card"] == {"id": calls.desk.card, "name": "Test radar"}
        assert call["remainingMs"] == 120_000
        assert call["deadline"] > 1e12
        await card.respond(call)
        assert (await calls.result())["content"] == [{"type": "text", "text": "done"}]
        (logged,) = await calls.desk.log()
        assert (logged["tool"], logged["status"], logged["result_preview"]) == (TOOL, "ok", "done")
        assert logged["caller"] == {"id": calls.desk.agent.id, "name": "writer"}
        assert logged["call_id"] == call["callId"]


async def test_text_and_pictures_come_through_whole(tmp_path: Path) -> None:
    """cards.md 44, 46, 47."""
    async with calling(tmp_path) as (calls, card):
        calls.begin()
        parts = [{"type": "image", "data": PNG, "mimeType": "image/png"}, {"type": "text", "text": "a caption"}]
        await card.respond(await card.event("tools.call"), *parts)
        assert (await calls.result())["content"] == parts


async def test_a_failed_result_is_read_by_the_model(tmp_path: Path) -> None:
    """cards.md 45."""
    async with calling(tmp_path) as (calls, card):
        calls.begin()
        part = {"type": "text", "text": "Connect a terminal first."}
        await card.respond(await card.event("tools.call"), part, isError=True)
        assert await calls.text() == "Connect a terminal first."


async def test_a_thrown_errors_words_reach_the_agent_and_the_cards_log(tmp_path: Path) -> None:
    """cards.md 50, 51, 82, decision 32."""
    async with calling(tmp_path) as (calls, card):
        calls.begin()
        call = await card.event("tools.call")
        await card.ask("tools.respond", callId=call["callId"], error="no such check: x" + "y" * 5000)
        assert (await calls.text()).startswith("no such check: x")
        assert len(await calls.text()) == 4000
        (line,) = await calls.desk.lines()
        assert line["level"] == "warn"
        assert line["text"].startswith("no such check: x")


def parts(*given: dict[str, Any]) -> dict[str, Any]:
    return {"result": {"content": list(given)}}


TEXT = {"type": "text", "text": "x"}


@pytest.mark.parametrize(
    ("answer", "word"),
    [
        (parts(), "0 parts"),
        (parts(*[TEXT] * 17), "17 parts"),
        (parts({"type": "text", "text": "x" * 1024 * 1024}), "1048576 are allowed"),
        (parts({"type": "image", "data": "no base64!", "mimeType": "image/png"}), "base64"),
        (parts({"type": "image", "data": PNG, "mimeType": "image/svg+xml"}), "image/svg"),
        (parts({"type": "image", "data": PNG, "mimeType": "image/gif"}), "no image/gif"),
        ({}, "neither"),
    ],
)
async def test_a_result_that_breaks_the_rules_is_an_error_for_the_agent(
    tmp_path: Path, answer: dict[str, Any], word: str
) -> None:
    """cards.md 48, 49, 52, decisions 29, 31."""
    async with calling(tmp_path) as (calls, card):
        calls.begin()
        call = await card.event("tools.call")
        await card.ask("tools.respond", callId=call["callId"], **answer)
        text = await calls.text()
        assert "invalid result" in text
        assert word in text


async def test_at_its_deadline_the_agent_is_told_and_the_card_too_and_late_results_are_dropped(tmp_path: Path) -> None:
    """cards.md 34, 53-57, decision 26."""
    async with calling(tmp_path, QUICK) as (calls, card):
        calls.begin()
        call = await card.event("tools.call")
        assert "timed out after 1 s" in await calls.text()
        cancel = await card.event("tools.cancel")
        assert (cancel["callId"], cancel["code"]) == (call["callId"], "deadline")
        await card.respond(call)
        (logged,) = await calls.desk.log()
        assert logged["status"] == "timeout"


async def test_an_agent_that_gives_up_cancels_the_card(tmp_path: Path) -> None:
    """cards.md 58, decision 5."""
    async with calling(tmp_path) as (calls, card):
        calls.begin()
        call = await card.event("tools.call")
        calls.desk.site.host.gateway.engine.cancel(call["callId"], "the agent gave up")
        assert "the agent gave up" in await calls.text()
        cancel = await card.event("tools.cancel")
        assert (cancel["callId"], cancel["code"]) == (call["callId"], "cancelled")
        (logged,) = await calls.desk.log()
        assert logged["status"] == "cancelled"


async def test_progress_shows_on_the_arrow_four_times_a_second_with_the_latest_words(tmp_path: Path) -> None:
    """cards.md 35, 36, 63, decisions 27, 28."""
    async with calling(tmp_path) as (calls, card):
        follower = calls.desk.site.host.canvas.feed.follow(calls.desk.id)
        calls.begin()
        call = await card.event("tools.call")
        for number in range(50):
            await card.ask("tools.progress", callId=call["callId"], message=f"step\n{number} " + "x" * 300)
        await card.ask("tools.progress", callId=call["callId"], message="  ")
        await card.respond(call)
        await calls.result()
        told: list[str] = []
        while True:
            moment = await follower.next()
            assert moment is not None
            if moment.kind != "call":
                continue
            assert moment.data["arrow"] == calls.desk.arrow
            if moment.data["status"] != "running":
                break
            told.append(moment.data["progress"])
        assert told[:2] == ["", "step 0 " + "x" * 192 + "…"]
        assert told[-1].startswith("step 49 ")
        assert len(told) <= 6
        assert all(len(text) <= 200 for text in told)


async def test_a_call_to_a_sleeping_card_wakes_it_once_for_all(tmp_path: Path) -> None:
    """cards.md 12, 60, decision 21."""
    async with open_site(tmp_path / "data") as site:
        desk = await desk_with(site, tmp_path / "radar")
        follower = site.host.canvas.feed.follow(desk.id)
        async with anyio.create_task_group() as tasks:
            calls = Calling(desk, tasks)
            calls.begin()
            calls.begin()
            while (moment := await follower.next()) is not None and moment.kind != "wake":
                pass
            assert moment is not None
            assert moment.data["card"] == desk.card
            async with connected(site, desk.package, desk.card) as card:
                for _ in range(2):
                    await card.respond(await card.event("tools.call"))
                await calls.good(0)
                await calls.good(1)


async def test_a_card_that_does_not_wake_is_told_apart_from_one_that_is_slow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """cards.md 60, decision 21."""
    monkeypatch.setattr(card_connections, "WAKE_S", 0.05)
    async with open_site(tmp_path / "data") as site:
        desk = await desk_with(site, tmp_path / "radar")
        text = await desk.agent.text(TOOL)
        assert "did not start within" in text
        assert "timed out" not in text


async def test_a_closed_workspaces_cards_ask_to_open_it(tmp_path: Path) -> None:
    """cards.md 61, 62."""
    async with calling(tmp_path) as (calls, _):
        await calls.desk.site.ask("POST", f"{calls.desk.path}/close")
        text = await calls.desk.agent.text(TOOL)
        assert "open the workspace 'desk'" in text
        assert "Test radar" in text
        (logged,) = await calls.desk.log()
        assert logged["status"] == "denied"


async def test_several_copies_are_never_guessed_between(tmp_path: Path) -> None:
    """cards.md 15, 16, decisions 14, 15."""
    async with calling(tmp_path) as (calls, card):
        desk, site = calls.desk, calls.desk.site
        second = (await site.card(desk.id, "card", package=desk.package, title="Second"))["id"]
        await site.card(desk.id, "card", package=desk.package, title="Unconnected")
        await site.arrow(desk.id, desk.agent_card, second)
        text = await desk.agent.text(TOOL)
        for word in (desk.card, "Test radar", second, "Second", "awake", "desk"):
            assert word in text
        for named in ("Unconnected", "gone"):
            text = await desk.agent.text(TOOL, card=named)
            assert "no card" in text
            assert "Unconnected" not in text.replace(f"{named!r} is", "")
        for named in (second, "Second", "SECOND"):
            number = calls.begin(card=named)
            call = await card.event("tools.call")
            assert call["card"]["id"] == second
            await card.respond(call)
            await calls.result(number)
        await site.ask("PATCH", f"{desk.path}/cards/{second}", {"title": "Test radar"})
        assert "several connected copies" in await desk.agent.text(TOOL, card="Test radar")


async def test_a_card_that_stops_in_the_middle_ends_its_calls_at_once(tmp_path: Path) -> None:
    """Decision 24: never tried again."""
    async with open_site(tmp_path / "data") as site:
        desk = await desk_with(site, tmp_path / "radar")
        async with anyio.create_task_group() as tasks:
            calls = Calling(desk, tasks)
            async with connected(site, desk.package) as card:
                calls.begin()
                await card.event("tools.call")
            assert "stopped while it ran this" in await calls.text()
            (logged,) = await desk.log()
            assert logged["status"] == "error"


@pytest.mark.parametrize(
    ("method", "path", "code", "word"),
    [
        ("DELETE", "{desk}/arrows/{arrow}", "disconnected", "arrow"),
        ("DELETE", "{desk}/cards/{card}", "unloaded", "removed"),
        ("DELETE", "{desk}", "unloaded", "removed"),
        ("DELETE", "/card-packages/{package}?force=true", "unloaded", "removed"),
    ],
)
async def test_what_is_taken_away_in_the_middle_cancels_with_its_reason(
    tmp_path: Path, method: str, path: str, code: str, word: str
) -> None:
    """Decision 25."""
    async with calling(tmp_path) as (calls, card):
        desk = calls.desk
        calls.begin()
        call = await card.event("tools.call")
        url = path.format(desk=desk.path, arrow=desk.arrow, card=desk.card, package=desk.package)
        await desk.site.ask(method, url, status=204)
        assert word in await calls.text()
        cancel = await card.event("tools.cancel")
        assert (cancel["callId"], cancel["code"]) == (call["callId"], code)


async def test_a_tool_switched_off_lets_what_runs_end_and_refuses_what_waits(tmp_path: Path) -> None:
    """Decision 33."""
    declared = with_tool(concurrency=1)
    async with calling(tmp_path, declared) as (calls, card):
        calls.begin()
        call = await card.event("tools.call")
        follower = calls.desk.site.host.canvas.feed.follow(calls.desk.id)
        waiting = calls.begin()
        assert (await follower.next()) is not None  # it is on its way
        await card.ask("tools.setEnabled", tool="run_tests", enabled=False)
        assert "turned this tool off" in await calls.text(waiting)
        await card.respond(call)
        await calls.good(0)


async def test_a_call_that_waits_in_line_for_too_long_is_told_so_and_never_reaches_the_card(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Decision 37."""
    monkeypatch.setattr(card_calls, "WAKE_S", -0.9)  # 0.1 s are left of the second that the tool has
    async with calling(tmp_path, with_tool(timeoutMs=1000, concurrency=1)) as (calls, card):
        calls.begin()
        call = await card.event("tools.call")
        waiting = calls.begin()
        assert "no room for this within 0.1 s" in await calls.text(waiting)
        await card.respond(call)
        await calls.good(0)
        calls.begin(filter="next")
        call = await card.event("tools.call")
        assert call["arguments"] == {"filter": "next"}
        await card.respond(call)


async def test_a_workspace_that_is_closed_while_its_card_wakes_ends_the_call(tmp_path: Path) -> None:
    """cards.md 61, decision 33."""
    async with open_site(tmp_path / "data") as site:
        desk = await desk_with(site, tmp_path / "radar")
        follower = site.host.canvas.feed.follow(desk.id)
        async with anyio.create_task_group() as tasks:
            calls = Calling(desk, tasks)
            calls.begin()
            while (moment := await follower.next()) is not None and moment.kind != "wake":
                pass
            await site.ask("POST", f"{desk.path}/close")
            assert "open the workspace 'desk'" in await calls.text()


async def test_two_hundred_calls_at_once_come_to_a_card_sixteen_at_a_time(tmp_path: Path) -> None:
    """Decision 37."""
    async with calling(tmp_path) as (calls, card):
        for _ in range(200):
            calls.begin()
        answered = 0
        while answered < 200:
            batch = [await card.event("tools.call") for _ in range(min(16, 200 - answered))]
            assert len({call["callId"] for call in batch}) == len(batch)
            for call in batch:
                await card.respond(call)
            answered += len(batch)
        for number in range(200):
            await calls.good(number)


async def test_an_arrow_that_is_not_recorded_keeps_nothing_of_what_went_through(tmp_path: Path) -> None:
    """Decision 38."""
    async with calling(tmp_path) as (calls, card):
        await calls.desk.site.ask("PATCH", f"{calls.desk.path}/arrows/{calls.desk.arrow}", {"recorded": False})
        calls.begin(filter="secret-filter")
        call = await card.event("tools.call")
        await card.ask("tools.progress", callId=call["callId"], message="secret-progress")
        await card.respond(call, {"type": "text", "text": "secret-result"})
        await calls.result()
        (logged,) = await calls.desk.log()
        assert logged["status"] == "ok"
        assert "secret" not in str(logged)
        (known,) = (await calls.desk.site.ask("GET", "/calls"))["calls"]
        shown = await calls.desk.site.ask("GET", f"/calls/{known['call_id']}")
        assert (known["tool"], known["status"], known["withheld"]) == (TOOL, "completed", True)
        assert (known["agent_id"], known["caller"]["name"]) == (None, "writer")
        assert "secret" not in str([known, shown])


async def test_the_log_survives_a_restart_and_is_read_in_pieces(tmp_path: Path) -> None:
    """cards.md 64."""
    async with calling(tmp_path) as (calls, card):
        desk, key = calls.desk, calls.desk.site.owner_key
        for number in range(3):
            calls.begin(filter=str(number))
            await card.respond(await card.event("tools.call"))
            await calls.result(number)
        before = await desk.log()
    async with open_site(tmp_path / "data", key) as site:
        path = f"{desk.path}/arrows/{desk.arrow}/log"
        assert (await site.ask("GET", path))["calls"] == before
        assert (await site.ask("GET", f"{path}?limit=1"))["calls"] == before[-1:]
        assert (await site.ask("GET", f"{path}?after={before[0]['call_id']}&limit=1"))["calls"] == before[1:2]
