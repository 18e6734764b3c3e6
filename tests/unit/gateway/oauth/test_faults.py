"""What must not work, each through the public surface (gateway.md 48, D22, D23; RFC 9700)."""

from pathlib import Path

import pytest

from tests.unit.gateway.oauth.browser import BASE, CHALLENGE, LOOPBACK, VERIFIER, answer_in, open_person

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("verifier", ["w" * 43, CHALLENGE])
async def test_a_wrong_verifier_gets_nothing_and_spends_the_code(tmp_path: Path, verifier: str):
    async with open_person(tmp_path) as person:
        code = await person.code(await person.agent("picked"))
        wrong = await person.exchange(code, code_verifier=verifier)
        right = await person.exchange(code)
        grants = await person.site.ask("GET", "/grants")
    assert [(answer.status_code, answer.json()["error"]) for answer in (wrong, right)] == [(400, "invalid_grant")] * 2
    assert grants == []


@pytest.mark.parametrize(
    ("verifier", "error"),
    [("v" * 42, "invalid_grant"), ("v" * 129, "invalid_grant"), ("", "invalid_request"), ("ü" * 43, "invalid_grant")],
)
async def test_what_is_no_verifier_gets_nothing(tmp_path: Path, verifier: str, error: str):
    async with open_person(tmp_path) as person:
        wrong = await person.exchange(await person.code(await person.agent("picked")), code_verifier=verifier)
        grants = await person.site.ask("GET", "/grants")
    assert (wrong.status_code, wrong.json()["error"], grants) == (400, error, [])


async def test_a_code_that_is_used_twice_ends_what_it_gave(tmp_path: Path):
    async with open_person(tmp_path) as person:
        agent_id = await person.agent("picked")
        code = await person.code(agent_id)
        tokens = (await person.exchange(code)).json()
        assert (await person.list_tools(agent_id, tokens["access_token"])).status_code == 200
        again = await person.exchange(code)
        assert (again.status_code, again.json()["error"]) == (400, "invalid_grant")
        assert (await person.list_tools(agent_id, tokens["access_token"])).status_code == 401
        assert (await person.refresh(tokens["refresh_token"])).json()["error"] == "invalid_grant"


async def test_a_code_is_good_for_its_client_and_redirect_uri_alone(tmp_path: Path):
    async with open_person(tmp_path) as person:
        agent_id, mine = await person.agent("picked"), person.client_id
        await person.register(LOOPBACK, client_name="Another")
        other, person.client_id = person.client_id, mine
        by_other = await person.exchange(await person.code(agent_id), client_id=other)
        elsewhere = await person.exchange(await person.code(agent_id), redirect_uri=LOOPBACK + "/x")
        stolen = await person.refresh((await person.granted(agent_id))["refresh_token"], client_id=other)
    assert [answer.json()["error"] for answer in (by_other, elsewhere, stolen)] == ["invalid_grant"] * 3


async def test_a_code_ends_after_its_time(tmp_path: Path):
    async with open_person(tmp_path, oauth_code_ttl_s=1e-9) as person:
        late = await person.exchange(await person.code(await person.agent("picked")))
    assert (late.status_code, late.json()["error"]) == (400, "invalid_grant")


@pytest.mark.parametrize(
    "uri",
    [
        "https://evil.example/callback",
        LOOPBACK + "/",
        LOOPBACK + "?x=1",
        LOOPBACK + "#x",
        "http://127.0.0.1:7777/callback/../other",
        "http://127.0.0.1.evil.example:7777/callback",
        "http://localhost:7777/callback",
        "http://user@127.0.0.1:7777/callback",
        "http://127.0.0.1:7777@evil.example/callback",
        "https://127.0.0.1:7777/callback",
        "//evil.example/callback",
        "javascript:alert(1)",
        "http://127.0.0.1:99999/callback",
        "http://127.0.0.1:7777\\@evil.example/callback",
    ],
)
async def test_a_foreign_redirect_is_answered_on_our_own_page(tmp_path: Path, uri: str):
    async with open_person(tmp_path) as person:
        for query in (person.query(redirect_uri=uri), person.query(redirect_uri=uri, response_type="token")):
            shown = await person.browser.get(query)
            assert (shown.status_code, "location" in shown.headers) == (400, False)
            assert uri not in shown.text


async def test_on_loopback_any_port_will_do(tmp_path: Path):
    """RFC 8252, 7.3: a program takes whatever port is free."""
    async with open_person(tmp_path) as person:
        agent_id, uri = await person.agent("picked"), "http://127.0.0.1:50123/callback"
        sent = await person.press(person.query(redirect_uri=uri), "allow", agent_id)
        assert sent.headers["location"].startswith(uri + "?")
        other_port = await person.exchange(answer_in(sent)["code"])
        again = answer_in(await person.press(person.query(redirect_uri=uri), "allow", agent_id))["code"]
        same_port = await person.exchange(again, redirect_uri=uri)
    assert (other_port.status_code, same_port.status_code) == (400, 200)


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"code_challenge_method": None}, "invalid_request"),
        ({"code_challenge": None}, "invalid_request"),
        ({"code_challenge": "short"}, "invalid_request"),
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"response_type": None}, "invalid_request"),
        ({"response_mode": "fragment"}, "invalid_request"),
        ({"request_uri": "https://evil.example/r"}, "request_not_supported"),
        ({"scope": "root admin"}, "invalid_scope"),
        ({"resource": "https://other.example/mcp"}, "invalid_target"),
        ({"resource": BASE + "/agent_none/mcp"}, "invalid_target"),
        ({"resource": BASE + ".evil.example/x/mcp"}, "invalid_target"),
        ({"resource": BASE + "/x/y/mcp"}, "invalid_target"),
    ],
)
async def test_a_request_out_of_order_is_told_to_the_client(tmp_path: Path, changed: dict[str, str | None], error: str):
    """It leads back by itself to this machine alone: anybody can register a client (RFC 9700, 4.11.2)."""
    remote = "https://app.example/callback"
    async with open_person(tmp_path) as person:
        sent = await person.browser.get(person.query(**changed))
        await person.register(remote)
        shown = await person.browser.get(person.query(redirect_uri=remote, **changed))
    assert (sent.status_code, answer_in(sent)["error"]) == (303, error)
    assert (answer_in(sent)["state"], answer_in(sent)["iss"]) == ("s-1", BASE)
    assert (shown.status_code, "location" in shown.headers) == (400, False)
    assert f'href="{remote}?error={error}' in shown.text


async def test_parameters_that_stand_twice_are_refused(tmp_path: Path):
    async with open_person(tmp_path) as person:
        twice = person.query() + "&state=other"
        two_resources = person.query() + f"&resource={BASE}/x/mcp"
        two_redirects = person.query() + "&redirect_uri=https://evil.example"
        errors = [answer_in(await person.browser.get(query))["error"] for query in (twice, two_resources)]
        page = await person.browser.get(two_redirects)
    assert errors == ["invalid_request", "invalid_target"]
    assert page.status_code == 400


async def test_without_a_resource_a_token_is_for_the_picked_agents_of_this_gateway(tmp_path: Path):
    """Clients before 2025-06-18 name none; what a token opens is bound to agents either way."""
    async with open_person(tmp_path) as person:
        picked, other = await person.agent("picked"), await person.agent("other")
        code = await person.code(picked, resource=None)
        tokens = (await person.exchange(code, resource=None)).json()
        opened = await person.list_tools(picked, tokens["access_token"])
        closed = await person.list_tools(other, tokens["access_token"])
    assert (opened.status_code, closed.status_code) == (200, 403)


async def test_with_an_agent_as_resource_no_other_agent_can_be_picked(tmp_path: Path):
    async with open_person(tmp_path) as person:
        named, other = await person.agent("named"), await person.agent("other")
        resource = f"{BASE}/{named}/mcp"
        page = await person.browser.get(person.query(resource=resource))
        code = await person.code(named, other, resource=resource)
        widened = await person.exchange(code, resource=BASE)
        code = await person.code(named, other, resource=resource)
        tokens = (await person.exchange(code, resource=resource)).json()
        closed = await person.list_tools(other, tokens["access_token"])
        wider = await person.refresh(tokens["refresh_token"], resource=f"{BASE}/{other}/mcp")
        opened = await person.list_tools(named, tokens["access_token"])
    assert (named in page.text, other in page.text) == (True, False)
    assert (widened.json()["error"], wider.json()["error"]) == ("invalid_target", "invalid_target")
    assert (closed.status_code, opened.status_code) == (403, 200)


async def test_agents_of_other_owners_cannot_be_picked(tmp_path: Path):
    async with open_person(tmp_path) as person:
        gateway = person.site.host.gateway
        owner, _ = await gateway.keys.create_owner("other")
        foreign = (await gateway.agents.create(owner.owner_id, "foreign")).agent_id
        page = await person.browser.get(person.query())
        kept = await person.press(person.query(), "allow", foreign)
        named = await person.browser.get(person.query(resource=f"{BASE}/{foreign}/mcp"))
    assert foreign not in page.text
    assert (kept.status_code, "location" in kept.headers) == (200, False)
    assert answer_in(named)["error"] == "invalid_target"


@pytest.mark.parametrize(
    "form",
    [
        {"grant_type": "password", "username": "a", "password": "b"},
        {"grant_type": "client_credentials"},
        {"grant_type": "implicit"},
    ],
)
async def test_other_grants_are_not_given(tmp_path: Path, form: dict[str, str]):
    async with open_person(tmp_path) as person:
        answer = await person.token(**form)
    assert (answer.status_code, answer.json()["error"]) == (400, "unsupported_grant_type")


async def test_a_client_that_shows_a_secret_is_told_that_there_are_none(tmp_path: Path):
    async with open_person(tmp_path) as person:
        code = await person.code(await person.agent("picked"))
        by_body = await person.exchange(code, client_secret="s")
        headers = {"authorization": "Basic YTpi"}
        by_header = await person.site.client.post("/oauth/token", data={"client_id": "a"}, headers=headers)
        good = await person.exchange(code)
    for answer in (by_body, by_header):
        assert (answer.status_code, answer.json()["error"]) == (401, "invalid_client")
    assert good.status_code == 200


async def test_bodies_that_are_no_forms_are_refused(tmp_path: Path):
    async with open_person(tmp_path) as person:
        client = person.site.client
        as_json = await client.post("/oauth/token", json={"grant_type": "authorization_code"})
        odd = await client.post(
            "/oauth/token", content=b"grant_type=%ff", headers={"content-type": "application/x-www-form-urlencoded"}
        )
        twice = await client.post(
            "/oauth/token",
            content=b"client_id=a&client_id=b",
            headers={"content-type": "application/x-www-form-urlencoded"},
        )
        large = await client.post("/oauth/token", data={"code": "x" * 70_000})
        page = await person.browser.post(person.query(), json={"action": "allow"})
    assert [answer.json()["error"] for answer in (as_json, odd, twice)] == ["invalid_request"] * 3
    assert large.status_code == 413
    assert page.status_code == 400


async def test_a_verifier_of_another_method_is_not_taken_for_the_challenge(tmp_path: Path):
    """A challenge that is the verifier itself is `plain`, under whatever name it comes."""
    async with open_person(tmp_path) as person:
        code = await person.code(await person.agent("picked"), code_challenge=VERIFIER)
        answer = await person.exchange(code)
    assert answer.json()["error"] == "invalid_grant"


async def test_an_agent_that_is_gone_is_gone_for_tokens_too(tmp_path: Path):
    async with open_person(tmp_path) as person:
        agent_id = await person.agent("picked")
        token = (await person.granted(agent_id))["access_token"]
        assert (await person.list_tools(agent_id, token)).status_code == 200
        await person.site.ask("PATCH", f"/agents/{agent_id}", {"mcp_enabled": False})
        hidden = await person.list_tools(agent_id, token)
    assert hidden.status_code == 404


async def test_codes_and_tokens_of_another_gateway_are_worth_nothing_here(tmp_path: Path):
    """Mixed-up issuers: whatever a client carries from one to the other, it gets nothing for it."""
    async with open_person(tmp_path / "a") as other, open_person(tmp_path / "b") as person:
        theirs, ours = await other.agent("theirs"), await person.agent("ours")
        code, tokens = await other.code(theirs), await other.granted(theirs)
        by_code = await person.exchange(code, client_id=other.client_id)
        by_refresh = await person.refresh(tokens["refresh_token"], client_id=other.client_id)
        by_token = await person.list_tools(ours, tokens["access_token"])
        page = await person.browser.get(person.query(client_id=other.client_id))
        still = await other.list_tools(theirs, tokens["access_token"])
    assert [answer.json()["error"] for answer in (by_code, by_refresh)] == ["invalid_grant", "invalid_grant"]
    assert (by_token.status_code, page.status_code, still.status_code) == (401, 400, 200)


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "[::1]"])
async def test_one_issuer_is_named_throughout_whatever_this_machine_was_called(tmp_path: Path, host: str):
    """RFC 9207, RFC 8414 3.3: clients compare the names as text."""
    async with open_person(tmp_path, public_url="http://127.0.0.1") as person:
        agent_id = await person.agent("one")
        headers, base = {"host": host}, f"http://{host}"
        refused = await person.site.client.post(f"/{agent_id}/mcp", json={}, headers=headers)
        path = f"/.well-known/oauth-protected-resource/{agent_id}/mcp"
        resource = (await person.site.client.get(path, headers=headers)).json()
        server = (await person.site.client.get("/.well-known/oauth-authorization-server", headers=headers)).json()
        sent = await person.browser.get(person.query(resource="https://other.example"), headers=headers)
    assert f'"{base}{path}"' in refused.headers["www-authenticate"]
    assert (resource["resource"], resource["authorization_servers"]) == (f"{base}/{agent_id}/mcp", [base])
    assert server["issuer"] == answer_in(sent)["iss"] == base


async def test_requests_for_other_hosts_are_refused(tmp_path: Path):
    async with open_person(tmp_path) as person:
        paths = ("/.well-known/oauth-authorization-server", person.query(), "/mcp-login?link=x")
        answers = [await person.browser.get(path, headers={"host": "evil.example"}) for path in paths]
    assert [answer.status_code for answer in answers] == [421] * 3


async def test_a_token_is_held_to_the_pace_of_a_calling_key(tmp_path: Path):
    """gateway.md 1J: `rate_limit_per_minute` counts a grant's calls of one agent, whatever token they carry."""
    async with open_person(tmp_path, rate_limit_per_minute=2) as person:
        agent_id = await person.agent("picked")
        first = await person.granted(agent_id)
        statuses = [(await person.list_tools(agent_id, first["access_token"])).status_code for _ in range(2)]
        second = (await person.refresh(first["refresh_token"])).json()
        statuses.append((await person.list_tools(agent_id, second["access_token"])).status_code)
        other = await person.list_tools(agent_id, (await person.granted(agent_id))["access_token"])
    assert (statuses, other.status_code) == ([200, 200, 429], 200)
