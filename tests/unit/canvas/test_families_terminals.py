"""cards.md 5, 15-17, 61, 63-65, §4, decisions 14, 25: `terminal_*`, as an agent has it through its arrows."""

from pathlib import Path
from typing import Any

import anyio

from tests.unit.canvas.cards import WireAgent
from tests.unit.canvas.site import Site, open_site

TOOLS = ["terminal_read", "terminal_run", "terminal_send_keys"]


class Wired:
    """An agent that arrows join to cards."""

    def __init__(self, site: Site, workspace: str, card: dict[str, Any]) -> None:
        self.site = site
        self.workspace = workspace
        self.card: str = card["id"]
        self.agent = WireAgent(site, card)

    async def join(self, kind: str, **more: Any) -> tuple[str, str]:
        """A new card and the arrow to it."""
        card = (await self.site.card(self.workspace, kind, **more))["id"]
        return card, await self.site.arrow(self.workspace, self.card, card)

    async def log(self, arrow: str) -> list[dict[str, Any]]:
        return (await self.site.ask("GET", f"/workspaces/{self.workspace}/arrows/{arrow}/log"))["calls"]


async def wired(site: Site, title: str = "writer", **more: Any) -> Wired:
    workspace = await site.workspace()
    return Wired(site, workspace, await site.card(workspace, "agent", title=title, **more))


async def test_an_arrow_to_a_terminal_grants_its_tools(tmp_path: Path) -> None:
    """cards.md 2, 5, §4."""
    async with open_site(tmp_path) as site:
        desk = await wired(site)
        assert await desk.agent.tools() == []
        _, arrow = await desk.join("terminal")
        assert sorted(await desk.agent.tools()) == TOOLS
        await site.ask("PATCH", f"/workspaces/{desk.workspace}/arrows/{arrow}", {"tools": ["terminal_read"]})
        assert await desk.agent.tools() == ["terminal_read"]
        await site.ask("DELETE", f"/workspaces/{desk.workspace}/arrows/{arrow}", status=204)
        assert await desk.agent.tools() == []


async def test_an_agent_runs_a_command_and_it_stands_in_the_arrows_log(tmp_path: Path) -> None:
    """cards.md 63-65, 73."""
    async with open_site(tmp_path) as site:
        desk = await wired(site)
        _, arrow = await desk.join("terminal")
        result = await desk.agent.call("terminal_run", command="echo out; exit_code() { return 3; }; exit_code")
        assert result["content"][0]["text"] == "out\n(exit code 3)"
        assert result["structuredContent"] == {
            "exit_code": 3,
            "output": "out\n",
            "truncated": False,
            "timed_out": False,
        }
        [call] = await desk.log(arrow)
        assert (call["tool"], call["status"], call["caller"]["name"]) == ("terminal_run", "ok", "writer")
        assert call["progress"] == "$ echo out; exit_code() { return 3; }; exit_code"


async def test_output_that_is_too_long_for_a_model_is_cut_in_the_middle(tmp_path: Path) -> None:
    async with open_site(tmp_path) as site:
        desk = await wired(site)
        await desk.join("terminal")
        result = await desk.agent.call("terminal_run", command="seq 100000")
        assert result["structuredContent"]["truncated"] is True
        assert result["structuredContent"]["output"].startswith("1\n2\n")
        assert result["content"][0]["text"].endswith("100000\n(exit code 0)")
        assert len(result["content"][0]["text"]) < 31_000


async def test_an_agent_starts_a_program_by_keys_answers_it_and_reads_the_screen(tmp_path: Path) -> None:
    async with open_site(tmp_path) as site:
        desk = await wired(site)
        await desk.join("terminal")
        await desk.agent.call("terminal_send_keys", text="read -p 'name? ' name; echo hello $name", keys=["enter"])
        await screen_with(desk.agent, "name? ")
        await desk.agent.call("terminal_send_keys", text="Ada", keys=["enter"])
        await screen_with(desk.agent, "hello Ada")
        assert "nothing to type" in await desk.agent.text("terminal_send_keys")


async def screen_with(agent: WireAgent, words: str) -> None:
    with anyio.fail_after(10):
        while words not in (await agent.call("terminal_read", lines=5))["content"][0]["text"]:
            await anyio.lowlevel.checkpoint()


async def test_of_several_terminals_one_has_to_be_named(tmp_path: Path) -> None:
    """cards.md 15-17, decision 14, 15."""
    async with open_site(tmp_path) as site:
        desk = await wired(site)
        first, _ = await desk.join("terminal", title="build")
        second, _ = await desk.join("terminal", title="serve")
        hidden = (await site.card(desk.workspace, "terminal", title="secret"))["id"]
        told = await desk.agent.text("terminal_run", command="true")
        assert first in told
        assert second in told
        assert hidden not in told
        assert (await desk.agent.call("terminal_run", command="echo 1", card="Build")).get("isError") is not True
        assert (await desk.agent.call("terminal_run", command="echo 1", card=second)).get("isError") is not True
        assert "secret" not in (await desk.agent.text("terminal_run", command="true", card=hidden)).replace(hidden, "")


async def test_a_call_ends_when_its_arrow_is_removed(tmp_path: Path) -> None:
    """cards.md 5, decision 25: the command is interrupted, too."""
    async with open_site(tmp_path) as site:
        desk = await wired(site)
        terminal, arrow = await desk.join("terminal")
        told: list[str] = []

        async def run() -> None:
            told.append(await desk.agent.text("terminal_run", command="echo begun; sleep 60"))

        with anyio.fail_after(20):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(run)
                while (await site.ask("GET", f"/terminals/{terminal}/screen"))["screen"].count("begun") < 2:
                    await anyio.lowlevel.checkpoint()
                await site.ask("DELETE", f"/workspaces/{desk.workspace}/arrows/{arrow}", status=204)
        assert "arrow to this card was removed" in told[0]
        ended = await site.ask("POST", f"/terminals/{terminal}/run", {"command": "echo free"})
        assert ended["output"] == "free\n"


async def test_a_terminal_of_a_closed_workspace_is_not_used(tmp_path: Path) -> None:
    """cards.md 61."""
    async with open_site(tmp_path) as site:
        desk = await wired(site)
        await desk.join("terminal")
        await site.ask("POST", f"/workspaces/{desk.workspace}/close")
        assert "open the workspace 'desk'" in await desk.agent.text("terminal_run", command="true")


async def test_what_fails_is_told_to_the_agent(tmp_path: Path) -> None:
    """decision 6."""
    async with open_site(tmp_path) as site:
        desk = await wired(site)
        await desk.join("terminal", content={"cwd": "/not/there"})
        assert "/not/there" in await desk.agent.text("terminal_run", command="true")
        assert "timeout_ms" in await desk.agent.text("terminal_run", command="true", timeout_ms=1)
