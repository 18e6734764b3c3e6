"""cards.md §4: `note_*`, `todo_*`, `toolwire_connections`, `ports_list` and `canvas_*`."""

from pathlib import Path
from typing import Any

import msgspec

from tests.unit.canvas.cards import install
from tests.unit.canvas.site import Site, open_site
from tests.unit.canvas.test_families_terminals import Wired, wired
from tests.unit.card.manifests import manifest

NOTES = ["note_append", "note_read", "note_write"]
TODOS = ["todo_add", "todo_read", "todo_remove", "todo_set", "todo_write"]


async def content(site: Site, workspace: str, card: str) -> dict[str, Any]:
    cards = (await site.ask("GET", f"/workspaces/{workspace}"))["cards"]
    return next(one["content"] for one in cards if one["id"] == card)


async def said(desk: Wired, tool: str, **arguments: Any) -> str:
    return (await desk.agent.call(tool, **arguments))["content"][0]["text"]


async def test_an_agent_reads_and_writes_a_note_and_the_user_undoes_it(tmp_path: Path) -> None:
    async with open_site(tmp_path) as site:
        desk = await wired(site)
        note, arrow = await desk.join("note", content={"text": "one", "colour": "blue"})
        assert sorted(await desk.agent.tools()) == NOTES
        assert await said(desk, "note_read") == "one"
        await desk.agent.call("note_append", text="two")
        assert await content(site, desk.workspace, note) == {"text": "one\ntwo", "colour": "blue"}
        await desk.agent.call("note_write", text="three")
        assert await said(desk, "note_read") == "three"
        await site.ask("POST", f"/workspaces/{desk.workspace}/undo")
        assert await said(desk, "note_read") == "one\ntwo"
        assert sorted({call["tool"] for call in await desk.log(arrow)}) == NOTES


async def test_a_note_that_would_be_too_long_stays_as_it_is(tmp_path: Path) -> None:
    async with open_site(tmp_path) as site:
        desk = await wired(site)
        note, _ = await desk.join("note", content={"text": "x" * 99_000})
        assert "at most 100000" in await desk.agent.text("note_append", text="y" * 1_000)
        assert len((await content(site, desk.workspace, note))["text"]) == 99_000


async def test_a_list_of_things_to_do_has_tools_of_its_own(tmp_path: Path) -> None:
    async with open_site(tmp_path) as site:
        desk = await wired(site)
        note, _ = await desk.join("note")
        assert sorted(await desk.agent.tools()) == NOTES
        await site.ask("PATCH", f"/workspaces/{desk.workspace}/cards/{note}", {"content": {"todos": []}})
        assert sorted(await desk.agent.tools()) == [*NOTES, *TODOS]
        assert await said(desk, "todo_read") == "(the list is empty)"
        await desk.agent.call("todo_add", text="write")
        assert await said(desk, "todo_add", text="test") == "[ ] t1: write\n[ ] t2: test"
        assert await said(desk, "todo_set", id="t1", done=True) == "[x] t1: write\n[ ] t2: test"
        assert await said(desk, "todo_set", id="t2", text="test it") == "[x] t1: write\n[ ] t2: test it"
        assert await said(desk, "todo_remove", id="t1") == "[ ] t2: test it"
        assert "its items are t2" in await desk.agent.text("todo_set", id="t1", done=True)
        result = await desk.agent.call("todo_write", todos=[{"text": "a", "done": True}, {"text": "b"}])
        todos = [{"id": "t1", "text": "a", "done": True}, {"id": "t2", "text": "b", "done": False}]
        assert result["structuredContent"] == {"todos": todos}
        assert (await content(site, desk.workspace, note))["todos"] == todos


async def test_what_is_no_item_of_a_list_is_passed_over(tmp_path: Path) -> None:
    async with open_site(tmp_path) as site:
        desk = await wired(site)
        odd = [{"text": "good"}, 3, None, {"text": 4}, {"id": "t1", "text": "again"}, {"id": "z", "text": "last"}]
        await desk.join("note", content={"todos": odd})
        assert await said(desk, "todo_read") == "[ ] t1: good\n[ ] z: last"


async def test_connections_are_listed_and_no_other_card(tmp_path: Path) -> None:
    """decision 15."""
    async with open_site(tmp_path) as site:
        desk = await wired(site)
        note, _ = await desk.join("note", title="plan")
        await site.card(desk.workspace, "note", title="secret")
        listed = msgspec.json.decode(await said(desk, "toolwire_connections"))
        assert [(one["card"], one["name"], one["kind"]) for one in listed] == [(note, "plan", "note")]


async def test_ports_of_a_card_are_listed(tmp_path: Path) -> None:
    async with open_site(tmp_path / "data") as site:
        ports = {"inputs": [{"id": "lines", "label": "Lines", "type": "text"}], "outputs": []}
        package = await install(site, tmp_path / "card", manifest(ports=ports))
        desk = await wired(site)
        await desk.join("card", package=package)
        assert "ports_list" in await desk.agent.tools()
        told = await said(desk, "ports_list")
        assert msgspec.json.decode(told.partition("\n")[2])["inputs"][0]["id"] == "lines"


async def test_an_agent_changes_the_board_only_where_its_user_has_let_it(tmp_path: Path) -> None:
    async with open_site(tmp_path) as site:
        desk = await wired(site)
        assert await desk.agent.tools() == []
        await site.ask("PATCH", f"/workspaces/{desk.workspace}/cards/{desk.card}", {"content": {"canvas": True}})
        assert sorted(await desk.agent.tools()) == ["canvas_list", "canvas_remove_card", "canvas_spawn_card"]


async def test_an_agent_places_a_note_that_it_is_joined_to_and_removes_it(tmp_path: Path) -> None:
    async with open_site(tmp_path) as site:
        desk = await wired(site, content={"canvas": True})
        users = (await site.card(desk.workspace, "note", title="users"))["id"]
        placed = await desk.agent.call("canvas_spawn_card", kind="todo", title="plan")
        mine = placed["structuredContent"]["card"]
        assert "todo_add" in await desk.agent.tools()
        listed = msgspec.json.decode(await said(desk, "canvas_list"))
        assert {one["card"]: (one["connected"], one["yours"]) for one in listed} == {
            users: (False, False),
            mine: (True, True),
        }
        assert "only cards that you have placed" in await desk.agent.text("canvas_remove_card", card=users)
        assert await said(desk, "canvas_remove_card", card=mine) == "Removed 'plan'."
        assert "no card" in await desk.agent.text("canvas_remove_card", card=mine)


async def test_an_agent_does_not_join_itself_to_a_terminal(tmp_path: Path) -> None:
    """cards.md 4: arrows are the user's consent."""
    async with open_site(tmp_path) as site:
        desk = await wired(site, content={"canvas": True})
        placed = await desk.agent.call("canvas_spawn_card", kind="terminal")
        assert placed["structuredContent"]["connected"] is False
        assert "terminal_run" not in await desk.agent.tools()
        await site.arrow(desk.workspace, desk.card, placed["structuredContent"]["card"])
        assert "terminal_run" in await desk.agent.tools()


async def test_an_agent_places_so_many_cards_and_no_more(tmp_path: Path) -> None:
    async with open_site(tmp_path) as site:
        desk = await wired(site, content={"canvas": True})
        for _ in range(50):
            await desk.agent.call("canvas_spawn_card", kind="note")
        assert "remove some" in await desk.agent.text("canvas_spawn_card", kind="note")


async def test_what_cannot_be_placed_is_refused_in_words(tmp_path: Path) -> None:
    async with open_site(tmp_path) as site:
        desk = await wired(site, content={"canvas": True})
        assert "package" in await desk.agent.text("canvas_spawn_card", kind="card")
        assert "pkg_none" in await desk.agent.text("canvas_spawn_card", kind="card", package="pkg_none")
        assert "text" in await desk.agent.text("canvas_spawn_card", kind="terminal", text="x")
        assert "workspace" in await desk.agent.text("canvas_list", workspace="elsewhere")
