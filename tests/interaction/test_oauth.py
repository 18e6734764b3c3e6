"""What OAuth gives to a client of either revision; its faults one by one are told in tests/unit/gateway/oauth."""

from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.interaction.bench import NEW, OLD, body, headers
from tests.interaction.requirements import GATEWAY_2025, GATEWAY_2026, Cell, proves
from tests.unit.gateway.oauth.browser import BASE, LOOPBACK, Person, answer_in, open_person

on_the_gateway = pytest.mark.parametrize("cell", [GATEWAY_2025, GATEWAY_2026])


async def ask(
    person: Person, cell: Cell, agent_id: str, token: str = "", method: str = "tools/list", query: str = "", **more: Any
) -> httpx2.Response:
    era = OLD if cell is GATEWAY_2025 else NEW
    signed = {"authorization": f"Bearer {token}"} if token else {}
    params: Any = {"protocolVersion": era, "capabilities": {}, "clientInfo": {}} if method == "initialize" else None
    return await person.site.client.post(
        f"/{agent_id}/mcp{query}",
        content=body(method, params, 1, era),
        headers={**headers(era, method), **signed, **more},
    )


@on_the_gateway
@proves("oauth.challenge")
async def test_a_401_leads_to_metadata_on_its_endpoint(tmp_path: Path, cell: Cell):
    async with open_person(tmp_path) as person:
        agent_id = await person.agent("one")
        for token in ("", "oat_" + "0" * 64, "oac_x", "x"):
            refused = await ask(person, cell, agent_id, token)
            metadata = f"{BASE}/.well-known/oauth-protected-resource/{agent_id}/mcp"
            assert refused.status_code == 401
            assert refused.headers["www-authenticate"] == f'Bearer realm="MCP", resource_metadata="{metadata}"'


@on_the_gateway
@proves("oauth.metadata")
async def test_metadata_leads_to_the_server_and_says_what_it_does(tmp_path: Path, cell: Cell):
    async with open_person(tmp_path) as person:
        agent_id = await person.agent("one")
        challenge = (await ask(person, cell, agent_id)).headers["www-authenticate"]
        resource = (await person.site.client.get(challenge.split('"')[3])).json()
        server = (await person.site.client.get(f"{BASE}/.well-known/oauth-authorization-server")).json()
    assert resource["resource"] == f"{BASE}/{agent_id}/mcp"
    assert resource["authorization_servers"] == [server["issuer"]]
    assert server["code_challenge_methods_supported"] == ["S256"]
    assert server["authorization_response_iss_parameter_supported"] is True
    assert server["client_id_metadata_document_supported"] is True


@on_the_gateway
@proves("oauth.token-use")
async def test_a_token_goes_in_its_header_with_each_request(tmp_path: Path, cell: Cell):
    async with open_person(tmp_path) as person:
        agent_id = await person.agent("one")
        token = (await person.granted(agent_id))["access_token"]
        good = await ask(person, cell, agent_id, token)
        in_query = await ask(person, cell, agent_id, query=f"?access_token={token}")
        more: dict[str, str] = {}
        if cell is GATEWAY_2025:
            begun = await ask(person, cell, agent_id, token, "initialize")
            more = {"mcp-session-id": begun.headers["mcp-session-id"]}
        without = await ask(person, cell, agent_id, **more)
        (grant,) = await person.site.ask("GET", "/grants")
        await person.site.ask("DELETE", f"/grants/{grant['grant_id']}", status=204)
        revoked = await ask(person, cell, agent_id, token, **more)
    assert [answer.status_code for answer in (good, in_query, without, revoked)] == [200, 401, 401, 401]


@on_the_gateway
@proves("oauth.audience")
async def test_a_token_opens_what_it_was_given_for(tmp_path: Path, cell: Cell):
    async with open_person(tmp_path) as person:
        one, other = await person.agent("one"), await person.agent("other")
        resource = f"{BASE}/{one}/mcp"
        code = await person.code(one, other, resource=resource)
        token = (await person.exchange(code, resource=resource)).json()["access_token"]
        opened, closed = await ask(person, cell, one, token), await ask(person, cell, other, token)
        unknown = await person.browser.get(person.query(resource="https://other.example/mcp"))
    assert (opened.status_code, closed.status_code) == (200, 403)
    assert closed.json()["error"]["data"]["code"] == "forbidden"
    assert answer_in(unknown)["error"] == "invalid_target"


@on_the_gateway
@proves("oauth.code")
async def test_a_code_is_good_once_for_whoever_asked_for_it(tmp_path: Path, cell: Cell):
    async with open_person(tmp_path) as person:
        agent_id = await person.agent("one")
        wrong = await person.exchange(await person.code(agent_id), code_verifier="w" * 43)
        code = await person.code(agent_id)
        tokens = (await person.exchange(code)).json()
        before = await ask(person, cell, agent_id, tokens["access_token"])
        again = await person.exchange(code)
        after = await ask(person, cell, agent_id, tokens["access_token"])
        plain = await person.browser.get(person.query(code_challenge_method="plain"))
    assert (wrong.json()["error"], again.json()["error"]) == ("invalid_grant", "invalid_grant")
    assert (before.status_code, after.status_code) == (200, 401)
    assert answer_in(plain)["error"] == "invalid_request"


@proves("oauth.redirect")
async def test_a_browser_is_sent_to_registered_addresses_alone(tmp_path: Path):
    async with open_person(tmp_path) as person:
        agent_id = await person.agent("one")
        foreign = await person.browser.get(person.query(redirect_uri="https://evil.example/callback"))
        longer = await person.browser.get(person.query(redirect_uri=LOOPBACK + "/x"))
        port = person.query(redirect_uri="http://127.0.0.1:1234/callback")
        sent = await person.press(port, "allow", agent_id)
    for page in (foreign, longer):
        assert (page.status_code, "location" in page.headers) == (400, False)
    assert sent.headers["location"].startswith("http://127.0.0.1:1234/callback?")


@on_the_gateway
@proves("oauth.rotation")
async def test_a_spent_refresh_token_ends_the_grant(tmp_path: Path, cell: Cell):
    async with open_person(tmp_path) as person:
        agent_id = await person.agent("one")
        first = await person.granted(agent_id)
        second = (await person.refresh(first["refresh_token"])).json()
        before = await ask(person, cell, agent_id, second["access_token"])
        spent = await person.refresh(first["refresh_token"])
        after = await ask(person, cell, agent_id, second["access_token"])
    assert spent.json()["error"] == "invalid_grant"
    assert (before.status_code, after.status_code) == (200, 401)
