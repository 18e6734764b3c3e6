"""gateway.md 1, 3, 45-47, D22, X2, X20: who is let in to which agent's MCP endpoint."""

import pytest

from tests.unit.gateway.world import World, bearer, open_world
from toolwire.core.call import Caller
from toolwire.core.errors import AgentNotFound, Forbidden, Unauthorized
from toolwire.gateway.agent_record import AgentPatch
from toolwire.gateway.door import GatewayDoor
from toolwire.gateway.keys import KeyKind
from toolwire.surfaces.endpoint import Door
from toolwire.wire.link import Registration, Skill


async def new_agent(world: World, owner: str = "owner", name: str = "demo") -> str:
    return (await world.agents.create(owner, name)).agent_id


async def new_key(world: World, kind: KeyKind, owner: str = "owner", agent_id: str | None = None) -> list[bytes]:
    return bearer((await world.keys.create(kind, owner, agent_id))[1])


@pytest.mark.parametrize(
    ("path", "served"),
    [
        ("/agent_1/mcp", True),
        ("/agents/agent_1/mcp", True),
        ("/nobody/mcp", True),
        ("/mcp", False),
        ("//mcp", False),
        ("/agent_1/mcp/", False),
        ("/agent_1", False),
        ("/agent_1/toolbox/mcp", False),
        ("/api/v1/mcp", False),
        ("/agents/agents/agent_1/mcp", False),
    ],
)
async def test_an_endpoint_is_told_by_the_form_of_its_path(path: str, served: bool):
    world = await open_world()
    assert GatewayDoor(world.auth, world.agents).serves(path) is served


async def test_a_calling_key_opens_its_own_agent_under_both_paths():
    world = await open_world()
    agent_id = await new_agent(world)
    record, secret = await world.keys.create("bak", "owner", agent_id)
    door: Door = GatewayDoor(world.auth, world.agents)
    admission = await door.admit(f"/{agent_id}/mcp", {}, [secret.encode()])
    assert admission.caller == Caller(record.key_id, "owner", "gateway")
    assert (admission.endpoint.agent_id, admission.endpoint.plane) == (agent_id, "gateway")
    assert admission.endpoint.catalog is world.agents.catalog(agent_id)
    alias = await door.admit(f"/agents/{agent_id}/mcp", {}, bearer(secret))
    assert alias.endpoint is admission.endpoint


async def test_an_owner_key_opens_all_agents_of_its_owner_and_the_public_ones():
    world = await open_world()
    one, two, foreign = await new_agent(world), await new_agent(world, name="two"), await new_agent(world, "acme")
    key = await new_key(world, "oag")
    door = GatewayDoor(world.auth, world.agents)
    for agent_id in (one, two):
        assert (await door.admit(f"/{agent_id}/mcp", {}, key)).caller.principal == "owner"
    with pytest.raises(AgentNotFound):
        await door.admit(f"/{foreign}/mcp", {}, key)
    await world.agents.patch(foreign, AgentPatch(visibility="public"))
    assert (await door.admit(f"/{foreign}/mcp", {}, key)).caller == Caller("owner", "owner", "gateway")


async def test_a_calling_key_of_another_agent_is_403_where_it_may_see_and_404_where_not():
    """gateway.md D22."""
    world = await open_world()
    mine, other, foreign = await new_agent(world), await new_agent(world, name="two"), await new_agent(world, "acme")
    key = await new_key(world, "bak", agent_id=mine)
    door = GatewayDoor(world.auth, world.agents)
    with pytest.raises(Forbidden):
        await door.admit(f"/{other}/mcp", {}, key)
    with pytest.raises(AgentNotFound) as hidden:
        await door.admit(f"/{foreign}/mcp", {}, key)
    with pytest.raises(AgentNotFound) as missing:
        await door.admit("/agent_nobody/mcp", {}, key)
    assert hidden.value.message.replace(foreign, "agent_nobody") == missing.value.message
    await world.agents.patch(foreign, AgentPatch(visibility="public"))
    with pytest.raises(Forbidden):
        await door.admit(f"/{foreign}/mcp", {}, key)


async def test_an_agents_own_key_opens_no_caller_surface():
    """gateway.md §3: the agent key must not open the caller surfaces."""
    world = await open_world()
    agent_id = await new_agent(world)
    key = await new_key(world, "agk", agent_id=agent_id)
    door = GatewayDoor(world.auth, world.agents)
    for path in (f"/{agent_id}/mcp", "/agent_nobody/mcp"):
        with pytest.raises(Forbidden):
            await door.admit(path, {}, key)


async def test_an_agent_that_is_not_published_over_mcp_is_not_found_at_once():
    """gateway.md 4, X20; the change holds for callers who were let in before."""
    world = await open_world()
    agent_id = await new_agent(world)
    keys = [await new_key(world, "bak", agent_id=agent_id), await new_key(world, "oag")]
    door = GatewayDoor(world.auth, world.agents)
    for key in keys:
        await door.admit(f"/{agent_id}/mcp", {}, key)
    await world.agents.patch(agent_id, AgentPatch(mcp_enabled=False))
    for key in keys:
        with pytest.raises(AgentNotFound):
            await door.admit(f"/{agent_id}/mcp", {}, key)
    await world.agents.patch(agent_id, AgentPatch(mcp_enabled=True))
    for key in keys:
        await door.admit(f"/{agent_id}/mcp", {}, key)


async def test_a_revoked_key_and_a_removed_agent_let_nobody_in():
    world = await open_world()
    agent_id = await new_agent(world)
    record, secret = await world.keys.create("bak", "owner", agent_id)
    owner = await new_key(world, "oag")
    door = GatewayDoor(world.auth, world.agents)
    await door.admit(f"/{agent_id}/mcp", {}, bearer(secret))
    await door.admit(f"/{agent_id}/mcp", {}, owner)
    await world.keys.revoke("owner", record.key_id)
    with pytest.raises(Unauthorized):
        await door.admit(f"/{agent_id}/mcp", {}, bearer(secret))
    await world.agents.remove(agent_id)
    with pytest.raises(AgentNotFound):
        await door.admit(f"/{agent_id}/mcp", {}, owner)


async def test_a_caller_who_was_let_in_before_costs_no_new_endpoint_and_sees_new_registrations():
    world = await open_world()
    agent_id = await new_agent(world)
    key = await new_key(world, "oag")
    door = GatewayDoor(world.auth, world.agents, call_timeout_s=7)
    first = await door.admit(f"/{agent_id}/mcp", {}, key)
    assert await door.admit(f"/{agent_id}/mcp", {}, key) is first
    assert (first.endpoint.stamp, first.endpoint.call_timeout_s) == (first.endpoint.stamp, 7)
    await world.agents.sync(agent_id, Registration("Demo agent", "2.0", "It searches.", skills=(Skill("search"),)))
    second = await door.admit(f"/{agent_id}/mcp", {}, key)
    assert second.endpoint is first.endpoint
    info = second.endpoint.info
    assert (info.name, info.version, info.title, info.instructions) == ("demo", "2.0", "Demo agent", "It searches.")
    assert [entry.tool.name for entry in second.endpoint.catalog] == ["search"]


async def test_the_endpoint_takes_the_gateways_arguments_out():
    world = await open_world()
    agent_id = await new_agent(world)
    door = GatewayDoor(world.auth, world.agents)
    endpoint = (await door.admit(f"/{agent_id}/mcp", {}, await new_key(world, "oag"))).endpoint
    assert endpoint.take_extras is not None
    assert endpoint.take_extras("search", {"query": "x", "idempotency_key": "k"}).idempotency_key == "k"


async def test_a_conversation_is_asked_after_with_its_agent():
    """gateway.md D12: same ownership check, bound to (principal, agent)."""
    world = await open_world()
    agent_id = await new_agent(world)
    asked: list[tuple[str, str, str]] = []

    async def owns(agent: str, caller: Caller, context_id: str) -> bool:
        asked.append((agent, caller.principal, context_id))
        return False

    door = GatewayDoor(world.auth, world.agents, owns_context=owns)
    admission = await door.admit(f"/{agent_id}/mcp", {}, await new_key(world, "oag"))
    assert admission.endpoint.owns_context is not None
    assert await admission.endpoint.owns_context(admission.caller, "ch_1") is False
    assert asked == [(agent_id, "owner", "ch_1")]


async def test_the_challenge_names_the_metadata_by_an_absolute_address():
    """gateway.md 47, X18."""
    world = await open_world()
    door = GatewayDoor(world.auth, world.agents, public_url="https://gw.example")
    metadata = "https://gw.example/.well-known/oauth-protected-resource"
    assert door.challenge() == f'Bearer realm="MCP", resource_metadata="{metadata}"'
    assert door.challenge("/one/mcp") == f'Bearer realm="MCP", resource_metadata="{metadata}/one/mcp"'
    assert door.challenge("/agents/one/mcp").endswith('/agents/one/mcp"')
    assert door.challenge('/a"b\r\nx: y/mcp') == door.challenge()


@pytest.mark.parametrize(
    ("public_url", "host", "base"),
    [
        ("http://127.0.0.1:8094", b"localhost:8094", "http://localhost:8094"),
        ("http://127.0.0.1:8094", b"[::1]:8094", "http://[::1]:8094"),
        ("http://127.0.0.1:8094", b"localhost:9", "http://127.0.0.1:8094"),
        ("http://127.0.0.1:8094", b"gw.example:8094", "http://127.0.0.1:8094"),
        ("https://gw.example", b"localhost", "https://gw.example"),
        ("http://127.0.0.1:8094", b'localhost:8094/"x', "http://127.0.0.1:8094"),
        ("http://127.0.0.1:8094", b"localhost:99999", "http://127.0.0.1:8094"),
    ],
)
async def test_on_this_machine_the_challenge_names_the_address_that_was_asked(public_url: str, host: bytes, base: str):
    world = await open_world()
    door = GatewayDoor(world.auth, world.agents, public_url=public_url)
    assert f'"{base}/.well-known' in door.challenge("/one/mcp", {b"host": host})
