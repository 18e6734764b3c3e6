"""cards.md §7: many changes of a board in one edit, which one undo takes back."""

from pathlib import Path
from typing import Any

from tests.unit.canvas.site import Site, open_site


async def put(site: Site, desk: str, *changes: dict[str, Any], status: int = 200, **headers: str) -> Any:
    return await site.ask("POST", f"/workspaces/{desk}/edits", {"changes": list(changes)}, status=status, **headers)


def add(ref: str, kind: str = "note", **more: Any) -> dict[str, Any]:
    return {"change": "add_card", "ref": ref, "kind": kind, **more}


async def test_many_changes_are_one_step_that_one_undo_takes_back(tmp_path: Path) -> None:
    async with open_site(tmp_path) as site:
        desk = await site.workspace()
        agent, note = await site.card(desk, "agent"), await site.card(desk, "note", title="old")
        arrow = await site.arrow(desk, agent["id"], note["id"])
        before = await site.ask("GET", f"/workspaces/{desk}")
        made = await put(
            site,
            desk,
            {"change": "put_card", "id": agent["id"], "x": 40, "title": "Ada"},
            {"change": "remove_card", "id": note["id"]},
            add("n", title="new", x=10, content={"text": "milk"}),
            {"change": "add_arrow", "source": agent["id"], "target": "n", "recorded": False},
        )
        board = await site.ask("GET", f"/workspaces/{desk}")
        assert [(card["title"], card["x"]) for card in board["cards"]] == [("Ada", 40), ("new", 10)]
        (drawn,) = board["arrows"]
        assert (drawn["target"], drawn["recorded"]) == (made["ids"]["n"], False)
        assert drawn["id"] != arrow
        assert (made["cards"], made["arrows"]) == (board["cards"], board["arrows"])
        assert made["workspace"]["version"] == board["version"] == before["version"] + 1
        assert (made["can_undo"], made["can_redo"]) == (True, False)
        undone = await site.ask("POST", f"/workspaces/{desk}/undo")
        assert {card["id"]: card for card in undone["cards"]} == {card["id"]: card for card in before["cards"]}
        assert undone["arrows"] == before["arrows"]


async def test_an_edit_counts_whole_or_not_at_all(tmp_path: Path) -> None:
    async with open_site(tmp_path) as site:
        desk = await site.workspace()
        agent, shell = await site.card(desk, "agent"), await site.card(desk, "terminal")
        arrow = await site.arrow(desk, agent["id"], shell["id"])
        board = await site.ask("GET", f"/workspaces/{desk}")
        good, line = add("n"), {"change": "add_arrow", "source": shell["id"], "target": agent["id"]}
        for bad, status, code in (
            ({"change": "put_card", "id": "card_gone", "x": 1}, 404, "card_not_found"),
            ({"change": "remove_card", "id": "card_gone"}, 404, "card_not_found"),
            ({"change": "put_arrow", "id": "arw_gone", "recorded": False}, 404, "arrow_not_found"),
            ({"change": "put_arrow", "id": arrow, "target": "gone"}, 404, "card_not_found"),
            ({"change": "remove_arrow", "id": "arw_gone"}, 404, "arrow_not_found"),
            ({"change": "put_card", "id": shell["id"], "title": " "}, 400, "invalid_param"),
            ({"change": "put_card", "id": shell["id"], "x": 1e9}, 400, "invalid_param"),
            (add("n"), 400, "invalid_param"),
            (add("a", "agent"), 400, "invalid_param"),
            (add("a", "agent", agent_id="agent_gone"), 404, "agent_not_found"),
            (add("c", "card", package="pkg_gone"), 404, "package_not_found"),
            (line, 409, "conflict"),
            ({"change": "unknown"}, 400, "invalid_param"),
        ):
            refused = await put(site, desk, good, bad, status=status)
            assert refused["code"] == code, bad
        assert (await put(site, desk, status=400))["code"] == "invalid_param"
        assert (await put(site, desk, good, status=409, if_match='"1"'))["details"]["present"] == board
        assert await site.ask("GET", f"/workspaces/{desk}") == board


async def test_each_change_finds_what_those_before_it_have_left(tmp_path: Path) -> None:
    async with open_site(tmp_path) as site:
        desk = await site.workspace()
        agent, shell = await site.card(desk, "agent"), await site.card(desk, "terminal")
        arrow = await site.arrow(desk, agent["id"], shell["id"])
        made = await put(
            site,
            desk,
            {"change": "remove_arrow", "id": arrow},
            add("twin", "agent", agent_id=agent["agent_id"], title="twin"),
            {"change": "add_arrow", "ref": "line", "source": "twin", "target": shell["id"]},
            {"change": "put_arrow", "id": "line", "source": shell["id"], "target": "twin"},
            {"change": "put_card", "id": "twin", "y": 7},
            {"change": "put_card", "id": agent["id"], "y": 9},
            {"change": "remove_card", "id": agent["id"]},
        )
        (twin, line) = (made["ids"]["twin"], made["ids"]["line"])
        board = await site.ask("GET", f"/workspaces/{desk}")
        assert [(card["id"], card["y"]) for card in board["cards"]] == [(shell["id"], 0), (twin, 7)]
        assert [(a["id"], a["source"], a["target"]) for a in board["arrows"]] == [(line, shell["id"], twin)]
        assert (made["cards"], made["arrows"]) == ([board["cards"][1]], board["arrows"])


async def test_no_arrow_touches_a_group_and_an_export_has_it(tmp_path: Path) -> None:
    async with open_site(tmp_path) as site:
        desk = await site.workspace()
        agent = await site.card(desk, "agent")
        group = await site.card(desk, "group", title="Tests", width=600, height=400)
        ends = {"source": agent["id"], "target": group["id"]}
        assert (await site.ask("POST", f"/workspaces/{desk}/arrows", ends, status=409))["code"] == "conflict"
        assert (await put(site, desk, {"change": "add_arrow", **ends}, status=409))["code"] == "conflict"
        exported = await site.ask("GET", f"/workspaces/{desk}/export")
        copy = await site.ask("POST", "/workspaces", exported, status=201)
        assert [(card["kind"], card["title"]) for card in copy["cards"]] == [("agent", "agent"), ("group", "Tests")]


async def test_the_feed_says_with_each_edit_what_can_be_undone(tmp_path: Path) -> None:
    async with open_site(tmp_path) as site:
        desk = await site.workspace()
        follower = site.host.canvas.feed.follow(desk)
        await put(site, desk, add("a"), add("b"))
        await site.ask("POST", f"/workspaces/{desk}/undo")
        told: list[tuple[Any, ...]] = []
        for _ in range(2):
            moment = await follower.next()
            assert moment is not None
            told.append((len(moment.data["changes"]), moment.data["can_undo"], moment.data["can_redo"]))
        assert told == [(2, True, False), (2, False, True)]
