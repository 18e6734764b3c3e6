"""cards.md 4, 5, 61, decisions 14, 15, 25: agents that go on with what an arrow does not grant any more."""

from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.unit.canvas.cards import WireAgent
from tests.unit.canvas.site import open_site


@pytest.mark.parametrize("change", ["other card", "other tools", "removed"])
async def test_a_call_of_our_own_tools_ends_when_its_arrow_does_not_grant_it_any_more(
    tmp_path: Path, change: str
) -> None:
    async with open_site(tmp_path) as site:
        desk = await site.workspace()
        one, other, third = [await site.card(desk, "agent", title=title) for title in ("one", "other", "third")]
        arrow = await site.arrow(desk, one["id"], other["id"])
        path = f"/workspaces/{desk}/arrows/{arrow}"
        follower = site.host.canvas.feed.follow(desk)
        told: list[str] = []

        async def wait() -> None:
            told.append(await WireAgent(site, one).text("agent_wait", timeout_ms=120_000))

        with anyio.fail_after(5):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(wait)
                while (moment := await follower.next()) is None or moment.kind != "call":
                    pass
                if change == "other card":
                    await site.ask("PATCH", path, {"target": third["id"]})
                elif change == "other tools":
                    await site.ask("PATCH", path, {"tools": ["agent_send"]})
                else:
                    await site.ask("DELETE", path, status=204)
        assert "arrow" in told[0]


async def test_an_agent_places_no_more_cards_at_once_than_one_after_the_other(tmp_path: Path) -> None:
    async with open_site(tmp_path) as site:
        desk = await site.workspace()
        agent = WireAgent(site, await site.card(desk, "agent", content={"canvas": True}))
        ended: list[dict[str, Any]] = []

        async def spawn() -> None:
            ended.append(await agent.call("canvas_spawn_card", kind="note"))

        async with anyio.create_task_group() as tasks:
            for _ in range(60):
                tasks.start_soon(spawn)
        assert sum(result.get("isError") is not True for result in ended) == 50
        assert len((await site.ask("GET", f"/workspaces/{desk}"))["cards"]) == 51


async def test_an_agent_removes_nothing_from_a_workspace_that_is_closed(tmp_path: Path) -> None:
    async with open_site(tmp_path) as site:
        desk = await site.workspace()
        agent = WireAgent(site, await site.card(desk, "agent", content={"canvas": True}))
        placed = (await agent.call("canvas_spawn_card", kind="note"))["structuredContent"]["card"]
        await site.ask("POST", f"/workspaces/{desk}/close")
        assert "open the workspace" in await agent.text("canvas_remove_card", card=placed)
        await site.ask("POST", f"/workspaces/{desk}/open")
        assert (await agent.call("canvas_remove_card", card=placed)).get("isError") is not True
