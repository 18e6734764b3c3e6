"""A client and a person's browser before a whole host without a socket; it asserts only that the way goes on."""

import re
from base64 import urlsafe_b64encode
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from hashlib import sha256
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx2

from tests.unit.canvas.site import Site, open_site
from toolwire.wire.link import Registration, Skill

BASE = "http://localhost"
LOOPBACK = "http://127.0.0.1:7777/callback"
VERIFIER = "v" * 43
CHALLENGE = urlsafe_b64encode(sha256(VERIFIER.encode()).digest()).rstrip(b"=").decode()

LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}


class Person:
    """An owner with a browser that keeps cookies, and a client's program beside it."""

    def __init__(self, site: Site, browser: httpx2.AsyncClient) -> None:
        self.site = site
        self.browser = browser
        self.client_id = ""

    async def agent(self, name: str) -> str:
        """A new agent that offers one tool."""
        agents = self.site.host.gateway.agents
        record = await agents.create("owner", name)
        await agents.sync(record.agent_id, Registration(name, "1.0", skills=(Skill("look", "Look it up."),)))
        return record.agent_id

    async def register(self, *redirect_uris: str, **metadata: Any) -> httpx2.Response:
        body = {"client_name": "Desk app", "redirect_uris": list(redirect_uris or (LOOPBACK,)), **metadata}
        response = await self.site.client.post("/oauth/register", json=body)
        if response.status_code == 201:
            self.client_id = response.json()["client_id"]
        return response

    def query(self, **changed: str | None) -> str:
        """An authorization request in order, but for what is `changed`; what is `None` is left out."""
        parameters: dict[str, str | None] = {
            "response_type": "code",
            "client_id": self.client_id,
            "redirect_uri": LOOPBACK,
            "code_challenge": CHALLENGE,
            "code_challenge_method": "S256",
            "state": "s-1",
            "scope": "mcp",
            "resource": BASE,
            **changed,
        }
        return "/oauth/authorize?" + urlencode({name: value for name, value in parameters.items() if value is not None})

    async def sign_in(self, path: str = "/oauth/authorize?x=1") -> httpx2.Response:
        form = {"action": "sign_in", "owner_key": self.site.owner_key}
        return await self.browser.post(path, data=form, headers={"origin": BASE})

    async def press(self, path: str, action: str, *agents: str, **changed: Any) -> httpx2.Response:
        """Open the page, pick agents, and press a button."""
        shown = await self.browser.get(path)
        assert shown.status_code == 200, shown.text
        form = {"action": action, "token": token_in(shown.text), "agent": list(agents), **changed}
        return await self.browser.post(path, data=form, headers={"origin": BASE})

    async def code(self, *agents: str, **changed: str | None) -> str:
        """A code, by the page."""
        sent = await self.press(self.query(**changed), "allow", *agents)
        assert sent.status_code == 303, sent.text
        return answer_in(sent)["code"]

    async def token(self, **changed: str | None) -> httpx2.Response:
        """Ask the token endpoint."""
        form: dict[str, str | None] = {"client_id": self.client_id, "resource": BASE, **changed}
        data = {name: value for name, value in form.items() if value is not None}
        return await self.site.client.post("/oauth/token", data=data)

    async def exchange(self, code: str, **changed: str | None) -> httpx2.Response:
        fields = {"redirect_uri": LOOPBACK, "code_verifier": VERIFIER, **changed}
        return await self.token(grant_type="authorization_code", code=code, **fields)

    async def refresh(self, refresh_token: str, **changed: str | None) -> httpx2.Response:
        return await self.token(grant_type="refresh_token", refresh_token=refresh_token, **changed)

    async def granted(self, *agents: str) -> dict[str, Any]:
        """The whole way; what the token endpoint gave."""
        response = await self.exchange(await self.code(*agents))
        assert response.status_code == 200, response.text
        return response.json()

    async def list_tools(self, agent_id: str, token: str) -> httpx2.Response:
        return await self.site.client.post(f"/{agent_id}/mcp", json=LIST, headers={"authorization": f"Bearer {token}"})


def token_in(page: str) -> str:
    found = re.search(r'name="token" value="([0-9a-f]+)"', page)
    assert found is not None, page
    return unescape(found[1])


def answer_in(response: httpx2.Response) -> dict[str, str]:
    """The parameters with which a browser is sent to the client."""
    return {name: values[0] for name, values in parse_qs(urlsplit(response.headers["location"]).query).items()}


@asynccontextmanager
async def open_person(folder: Path, **settings: Any) -> AsyncGenerator[Person]:
    """A host on `folder`, a registered client, and an owner who has signed in."""
    async with open_site(folder, **settings) as site:
        transport = httpx2.ASGITransport(site.host.app)
        async with httpx2.AsyncClient(transport=transport, base_url=BASE) as browser:
            person = Person(site, browser)
            await person.register()
            assert (await person.sign_in()).status_code == 303
            yield person
