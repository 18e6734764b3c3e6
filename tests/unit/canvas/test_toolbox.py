"""cards.md 2, 5, 12-19, 66-68, decisions 1, 2, 4, 14-17, 36: what arrows grant, as an agent sees it."""

from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.unit.canvas.cards import WireAgent, connected, desk_with, install
from tests.unit.canvas.site import open_site
from tests.unit.card.manifests import GOOD, PUBLIC, manifest, public, with_tool


async def test_an_arrow_grants_the_tools_and_its_removal_takes_them(tmp_path: Path) -> None:
    """cards.md 2, 5, 12: no card is awake, and the list is there at once."""
    async with open_site(tmp_path / "data") as site:
        desk = await desk_with(site, tmp_path / "radar")
        assert await desk.agent.tools() == ["test_radar_run_tests"]
        other = WireAgent(site, await site.card(desk.id, "agent"))
        assert await other.tools() == []
        await site.ask("DELETE", f"{desk.path}/arrows/{desk.arrow}", status=204)
        assert await desk.agent.tools() == []
        await site.ask("POST", f"{desk.path}/undo")
        assert await desk.agent.tools() == ["test_radar_run_tests"]


async def test_a_tool_is_shown_with_its_prefix_and_the_card_parameter(tmp_path: Path) -> None:
    """cards.md 14, 17, 18, decision 16, 36."""
    declared = with_tool(readOnly=True, inputSchema={"type": "object", "properties": {}, "additionalProperties": False})
    async with open_site(tmp_path / "data") as site:
        desk = await desk_with(site, tmp_path / "radar", declared)
        listed = (await desk.agent.ask("tools/list"))["result"]["tools"]
        tool = next(tool for tool in listed if tool["name"] == "test_radar_run_tests")
        assert tool["description"].startswith('[Custom card "Test radar" by Ada, community code] Runs')
        assert tool["title"] == "Run the tests"
        assert tool["annotations"] == {"readOnlyHint": True}
        assert list(tool["inputSchema"]["properties"]) == ["card"]
        assert tool["inputSchema"]["additionalProperties"] is False


async def test_a_tool_that_is_switched_off_is_hidden_from_all_agents(tmp_path: Path) -> None:
    """cards.md 66-68."""
    async with open_site(tmp_path / "data") as site:
        desk = await desk_with(site, tmp_path / "radar")
        async with connected(site, desk.package) as card:
            await card.ask("tools.setEnabled", tool="run_tests", enabled=False)
            assert await desk.agent.tools() == []
            assert "no tool" in await desk.agent.text("toolwire_call_tool", name="test_radar_run_tests")
            await card.ask("tools.setEnabled", tool="run_tests", enabled=True)
            assert await desk.agent.tools() == ["test_radar_run_tests"]
            answer = await card.answer("tools.setEnabled", tool="gone", enabled=True)
            assert answer["error"]["code"] == "invalid_param"


async def test_an_arrow_may_let_some_tools_through_alone(tmp_path: Path) -> None:
    declared = manifest(tools=[*GOOD["tools"], {**GOOD["tools"][0], "name": "list"}])
    async with open_site(tmp_path / "data") as site:
        desk = await desk_with(site, tmp_path / "radar", declared)
        await site.ask("PATCH", f"{desk.path}/arrows/{desk.arrow}", {"tools": ["list"]})
        assert await desk.agent.tools() == ["test_radar_list"]


async def test_the_public_cards_tools_take_what_their_manifests_say(tmp_path: Path) -> None:
    """cards.md §2: `additionalProperties: false` with `card`, enums without a type, no arguments at all."""
    async with open_site(tmp_path / "data") as site:
        desk = await desk_with(site, tmp_path / "radar")
        for name in PUBLIC:
            package = await install(site, tmp_path / name, public(name))
            card = (await site.card(desk.id, "card", package=package, title=name))["id"]
            await site.arrow(desk.id, card, desk.agent_card)
        calls: list[tuple[str, str, dict[str, Any]]] = [
            ("decision-log", "record", {"title": "t", "decision": "d", "status": "accepted", "card": "decision-log"}),
            ("decision-log", "search", {}),
            ("launch-control", "list_checks", {}),
            ("launch-control", "set_check", {"check": "c", "status": "no-go"}),
            ("repo-radar", "status", {"card": "Repo-Radar"}),
            ("agent-pulse", "report", {"minutes": 5}),
        ]
        packages = {package.shown.manifest.name: package.id for package in site.host.canvas.packages.of_owner("owner")}
        for card_name, tool, arguments in calls:
            async with connected(site, packages[card_name]) as card, anyio.create_task_group() as tasks:
                exposed = f"{card_name.replace('-', '_')}_{tool}"

                async def answer(card: Any = card, tool: str = tool, arguments: dict[str, Any] = arguments) -> None:
                    call = await card.event("tools.call")
                    assert call["tool"] == tool
                    assert call["arguments"] == {key: value for key, value in arguments.items() if key != "card"}
                    await card.respond(call)

                tasks.start_soon(answer)
                assert (await desk.agent.call(exposed, **arguments))["content"][0]["text"] == "done"
        for exposed, arguments in (
            ("decision_log_record", {"title": "t"}),
            ("decision_log_record", {"title": "t", "decision": "d", "status": "maybe"}),
            ("repo_radar_status", {"deep": True}),
            ("agent_pulse_report", {"minutes": 4}),
            ("agent_pulse_report", {"card": 7}),
        ):
            assert "do not fit" in await desk.agent.text(exposed, **arguments)


async def test_an_agent_that_does_not_read_its_list_again_reaches_new_tools(tmp_path: Path) -> None:
    """Decision 2."""
    async with open_site(tmp_path / "data") as site:
        desk = await desk_with(site, tmp_path / "radar")
        listed = await desk.agent.call("toolwire_list_tools")
        names = [tool["name"] for tool in listed["structuredContent"]["tools"]]
        assert names == ["toolwire_connections", "test_radar_run_tests"]
        async with connected(site, desk.package) as card, anyio.create_task_group() as tasks:

            async def answer() -> None:
                call = await card.event("tools.call")
                assert (call["exposedName"], call["arguments"]) == ("test_radar_run_tests", {"filter": "a"})
                await card.respond(call)

            tasks.start_soon(answer)
            result = await desk.agent.call(
                "toolwire_call_tool", name="test_radar_run_tests", arguments={"filter": "a", "card": "test radar"}
            )
            assert result["content"][0]["text"] == "done"
        assert "do not fit" in await desk.agent.text(
            "toolwire_call_tool", name="test_radar_run_tests", arguments={"filter": 1}
        )
        assert "no tool" in await desk.agent.text("toolwire_call_tool", name="gone")
        assert "itself" in await desk.agent.text("toolwire_call_tool", name="toolwire_list_tools")


async def test_an_unknown_tool_is_an_error_of_the_protocol(tmp_path: Path) -> None:
    """Decision 6, mcp.md S21."""
    async with open_site(tmp_path / "data") as site:
        desk = await desk_with(site, tmp_path / "radar")
        response = await desk.agent.ask("tools/call", name="gone", arguments={})
        assert response["error"]["code"] == -32602


@pytest.mark.parametrize("key", ["owner", "other agent", "none", "unknown"])
async def test_a_toolbox_opens_to_its_own_agent_alone(tmp_path: Path, key: str) -> None:
    async with open_site(tmp_path / "data") as site:
        desk = await desk_with(site, tmp_path / "radar")
        other = (await site.card(desk.id, "agent"))["agent_key"]
        sent = {"owner": site.owner_key, "other agent": other, "unknown": "agk_" + "0" * 64}.get(key)
        headers = {} if sent is None else {"authorization": f"Bearer {sent}"}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        response = await site.client.post(f"/{desk.agent.id}/toolbox/mcp", json=body, headers=headers)
        assert response.status_code == {"owner": 403, "other agent": 404}.get(key, 401)
        assert "test_radar" not in response.text


async def test_several_changes_at_once_are_told_once(tmp_path: Path) -> None:
    """Decision 33: debounced by 100 ms."""
    async with open_site(tmp_path / "data") as site:
        desk = await desk_with(site, tmp_path / "radar")
        assert await desk.agent.tools() == ["test_radar_run_tests"]
        toolbox, told, heard = site.host.canvas.toolboxes.known(desk.agent.id), list[object](), anyio.Event()
        assert toolbox is not None
        assert toolbox.is_known

        def hear(change: object) -> None:
            told.append(change)
            heard.set()

        with toolbox.changes.heard(hear):
            await site.ask("DELETE", f"{desk.path}/arrows/{desk.arrow}", status=204)
            await site.ask("POST", f"{desk.path}/undo")
            await site.ask("POST", f"{desk.path}/redo")
            assert not toolbox.is_known
            with anyio.fail_after(5):
                await heard.wait()
        assert len(told) == 1
        assert await desk.agent.tools() == []
        assert toolbox.is_known


async def test_moving_a_card_is_no_news_to_agents(tmp_path: Path) -> None:
    async with open_site(tmp_path / "data") as site:
        desk = await desk_with(site, tmp_path / "radar")
        await desk.agent.tools()
        await site.ask("PATCH", f"{desk.path}/cards/{desk.card}", {"x": 500})
        toolbox = site.host.canvas.toolboxes.known(desk.agent.id)
        assert toolbox is not None
        assert toolbox.is_known
