"""cards.md 66-68, 72-76, §3, decisions 17, 34: what a card may ask, and what it reaches."""

import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest

from tests.unit.canvas.cards import Desk, WireCard, connected, desk_with
from tests.unit.canvas.site import open_site
from tests.unit.card.manifests import GOOD, manifest, with_tool


@asynccontextmanager
async def desk_and_card(
    tmp_path: Path, declared: dict[str, Any] = GOOD, instance: bool = False
) -> AsyncGenerator[tuple[Desk, WireCard]]:
    async with open_site(tmp_path / "data") as site:
        desk = await desk_with(site, tmp_path / "radar", declared)
        async with connected(site, desk.package, desk.card if instance else None) as card:
            yield desk, card


async def test_a_card_sees_the_agents_and_terminals_of_its_workspace_and_which_are_joined(tmp_path: Path) -> None:
    """cards.md 72, decision 17: arrows join in either direction."""
    async with desk_and_card(tmp_path) as (desk, card):
        near, far = [(await desk.site.card(desk.id, "terminal", title=title))["id"] for title in ("near", "far")]
        await desk.site.card(desk.id, "note")
        await desk.site.card(await desk.site.workspace("other"), "terminal")
        await desk.site.arrow(desk.id, near, desk.card)
        peers = (await card.ask("agents.list"))["agents"]
        assert [(peer["id"], peer["kind"], peer["connected"]) for peer in peers] == [
            (desk.agent_card, "ai", True),
            (near, "shell", True),
            (far, "shell", False),
        ]
        assert [peer["name"] for peer in peers] == ["writer", "near", "far"]
        assert peers[0]["status"] == "exited"


async def test_a_command_needs_an_arrow_to_a_terminal(tmp_path: Path) -> None:
    """cards.md 73, 76: the words say what to do."""
    async with desk_and_card(tmp_path) as (desk, card):
        far = (await desk.site.card(desk.id, "terminal"))["id"]
        elsewhere = (await desk.site.card(await desk.site.workspace("other"), "terminal"))["id"]
        for terminal in (far, elsewhere, desk.agent_card, desk.card, "gone", ""):
            for method, more in (("terminals.run", {"command": "ls"}), ("terminals.write", {"data": "ls"})):
                error = (await card.answer(method, terminal=terminal, **more))["error"]
                assert error["code"] == "not_connected"
                assert "draw an arrow" in error["message"]


async def test_a_command_runs_in_the_terminal_that_an_arrow_joins(tmp_path: Path) -> None:
    """cards.md 73."""
    async with desk_and_card(tmp_path) as (desk, card):
        terminal = (await desk.site.card(desk.id, "terminal"))["id"]
        await desk.site.arrow(desk.id, desk.card, terminal)
        ran = await card.ask(
            "terminals.run", terminal=terminal, command="echo $((20 + 22)); exit_with() { return 3; }; exit_with"
        )
        assert (ran["exitCode"], ran["output"].strip()) == (3, "42")
        for timeout_ms in (999, 120_001, -1):
            error = (await card.answer("terminals.run", terminal=terminal, command="ls", timeoutMs=timeout_ms))["error"]
            assert error["code"] == "invalid_param"
            assert str(timeout_ms) in error["message"]


@pytest.mark.parametrize(
    ("permissions", "method"),
    [
        ([], "agents.list"),
        ([], "terminals.run"),
        (["agents.read"], "terminals.write"),
    ],
)
async def test_what_the_manifest_does_not_ask_for_is_refused(
    tmp_path: Path, permissions: list[str], method: str
) -> None:
    """cards.md §2: permissions."""
    async with desk_and_card(tmp_path, manifest(permissions=permissions)) as (desk, card):
        terminal = (await desk.site.card(desk.id, "terminal"))["id"]
        await desk.site.arrow(desk.id, desk.card, terminal)
        asked = {
            "agents.list": {},
            "terminals.run": {"terminal": terminal, "command": "ls"},
            "terminals.write": {"terminal": terminal, "data": "ls"},
        }[method]
        assert (await card.answer(method, **asked))["error"]["code"] == "permission_denied"


async def test_a_request_is_about_a_copy_that_the_connection_is_for(tmp_path: Path) -> None:
    async with desk_and_card(tmp_path) as (desk, card):
        await card.ask("storage.set", key="a", value=1)
        second = (await desk.site.card(desk.id, "card", package=desk.package, title="Second"))["id"]
        assert (await card.answer("storage.get", key="a"))["error"]["code"] == "invalid_param"
        assert await card.ask("storage.get", key="a", card=desk.card) == {"found": True, "value": 1}
        assert await card.ask("storage.get", key="a", card=second) == {"found": False}
        for other in (desk.agent_card, "gone"):
            assert (await card.answer("storage.get", key="a", card=other))["error"]["code"] == "invalid_param"
        async with connected(desk.site, desk.package, second) as frame:
            assert await frame.ask("storage.get", key="a") == {"found": False}
            assert (await frame.answer("storage.get", key="a", card=desk.card))["error"]["code"] == "invalid_param"


async def test_values_are_kept_for_a_copy_or_for_all_copies(tmp_path: Path) -> None:
    """cards.md §3: storage."""
    async with desk_and_card(tmp_path) as (desk, card):
        await card.ask("storage.set", key="b", value={"x": [None]})
        await card.ask("storage.set", key="a", value=None)
        await card.ask("storage.set", key="p", value="shared", scope="package")
        assert await card.ask("storage.get", key="a") == {"found": True}
        assert (await card.ask("storage.keys"))["keys"] == ["a", "b"]
        assert (await card.ask("storage.keys", scope="package"))["keys"] == ["p"]
        await card.ask("storage.delete", key="a")
        await card.ask("storage.delete", key="a")
        await card.ask("storage.clear", scope="package")
        assert (await card.ask("storage.keys"))["keys"] == ["b"]
        assert (await card.ask("storage.keys", scope="package"))["keys"] == []
        full = await card.answer("storage.set", key="big", value="x" * 2 * 1024 * 1024)
        assert full["error"]["code"] == "quota_exceeded"
        assert (await card.answer("storage.set", key="", value=1))["error"]["code"] == "invalid_param"
        await desk.site.ask("DELETE", f"/card-packages/{desk.package}?force=true", status=204)


async def test_a_tool_is_switched_for_all_copies_and_the_log_says_so(tmp_path: Path) -> None:
    """cards.md 66-68, decision 34."""
    async with desk_and_card(tmp_path, instance=True) as (desk, card):
        second = (await desk.site.card(desk.id, "card", package=desk.package, title="Second"))["id"]
        await desk.site.arrow(desk.id, desk.agent_card, second)
        assert await desk.agent.tools() == ["test_radar_run_tests"]
        await card.ask("tools.setEnabled", tool="run_tests", enabled=False)
        assert await desk.agent.tools() == []
        assert (await card.answer("tools.setEnabled", tool="gone", enabled=False))["error"]["code"] == "invalid_param"
        (line,) = await desk.lines()
        assert "'run_tests' was turned off" in line["text"]
        assert desk.card in line["text"]
        async with connected(desk.site, desk.package) as other:
            await other.ask("tools.setEnabled", tool="run_tests", enabled=True)
        assert await desk.agent.tools() == ["test_radar_run_tests"]


async def test_a_card_that_comes_back_learns_which_tools_are_off(tmp_path: Path) -> None:
    """cards.md 66, decision 34: it is kept."""
    async with desk_and_card(tmp_path) as (desk, card):
        await card.ask("tools.setEnabled", tool="run_tests", enabled=False)
        key = desk.site.owner_key
    async with open_site(tmp_path / "data", key) as site, connected(site, desk.package) as card:
        desk.agent.move_to(site)
        assert await desk.agent.tools() == []
        await card.ask("tools.setEnabled", tool="run_tests", enabled=True)
        assert await desk.agent.tools() == ["test_radar_run_tests"]


async def test_what_a_card_logs_stands_in_its_log(tmp_path: Path) -> None:
    """cards.md §3: log; §7: lines have a level."""
    async with desk_and_card(tmp_path) as (desk, card):
        await card.ask("log.write", level="info", text="about the package")
        await card.ask("log.write", level="warn", text="y" * 3000, card=desk.card)
        assert (await card.answer("log.write", level="loud", text="x"))["error"]["code"] == "invalid_request"
        assert (await card.answer("log.write", level="info", text="x", card="gone"))["error"]["code"] == "invalid_param"
        lines = await desk.lines()
        assert [(line["level"], line["text"]) for line in lines] == [
            ("info", "about the package"),
            ("warn", "y" * 1999 + "…"),
        ]
        await desk.site.ask("DELETE", f"{desk.path}/cards/{desk.card}", status=204)
        await desk.site.ask("POST", f"{desk.path}/undo")
        assert [line["text"] for line in await desk.lines()] == ["about the package"]


async def test_the_log_keeps_its_latest_500_lines(tmp_path: Path) -> None:
    async with desk_and_card(tmp_path) as (desk, _):
        for begin in (0, 300):  # a connection after the other: one may not say so much at once
            async with connected(desk.site, desk.package) as card:
                for number in range(begin, begin + 300):
                    await card.ask("log.write", level="debug", text=str(number), card=desk.card)
        texts = [line["text"] for line in await desk.lines()]
        assert texts == [str(number) for number in range(100, 600)]


async def test_values_outlive_a_removal_that_is_undone_but_not_their_workspace(tmp_path: Path) -> None:
    """cards.md §3, §7."""
    async with desk_and_card(tmp_path) as (desk, card):
        await card.ask("storage.set", key="a", value=1)
        await desk.site.ask("DELETE", f"{desk.path}/cards/{desk.card}", status=204)
        assert (await card.answer("storage.get", key="a", card=desk.card))["error"]["code"] == "invalid_param"
        await desk.site.ask("POST", f"{desk.path}/undo")
        assert await card.ask("storage.get", key="a") == {"found": True, "value": 1}
        await desk.site.ask("DELETE", desk.path, status=204)
        assert (await card.answer("storage.get", key="a", card=desk.card))["error"]["code"] == "invalid_param"


async def test_a_command_of_a_call_that_is_given_up_is_interrupted(tmp_path: Path) -> None:
    """cards.md 58, 73, 74: the terminal is free again at once."""
    async with desk_and_card(tmp_path) as (desk, card), anyio.create_task_group() as tasks:
        terminal = (await desk.site.card(desk.id, "terminal"))["id"]
        await desk.site.arrow(desk.id, desk.card, terminal)
        tasks.start_soon(desk.agent.call, "test_radar_run_tests")
        call = await card.event("tools.call")
        more = {"terminal": terminal, "timeoutMs": 60_000, "callId": call["callId"]}
        assert (await card.ask("terminals.run", command="true", **more))["exitCode"] == 0
        begun = tmp_path / "begun"
        os.mkfifo(begun)
        request = await card.request("terminals.run", command=f"echo > {begun}; sleep 600", **more)
        with anyio.fail_after(20):
            await anyio.to_thread.run_sync(begun.read_text, abandon_on_cancel=True)
        desk.site.host.gateway.engine.cancel(call["callId"], "the agent gave up")
        while (answer := await card.next()).get("id") != request:
            pass
        late = await card.answer("terminals.run", command="true", **more)
        for refused in (answer, late):
            assert refused["error"]["code"] == "conflict"
            assert "given up" in refused["error"]["message"]
        assert (await card.ask("terminals.run", command="echo free", terminal=terminal))["output"].strip() == "free"


async def test_a_command_that_outlives_its_call_on_purpose_goes_on(tmp_path: Path) -> None:
    """cards.md 73."""
    async with desk_and_card(tmp_path) as (desk, card), anyio.create_task_group() as tasks:
        terminal = (await desk.site.card(desk.id, "terminal"))["id"]
        await desk.site.arrow(desk.id, desk.card, terminal)
        tasks.start_soon(desk.agent.call, "test_radar_run_tests")
        call = await card.event("tools.call")
        command = f"until [ -e {tmp_path}/go ]; do sleep 0.01; done; echo done"
        request = await card.request("terminals.run", command=command, terminal=terminal, callId=call["callId"])
        await card.respond(call)
        (tmp_path / "go").touch()
        while (answer := await card.next()).get("id") != request:
            pass
        assert answer["result"]["output"].strip() == "done"


async def test_a_tool_that_only_reads_by_its_own_account_is_seen_to_run_commands(tmp_path: Path) -> None:
    """Decision 36."""
    async with desk_and_card(tmp_path, with_tool(readOnly=True)) as (desk, card), anyio.create_task_group() as tasks:
        terminal = (await desk.site.card(desk.id, "terminal"))["id"]
        await desk.site.arrow(desk.id, desk.card, terminal)
        await card.ask("terminals.run", command="true", terminal=terminal)
        assert await desk.lines() == []
        tasks.start_soon(desk.agent.call, "test_radar_run_tests")
        call = await card.event("tools.call")
        await card.ask("terminals.run", command="true", terminal=terminal, callId=call["callId"])
        await card.respond(call)
        (line,) = await desk.lines()
        assert line["level"] == "warn"
        assert "'run_tests' says that it only reads" in line["text"]
