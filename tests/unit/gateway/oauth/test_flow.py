"""The whole way of a client: registering, the page, a code, tokens, calls, and the end of all that.

gateway.md 45-48, D1, D22, D23; RFC 7009, 7591, 7636, 8252, 8414, 8707, 9207, 9728.
"""

from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.unit.gateway.oauth.browser import BASE, LIST, LOOPBACK, answer_in, open_person
from toolwire.gateway.auth import identity_of

pytestmark = pytest.mark.anyio


async def test_a_client_gets_the_agents_that_the_owner_picks_and_no_other(tmp_path: Path):
    async with open_person(tmp_path) as person:
        picked, other = await person.agent("picked"), await person.agent("other")
        tokens = await person.granted(picked)
        opened = await person.list_tools(picked, tokens["access_token"])
        closed = await person.list_tools(other, tokens["access_token"])
    assert [tool["name"] for tool in opened.json()["result"]["tools"]] == ["look"]
    assert closed.status_code == 403
    assert (tokens["token_type"], tokens["expires_in"], tokens["scope"]) == ("Bearer", 3600, "mcp")


async def test_the_browser_is_sent_to_the_client_with_state_and_issuer(tmp_path: Path):
    """gateway.md D23: `iss` in the redirect (RFC 9207)."""
    async with open_person(tmp_path) as person:
        agent_id = await person.agent("picked")
        sent = await person.press(person.query(state="a&b=ü"), "allow", agent_id)
    assert sent.headers["location"].startswith(LOOPBACK + "?")
    assert {k: v for k, v in answer_in(sent).items() if k != "code"} == {"state": "a&b=ü", "iss": BASE}


async def test_the_metadata_leads_from_the_endpoint_to_the_page(tmp_path: Path):
    async with open_person(tmp_path) as person:
        agent_id = await person.agent("picked")
        refused = await person.site.client.post(f"/{agent_id}/mcp", json={})
        address = refused.headers["www-authenticate"].split('resource_metadata="')[1].rstrip('"')
        resource = (await person.site.client.get(urlsplit(address).path)).json()
        server = (await person.site.client.get("/.well-known/oauth-authorization-server")).json()
    assert refused.status_code == 401
    assert resource["resource"] == f"{BASE}/{agent_id}/mcp"
    assert resource["authorization_servers"] == [server["issuer"]] == [BASE]
    assert server["code_challenge_methods_supported"] == ["S256"]
    assert server["authorization_response_iss_parameter_supported"] is True
    assert server["registration_endpoint"] == f"{BASE}/oauth/register"


async def test_a_refresh_token_is_good_once_and_its_second_use_ends_the_grant(tmp_path: Path):
    async with open_person(tmp_path) as person:
        agent_id = await person.agent("picked")
        first = await person.granted(agent_id)
        second = (await person.refresh(first["refresh_token"])).json()
        working = await person.list_tools(agent_id, second["access_token"])
        reused = await person.refresh(first["refresh_token"])
        after = await person.list_tools(agent_id, second["access_token"])
        too_late = await person.refresh(second["refresh_token"])
    assert working.status_code == 200
    assert second["refresh_token"] != first["refresh_token"]
    assert (reused.status_code, reused.json()["error"]) == (400, "invalid_grant")
    assert after.status_code == 401
    assert too_late.json()["error"] == "invalid_grant"


async def test_grants_are_listed_and_end_at_once_when_revoked(tmp_path: Path):
    async with open_person(tmp_path) as person:
        agent_id = await person.agent("picked")
        token = (await person.granted(agent_id))["access_token"]
        assert (await person.list_tools(agent_id, token)).status_code == 200
        (listed,) = await person.site.ask("GET", "/grants")
        await person.site.ask("DELETE", f"/grants/{listed['grant_id']}", status=204)
        after = await person.list_tools(agent_id, token)
        empty = await person.site.ask("GET", "/grants")
        again = await person.site.ask("DELETE", f"/grants/{listed['grant_id']}", status=404)
    assert (listed["client_name"], listed["redirect_host"], listed["agents"]) == (
        "Desk app",
        "127.0.0.1:7777",
        [agent_id],
    )
    assert "token" not in str(listed)
    assert (after.status_code, empty, again["code"]) == (401, [], "key_not_found")


async def test_a_client_gives_its_grant_back(tmp_path: Path):
    """RFC 7009: by either token; an unknown one is fine, and another client's is left alone."""
    async with open_person(tmp_path) as person:
        agent_id = await person.agent("picked")
        tokens, others = await person.granted(agent_id), await person.granted(agent_id)
        mine = person.client_id
        await person.register(LOOPBACK, client_name="Another")

        async def revoke(token: str, client_id: str) -> int:
            form = {"token": token, "client_id": client_id, "token_type_hint": "access_token"}
            return (await person.site.client.post("/oauth/revoke", data=form)).status_code

        assert await revoke(tokens["refresh_token"], person.client_id) == 200
        assert (await person.list_tools(agent_id, tokens["access_token"])).status_code == 200
        assert await revoke(tokens["refresh_token"], mine) == 200
        assert (await person.list_tools(agent_id, tokens["access_token"])).status_code == 401
        assert await revoke(others["access_token"], mine) == 200
        assert (await person.list_tools(agent_id, others["access_token"])).status_code == 401
        assert await revoke("oat_nothing", mine) == 200


async def test_grants_and_clients_outlive_a_restart(tmp_path: Path):
    async with open_person(tmp_path) as person:
        agent_id = await person.agent("picked")
        first, owner_key, client_id = await person.granted(agent_id), person.site.owner_key, person.client_id
        second = (await person.refresh(first["refresh_token"])).json()
    async with open_person(tmp_path, owner_key=owner_key) as person:
        person.client_id = client_id
        working = await person.list_tools(agent_id, second["access_token"])
        page = await person.browser.get(person.query())
        reused = await person.refresh(first["refresh_token"])
        after = await person.list_tools(agent_id, second["access_token"])
    assert working.status_code == page.status_code == 200
    assert (reused.json()["error"], after.status_code) == ("invalid_grant", 401)


async def test_a_token_ends_by_itself_and_a_refresh_goes_on(tmp_path: Path):
    async with open_person(tmp_path, oauth_token_ttl_s=1e-9) as person:
        agent_id = await person.agent("picked")
        tokens = await person.granted(agent_id)
        over = await person.list_tools(agent_id, tokens["access_token"])
        renewed = await person.refresh(tokens["refresh_token"])
    assert (over.status_code, renewed.status_code) == (401, 200)


async def test_a_call_by_a_token_runs_as_its_owner(tmp_path: Path):
    """gateway.md D1: an owner's key and its tokens share idempotency keys and tasks; a bak_ does not."""
    async with open_person(tmp_path) as person:
        agent_id = await person.agent("picked")
        token = (await person.granted(agent_id))["access_token"]
        auth = person.site.host.gateway.auth
        by_token = auth.find_caller([f"Bearer {token}".encode()])
        by_key = auth.find_caller([person.site.owner_key.encode()])
    callers = [identity_of(found).caller("gateway") for found in (by_token, by_key)]
    assert [(caller.principal, caller.owner) for caller in callers] == [("owner", "owner")] * 2
    assert [caller.scopes for caller in callers] == [("mcp",), ()]


async def test_a_token_opens_nothing_but_the_endpoints_of_its_agents(tmp_path: Path):
    async with open_person(tmp_path) as person:
        agent_id = await person.agent("picked")
        token = (await person.granted(agent_id))["access_token"]
        headers = {"authorization": f"Bearer {token}"}
        paths = ("/api/v1/keys", "/api/v1/grants", "/api/v1/agents", f"/api/v1/agents/{agent_id}", "/api/v1/workspaces")
        statuses = [(await person.site.client.get(path, headers=headers)).status_code for path in paths]
        card = await person.site.client.post("/api/v1/keys", headers=headers, json={"kind": "oag"})
    assert statuses == [403] * len(paths)
    assert card.status_code == 403


async def test_a_token_beside_another_credential_is_refused(tmp_path: Path):
    """gateway.md 45, D22: two that differ are refused; one sent twice is one."""
    async with open_person(tmp_path) as person:
        agent_id = await person.agent("picked")
        token = (await person.granted(agent_id))["access_token"]
        _, bak = await person.site.host.gateway.keys.create("bak", "owner", agent_id)

        async def status(**headers: str) -> int:
            sent = {name.replace("_", "-"): value for name, value in headers.items()}
            return (await person.site.client.post(f"/{agent_id}/mcp", json=LIST, headers=sent)).status_code

        assert await status(authorization=f"Bearer {token}", x_agent_api_key=bak) == 401
        assert await status(authorization=f"Bearer {token}", x_agent_api_key=token) == 200
        assert await status(authorization=f"Bearer {bak}") == 200


async def test_a_client_of_oauth_2_1_names_no_redirect_uri_for_its_code(tmp_path: Path):
    async with open_person(tmp_path) as person:
        answer = await person.exchange(await person.code(await person.agent("picked")), redirect_uri=None)
    assert answer.status_code == 200


async def test_a_web_client_of_a_named_origin_may_ask_by_itself(tmp_path: Path):
    """contract mcp.md S30: pages that `allowed_origins` names, and no others."""
    page = {"origin": "https://client.example"}
    async with open_person(tmp_path, allowed_origins=("https://client.example",)) as person:
        client = person.site.client
        asking = {**page, "access-control-request-method": "POST", "access-control-request-headers": "content-type"}
        preflight = await client.options("/oauth/token", headers=asking)
        metadata = await client.get("/.well-known/oauth-authorization-server", headers=page)
        registered = await client.post("/oauth/register", json={"redirect_uris": [LOOPBACK]}, headers=page)
        other = await client.get("/.well-known/oauth-authorization-server", headers={"origin": "https://evil.example"})
    for answer in (preflight, metadata, registered):
        assert answer.headers["access-control-allow-origin"] == page["origin"]
    assert [answer.status_code for answer in (preflight, metadata, registered, other)] == [204, 200, 201, 403]
