"""cards.md section 7, `/events`: what readers of a workspace are told, and how they go on."""

from pathlib import Path

import anyio
import pytest

from tests.interaction.gateways import Links
from tests.unit.canvas.cards import connected, desk_with
from tests.unit.canvas.site import open_site
from toolwire.agent.agent import Agent
from toolwire.agent.attach import Target, attached
from toolwire.agent.journal import MemoryJournal
from toolwire.surfaces.feed import RESET, Feed, Moment


async def next_of(feed: Feed, after: str | None = None) -> Moment | None:
    with anyio.fail_after(5):
        return await feed.follow("ws_1", after).next()


@pytest.mark.both_backends
async def test_a_reader_goes_on_where_it_left_off() -> None:
    feed = Feed()
    follower = feed.follow("ws_1")
    for number in range(3):
        feed.tell("ws_1", "board", {"number": number})
    first = await follower.next()
    assert first is not None
    assert first.data == {"number": 0}
    second = await next_of(feed, first.id)
    assert second is not None
    assert second.data == {"number": 1}


@pytest.mark.both_backends
async def test_a_reader_that_was_away_too_long_is_told_to_read_everything_anew() -> None:
    feed = Feed(kept=2)
    slow = feed.follow("ws_1")
    for number in range(5):
        feed.tell("ws_1", "board", {"number": number})
    reset = await slow.next()
    assert reset is not None
    assert reset.kind == RESET
    feed.tell("ws_1", "board", {"number": 5})
    for follower in (slow, feed.follow("ws_1", reset.id)):
        moment = await follower.next()
        assert moment is not None
        assert moment.data == {"number": 5}


@pytest.mark.parametrize("after", ["", "x", "-1", "other-1", "9999", "a" * 10_000])
async def test_an_id_of_another_start_is_answered_with_a_reset(after: str) -> None:
    feed = Feed()
    feed.tell("ws_1", "board", {})
    moment = await next_of(feed, after)
    assert moment is not None
    assert moment.kind == RESET


@pytest.mark.both_backends
async def test_a_cancelled_wait_loses_no_moment_and_a_removed_workspace_ends_its_readers() -> None:
    feed = Feed()
    follower = feed.follow("ws_1")
    with anyio.move_on_after(0):
        await follower.next()
    feed.tell("ws_1", "board", {"number": 1})
    moment = await follower.next()
    assert moment is not None
    assert moment.data == {"number": 1}
    feed.forget("ws_1")
    with anyio.fail_after(5):
        assert await follower.next() is None


async def test_an_edit_is_one_moment_with_all_its_changes(tmp_path: Path) -> None:
    async with open_site(tmp_path) as site:
        desk = await site.workspace()
        agent, shell = await site.card(desk, "agent"), await site.card(desk, "terminal")
        arrow = await site.arrow(desk, agent["id"], shell["id"])
        follower = site.host.canvas.feed.follow(desk)
        await site.ask("DELETE", f"/workspaces/{desk}/cards/{shell['id']}", status=204)
        await site.ask("POST", f"/workspaces/{desk}/undo")
        removed, back = await follower.next(), await follower.next()
        assert removed is not None
        assert back is not None
        assert removed.data["changes"] == [
            {"change": "remove_arrow", "id": arrow},
            {"change": "remove_card", "id": shell["id"]},
        ]
        assert [change["change"] for change in back.data["changes"]] == ["put_card", "put_arrow"]
        assert back.data["workspace"]["version"] == removed.data["workspace"]["version"] + 1


async def test_a_card_that_wakes_up_and_goes_to_sleep_is_a_moment_of_each_board_it_stands_on(tmp_path: Path) -> None:
    async with open_site(tmp_path / "data") as site:
        desk = await desk_with(site, tmp_path / "radar")
        other = await site.workspace("other")
        copy = (await site.card(other, "card", package=desk.package))["id"]
        followers = {desk.card: site.host.canvas.feed.follow(desk.id), copy: site.host.canvas.feed.follow(other)}
        with anyio.fail_after(5):
            async with connected(site, desk.package):
                for card, follower in followers.items():
                    moment = await follower.next()
                    assert moment is not None
                    assert (moment.kind, moment.data) == ("state", {"card": card, "state": "awake"})
            for card, follower in followers.items():
                moment = await follower.next()
                assert moment is not None
                assert (moment.kind, moment.data) == ("state", {"card": card, "state": "paused"})


async def test_an_agent_that_comes_and_goes_is_told_once_each_time(tmp_path: Path) -> None:
    async with open_site(tmp_path) as site:
        desk = await site.workspace()
        card = await site.card(desk, "agent", title="worker")
        follower = site.host.canvas.feed.follow(desk)
        links = Links(site.host.app, card["agent_key"])
        async with (
            Agent("worker").worker(MemoryJournal()) as worker,
            attached(worker, links.open, Target("in-process", "", grace_s=1)),
        ):
            with anyio.fail_after(5):
                come = await follower.next()
        links.close()
        with anyio.fail_after(5):
            gone = await follower.next()
        assert come is not None
        assert gone is not None
        assert (come.kind, come.data) == ("state", {"card": card["id"], "state": "online"})
        assert (gone.kind, gone.data) == ("state", {"card": card["id"], "state": "offline"})
