"""Calls in full, those that owners make and end, and what is kept out of logs (cards.md 63-65, decision 38, §6)."""

from pathlib import Path
from typing import Any

import anyio

from tests.unit.canvas.cards import Desk, WireAgent, connected, desk_with
from tests.unit.canvas.site import Site, open_site
from tests.unit.card.manifests import with_tool

TOOL = "test_radar_run_tests"
SECRETIVE = with_tool(
    inputSchema={
        "type": "object",
        "properties": {"token": {"type": "string", "writeOnly": True}, "filter": {"type": "string"}},
    }
)


class Owner:
    """Who asks about the arrow of a desk."""

    def __init__(self, site: Site, desk: Desk) -> None:
        self._site = site
        self.path = f"{desk.path}/arrows/{desk.arrow}"

    async def tools(self) -> list[dict[str, Any]]:
        return (await self._site.ask("GET", f"{self.path}/tools"))["tools"]

    async def call(self, tool: str = TOOL, **arguments: Any) -> str:
        body = {"tool": tool, "arguments": arguments}
        return (await self._site.ask("POST", f"{self.path}/calls", body, status=202))["call_id"]

    async def refusal(self, tool: str = TOOL, status: int = 400, **more: Any) -> str:
        return (await self._site.ask("POST", f"{self.path}/calls", {"tool": tool, **more}, status=status))["code"]

    async def cancel(self, call: str, status: int = 204) -> Any:
        return await self._site.ask("POST", f"{self.path}/calls/{call}/cancel", status=status)

    async def whole(self, call: str, status: int = 200) -> dict[str, Any]:
        return await self._site.ask("GET", f"{self.path}/log/{call}", status=status)

    async def ended(self, call: str) -> dict[str, Any]:
        with anyio.fail_after(5):
            while (found := await self.whole(call))["status"] == "running":
                await anyio.lowlevel.checkpoint()
        return found


async def test_an_owner_makes_a_call_that_the_card_and_the_log_see_as_theirs(tmp_path: Path) -> None:
    """cards.md 63-65."""
    async with open_site(tmp_path / "data") as site:
        desk = await desk_with(site, tmp_path / "radar")
        owner = Owner(site, desk)
        [tool] = await owner.tools()
        assert (tool["name"], list(tool["input_schema"]["properties"])) == (TOOL, ["filter"])
        async with connected(site, desk.package) as card:
            made = await owner.call(filter="a")
            call = await card.event("tools.call")
            assert (call["callId"], call["arguments"]) == (made, {"filter": "a"})
            assert call["agent"] == {"id": "owner", "name": "you"}
            await card.ask("tools.progress", callId=made, message="1 of 2")
            running = await owner.whole(made)
            assert (running["status"], running["content"]) == ("running", None)
            assert [line["text"] for line in running["lines"]] == ["1 of 2"]
            await card.respond(call)
            ended = await owner.ended(made)
        assert (ended["status"], ended["sent"]) == ("ok", {"filter": "a"})
        assert ended["content"] == [{"type": "text", "text": "done"}]
        assert ended["caller"] == {"id": "owner", "name": "you"}


async def test_a_call_that_does_not_fit_its_arrow_is_not_made(tmp_path: Path) -> None:
    async with open_site(tmp_path / "data") as site:
        desk = await desk_with(site, tmp_path / "radar")
        owner = Owner(site, desk)
        assert await owner.refusal("toolwire_list_tools", 404) == "tool_not_found"
        assert await owner.refusal(arguments={"filter": 3}) == "invalid_param"
        assert await owner.refusal(agent="agent_nobody", status=404) == "agent_not_found"
        await site.ask("PATCH", f"{desk.path}/arrows/{desk.arrow}", {"tools": []})
        assert await owner.tools() == []
        assert await owner.refusal(status=404) == "tool_not_found"
        assert await desk.log() == []


async def test_an_owner_ends_a_call_of_an_agent_who_is_told_so(tmp_path: Path) -> None:
    """cards.md 62."""
    async with open_site(tmp_path / "data") as site:
        desk = await desk_with(site, tmp_path / "radar")
        owner, read, made = Owner(site, desk), list[str](), ""

        async def call() -> None:
            read.append(await desk.agent.text(TOOL))

        async with connected(site, desk.package) as card:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(call)
                made = (await card.event("tools.call"))["callId"]
                await owner.cancel(made)
            assert (await card.event("tools.cancel"))["callId"] == made
        assert read == ["cancelled: the user stopped this call"]
        assert (await owner.whole(made))["status"] == "cancelled"
        assert (await owner.cancel(made, 409))["code"] == "conflict"
        assert (await owner.cancel("call_none", 404))["code"] == "task_not_found"


async def test_secrets_and_what_is_not_recorded_are_not_kept(tmp_path: Path) -> None:
    """cards.md decision 38."""
    async with open_site(tmp_path / "data") as site:
        desk = await desk_with(site, tmp_path / "radar", SECRETIVE)
        owner = Owner(site, desk)
        async with connected(site, desk.package) as card:
            made = await owner.call(token="hunter2", filter="a")
            call = await card.event("tools.call")
            assert call["arguments"]["token"] == "hunter2"
            await card.respond(call)
            kept = await owner.ended(made)
            assert (kept["hidden"], kept["sent"]["filter"]) == (["/token"], "a")
            assert "hunter2" not in str(kept)
            await site.ask("PATCH", f"{desk.path}/arrows/{desk.arrow}", {"recorded": False})
            unseen = await owner.call(filter="b")
            await card.respond(await card.event("tools.call"))
            assert (await owner.ended(unseen))["sent"] is None


async def test_a_log_is_read_backwards_from_any_call(tmp_path: Path) -> None:
    async with open_site(tmp_path / "data") as site:
        desk = await desk_with(site, tmp_path / "radar")
        owner, made = Owner(site, desk), list[str]()
        async with connected(site, desk.package) as card:
            for _ in range(4):
                made.append(await owner.call())
                await card.respond(await card.event("tools.call"))
                await owner.ended(made[-1])
        found = (await site.ask("GET", f"{owner.path}/log?limit=2&before={made[3]}"))["calls"]
        assert [call["call_id"] for call in found] == made[1:3]


async def test_the_calls_of_all_arrows_of_a_workspace_are_read_in_one_go(tmp_path: Path) -> None:
    async with open_site(tmp_path / "data") as site:
        workspace = await site.workspace()
        agent = await site.card(workspace, "agent", title="writer")
        desk, made = Desk(site, workspace, "", WireAgent(site, agent)), list[tuple[str, str]]()
        for _ in range(3):
            note = await site.card(workspace, "note", content={"text": "bread"})
            desk.arrow = await site.arrow(workspace, agent["id"], note["id"])
            owner = Owner(site, desk)
            made.append((desk.arrow, await owner.call("note_read")))
            await owner.ended(made[-1][1])
        found = (await site.ask("GET", f"{desk.path}/calls?limit=2"))["calls"]
        assert [(call["arrow"], call["call_id"]) for call in found] == made[1:]


async def test_a_built_in_tool_is_called_through_the_arrow_that_is_meant(tmp_path: Path) -> None:
    async with open_site(tmp_path / "data") as site:
        workspace = await site.workspace()
        agent = await site.card(workspace, "agent", title="writer")
        desk = Desk(site, workspace, "", WireAgent(site, agent))
        for _ in range(2):
            note = await site.card(workspace, "note", content={"text": "bread"})
            desk.arrow = await site.arrow(workspace, agent["id"], note["id"])
        owner = Owner(site, desk)
        assert "toolwire_connections" not in [tool["name"] for tool in await owner.tools()]
        assert (await owner.ended(await owner.call("note_read")))["content"][0]["text"] == "bread"
