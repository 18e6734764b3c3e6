"""gateway.md 54, §6 (REST): a task's `started_at` is when the agent took it, and a task that waits has none."""

from pathlib import Path
from typing import Any

import anyio
import httpx2

from tests.interaction.gateways import attach, reopened
from tests.unit.gateway.test_routes_calls import Site, Works, site_with
from toolwire.agent import Agent, Ctx, MemoryJournal


class InLine(Works):
    """An agent that takes the messages of one conversation one after the other."""

    def __init__(self) -> None:
        super().__init__()
        self.agent = Agent("worker", delivery="queue")

        @self.agent.tool
        async def wait(ctx: Ctx) -> str:
            await self.go.wait()
            return "waited"


async def begin(site: Site, **more: Any) -> dict[str, Any]:
    return await site.ask("POST", "/tasks", {"tool": "wait", **more}, 202)


async def test_a_task_that_the_agent_has_taken_says_since_when() -> None:
    works = Works()
    async with site_with(works) as site:
        task = await begin(site)
        assert "started_at" not in task
        running = await site.until(task["task_id"], "running")
        assert running["started_at"] >= task["created_at"]
        works.go.set()
        done = await site.until(task["task_id"], "completed")
        assert done["started_at"] == running["started_at"] <= done["completed_at"]
        assert (await site.ask("GET", "/tasks"))["tasks"] == [done]


async def test_a_task_behind_another_one_has_not_started_until_its_turn_comes() -> None:
    """gateway.md 53: queue."""
    works = InLine()
    async with site_with(works) as site:
        first = await begin(site)
        first = await site.until(first["task_id"], "running")
        waiting = [await begin(site, context_id=first["context_id"]) for _ in range(2)]
        for task in waiting:
            shown = await site.ask("GET", f"/tasks/{task['task_id']}")
            assert (shown["status"], "started_at" in shown) == ("queued", False)
        ended = await site.ask("POST", f"/tasks/{waiting[0]['task_id']}/cancel")
        assert (ended["status"], "started_at" in ended) == ("canceled", False)
        works.go.set()
        done = await site.until(waiting[1]["task_id"], "completed")
        assert done["started_at"] >= waiting[1]["created_at"]


async def test_a_task_that_goes_on_after_a_restart_started_when_it_did(tmp_path: Path) -> None:
    works, journal = Works(), MemoryJournal()
    async with site_with(works, tmp_path) as site:
        task = await begin(site)
        before, running = site.there, await site.until(task["task_id"], "running")
    async with reopened(before, tmp_path) as there, attach(works.agent, there, journal):
        transport = httpx2.ASGITransport(there.gateway.app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as client:
            again = Site(there, client)
            with anyio.fail_after(10):
                shown = await again.until(task["task_id"], "running")
            assert shown["started_at"] == running["started_at"]
