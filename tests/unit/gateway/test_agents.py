"""gateway.md 4-7, 53, D11, D28, X1, X26 and §6 (agents): what agents register and what becomes of it."""

from typing import Any

import anyio
import msgspec
import pytest

from tests.unit.gateway.world import Present, World, open_world
from toolwire.core.errors import (
    AgentNotFound,
    Conflict,
    InvalidParam,
    PayloadTooLarge,
    StoreConflict,
    StoreUnavailable,
    ToolNotFound,
)
from toolwire.core.jsontypes import JsonObject
from toolwire.core.schema import Validator
from toolwire.gateway.agent_record import AgentPatch, AgentRecord
from toolwire.gateway.agents import Agents
from toolwire.providers.schema import compile_validator
from toolwire.wire.link import Registration, Skill

SEARCH = Skill(
    "web_search",
    "Search the web for current information on any topic.",
    {
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "The search query"},
            "max_results": {"type": "integer", "description": "Maximum number of results to return", "default": 5},
        },
        "required": ["query"],
    },
)
SCREENSHOT = Skill("screenshot", "Take a screenshot of the current browser or desktop view.")


async def created(world: World) -> AgentRecord:
    return await world.agents.create("owner", "demo")


def listed(world: World, agent_id: str) -> list[Any]:
    return msgspec.json.decode(world.agents.catalog(agent_id).listing())


async def test_skills_become_tools_exactly_as_registered():
    """gateway.md 4-6, X26: name, description and inputSchema as written, nothing else; no schema means no arguments."""
    world = await open_world()
    agent = await created(world)
    counts = await world.agents.sync(agent.agent_id, Registration("Demo", skills=(SEARCH, SCREENSHOT)))
    assert counts == {"created": 2, "updated": 0, "deactivated": 0}
    assert listed(world, agent.agent_id) == [
        {"name": "web_search", "description": SEARCH.description, "inputSchema": SEARCH.input_schema},
        {
            "name": "screenshot",
            "description": SCREENSHOT.description,
            "inputSchema": {"type": "object", "properties": {}},
        },
    ]


async def test_a_registration_replaces_the_one_before():
    world = await open_world()
    agent = await created(world)
    catalog = world.agents.catalog(agent.agent_id)
    await world.agents.sync(agent.agent_id, Registration("Demo", skills=(SEARCH, SCREENSHOT)))
    longer = msgspec.structs.replace(SEARCH, description="Search.", timeout_ms=90_000, idempotent=True)
    counts = await world.agents.sync(agent.agent_id, Registration("Demo", skills=(longer, Skill("summarize"))))
    assert counts == {"created": 1, "updated": 1, "deactivated": 1}
    assert world.agents.catalog(agent.agent_id) is catalog
    assert [entry.tool.name for entry in catalog] == ["web_search", "summarize"]
    tool = catalog.find("web_search").tool
    assert (tool.timeout_s, tool.repeatable, tool.source) == (90.0, True, f"agent:{agent.agent_id}")
    with pytest.raises(ToolNotFound):
        catalog.find("screenshot")


async def test_the_same_registration_again_changes_and_writes_nothing():
    world = await open_world()
    agent = await created(world)
    registration = Registration("Demo", skills=(SEARCH,))
    await world.agents.sync(agent.agent_id, registration)
    record, version = world.agents.get(agent.agent_id), world.agents.catalog(agent.agent_id).version
    assert await world.agents.sync(agent.agent_id, registration) == {"created": 0, "updated": 0, "deactivated": 0}
    assert world.agents.get(agent.agent_id) is record
    assert world.agents.catalog(agent.agent_id).version == version


async def test_a_skill_that_is_not_exposed_is_no_tool():
    """gateway.md 4: only `exposeAsTool: true`."""
    world = await open_world()
    agent = await created(world)
    hidden = msgspec.structs.replace(SCREENSHOT, expose_as_tool=False)
    await world.agents.sync(agent.agent_id, Registration("Demo", skills=(SEARCH, hidden)))
    assert [tool["name"] for tool in listed(world, agent.agent_id)] == ["web_search"]


async def test_an_agent_without_tools_takes_messages():
    """gateway.md X1: the single fallback tool, gone with the first tool of the agent's own."""
    world = await open_world()
    agent = await created(world)
    (tool,) = listed(world, agent.agent_id)
    assert (tool["name"], tool["inputSchema"]["required"]) == ("message", ["message"])
    entry = world.agents.catalog(agent.agent_id).find("message")
    assert entry.tool.source.startswith("message:")
    extras = world.agents.take_extras(agent.agent_id, "message", {"message": "hello", "context_id": "ch_1"})
    entry.check(extras.arguments)
    assert extras.context_id == "ch_1"
    await world.agents.sync(agent.agent_id, Registration("Demo", skills=(SCREENSHOT,)))
    assert [tool["name"] for tool in listed(world, agent.agent_id)] == ["screenshot"]


@pytest.mark.parametrize("name", ["", "web search", "suche_ä", "a" * 65, "a.b", "tool/x", "a\n"])
async def test_a_name_that_models_do_not_take_is_refused(name: str):
    """gateway.md D28: the whole registration, and nothing has changed."""
    world = await open_world()
    agent = await created(world)
    await world.agents.sync(agent.agent_id, Registration("Demo", skills=(SEARCH,)))
    before = world.agents.get(agent.agent_id)
    with pytest.raises(InvalidParam) as caught:
        await world.agents.sync(agent.agent_id, Registration("Demo", skills=(SCREENSHOT, Skill(name))))
    assert caught.value.data["param"] == "skills[1].name"
    assert world.agents.get(agent.agent_id) is before
    assert [tool["name"] for tool in listed(world, agent.agent_id)] == ["web_search"]


async def test_two_skills_of_one_name_are_refused_and_case_tells_names_apart():
    world = await open_world()
    agent = await created(world)
    with pytest.raises(InvalidParam) as caught:
        await world.agents.sync(agent.agent_id, Registration("Demo", skills=(SEARCH, SCREENSHOT, SEARCH)))
    assert caught.value.data["param"] == "skills[2].name"
    await world.agents.sync(agent.agent_id, Registration("Demo", skills=(Skill("Search"), Skill("search"))))


@pytest.mark.parametrize(
    ("skill", "param"),
    [
        (Skill("t", input_schema={"type": "array"}), "skills[0].inputSchema.type"),
        (Skill("t", input_schema={}), "skills[0].inputSchema.type"),
        (Skill("t", input_schema={"type": "object", "properties": 3}), "skills[0].inputSchema"),
        (Skill("t", input_schema={"type": "object", "$ref": "https://example.com/s.json"}), "skills[0].inputSchema"),
        (Skill("t", output_schema={"type": "nonsense"}), "skills[0].outputSchema"),
        (Skill("t", timeout_ms=0), "skills[0].timeout_ms"),
    ],
)
async def test_a_skill_that_cannot_be_served_is_refused(skill: Skill, param: str):
    world = await open_world()
    agent = await created(world)
    with pytest.raises(InvalidParam) as caught:
        await world.agents.sync(agent.agent_id, Registration("Demo", skills=(skill,)))
    assert caught.value.data["param"] == param


@pytest.mark.parametrize(
    ("properties", "taken"),
    [
        ({"idempotency_key": {"type": "string"}}, True),
        ({"idempotency_key": {}}, True),
        ({"idempotency_key": {"$ref": "#/$defs/key"}}, True),
        ({"idempotency_key": {"type": "integer"}}, False),
        ({"idempotency_key": {"type": "string", "format": "uuid", "maxLength": 36}}, False),
        ({"attachments": {"type": "array", "items": {"type": "object"}}}, True),
        ({"attachments": {"type": "array", "items": {"type": "string"}}}, False),
        ({"attachments": {"type": "array", "maxItems": 1}}, False),
        ({"attachments": {"$ref": "#/$defs/missing"}}, False),
    ],
)
async def test_a_property_that_means_something_else_here_is_refused(properties: dict[str, Any], taken: bool):
    """gateway.md D11: a compatible one is read by the gateway and handed on, another one refused at registration."""
    world = await open_world()
    agent = await created(world)
    schema = {"type": "object", "properties": properties, "$defs": {"key": {"type": "string"}}}
    registration = Registration("Demo", skills=(Skill("store", input_schema=schema),))
    if not taken:
        with pytest.raises(InvalidParam) as caught:
            await world.agents.sync(agent.agent_id, registration)
        assert caught.value.data["param"].startswith("skills[0].inputSchema")
        return
    await world.agents.sync(agent.agent_id, registration)
    (name,) = properties
    sent: dict[str, Any] = {"idempotency_key": "k1", "attachments": []}
    assert list(world.agents.take_extras(agent.agent_id, "store", sent).arguments) == [name]


async def test_the_first_delivery_mode_stays():
    """gateway.md 53, §6: another `delivery_mode` is a conflict; a registration without one keeps it."""
    world = await open_world()
    agent = await created(world)
    assert agent.mode == "push"
    await world.agents.sync(agent.agent_id, Registration("Demo"))
    await world.agents.sync(agent.agent_id, Registration("Demo", delivery_mode="queue"))
    await world.agents.sync(agent.agent_id, Registration("Demo", skills=(SEARCH,)))
    with pytest.raises(Conflict, match="delivery_mode"):
        await world.agents.sync(agent.agent_id, Registration("Demo", delivery_mode="busy_reject"))
    assert world.agents.get(agent.agent_id).mode == "queue"
    assert [tool["name"] for tool in listed(world, agent.agent_id)] == ["web_search"]


async def test_the_owners_description_wins_until_it_is_given_back():
    world = await open_world()
    agent = await created(world)
    await world.agents.sync(agent.agent_id, Registration("Demo", description="by itself"))
    await world.agents.patch(agent.agent_id, AgentPatch(description="by its owner"))
    await world.agents.sync(agent.agent_id, Registration("Demo", description="by itself, again"))
    assert world.agents.get(agent.agent_id).shown_description == "by its owner"
    await world.agents.patch(agent.agent_id, AgentPatch(description=None))
    assert world.agents.get(agent.agent_id).shown_description == "by itself, again"


async def test_names_are_unique_with_an_owner_and_found_by_it():
    world = await open_world()
    mine, theirs = await world.agents.create("owner", "demo"), await world.agents.create("acme", "demo")
    with pytest.raises(Conflict, match="demo"):
        await world.agents.create("owner", "demo")
    assert world.agents.find("owner", "demo") is mine
    assert world.agents.find("acme", theirs.agent_id) is theirs
    with pytest.raises(AgentNotFound):
        world.agents.find("owner", theirs.agent_id)
    public = await world.agents.patch(theirs.agent_id, AgentPatch(visibility="public"))
    assert world.agents.find("owner", theirs.agent_id) is public
    shadow = await world.agents.create("owner", theirs.agent_id)
    assert world.agents.find("owner", theirs.agent_id) is shadow
    assert world.agents.list("owner") == [mine, shadow]


@pytest.mark.parametrize("name", ["", "   ", "a" * 129, "a\x00b", "two\nlines", "a/b"])
async def test_a_name_for_people_is_printable_and_fits_in_a_path(name: str):
    world = await open_world()
    with pytest.raises(InvalidParam):
        await world.agents.create("owner", name)


async def test_an_agent_can_have_a_known_id_once():
    world = await open_world()
    assert (await world.agents.create("owner", "demo", agent_id="agent_demo")).agent_id == "agent_demo"
    with pytest.raises(Conflict, match="agent_demo"):
        await world.agents.create("acme", "other", agent_id="agent_demo")
    with pytest.raises(InvalidParam):
        await world.agents.create("owner", "slash", agent_id="a/b")


async def test_a_restart_finds_everything_as_it_was():
    world = await open_world()
    agent = await created(world)
    await world.agents.sync(agent.agent_id, Registration("Demo", "0.1.0", skills=(SEARCH, SCREENSHOT)))
    await world.agents.patch(agent.agent_id, AgentPatch(mcp_enabled=False))
    again = await open_world(world.store)
    assert again.agents.get(agent.agent_id) == world.agents.get(agent.agent_id)
    assert listed(again, agent.agent_id) == listed(world, agent.agent_id)
    await again.agents.sync(agent.agent_id, Registration("Demo", "0.2.0"))
    with pytest.raises(Conflict):
        await world.agents.create("owner", "demo")


async def test_a_removed_agent_is_unknown_and_its_name_free():
    world = await open_world()
    agent = await created(world)
    told: list[str] = []
    world.agents.on_removed(lambda record: told.append(record.agent_id))
    await world.agents.remove(agent.agent_id)
    assert told == [agent.agent_id]
    assert world.agents.known(agent.agent_id) is None
    with pytest.raises(AgentNotFound):
        world.agents.catalog(agent.agent_id)
    await created(world)
    assert len((await open_world(world.store)).agents.list("owner")) == 1


async def test_what_could_not_be_stored_has_not_happened():
    world = await open_world()
    agent = await created(world)
    await world.store.close()
    with pytest.raises(StoreUnavailable):
        await world.agents.sync(agent.agent_id, Registration("Demo", skills=(SEARCH,)))
    assert world.agents.get(agent.agent_id) is agent
    assert [tool["name"] for tool in listed(world, agent.agent_id)] == ["message"]


async def test_a_schema_that_a_newer_validator_refuses_keeps_no_agent_from_loading(caplog: pytest.LogCaptureFixture):
    world = await open_world()
    agent, other = await created(world), await world.agents.create("owner", "other")
    await world.agents.sync(agent.agent_id, Registration("Demo", skills=(SCREENSHOT,)))
    await world.agents.sync(other.agent_id, Registration("Demo", skills=(SEARCH,)))

    def stricter(schema: JsonObject) -> Validator:
        if not schema["properties"]:
            raise InvalidParam("a schema without properties is not taken any more")
        return compile_validator(schema)

    again = Agents(world.store, world.clock, stricter, Present)
    await again.load()
    assert (len(again.catalog(agent.agent_id)), len(again.catalog(other.agent_id))) == (0, 1)
    assert agent.agent_id in caplog.text
    await again.sync(agent.agent_id, Registration("Demo", skills=(SEARCH,)))
    assert len(again.catalog(agent.agent_id)) == 1


async def test_registrations_at_the_same_time_are_taken_one_after_the_other():
    world = await open_world()
    agent = await created(world)
    async with anyio.create_task_group() as tasks:
        for n in range(10):
            tasks.start_soon(world.agents.sync, agent.agent_id, Registration("Demo", skills=(Skill(f"tool_{n}"),)))
    (entry,) = world.agents.catalog(agent.agent_id)
    assert entry.tool.name == world.agents.get(agent.agent_id).skills[0].name
    assert listed(await open_world(world.store), agent.agent_id) == listed(world, agent.agent_id)


async def test_a_change_made_elsewhere_is_not_overwritten():
    world = await open_world()
    agent = await created(world)
    elsewhere = await open_world(world.store)
    await elsewhere.agents.patch(agent.agent_id, AgentPatch(visibility="public"))
    with pytest.raises(StoreConflict):
        await world.agents.patch(agent.agent_id, AgentPatch(mcp_enabled=False))


async def test_too_many_skills_and_too_large_a_registration_are_refused():
    world = await open_world()
    agent = await created(world)
    with pytest.raises(InvalidParam, match="1001"):
        await world.agents.sync(agent.agent_id, Registration("Demo", skills=tuple(Skill(f"t{n}") for n in range(1001))))
    with pytest.raises(PayloadTooLarge):
        await world.agents.sync(agent.agent_id, Registration("Demo", description="x" * 1_100_000))
