"""cards.md §7: a reader that does what the feed says sees the board as it is, whatever edits come, from whomever."""

import tempfile
from pathlib import Path
from typing import Any

import anyio
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.canvas.site import Site, open_site
from toolwire.surfaces.feed import Follower

EDITS = ("place", "move", "rename", "remove", "draw", "turn", "cut", "undo", "redo", "close", "open")
Steps = list[tuple[str, int, int]]


class Reader:
    """What a page keeps of a board: it reads that once, and then does what the feed says."""

    def __init__(self, board: dict[str, Any], follower: Follower) -> None:
        self._follower = follower
        self.workspace = {key: board[key] for key in ("id", "name", "version", "open", "created_at")}
        self.cards = {card["id"]: card for card in board["cards"]}
        self.arrows = {arrow["id"]: arrow for arrow in board["arrows"]}

    async def follow(self, version: int) -> None:
        """Do what the feed says, up to a version."""
        with anyio.fail_after(5):
            while self.workspace["version"] < version:
                moment = await self._follower.next()
                assert moment is not None
                assert moment.kind == "board"
                self.workspace = moment.data["workspace"]
                for change in moment.data["changes"]:
                    self._do(change)

    def _do(self, change: dict[str, Any]) -> None:
        match change["change"]:
            case "put_card":
                self.cards[change["card"]["id"]] = change["card"]
            case "remove_card":
                del self.cards[change["id"]]
                assert not [
                    arrow for arrow in self.arrows.values() if change["id"] in (arrow["source"], arrow["target"])
                ]
            case "put_arrow":
                assert {change["arrow"]["source"], change["arrow"]["target"]} <= self.cards.keys()
                self.arrows[change["arrow"]["id"]] = change["arrow"]
            case _:
                del self.arrows[change["id"]]


async def edit(site: Site, path: str, step: tuple[str, int, int]) -> None:
    """One edit by REST, with cards and arrows picked by number; one that does not fit changes nothing."""
    kind, one, other = step
    board = await site.ask("GET", path)
    cards, arrows = [card["id"] for card in board["cards"]], [arrow["id"] for arrow in board["arrows"]]
    card, arrow = cards[one % len(cards)] if cards else "none", arrows[one % len(arrows)] if arrows else "none"
    second = cards[other % len(cards)] if cards else "none"
    method, where, body = {
        "place": ("POST", "/cards", {"kind": "note", "title": f"note {one}", "content": {"text": str(other)}}),
        "move": ("PATCH", f"/cards/{card}", {"x": other}),
        "rename": ("PATCH", f"/cards/{card}", {"title": f"name {other}"}),
        "remove": ("DELETE", f"/cards/{card}", None),
        "draw": ("POST", "/arrows", {"source": card, "target": second}),
        "turn": ("PATCH", f"/arrows/{arrow}", {"target": second}),
        "cut": ("DELETE", f"/arrows/{arrow}", None),
        "undo": ("POST", "/undo", None),
        "redo": ("POST", "/redo", None),
        "close": ("POST", "/close", None),
        "open": ("POST", "/open", None),
    }[kind]
    headers = {"authorization": f"Bearer {site.owner_key}"}
    answer = await site.client.request(method, f"/api/v1{path}{where}", json=body, headers=headers)
    assert answer.status_code in (200, 201, 204, 404, 409), answer.text


async def follow(steps: Steps) -> None:
    with tempfile.TemporaryDirectory() as folder:
        async with open_site(Path(folder)) as site:
            id_ = await site.workspace()
            path = f"/workspaces/{id_}"
            early = Reader(await site.ask("GET", path), site.host.canvas.feed.follow(id_))
            for step in steps[: len(steps) // 2]:
                await edit(site, path, step)
            late = Reader(await site.ask("GET", path), site.host.canvas.feed.follow(id_))
            for step in steps[len(steps) // 2 :]:
                await edit(site, path, step)
            board = await site.ask("GET", path)
            for reader in (early, late):
                await reader.follow(board["version"])
                assert list(reader.cards.values()) == board["cards"]
                assert list(reader.arrows.values()) == board["arrows"]
                assert reader.workspace == {key: board[key] for key in reader.workspace}


STEP = st.tuples(st.sampled_from((*EDITS, "place", "place", "draw", "draw")), st.integers(0, 9), st.integers(0, 9))


@settings(max_examples=40)
@given(st.lists(STEP, max_size=40))
def test_a_reader_that_does_what_the_feed_says_sees_the_board_as_it_is(steps: Steps) -> None:
    anyio.run(follow, steps)
