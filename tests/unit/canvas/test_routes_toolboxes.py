"""cards.md 2, 5, decision 2: what an agent has, whether it knows, and how a client comes by it, for those who look."""

import json
import tomllib
from pathlib import Path
from typing import Any

import anyio

from tests.unit.canvas.cards import Desk, WireAgent, desk_with
from tests.unit.canvas.site import Site, open_site
from toolwire.surfaces.feed import Follower


async def state(site: Site, desk: Desk) -> dict[str, Any]:
    (only,) = (await site.ask("GET", f"{desk.path}/toolboxes"))["toolboxes"]
    return only


async def told(follower: Follower) -> dict[str, Any]:
    """The next moment that speaks of a toolbox."""
    with anyio.fail_after(5):
        while True:
            moment = await follower.next()
            assert moment is not None
            if moment.kind == "toolbox":
                return moment.data


async def test_an_agent_knows_its_tools_once_it_has_listed_them_until_an_arrow_changes(tmp_path: Path) -> None:
    """cards.md decision 2."""
    async with open_site(tmp_path / "data") as site:
        desk = await desk_with(site, tmp_path / "card")
        fresh = await state(site, desk)
        assert (fresh["card"], fresh["agent_id"], fresh["tool_count"]) == (desk.agent_card, desk.agent.id, 1)
        assert (fresh["listed_at"], fresh["is_known"], fresh["unseen"]) == (None, False, [desk.arrow])

        await desk.agent.tools()
        read = await state(site, desk)
        assert read["listed_at"] is not None
        assert (read["is_known"], read["unseen"]) == (True, [])

        shell = await site.card(desk.id, "terminal")
        arrow = await site.arrow(desk.id, desk.agent_card, shell["id"])
        changed = await state(site, desk)
        assert (changed["is_known"], changed["unseen"], changed["tool_count"]) == (False, [arrow], 4)
        assert changed["listed_at"] == read["listed_at"]


async def test_the_list_that_a_tool_gives_counts_as_read(tmp_path: Path) -> None:
    """cards.md decision 2: for agents that do not notice changes of their own list."""
    async with open_site(tmp_path / "data") as site:
        desk = await desk_with(site, tmp_path / "card")
        await desk.agent.call("toolwire_list_tools")
        assert (await state(site, desk))["is_known"] is True


async def test_whoever_looks_at_the_board_is_told_when_an_agent_reads_and_when_its_tools_change(tmp_path: Path) -> None:
    async with open_site(tmp_path / "data") as site:
        desk = await desk_with(site, tmp_path / "card")
        await state(site, desk)
        follower = site.host.canvas.feed.follow(desk.id)

        await desk.agent.tools()
        assert await told(follower) == await state(site, desk)

        await site.ask("DELETE", f"{desk.path}/arrows/{desk.arrow}", status=204)
        after = await told(follower)
        assert (after["card"], after["tool_count"], after["is_known"]) == (desk.agent_card, 0, False)


async def test_a_toolbox_is_shown_with_what_each_arrow_grants(tmp_path: Path) -> None:
    """cards.md 5."""
    async with open_site(tmp_path / "data") as site:
        desk = await desk_with(site, tmp_path / "card")
        shell = await site.card(desk.id, "terminal", title="build")
        arrow = await site.arrow(desk.id, desk.agent_card, shell["id"], tools=["terminal_read"])
        shown = await site.ask("GET", f"{desk.path}/cards/{desk.agent_card}/toolbox")

        names = await desk.agent.tools()
        assert shown["toolbox_url"] == f"http://localhost/{desk.agent.id}/toolbox/mcp"
        assert {tool["name"] for tool in shown["tools"]} == set(names)
        of_card, of_shell = shown["grants"]
        assert (of_card["arrow"], of_card["card"], of_card["kind"]) == (desk.arrow, desk.card, "card")
        assert (of_shell["arrow"], of_shell["title"], of_shell["tools"]) == (arrow, "build", ["terminal_read"])
        assert {*of_card["tools"], *of_shell["tools"]} == set(names)
        read_only = {tool["name"]: tool["read_only"] for tool in shown["tools"]}
        assert read_only["terminal_read"] is True


async def test_only_agents_have_a_toolbox_and_only_their_owner_sees_it(tmp_path: Path) -> None:
    async with open_site(tmp_path / "data") as site:
        desk = await desk_with(site, tmp_path / "card")
        refused = await site.ask("GET", f"{desk.path}/cards/{desk.card}/toolbox", status=409)
        assert refused["code"] == "conflict"
        other = (await site.ask("POST", "/owners", {"name": "other"}, status=201))["owner_key"]
        mine, site.owner_key = site.owner_key, other
        for path in ("toolboxes", f"cards/{desk.agent_card}/toolbox", f"cards/{desk.agent_card}/toolbox/clients"):
            await site.ask("GET", f"{desk.path}/{path}", status=404)
        site.owner_key = mine


async def test_an_agent_that_is_gone_is_left_out(tmp_path: Path) -> None:
    async with open_site(tmp_path) as site:
        workspace = await site.workspace()
        card = await site.card(workspace, "agent", title="writer")
        await site.ask("DELETE", f"/agents/{card['agent_id']}", status=204)
        assert await site.ask("GET", f"/workspaces/{workspace}/toolboxes") == {"toolboxes": []}
        refused = await site.ask("GET", f"/workspaces/{workspace}/cards/{card['id']}/toolbox", status=404)
        assert refused["code"] == "agent_not_found"


async def test_the_configurations_of_clients_open_the_toolbox_with_its_key_in_their_place(tmp_path: Path) -> None:
    """cards.md section 6: they wait for longer than a card may take."""
    async with open_site(tmp_path) as site:
        workspace = await site.workspace()
        card = await site.card(workspace, "agent", title="writer")
        setups = await site.ask("GET", f"/workspaces/{workspace}/cards/{card['id']}/toolbox/clients")

        assert [setup["client"] for setup in setups["clients"]] == ["claude", "codex", "qwen", "cursor"]
        for setup in setups["clients"]:
            text = setup["text"].replace(setups["key_place"], card["agent_key"])
            document = tomllib.loads(text) if setup["file"].endswith(".toml") else json.loads(text)
            ((server,),) = [list(servers.values()) for servers in document.values()]
            assert card["toolbox_url"] in server.values()
            assert f"Bearer {card['agent_key']}" in text
            assert max(server.get("tool_timeout_sec", 0), server.get("timeout", 0) / 1000) >= 150
        agent = WireAgent(site, card)
        assert await agent.tools() == []
