"""cards.md section 7: workspaces, their boards and edits over REST."""

from pathlib import Path
from typing import Any

import pytest

from tests.unit.canvas.site import open_site


async def test_a_board_survives_a_restart_with_all_that_can_be_undone(tmp_path: Path) -> None:
    async with open_site(tmp_path) as site:
        desk = await site.workspace()
        note = await site.card(desk, "note", title="todo", x=10, content={"text": "milk"})
        key, before = site.owner_key, await site.ask("GET", f"/workspaces/{desk}")
    async with open_site(tmp_path, key) as site:
        assert await site.ask("GET", f"/workspaces/{desk}") == before
        undone = await site.ask("POST", f"/workspaces/{desk}/undo")
        assert (undone["cards"], undone["can_undo"], undone["can_redo"]) == ([], False, True)
        redone = await site.ask("POST", f"/workspaces/{desk}/redo")
        assert redone["cards"] == [note]


async def test_an_agents_card_makes_the_agent_and_shows_its_key_once(tmp_path: Path) -> None:
    async with open_site(tmp_path) as site:
        desk = await site.workspace()
        made = await site.card(desk, "agent", title="writer")
        assert made["toolbox_url"] == f"http://localhost/{made['agent_id']}/toolbox/mcp"
        assert made["agent_key"].startswith("agk_")
        (shown,) = (await site.ask("GET", f"/workspaces/{desk}"))["cards"]
        assert shown == {key: value for key, value in made.items() if key not in ("toolbox_url", "agent_key")}
        again = await site.card(desk, "agent", agent_id=made["agent_id"])
        assert (again["agent_id"], again["title"]) == (made["agent_id"], "writer")
        second = await site.card(desk, "agent", title="writer")
        assert (await site.ask("GET", f"/agents/{second['agent_id']}"))["name"] == "writer-2"


async def test_a_stale_edit_changes_nothing_and_shows_the_present_board(tmp_path: Path) -> None:
    async with open_site(tmp_path) as site:
        desk = await site.workspace()
        note = await site.card(desk, "note", title="a")
        path = f"/workspaces/{desk}/cards/{note['id']}"
        await site.ask("PATCH", path, {"title": "b"}, if_match='"2"')
        error = await site.ask("PATCH", path, {"title": "c"}, if_match='"2"', status=409)
        assert error["code"] == "conflict"
        assert error["details"]["present"] == await site.ask("GET", f"/workspaces/{desk}")
        assert error["details"]["present"]["cards"][0]["title"] == "b"
        await site.ask("PATCH", path, {"title": "d"})  # without a version the last edit wins


async def test_removing_a_card_removes_its_arrows_and_one_undo_brings_all_back(tmp_path: Path) -> None:
    async with open_site(tmp_path) as site:
        desk = await site.workspace()
        agent, shell = await site.card(desk, "agent"), await site.card(desk, "terminal")
        arrow = await site.arrow(desk, agent["id"], shell["id"])
        await site.ask("DELETE", f"/workspaces/{desk}/cards/{shell['id']}", status=204)
        bare = await site.ask("GET", f"/workspaces/{desk}")
        assert (len(bare["cards"]), bare["arrows"]) == (1, [])
        back = await site.ask("POST", f"/workspaces/{desk}/undo")
        assert [found["id"] for found in back["arrows"]] == [arrow]


async def test_an_export_becomes_a_new_workspace_with_ids_of_its_own(tmp_path: Path) -> None:
    async with open_site(tmp_path) as site:
        desk = await site.workspace()
        agent, shell = await site.card(desk, "agent"), await site.card(desk, "terminal", title="sh", x=3)
        await site.arrow(desk, agent["id"], shell["id"])
        exported = await site.ask("GET", f"/workspaces/{desk}/export")
        copy = await site.ask("POST", "/workspaces", exported, status=201)
        assert [(c["kind"], c["title"], c["x"]) for c in copy["cards"]] == [
            ("agent", "agent", 0),
            ("terminal", "sh", 3),
        ]
        (arrow,) = copy["arrows"]
        assert (arrow["source"], arrow["target"]) == tuple(card["id"] for card in copy["cards"])
        assert not {card["id"] for card in copy["cards"]} & {agent["id"], shell["id"]}


async def test_another_owner_sees_nothing_of_a_workspace(tmp_path: Path) -> None:
    async with open_site(tmp_path) as site:
        desk = await site.workspace()
        card = await site.card(desk, "agent")
        other = (await site.ask("POST", "/owners", {"name": "other"}, status=201))["owner_key"]
        mine_alone, site.owner_key = site.owner_key, other
        assert (await site.ask("GET", "/workspaces"))["workspaces"] == []
        for method, path in (("GET", ""), ("DELETE", ""), ("POST", "/undo"), ("GET", "/events"), ("POST", "/close")):
            error = await site.ask(method, f"/workspaces/{desk}{path}", status=404)
            assert error["code"] == "workspace_not_found"
        mine = (await site.ask("POST", "/workspaces", {"name": "mine"}, status=201))["id"]
        body = {"kind": "agent", "agent_id": card["agent_id"]}
        assert (await site.ask("POST", f"/workspaces/{mine}/cards", body, status=404))["code"] == "agent_not_found"
        site.owner_key = mine_alone
        assert (await site.ask("GET", f"/workspaces/{desk}"))["id"] == desk


async def test_an_agents_key_edits_no_board(tmp_path: Path) -> None:
    async with open_site(tmp_path) as site:
        desk = await site.workspace()
        key = (await site.card(desk, "agent"))["agent_key"]
        error = await site.ask("GET", f"/workspaces/{desk}", status=403, authorization=f"Bearer {key}")
        assert error["code"] == "forbidden"
        assert (await site.client.get(f"/api/v1/workspaces/{desk}")).status_code == 401


@pytest.mark.parametrize(
    ("path", "body", "status", "code"),
    [
        ("", {"name": ""}, 400, "invalid_param"),
        ("", {"name": "x" * 129}, 400, "invalid_param"),
        ("", {"name": "a\u202eb"}, 400, "invalid_param"),
        ("/DESK/cards", {"kind": "robot"}, 400, "invalid_param"),
        ("/DESK/cards", {"kind": "card"}, 400, "invalid_param"),
        ("/DESK/cards", {"kind": "note", "package": "pkg_1"}, 400, "invalid_param"),
        ("/DESK/cards", {"kind": "card", "package": "pkg_1"}, 404, "package_not_found"),
        ("/DESK/cards", {"kind": "agent", "agent_id": "agent_gone"}, 404, "agent_not_found"),
        ("/DESK/cards", {"kind": "note", "x": 1e300}, 400, "invalid_param"),
        ("/DESK/cards", {"kind": "note", "title": "\x07"}, 400, "invalid_param"),
        ("/DESK/arrows", {"source": "NOTE", "target": "NOTE"}, 409, "conflict"),
        ("/DESK/arrows", {"source": "NOTE", "target": "card_gone"}, 404, "card_not_found"),
        ("/DESK/undo/x", {}, 404, "route_not_found"),
        ("/ws_gone/undo", None, 404, "workspace_not_found"),
    ],
)
async def test_what_cannot_be_is_refused_in_words(
    tmp_path: Path, path: str, body: dict[str, Any] | None, status: int, code: str
) -> None:
    async with open_site(tmp_path) as site:
        desk = await site.workspace()
        note = (await site.card(desk, "note"))["id"]
        before = await site.ask("GET", f"/workspaces/{desk}")
        sent = None if body is None else {name: note if value == "NOTE" else value for name, value in body.items()}
        error = await site.ask("POST", "/workspaces" + path.replace("DESK", desk), sent, status=status)
        assert error["code"] == code
        assert await site.ask("GET", f"/workspaces/{desk}") == before


async def test_arrows_are_joined_anew_and_limited(tmp_path: Path) -> None:
    async with open_site(tmp_path) as site:
        desk = await site.workspace()
        agent, one, two = [await site.card(desk, kind) for kind in ("agent", "terminal", "terminal")]
        path = f"/workspaces/{desk}/arrows/{await site.arrow(desk, agent['id'], one['id'])}"
        changed = await site.ask("PATCH", path, {"target": two["id"], "tools": ["run"], "recorded": False})
        assert (changed["target"], changed["tools"], changed["recorded"]) == (two["id"], ["run"], False)
        assert (await site.ask("PATCH", path, {"target": agent["id"]}, status=409))["code"] == "conflict"
        await site.ask("DELETE", path, status=204)
        assert (await site.ask("DELETE", path, status=404))["code"] == "arrow_not_found"


async def test_pages_that_the_host_names_may_ask_and_others_may_not(tmp_path: Path) -> None:
    """mcp.md S30."""
    async with open_site(tmp_path, allowed_origins=("https://app.example",)) as site:
        asked = {"origin": "https://app.example", "access-control-request-method": "GET"}
        preflight = await site.client.options("/api/v1/workspaces", headers=asked)
        assert preflight.headers["access-control-allow-origin"] == "https://app.example"
        await site.ask("GET", "/workspaces", origin="https://app.example")
        error = await site.ask("GET", "/workspaces", origin="https://evil.example", status=403)
        assert error["code"] == "origin_not_allowed"


async def test_a_stale_edit_makes_no_agent(tmp_path: Path) -> None:
    async with open_site(tmp_path) as site:
        desk = await site.workspace()
        await site.card(desk, "note", title="a")
        body = {"kind": "agent", "title": "ghost"}
        error = await site.ask("POST", f"/workspaces/{desk}/cards", body, if_match='"1"', status=409)
        assert error["details"]["current"] == 2
        assert await site.ask("GET", "/agents") == []


async def test_an_edit_that_changes_nothing_is_none(tmp_path: Path) -> None:
    async with open_site(tmp_path) as site:
        desk = await site.workspace()
        note = await site.card(desk, "note", title="a")
        for body in ({}, {"title": "a"}):
            assert await site.ask("PATCH", f"/workspaces/{desk}/cards/{note['id']}", body) == note
        assert (await site.ask("GET", f"/workspaces/{desk}"))["version"] == 2


async def test_a_board_has_bounds(tmp_path: Path) -> None:
    """An edit writes the whole board, so it is not a place for files."""
    async with open_site(tmp_path) as site:
        desk = await site.workspace()
        for _ in range(8):
            await site.card(desk, "note", content={"text": "x" * 1_000_000})
        large = {"kind": "note", "content": {"text": "x" * 1_000_000}}
        error = await site.ask("POST", f"/workspaces/{desk}/cards", large, status=409)
        assert "at most 8388608 bytes" in error["message"]
        await site.ask("POST", f"/workspaces/{desk}/undo")
        assert len((await site.ask("GET", f"/workspaces/{desk}"))["cards"]) == 7
