"""gateway.md 4, 53, D28, §6 (REST, Agents): agents over REST."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx2
import pytest

from tests.unit.gateway.world import World, open_world
from toolwire.gateway.keys import KeyKind
from toolwire.gateway.rest import Reader
from toolwire.gateway.routes_agents import AgentRoutes
from toolwire.surfaces.limits import Guard
from toolwire.surfaces.rest import RestApp


@dataclass
class Site:
    world: World
    client: httpx2.AsyncClient

    async def key(self, kind: KeyKind = "oag", owner: str = "owner", agent_id: str | None = None) -> dict[str, str]:
        """Headers with a new key."""
        return {"authorization": f"Bearer {(await self.world.keys.create(kind, owner, agent_id))[1]}"}

    async def agent(self, name: str = "demo", owner: str = "owner") -> str:
        return (await self.world.agents.create(owner, name)).agent_id


@asynccontextmanager
async def open_site() -> AsyncGenerator[Site]:
    world = await open_world()
    routes = AgentRoutes(
        Reader(world.auth, world.agents),
        world.agents,
        world.keys,
        attached=lambda agent_id: False,
        mcp_url=lambda agent_id: f"http://gw.example/{agent_id}/mcp",
    ).routes()
    app = RestApp(routes, Guard(), lambda: "Bearer")
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://localhost") as client:
        yield Site(world, client)


def sync_body(*skills: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"agents": [{"name": "Demo", "version": "1", "description": "Shows.", "skills": list(skills), **more}]}


SKILL: dict[str, Any] = {
    "name": "web_search",
    "description": "Search the web.",
    "exposeAsTool": True,
    "inputSchema": {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
    "timeout_ms": 5000,
}


async def test_an_agent_is_made_with_its_key_and_found_by_id_and_by_name():
    async with open_site() as site:
        key = await site.key()
        response = await site.client.post("/api/v1/agents", json={"name": "demo"}, headers=key)
        assert response.status_code == 201
        made = response.json()["data"]
        record = site.world.keys.find(made.pop("agent_key").encode())
        assert record is not None
        assert (record.kind, record.agent_id) == ("agk", made["agent_id"])
        assert made["mcp_url"] == f"http://gw.example/{made['agent_id']}/mcp"
        for named in (made["agent_id"], "demo"):
            assert (await site.client.get(f"/api/v1/agents/{named}", headers=key)).json()["data"] == made
        assert (await site.client.get("/api/v1/agents", headers=key)).json()["data"] == [made]


async def test_a_name_that_is_taken_is_a_conflict():
    async with open_site() as site:
        key = await site.key()
        await site.agent("demo")
        response = await site.client.post("/api/v1/agents", json={"name": "demo"}, headers=key)
        assert (response.status_code, response.json()["error"]["code"]) == (409, "conflict")


async def test_a_registration_over_rest_counts_its_skills():
    """gateway.md §6: one entry, the key's own agent."""
    async with open_site() as site:
        agent_id = await site.agent()
        key = await site.key("agk", agent_id=agent_id)
        more = {"name": "screenshot", "unknown_to_us": 1}
        response = await site.client.post("/api/v1/agents/sync", json=sync_body(SKILL, more), headers=key)
        assert response.json() == {"success": True, "data": {"created": 2, "updated": 0, "deactivated": 0}}
        response = await site.client.post("/api/v1/agents/sync", json=sync_body(SKILL), headers=key)
        assert response.json()["data"] == {"created": 0, "updated": 0, "deactivated": 1}
        (tool,) = (entry.tool for entry in site.world.agents.catalog(agent_id))
        assert (tool.name, tool.input_schema, tool.timeout_s) == ("web_search", SKILL["inputSchema"], 5.0)


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({"agents": []}, "agents"),
        ({"agents": [{"name": "a"}, {"name": "b"}]}, "agents"),
        ({}, ""),
        (sync_body({"name": "web search"}), "agents[0].skills[0].name"),
        (sync_body(SKILL, SKILL), "agents[0].skills[1].name"),
        (sync_body({**SKILL, "inputSchema": []}), "agents[0].skills[0].inputSchema"),
        (sync_body({**SKILL, "inputSchema": {"type": "string"}}), "agents[0].skills[0].inputSchema.type"),
        (sync_body(delivery_mode="sometimes"), "agents[0].delivery_mode"),
    ],
)
async def test_a_bad_registration_is_refused_whole_and_says_where(body: dict[str, Any], param: str):
    async with open_site() as site:
        agent_id = await site.agent()
        before = site.world.agents.get(agent_id)
        key = await site.key("agk", agent_id=agent_id)
        response = await site.client.post("/api/v1/agents/sync", json=body, headers=key)
        error = response.json()["error"]
        assert (response.status_code, error["code"], error["details"]["param"]) == (400, "invalid_param", param)
        assert site.world.agents.get(agent_id) is before


async def test_another_delivery_mode_is_a_conflict():
    """gateway.md 53, §6: 409."""
    async with open_site() as site:
        key = await site.key("agk", agent_id=await site.agent())
        await site.client.post("/api/v1/agents/sync", json=sync_body(delivery_mode="queue"), headers=key)
        response = await site.client.post("/api/v1/agents/sync", json=sync_body(delivery_mode="push"), headers=key)
        assert (response.status_code, response.json()["error"]["code"]) == (409, "conflict")


async def test_a_registration_has_a_largest_size():
    async with open_site() as site:
        key = await site.key("agk", agent_id=await site.agent())
        body = sync_body(description="x" * 1_100_000)
        assert (await site.client.post("/api/v1/agents/sync", json=body, headers=key)).status_code == 413


async def test_an_owner_changes_what_it_decides_and_nothing_else():
    """gateway.md §6: `PATCH` takes `mcp_enabled`, `visibility`, `description`."""
    async with open_site() as site:
        agent_id, key = await site.agent(), await site.key()
        body = {"mcp_enabled": False, "visibility": "public", "description": "Ours.", "advertise_gateway_args": True}
        shown = (await site.client.patch(f"/api/v1/agents/{agent_id}", json=body, headers=key)).json()["data"]
        assert {name: shown[name] for name in body} == body
        for wrong in ({"name": "x"}, {"visibility": "secret"}, {"mcp_enabled": "yes"}, {"mcp_enabled": None}):
            response = await site.client.patch(f"/api/v1/agents/{agent_id}", json=wrong, headers=key)
            assert (response.status_code, response.json()["error"]["code"]) == (400, "invalid_param")


async def test_a_foreign_agent_is_not_found_until_it_is_public_and_then_only_read():
    async with open_site() as site:
        agent_id, owner, stranger = await site.agent(), await site.key(), await site.key(owner="acme")
        await site.client.post(
            "/api/v1/agents/sync",
            json=sync_body(SKILL, {"name": "inner", "exposeAsTool": False}),
            headers=await site.key("agk", agent_id=agent_id),
        )
        path = f"/api/v1/agents/{agent_id}"
        for method in ("GET", "PATCH", "DELETE"):
            assert (await site.client.request(method, path, json={}, headers=stranger)).status_code == 404
        await site.client.patch(path, json={"visibility": "public"}, headers=owner)
        shown = (await site.client.get(path, headers=stranger)).json()["data"]
        assert [skill["name"] for skill in shown["skills"]] == ["web_search"]
        assert "created_at" not in shown
        for method in ("PATCH", "DELETE"):
            assert (await site.client.request(method, path, json={}, headers=stranger)).status_code == 403
        assert (await site.client.get("/api/v1/agents", headers=stranger)).json()["data"] == []


async def test_a_removed_agent_takes_its_keys_along():
    async with open_site() as site:
        agent_id, owner = await site.agent(), await site.key()
        agent_key = await site.key("agk", agent_id=agent_id)
        assert (await site.client.delete(f"/api/v1/agents/{agent_id}", headers=owner)).status_code == 204
        assert (await site.client.get(f"/api/v1/agents/{agent_id}", headers=owner)).status_code == 404
        response = await site.client.post("/api/v1/agents/sync", json=sync_body(), headers=agent_key)
        assert response.status_code == 401


@pytest.mark.parametrize(
    ("kind", "method", "path", "status"),
    [
        ("bak", "GET", "/api/v1/agents", 403),
        ("agk", "GET", "/api/v1/agents", 403),
        ("bak", "POST", "/api/v1/agents", 403),
        ("oag", "POST", "/api/v1/agents/sync", 403),
        ("bak", "POST", "/api/v1/agents/sync", 403),
        ("bak", "PATCH", "/api/v1/agents/{own}", 403),
        ("agk", "DELETE", "/api/v1/agents/{own}", 403),
        ("bak", "GET", "/api/v1/agents/{own}", 200),
        ("agk", "GET", "/api/v1/agents/{own}", 200),
        ("bak", "GET", "/api/v1/agents/{other}", 403),
        ("agk", "GET", "/api/v1/agents/{foreign}", 404),
    ],
)
async def test_each_kind_of_key_opens_its_own_routes(kind: KeyKind, method: str, path: str, status: int):
    """gateway.md §6: a `bak_` may read and call its agent, an `agk_` register; everything else needs `oag_`."""
    async with open_site() as site:
        own, other, foreign = await site.agent(), await site.agent("two"), await site.agent("x", owner="acme")
        key = await site.key(kind, agent_id=None if kind == "oag" else own)
        full = path.format(own=own, other=other, foreign=foreign)
        response = await site.client.request(method, full, json={"agents": [{"name": "a"}]}, headers=key)
        assert response.status_code == status
