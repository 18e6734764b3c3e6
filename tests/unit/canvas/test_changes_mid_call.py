"""What changes between the call of an agent and its card's answer: versions, arrows, tools (decisions 18, 25, 33)."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.unit.canvas.cards import Desk, connected, desk_with, install
from tests.unit.canvas.site import Site, open_site
from tests.unit.canvas.test_card_calls import Calling
from tests.unit.card.manifests import GOOD, manifest, with_schema, with_tool
from toolwire.surfaces.feed import Follower

NARROWER = with_schema(properties={"filter": {"type": "string", "maxLength": 3}})


async def moment(follower: Follower, kind: str) -> dict[str, Any]:
    with anyio.fail_after(5):
        while (told := await follower.next()) is not None and told.kind != kind:
            pass
    assert told is not None
    return dict(told.data)


@asynccontextmanager
async def asleep(tmp_path: Path) -> AsyncGenerator[tuple[Site, Desk, Calling]]:
    """A desk whose card sleeps, and a call that is about to wake it."""
    async with open_site(tmp_path / "data") as site:
        desk = await desk_with(site, tmp_path / "radar")
        follower = site.host.canvas.feed.follow(desk.id)
        async with anyio.create_task_group() as tasks:
            calls = Calling(desk, tasks)
            calls.begin(filter="long enough")
            await moment(follower, "wake")
            yield site, desk, calls
            tasks.cancel_scope.cancel()


async def test_a_call_whose_tool_changed_while_it_waited_never_reaches_the_card(tmp_path: Path) -> None:
    """Its arguments were checked against what the tool was."""
    async with asleep(tmp_path) as (site, desk, calls):
        await install(site, tmp_path / "radar", NARROWER)
        async with connected(site, desk.package, desk.card):
            text = await calls.text()
        assert "updated while this waited" in text


async def test_a_call_whose_tool_went_while_it_waited_is_told_so(tmp_path: Path) -> None:
    async with asleep(tmp_path) as (site, desk, calls):
        await install(site, tmp_path / "radar", manifest(tools=[{**GOOD["tools"][0], "name": "other"}]))
        async with connected(site, desk.package, desk.card):
            assert "does not have the tool any more" in await calls.text()


async def test_a_call_that_waits_for_a_card_whose_code_alone_changes_goes_on(tmp_path: Path) -> None:
    async with asleep(tmp_path) as (site, desk, calls):
        await install(site, tmp_path / "radar", manifest(version="1.2.1"))
        async with connected(site, desk.package, desk.card) as card:
            await card.respond(await card.event("tools.call"))
            await calls.good()


@pytest.mark.parametrize("patch", [{"tools": []}, {"tools": ["other"]}, "joined to another"])
async def test_an_arrow_that_does_not_grant_a_tool_any_more_ends_its_calls(tmp_path: Path, patch: Any) -> None:
    async with open_site(tmp_path / "data") as site:
        desk = await desk_with(site, tmp_path / "radar")
        async with connected(site, desk.package) as card, anyio.create_task_group() as tasks:
            calls = Calling(desk, tasks)
            calls.begin()
            call = await card.event("tools.call")
            if patch == "joined to another":
                patch = {"target": (await site.card(desk.id, "note"))["id"]}
            await site.ask("PATCH", f"{desk.path}/arrows/{desk.arrow}", patch)
            assert "arrow" in await calls.text()
            cancel = await card.event("tools.cancel")
            assert (cancel["callId"], cancel["code"]) == (call["callId"], "disconnected")


async def test_an_arrow_that_is_turned_around_or_grants_more_ends_nothing(tmp_path: Path) -> None:
    async with open_site(tmp_path / "data") as site:
        desk = await desk_with(site, tmp_path / "radar")
        async with connected(site, desk.package) as card, anyio.create_task_group() as tasks:
            calls = Calling(desk, tasks)
            calls.begin()
            call = await card.event("tools.call")
            turned = {"source": desk.card, "target": desk.agent_card, "tools": ["run_tests"]}
            await site.ask("PATCH", f"{desk.path}/arrows/{desk.arrow}", turned)
            await card.respond(call)
            await calls.good()


async def test_a_call_in_line_is_told_when_its_tool_changes(tmp_path: Path) -> None:
    async with open_site(tmp_path / "data") as site:
        desk = await desk_with(site, tmp_path / "radar", with_tool(concurrency=1))
        follower = site.host.canvas.feed.follow(desk.id)
        async with connected(site, desk.package) as card, anyio.create_task_group() as tasks:
            calls = Calling(desk, tasks)
            calls.begin()
            await card.event("tools.call")
            await moment(follower, "call")
            waiting = calls.begin(filter="long enough")
            await moment(follower, "call")
            await install(site, tmp_path / "radar", NARROWER)
            assert "updated while it ran this" in await calls.text(0)
            assert "updated while this waited" in await calls.text(waiting)
