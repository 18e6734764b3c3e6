"""gateway.md 46, §6 (Commands and settings): keys, owners and health over REST."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import anyio
import httpx2
import pytest

from tests.unit.gateway.world import ManualClock, World, open_world
from toolwire.adapters.memory import MemoryStore
from toolwire.core.ports import Op
from toolwire.gateway.agent_record import AgentPatch
from toolwire.gateway.keys import FIRST_OWNER
from toolwire.gateway.rest import Reader
from toolwire.gateway.routes_health import HealthRoutes
from toolwire.gateway.routes_keys import KeyRoutes
from toolwire.surfaces.limits import Guard
from toolwire.surfaces.rest import RestApp


@asynccontextmanager
async def open_site() -> AsyncGenerator[tuple[World, httpx2.AsyncClient]]:
    """A gateway with the first owner, and a client that has its key."""
    world = await open_world()
    first = await world.keys.ensure_first_owner()
    keys = KeyRoutes(Reader(world.auth, world.agents), world.agents, world.keys).routes()
    app = RestApp([*keys, *HealthRoutes(world.store, world.clock).routes()], Guard(), lambda: "Bearer")
    async with httpx2.AsyncClient(
        transport=httpx2.ASGITransport(app), base_url="http://localhost", headers={"x-agent-api-key": first or ""}
    ) as client:
        yield world, client


async def test_a_calling_key_is_made_for_an_agent_by_id_or_name_and_shown_once():
    async with open_site() as (world, client):
        agent_id = (await world.agents.create(FIRST_OWNER, "demo")).agent_id
        for named in (agent_id, "demo"):
            response = await client.post("/api/v1/keys", json={"agent_id": named, "name": "laptop"})
            assert response.status_code == 201
            made = response.json()["data"]
            record = world.keys.find(made.pop("key").encode())
            assert record is not None
            assert (record.kind, record.agent_id, record.key_id) == ("bak", agent_id, made["key_id"])
        listed = await client.get("/api/v1/keys", params={"agent_id": "demo"})
        assert listed.json()["data"][-1] == made
        assert "hash" not in listed.text
        assert [key["kind"] for key in (await client.get("/api/v1/keys")).json()["data"]] == ["oag", "bak", "bak"]


async def test_another_owner_key_opens_what_the_first_one_does():
    async with open_site() as (world, client):
        made = (await client.post("/api/v1/keys", json={"kind": "oag"})).json()["data"]
        assert (await client.get("/api/v1/owners", headers={"x-agent-api-key": made["key"]})).status_code == 200
        first = world.keys.list(FIRST_OWNER)[0]
        response = await client.delete(f"/api/v1/keys/{first.key_id}")
        assert response.status_code == 204
        assert (await client.get("/api/v1/keys")).status_code == 401


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({}, 400, "invalid_param"),
        ({"kind": "agk"}, 400, "invalid_param"),
        ({"kind": "jwt", "agent_id": "demo"}, 400, "invalid_param"),
        ({"kind": "oag", "agent_id": "demo"}, 400, "invalid_param"),
        ({"agent_id": "demo", "name": "a\nb"}, 400, "invalid_param"),
        ({"agent_id": "demo", "agent": "demo"}, 400, "invalid_param"),
        ({"agent_id": "nobody"}, 404, "agent_not_found"),
        ({"agent_id": "agent_foreign"}, 404, "agent_not_found"),
        ({"agent_id": "agent_public"}, 403, "forbidden"),
        ({"agent_id": "full"}, 409, "conflict"),
    ],
)
async def test_a_key_that_cannot_be_is_refused(body: dict[str, Any], status: int, code: str):
    async with open_site() as (world, client):
        await world.agents.create(FIRST_OWNER, "demo")
        full = await world.agents.create(FIRST_OWNER, "full")
        for _ in range(3):
            await world.keys.create("bak", FIRST_OWNER, full.agent_id)
        await world.agents.create("acme", "foreign", agent_id="agent_foreign")
        public = await world.agents.create("acme", "public", agent_id="agent_public")
        await world.agents.patch(public.agent_id, AgentPatch(visibility="public"))
        response = await client.post("/api/v1/keys", json=body)
        assert (response.status_code, response.json()["error"]["code"]) == (status, code)


async def test_a_key_of_another_owner_is_not_found():
    async with open_site() as (world, client):
        owner, _ = await world.keys.create_owner("acme")
        (foreign,) = world.keys.list(owner.owner_id)
        response = await client.delete(f"/api/v1/keys/{foreign.key_id}")
        assert (response.status_code, response.json()["error"]["code"]) == (404, "key_not_found")
        assert foreign.key_id not in (await client.get("/api/v1/keys")).text


async def test_the_first_owner_makes_other_owners_and_they_do_not():
    """gateway.md §6: another tenant (first owner only)."""
    async with open_site() as (world, client):
        response = await client.post("/api/v1/owners", json={"name": " acme "})
        made = response.json()["data"]
        assert (response.status_code, made["name"]) == (201, "acme")
        other = {"x-agent-api-key": made.pop("owner_key")}
        assert (await client.get("/api/v1/owners")).json()["data"][1] == made
        for response in (
            await client.post("/api/v1/owners", json={"name": "more"}, headers=other),
            await client.get("/api/v1/owners", headers=other),
        ):
            assert (response.status_code, response.json()["error"]["code"]) == (403, "forbidden")
        assert (await client.get("/api/v1/keys", headers=other)).json()["data"][0]["kind"] == "oag"
        assert len(world.keys.owners()) == 2


@pytest.mark.parametrize("name", ["", "  ", "a" * 129, "a\tb"])
async def test_an_owner_has_a_name(name: str):
    async with open_site() as (_, client):
        assert (await client.post("/api/v1/owners", json={"name": name})).status_code == 400


async def test_only_owner_keys_make_and_list_keys():
    async with open_site() as (world, client):
        agent_id = (await world.agents.create(FIRST_OWNER, "demo")).agent_id
        for kind in ("bak", "agk"):
            _, secret = await world.keys.create(kind, FIRST_OWNER, agent_id)
            headers = {"x-agent-api-key": secret}
            for method, path in (("GET", "/api/v1/keys"), ("POST", "/api/v1/keys"), ("GET", "/api/v1/owners")):
                assert (await client.request(method, path, json={}, headers=headers)).status_code == 403


async def test_health_needs_no_key_and_readiness_tells_of_the_store():
    async with open_site() as (world, client):
        anonymous = {"x-agent-api-key": ""}
        assert (await client.get("/healthz", headers=anonymous)).json()["data"] == {"status": "ok"}
        await world.store.close()
        response = await client.get("/readyz", headers=anonymous)
        assert (response.status_code, response.json()["error"]["code"]) == (503, "agent_service_unavailable")
        assert (await client.get("/healthz", headers=anonymous)).status_code == 200


async def test_a_store_that_can_be_written_is_ready():
    async with open_site() as (_, client):
        for _ in range(2):
            response = await client.get("/readyz")
            assert (response.status_code, response.json()["data"]) == (200, {"status": "ready", "store": "ok"})


class Hanging(MemoryStore):
    async def tx(self, ops: Sequence[Op]) -> None:
        await anyio.sleep_forever()


@pytest.mark.virtual_time
async def test_a_store_that_hangs_is_not_ready_and_holds_nobody_up_for_ever():
    app = RestApp(HealthRoutes(Hanging(ManualClock()), ManualClock()).routes(), Guard(), lambda: "Bearer")
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://localhost") as client:
        response = await client.get("/readyz")
        assert (response.status_code, response.json()["error"]["details"]["store"]) == (503, "unavailable")
