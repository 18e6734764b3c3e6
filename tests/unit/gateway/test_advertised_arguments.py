"""gateway.md 7, D11: an owner may have the list of tools show the gateway's own arguments."""

from typing import Any

from tests.unit.gateway.test_mcp_endpoint import LIST, SEARCH, Site, open_site
from toolwire.core.jsontypes import JsonObject
from toolwire.gateway.agent_record import AgentPatch
from toolwire.providers.schema import compile_validator
from toolwire.wire.link import Registration, Skill

SUMMARIZE = Skill(
    "summarize_pdf",
    "Summarize a PDF.",
    {"type": "object", "properties": {"attachments": {"type": "array", "items": {"type": "object"}}}},
)
ALL_OF_OURS: dict[str, Any] = {
    "idempotency_key": "user_7:q3_summary",
    "attachments": [{"file_id": "file_abc123", "filename": "q3.pdf", "content_type": "application/pdf"}],
}


async def listed(site: Site) -> dict[str, Any]:
    """The input schemas in `tools/list`, by tool."""
    tools = (await site.post(LIST)).json()["result"]["tools"]
    return {tool["name"]: tool["inputSchema"] for tool in tools}


async def advertise(site: Site, value: bool = True) -> None:
    await site.world.agents.patch(site.agent_id, AgentPatch(advertise_gateway_args=value))


def fits(schema: JsonObject, arguments: JsonObject) -> bool:
    return not compile_validator(schema).check(arguments)


async def test_a_client_that_checks_calls_itself_takes_our_arguments_by_the_list():
    """gateway.md D11: also where the tool's own schema takes nothing more."""
    async with open_site() as site:
        sent = {"query": "BeeOS", **ALL_OF_OURS}
        assert not fits((await listed(site))["web_search"], sent)
        await advertise(site)
        schema = (await listed(site))["web_search"]
        assert fits(schema, sent)
        assert fits(schema, {"query": "BeeOS"})
        for wrong in ({"more": 1}, {"idempotency_key": ""}, {"attachments": [{"file_id": "f", "url": "x"}]}):
            assert not fits(schema, {"query": "BeeOS", **wrong})
        assert list(schema["properties"]) == ["query", "max_results", "attachments", "idempotency_key"]


async def test_the_tools_own_schema_is_what_it_was_when_they_are_shown_no_more():
    async with open_site() as site:
        before = await listed(site)
        await advertise(site)
        assert await listed(site) != before
        await advertise(site, value=False)
        assert await listed(site) == before
        assert before["web_search"] == SEARCH.input_schema


async def test_an_argument_that_the_tool_declares_is_shown_as_the_tool_has_it_and_reaches_it():
    """gateway.md D11: consumed and forwarded."""
    async with open_site() as site:
        await site.world.agents.sync(site.agent_id, Registration("Demo", "1.1", skills=(SUMMARIZE,)))
        await advertise(site)
        shown = (await listed(site))["summarize_pdf"]["properties"]
        assert shown["attachments"] == {"type": "array", "items": {"type": "object"}}
        assert "idempotency_key" in shown
        taken = site.world.agents.take_extras(site.agent_id, "summarize_pdf", ALL_OF_OURS)
        assert taken.arguments == {"attachments": ALL_OF_OURS["attachments"]}
        assert len(taken.attachments) == 1


async def test_a_call_by_the_advertised_schema_is_keyed_and_the_tool_never_sees_the_key():
    """gateway.md 26, D9, D11."""
    async with open_site() as site:
        await advertise(site)
        sent = {"query": "q3", "idempotency_key": "user_7:q3_summary"}
        first = (await site.call("web_search", sent))["result"]
        again = (await site.call("web_search", sent))["result"]
        assert again["content"] == first["content"]
        assert again["_meta"]["toolwire/idempotency"]["replayed"] is True
        assert site.world.agents.take_extras(site.agent_id, "web_search", sent).arguments == {"query": "q3"}


async def test_readers_of_the_list_are_told_when_it_begins_to_show_them():
    """gateway.md 10; and what shows nothing else tells nobody."""
    async with open_site() as site:
        told: list[object] = []
        site.world.agents.on_changed(lambda agent_id, change: told.append(change))
        await advertise(site)
        assert told
        told.clear()
        await advertise(site)
        assert told == []


async def test_an_agent_without_tools_shows_them_with_its_message_tool():
    """gateway.md X1, D11."""
    async with open_site() as site:
        await site.world.agents.sync(site.agent_id, Registration("Demo", "2.0"))
        await advertise(site)
        assert list((await listed(site))["message"]["properties"]) == [
            "message",
            "context_id",
            "attachments",
            "idempotency_key",
        ]
