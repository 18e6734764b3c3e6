"""An agent that is pinned is held to what it had registered, until its owner accepts what is new or has changed."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.unit.gateway.remote_site import RemoteSite, open_remote_site
from tests.unit.providers.remote_rig import serving
from toolwire.cli.main import execute


@dataclass
class Pinned:
    """An agent `mine` with the tool `search`, which registers over REST; nobody takes its calls."""

    site: RemoteSite
    agent: dict[str, Any]

    async def register(self, *skills: dict[str, Any]) -> None:
        body = {"agents": [{"name": "mine", "skills": list(skills)}]}
        await self.site.ask("POST", "/agents/sync", body, key=self.agent["agent_key"])

    async def pin(self, pinned: bool = True) -> dict[str, Any]:
        return await self.site.ask("PATCH", "/agents/mine", {"pinned": pinned})

    async def waiting(self) -> list[dict[str, Any]]:
        return await self.site.ask("GET", "/consents")

    async def code(self, tool: str) -> str:
        """What a call is refused with."""
        return (await self.site.call(self.agent, tool))["error"]["data"]["code"]


SEARCH = {"name": "search", "description": "Search."}
OTHER = {"name": "search", "description": "Search, and tell everybody."}
ERASE = {"name": "erase", "description": "Erase."}


@asynccontextmanager
async def registered(folder: Path) -> AsyncGenerator[Pinned]:
    async with open_remote_site(folder) as site:
        mine = Pinned(site, await site.ask("POST", "/agents", {"name": "mine"}, status=201))
        await mine.register(SEARCH)
        yield mine


@pytest.mark.anyio
async def test_an_agents_own_word_counts_unless_it_is_pinned(tmp_path: Path):
    async with registered(tmp_path) as mine:
        assert mine.agent["pinned"] is False
        await mine.register(OTHER, ERASE)

        assert await mine.site.tools(mine.agent) == {"search": OTHER["description"], "erase": "Erase."}
        assert await mine.waiting() == []


@pytest.mark.anyio
async def test_what_a_pinned_agent_changes_is_held_and_not_called_until_it_is_accepted(tmp_path: Path):
    async with registered(tmp_path) as mine:
        assert (await mine.pin())["pinned"] is True
        await mine.register(OTHER, ERASE)
        erase, search = await mine.waiting()

        assert [(each["agent"], each["tool"], each["kind"]) for each in (erase, search)] == [
            ("mine", "erase", "new"),
            ("mine", "search", "changed"),
        ]
        assert '+  "description": "Search, and tell everybody.",' in search["diff"]
        assert await mine.site.tools(mine.agent) == {"search": "Search."}
        assert [await mine.code(tool) for tool in ("search", "erase")] == ["consent_required", "tool_not_found"]

        for each in (search, erase):
            await mine.site.ask("POST", f"/consents/{each['consent_id']}", {"accept": True})
        assert await mine.site.tools(mine.agent) == {"search": OTHER["description"], "erase": "Erase."}
        assert [await mine.code(tool) for tool in ("search", "erase")] == ["agent_offline"] * 2
        await mine.register(OTHER, ERASE)
        assert await mine.waiting() == []


@pytest.mark.anyio
async def test_an_agent_that_goes_back_to_what_was_accepted_is_called_again(tmp_path: Path):
    async with registered(tmp_path) as mine:
        await mine.pin()
        await mine.register(OTHER)
        (shown,) = await mine.waiting()
        await mine.register({**OTHER, "description": "Once more."})
        gone = await mine.site.ask("POST", f"/consents/{shown['consent_id']}", {"accept": True}, status=404)
        await mine.register(SEARCH)

        assert gone["code"] == "consent_not_found"
        assert await mine.waiting() == []
        assert await mine.code("search") == "agent_offline"


@pytest.mark.anyio
async def test_tools_that_are_taken_away_are_gone_and_what_no_model_reads_may_change(tmp_path: Path):
    async with registered(tmp_path) as mine:
        await mine.register(SEARCH, ERASE)
        await mine.pin()
        await mine.register({**SEARCH, "timeout_ms": 5000})

        assert await mine.site.tools(mine.agent) == {"search": "Search."}
        assert await mine.waiting() == []


@pytest.mark.anyio
async def test_an_agent_that_is_not_pinned_any_more_has_all_that_was_held(tmp_path: Path):
    async with registered(tmp_path) as mine:
        await mine.pin()
        await mine.register(OTHER, ERASE)
        await mine.pin(False)

        assert await mine.site.tools(mine.agent) == {"search": OTHER["description"], "erase": "Erase."}
        assert await mine.waiting() == []


@pytest.mark.anyio
async def test_what_is_held_outlives_a_restart(tmp_path: Path):
    async with registered(tmp_path) as mine:
        await mine.pin()
        await mine.register(OTHER)
        agent, key = mine.agent, mine.site.key
    async with open_remote_site(tmp_path, key) as site:
        mine = Pinned(site, agent)
        assert [each["tool"] for each in await mine.waiting()] == ["search"]
        assert await mine.code("search") == "consent_required"


@pytest.mark.anyio
async def test_the_command_line_pins_an_agent(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    async with registered(tmp_path) as mine, serving(mine.site.gateway.app) as url:
        for words, pinned in (([], True), (["--off"], False)):
            argv = ["agent", "pin", "mine", *words, "--url", url, "--key", mine.site.key]
            assert await anyio.to_thread.run_sync(execute, argv) == 0
            assert (await mine.site.ask("GET", "/agents/mine"))["pinned"] is pinned
    assert "mine is pinned" in capsys.readouterr().err
