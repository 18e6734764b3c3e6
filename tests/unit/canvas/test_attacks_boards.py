"""cards.md 4, 5, section 7: boards with absurd contents, whether drawn or imported, and those of others."""

from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.unit.canvas.cards import WireAgent, desk_with
from tests.unit.canvas.site import Site, open_site
from tests.unit.card.manifests import encoded, with_tool


@pytest.mark.parametrize("item_id", ["t" + "9" * 5_000, "t9999999999999999999999", "t-1", "t\u0663", "", "t"])
async def test_a_list_whose_items_have_absurd_ids_goes_on_as_a_list(tmp_path: Path, item_id: str) -> None:
    async with open_site(tmp_path) as site:
        desk = await site.workspace()
        agent = await site.card(desk, "agent")
        note = await site.card(desk, "note", content={"todos": [{"id": item_id, "text": "one"}, {"text": "two"}, 7]})
        await site.arrow(desk, agent["id"], note["id"])
        result = await WireAgent(site, agent).call("todo_add", text="three")
        todos = result["structuredContent"]["todos"]
        assert [one["text"] for one in todos] == ["one", "two", "three"]
        assert len({one["id"] for one in todos}) == 3


async def test_a_list_of_very_many_items_keeps_nobody_waiting(tmp_path: Path) -> None:
    """Read in one pass: by way of each item's predecessors it would take minutes, and nobody else would be served."""
    async with open_site(tmp_path) as site:
        desk = await site.workspace()
        agent = await site.card(desk, "agent")
        note = await site.card(desk, "note", content={"todos": [{"text": ""} for _ in range(80_000)]})
        await site.arrow(desk, agent["id"], note["id"])
        result = await WireAgent(site, agent).call("todo_read")
        assert len(result["structuredContent"]["todos"]) == 80_000


IMPORTED: dict[str, tuple[dict[str, Any], int]] = {
    "a note that stands for an agent": ({"kind": "note", "agent_id": "MINE"}, 400),
    "a note that is a copy of a package": ({"kind": "note", "package": "PACKAGE"}, 400),
    "a copy of nothing": ({"kind": "card"}, 400),
    "an agent without an agent": ({"kind": "agent"}, 400),
    "an agent by its name": ({"kind": "agent", "agent_id": "writer"}, 400),
    "an agent of nobody's": ({"kind": "agent", "agent_id": "agent_of_nobody"}, 404),
    "a package of nobody's": ({"kind": "card", "package": "pkg_of_nobody"}, 404),
    "a place beyond the canvas": ({"kind": "note", "x": 1e308}, 400),
    "a negative size": ({"kind": "note", "width": -1}, 400),
    "a title that hides something": ({"kind": "note", "title": "a\u202eb"}, 400),
}


@pytest.mark.parametrize("name", IMPORTED)
async def test_an_imported_card_must_be_one_that_could_be_placed(tmp_path: Path, name: str) -> None:
    async with open_site(tmp_path / "data") as site:
        desk = await desk_with(site, tmp_path / "radar")
        given, status = IMPORTED[name]
        names = {"MINE": desk.agent.id, "PACKAGE": desk.package}
        card = {key: names.get(value, value) if isinstance(value, str) else value for key, value in given.items()}
        await _import(site, {"cards": {"c": {"id": "c", "title": "t", **card}}}, status)


async def _import(site: Site, board: dict[str, Any], status: int) -> Any:
    return await site.ask("POST", "/workspaces", {"name": "imported", "board": board}, status=status)


@pytest.mark.parametrize(
    "arrows",
    [
        {"a": ("one", "one")},
        {"a": ("one", "two"), "b": ("two", "one")},
        {"a": ("one", "three")},
        {"a": ("one", "")},
    ],
)
async def test_imported_arrows_join_two_cards_of_that_board_once(
    tmp_path: Path, arrows: dict[str, tuple[str, str]]
) -> None:
    async with open_site(tmp_path) as site:
        cards = {key: {"id": "same", "kind": "note", "title": key} for key in ("one", "two")}
        drawn = {key: {"id": "same", "source": one, "target": two} for key, (one, two) in arrows.items()}
        await _import(site, {"cards": cards, "arrows": drawn}, 409)
        assert (await site.ask("GET", "/workspaces"))["workspaces"] == []


async def test_ids_of_an_import_never_meet_those_that_are_there(tmp_path: Path) -> None:
    async with open_site(tmp_path) as site:
        desk = await site.workspace()
        note = (await site.card(desk, "note", title="mine"))["id"]
        made = await _import(site, {"cards": {note: {"id": note, "kind": "note", "title": "theirs"}}}, 201)
        assert made["cards"][0]["id"] != note
        assert (await site.ask("GET", f"/workspaces/{desk}"))["cards"][0]["title"] == "mine"


async def test_a_card_whose_agent_or_package_is_gone_can_still_be_moved_and_renamed(tmp_path: Path) -> None:
    """An undo brings back a card whose package was removed in the meantime."""
    async with open_site(tmp_path / "data") as site:
        desk = await desk_with(site, tmp_path / "radar")
        await site.ask("DELETE", f"/card-packages/{desk.package}?force=true", status=204)
        await site.ask("POST", f"{desk.path}/undo")
        await site.ask("DELETE", f"/agents/{desk.agent.id}", status=204)
        for card in (desk.card, desk.agent_card):
            moved = await site.ask("PATCH", f"{desk.path}/cards/{card}", {"x": 40.0, "title": "gone"})
            assert (moved["x"], moved["title"]) == (40.0, "gone")
            await site.ask("PATCH", f"{desk.path}/cards/{card}", {"x": 1e300}, status=400)
        assert (await site.ask("GET", f"{desk.path}/cards/{desk.card}/log"))["lines"] == []


async def test_nothing_of_a_board_opens_to_another_owner(tmp_path: Path) -> None:
    async with open_site(tmp_path / "data") as site:
        desk = await desk_with(site, tmp_path / "radar")
        site.owner_key = (await site.ask("POST", "/owners", {"name": "other"}, status=201))["owner_key"]
        theirs = await site.workspace("theirs")
        note = (await site.card(theirs, "note"))["id"]
        mine = f"/workspaces/{theirs}"
        refused: list[tuple[str, str, Any, int]] = [
            ("PATCH", f"{desk.path}/cards/{desk.card}", {"x": 1}, 404),
            ("PATCH", f"{mine}/cards/{desk.card}", {"x": 1}, 404),
            ("DELETE", f"{mine}/cards/{desk.card}", None, 404),
            ("POST", f"{mine}/arrows", {"source": note, "target": desk.card}, 404),
            ("PATCH", f"{mine}/arrows/{desk.arrow}", {"tools": []}, 404),
            ("DELETE", f"{mine}/arrows/{desk.arrow}", None, 404),
            ("GET", f"{mine}/arrows/{desk.arrow}/log", None, 404),
            ("GET", f"{mine}/cards/{desk.card}/log", None, 404),
            ("GET", f"{desk.path}/arrows/{desk.arrow}/log", None, 404),
            ("GET", f"{desk.path}/cards/{desk.card}/log", None, 404),
            ("GET", f"{desk.path}/confirmations", None, 404),
            ("POST", f"{desk.path}/confirmations/ask_1", {"confirmed": True}, 404),
            ("POST", f"{mine}/confirmations/ask_1", {"confirmed": True}, 409),
            ("GET", f"{desk.path}/export", None, 404),
            ("GET", f"/card-packages/{desk.package}", None, 404),
            ("DELETE", f"/card-packages/{desk.package}?force=true", None, 404),
            ("POST", f"/card-packages/{desk.package}/consent", {"digest": "x", "accept": True}, 404),
            ("POST", f"{mine}/cards", {"kind": "card", "package": desk.package}, 404),
            ("GET", f"/terminals/{desk.agent_card}/screen", None, 404),
            ("POST", f"/terminals/{desk.agent_card}/start", None, 404),
            ("POST", f"/terminals/{desk.agent_card}/write", {"data": "x"}, 404),
            ("POST", f"/terminals/{desk.agent_card}/kill", None, 404),
        ]
        for method, path, body, status in refused:
            error = await site.ask(method, path, body, status=status)
            assert "radar" not in error["message"]
        assert (await site.ask("GET", "/card-packages"))["packages"] == []


async def test_two_answers_to_one_offer_at_once_count_once(tmp_path: Path) -> None:
    async with open_site(tmp_path / "data") as site:
        desk = await desk_with(site, tmp_path / "radar")
        declared = with_tool(description="Runs other tests.")
        (tmp_path / "radar" / "toolwire-card.json").write_bytes(encoded(declared))
        offer = await site.ask("POST", "/card-packages", {"source": str(tmp_path / "radar")}, status=201)
        url = f"/api/v1/card-packages/{desk.package}/consent"
        headers = {"authorization": f"Bearer {site.owner_key}"}
        statuses: list[int] = []

        async def respond(accept: bool) -> None:
            body = {"digest": offer["digest"], "accept": accept}
            statuses.append((await site.client.post(url, json=body, headers=headers)).status_code)

        async with anyio.create_task_group() as tasks:
            for accept in (True, False, True, False):
                tasks.start_soon(respond, accept)
        assert sorted(statuses) == [200, 409, 409, 409]


@pytest.mark.parametrize("wrong", [{"x": 1e308}, {"width": -1}, {"title": "a\u202eb"}])
async def test_no_agent_is_made_for_a_card_that_cannot_be_placed(tmp_path: Path, wrong: dict[str, Any]) -> None:
    async with open_site(tmp_path) as site:
        desk = await site.workspace()
        await site.ask("POST", f"/workspaces/{desk}/cards", {"kind": "agent", **wrong}, status=400)
        assert await site.ask("GET", "/agents") == []


@pytest.mark.parametrize(
    "cwd", ["~nobody-of-that-name/x", "/a\0b", "/" + "a" * 5_000, "/" + "b" * 300, "relative", "/gone"]
)
async def test_a_terminal_whose_folder_cannot_be_is_a_conflict(tmp_path: Path, cwd: str) -> None:
    async with open_site(tmp_path) as site:
        card = (await site.card(await site.workspace(), "terminal", content={"cwd": cwd}))["id"]
        error = await site.ask("POST", f"/terminals/{card}/run", {"command": "ls"}, status=409)
        assert "another cwd" in error["message"]
        assert len(error["message"]) < 400


@pytest.mark.parametrize(("command", "status"), [("a\0b", 409), ("x" * 500_000, 503)])
async def test_a_program_that_cannot_start_leaves_neither_a_folder_nor_a_key(
    tmp_path: Path, command: str, status: int
) -> None:
    async with open_site(tmp_path) as site:
        card = await site.card(await site.workspace(), "agent", content={"command": command})
        await site.ask("POST", f"/terminals/{card['id']}/start", status=status)
        rooms = tmp_path / "terminals"
        assert not rooms.exists() or not list(rooms.iterdir())
        made = await site.ask("GET", f"/keys?agent_id={card['agent_id']}")
        assert [key["revoked_at"] is None for key in made if key["name"].startswith("terminal")] in ([], [False])


@pytest.mark.parametrize("source", ["/a\0b", "/" + "a" * 5_000, "/gone", ""])
async def test_a_source_that_cannot_be_a_path_is_refused(tmp_path: Path, source: str) -> None:
    async with open_site(tmp_path) as site:
        error = await site.ask("POST", "/card-packages", {"source": source}, status=400)
        assert error["code"] == "invalid_param"
        assert len(error["message"]) < 400 or source == ""
