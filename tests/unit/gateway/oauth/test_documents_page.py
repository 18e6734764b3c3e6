"""A client that is known by a document, on the page and after it, on an internet of the test's own (gateway.md D23)."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from urllib.parse import urlencode

import httpx2
import msgspec
import pytest

from tests.unit.gateway.oauth.browser import BASE, CHALLENGE, LOOPBACK, VERIFIER, answer_in, token_in
from tests.unit.gateway.world import open_world
from toolwire.core.errors import ServiceUnavailable
from toolwire.gateway.browsers.browsers import Browsers
from toolwire.gateway.browsers.sessions import BrowserSessions
from toolwire.gateway.door import GatewayDoor
from toolwire.gateway.oauth.documents import Fetch
from toolwire.gateway.oauth.grants import MAX_GRANTS, Consent, Grants
from toolwire.gateway.oauth.places import Places
from toolwire.gateway.oauth.server import OAuth
from toolwire.gateway.rest import Reader
from toolwire.surfaces.limits import Guard
from toolwire.surfaces.rest import RestApp

pytestmark = pytest.mark.anyio

URL = "https://app.example/client.json"
DOCUMENT = {"client_id": URL, "client_name": "Known app", "redirect_uris": [LOOPBACK]}
PAGE = "/oauth/authorize?" + urlencode(
    {
        "response_type": "code",
        "client_id": URL,
        "redirect_uri": LOOPBACK,
        "code_challenge": CHALLENGE,
        "code_challenge_method": "S256",
        "resource": BASE,
    }
)


async def published(url: str, max_bytes: int) -> bytes:
    if url != URL:
        raise ServiceUnavailable("the answer is HTTP 404, not 200")
    return msgspec.json.encode(DOCUMENT)


@asynccontextmanager
async def open_page(fetch: Fetch | None = published) -> AsyncGenerator[tuple[httpx2.AsyncClient, str, Grants]]:
    """A browser in which an owner has signed in, an agent of that owner, and the grants."""
    world = await open_world()
    key = await world.keys.ensure_first_owner()
    agent_id = (await world.agents.create("owner", "picked")).agent_id
    grants = Grants(world.store, world.clock)
    places = Places(lambda: BASE)
    browsers = Browsers(BrowserSessions(world.store, world.clock, world.keys), places.base)
    oauth = OAuth(grants, world.auth, world.agents, b"s" * 32, world.clock, places, fetch, browsers)
    routes = oauth.routes(Reader(world.auth, world.agents))
    app = RestApp(routes, Guard(), GatewayDoor(world.auth, world.agents).challenge)
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url=BASE) as browser:
        await browser.post(PAGE, data={"action": "sign_in", "owner_key": key or ""}, headers={"origin": BASE})
        yield browser, agent_id, grants


async def press(browser: httpx2.AsyncClient, action: str, agent_id: str) -> httpx2.Response:
    token = token_in((await browser.get(PAGE)).text)
    return await browser.post(
        PAGE, data={"action": action, "agent": agent_id, "token": token}, headers={"origin": BASE}
    )


async def test_a_client_with_a_document_is_shown_by_its_host_and_gets_tokens():
    async with open_page() as (browser, agent_id, grants):
        page = await browser.get(PAGE)
        code = answer_in(await press(browser, "allow", agent_id))["code"]
        form = {"grant_type": "authorization_code", "client_id": URL, "code": code, "code_verifier": VERIFIER}
        tokens = (await browser.post("/oauth/token", data=form)).json()
        renewed = await browser.post(
            "/oauth/token",
            data={"grant_type": "refresh_token", "client_id": URL, "refresh_token": tokens["refresh_token"]},
        )
        (grant,) = grants.list("owner")
    assert "“Known app” asks to call your agents" in page.text
    assert "This app is known by its address: <b>app.example</b>" in page.text
    assert (grant.client_url, grant.client_name, grant.agents) == (URL, "Known app", (agent_id,))
    assert renewed.status_code == 200


async def test_where_no_document_can_be_fetched_clients_must_register():
    async with open_page(None) as (browser, _, _grants):
        page = await browser.get(PAGE)
        metadata = (await browser.get("/.well-known/oauth-authorization-server")).json()
    assert (page.status_code, "clients must register here" in page.text) == (400, True)
    assert metadata["client_id_metadata_document_supported"] is False


async def test_a_button_that_is_none_of_ours_asks_again():
    async with open_page() as (browser, agent_id, _):
        kept = await press(browser, "take_all", agent_id)
    assert (kept.status_code, 'value="allow"' in kept.text) == (200, True)


async def test_an_owner_with_too_many_grants_is_told_what_to_do():
    given = Consent("owner", URL, "App", LOOPBACK, "127.0.0.1:7777", CHALLENGE, ("a",))
    async with open_page() as (browser, agent_id, grants):
        for _ in range(MAX_GRANTS):
            await grants.exchange(grants.new_code(given), URL, None, VERIFIER, None)
        kept = await press(browser, "allow", agent_id)
    assert (kept.status_code, "toolwire grant revoke" in kept.text) == (200, True)


async def test_metadata_of_what_is_no_endpoint_is_not_there():
    async with open_page() as (browser, agent_id, _):
        paths = ["nothing", "a/b/mcp", f"agents/{agent_id}/mcp", f"{agent_id}/mcp", "agent_none/mcp"]
        answers = [await browser.get(f"/.well-known/oauth-protected-resource/{path}") for path in paths]
    assert [answer.status_code for answer in answers] == [404, 404, 200, 200, 200]
    assert answers[2].json()["resource"] == f"{BASE}/agents/{agent_id}/mcp"
