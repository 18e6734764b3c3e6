"""cards.md 75, 79, decision 35: what cards ask the user, and how such a question ends."""

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
from toolwire.canvas import confirmations
from toolwire.surfaces.feed import Follower

TOOL = "test_radar_run_tests"


class Asking:
    """A card whose questions come to the test as the user sees them."""

    def __init__(self, desk: Desk, card: WireCard, follower: Follower, tasks: TaskGroup) -> None:
        self.desk = desk
        self.card = card
        self.tasks = tasks
        self._follower = follower

    async def begin_call(self) -> dict[str, Any]:
        """A call that waits for its card; what that knows of it."""
        self.tasks.start_soon(self.desk.agent.call, TOOL)
        return await self.card.event("tools.call")

    async def moment(self, kind: str) -> dict[str, Any]:
        """The next moment of a kind on the workspace's feed."""
        with anyio.fail_after(5):
            while (moment := await self._follower.next()) is not None:
                if moment.kind == kind:
                    return moment.data
        raise AssertionError("the feed has ended")

    async def waiting(self) -> list[dict[str, Any]]:
        return (await self.desk.site.ask("GET", f"{self.desk.path}/confirmations"))["confirmations"]

    async def answer(self, question: str, confirmed: bool, status: int = 204) -> Any:
        path = f"{self.desk.path}/confirmations/{question}"
        return await self.desk.site.ask("POST", path, {"confirmed": confirmed}, status=status)

    async def confirmed(self, request: int) -> bool:
        """What the card is told."""
        while (message := await self.card.next()).get("id") != request:
            pass
        return message["result"]["confirmed"]


@asynccontextmanager
async def asking(tmp_path: Path, declared: dict[str, Any] = GOOD) -> AsyncGenerator[Asking]:
    async with open_site(tmp_path / "data") as site:
        desk = await desk_with(site, tmp_path / "radar", declared)
        follower = site.host.canvas.feed.follow(desk.id)
        async with connected(site, desk.package) as card, anyio.create_task_group() as tasks:
            yield Asking(desk, card, follower, tasks)
            tasks.cancel_scope.cancel()


@pytest.mark.parametrize("yes", [True, False])
async def test_a_question_of_a_call_names_agent_tool_and_card_and_is_answered_once(tmp_path: Path, yes: bool) -> None:
    async with asking(tmp_path) as one:
        call = await one.begin_call()
        request = await one.card.request(
            "ui.confirm",
            title="Delete all?",
            message="They are gone then.",
            confirmLabel="Delete",
            tone="danger",
            callId=call["callId"],
            card=call["card"]["id"],
        )
        told = await one.moment("confirm")
        assert (told["agent"], told["tool"], told["card"]) == ("writer", "run_tests", call["card"])
        assert (told["title"], told["message"], told["confirm_label"]) == (
            "Delete all?",
            "They are gone then.",
            "Delete",
        )
        assert (told["tone"], told["call_id"]) == ("danger", call["callId"])
        (waiting,) = await one.waiting()
        assert 0 < waiting.pop("remaining_ms") <= told["remaining_ms"] <= 120_000
        assert waiting == {key: value for key, value in told.items() if key != "remaining_ms"}
        await one.answer(told["id"], yes)
        assert await one.confirmed(request) is yes
        ended = await one.moment("confirmed")
        assert ended == {"id": told["id"], "outcome": "confirmed" if yes else "declined"}
        assert await one.waiting() == []
        assert (await one.answer(told["id"], True, 409))["code"] == "conflict"


async def test_a_question_is_heard_on_every_board_of_the_owner(tmp_path: Path) -> None:
    async with asking(tmp_path) as one:
        elsewhere = await one.desk.site.workspace("elsewhere")
        follower = one.desk.site.host.canvas.feed.follow(elsewhere)
        request = await one.card.request("ui.confirm", title="Sure?")
        told = await one.moment("confirm")
        assert told["workspace"] == {"id": one.desk.id, "name": "desk"}
        await one.answer(told["id"], True)
        assert await one.confirmed(request)
        with anyio.fail_after(5):
            heard = [await follower.next() for _ in range(2)]
        assert [(each.kind, each.data["id"]) for each in heard if each is not None] == [
            ("confirm", told["id"]),
            ("confirmed", told["id"]),
        ]


async def test_a_question_outside_of_calls_waits_for_a_minute_at_most(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(confirmations, "USUAL_S", 0.05)
    async with asking(tmp_path) as one:
        assert (await one.card.ask("ui.confirm", title="Sure?"))["confirmed"] is False
        assert (await one.moment("confirm"))["agent"] is None
        assert (await one.moment("confirmed"))["outcome"] == "expired"


async def test_the_calls_deadline_declines_its_question(tmp_path: Path) -> None:
    async with asking(tmp_path, with_tool(timeoutMs=1000)) as one:
        call = await one.begin_call()
        asked = await one.card.ask("ui.confirm", title="Sure?", callId=call["callId"], card=call["card"]["id"])
        assert asked == {"confirmed": False}
        assert (await one.moment("confirmed"))["outcome"] in ("expired", "withdrawn")


async def test_a_question_ends_with_its_call(tmp_path: Path) -> None:
    async with asking(tmp_path) as one:
        call = await one.begin_call()
        request = await one.card.request("ui.confirm", title="Sure?", callId=call["callId"])
        told = await one.moment("confirm")
        one.desk.site.host.gateway.engine.cancel(call["callId"], "the agent gave up")
        assert await one.confirmed(request) is False
        assert await one.moment("confirmed") == {"id": told["id"], "outcome": "withdrawn"}
        again = await one.card.answer("ui.confirm", title="Sure?", callId=call["callId"])
        assert again["error"]["code"] == "conflict"


async def test_a_question_ends_with_its_card(tmp_path: Path) -> None:
    async with asking(tmp_path) as one:
        await one.card.request("ui.confirm", title="Sure?")
        await one.moment("confirm")
        await one.card.hang_up()
        assert (await one.moment("confirmed"))["outcome"] == "withdrawn"
        assert await one.waiting() == []


async def test_a_card_asks_on_behalf_of_its_own_calls_alone(tmp_path: Path) -> None:
    async with asking(tmp_path) as one:
        call = await one.begin_call()
        second = (await one.desk.site.card(one.desk.id, "card", package=one.desk.package, title="Second"))["id"]
        for ask in ({"callId": "call_of_nobody", "card": one.desk.card}, {"callId": call["callId"], "card": second}):
            assert (await one.card.answer("ui.confirm", title="Sure?", **ask))["error"]["code"] == "conflict"


async def test_a_question_shows_what_it_says(tmp_path: Path) -> None:
    """Words of strangers: nothing in them is hidden, and none is too long."""
    async with asking(tmp_path) as one:
        for empty in ("", "  ", "\u200b\u202e"):
            assert (await one.card.answer("ui.confirm", title=empty))["error"]["code"] == "invalid_param"
        title, message = "Keep\u202e all\x1b[0m?\u200b" + "x" * 500, "one\ntwo\u2066" + "x" * 5000
        await one.card.request("ui.confirm", title=title, message=message, confirmLabel="y" * 99)
        told = await one.moment("confirm")
        assert told["title"].startswith("Keep all[0m?xxx")
        assert told["message"].startswith("one\ntwoxxx")
        assert (len(told["title"]), len(told["message"]), len(told["confirm_label"])) == (120, 1000, 40)


async def test_another_workspace_does_not_answer(tmp_path: Path) -> None:
    async with asking(tmp_path) as one:
        await one.card.request("ui.confirm", title="Sure?")
        question = (await one.moment("confirm"))["id"]
        other = await one.desk.site.workspace("other")
        path = f"/workspaces/{other}/confirmations"
        await one.desk.site.ask("POST", f"{path}/{question}", {"confirmed": True}, status=409)
        assert (await one.desk.site.ask("GET", path))["confirmations"] == []
        await one.desk.site.ask(
            "POST", f"/workspaces/ws_none/confirmations/{question}", {"confirmed": True}, status=404
        )
        await one.desk.site.ask("POST", f"{one.desk.path}/confirmations/{question}", {"sure": True}, status=400)
        assert len(await one.waiting()) == 1
