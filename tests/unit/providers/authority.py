"""An authorization server and the MCP server behind it, both in memory, which can be told to misbehave."""

import json
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import anyio
import httpx2

MCP = "https://mcp.test/mcp"
AUTH = "https://auth.test"


class Authority:
    """Answers what an OAuth client sends.

    Attributes:
        asked: method and URL without query of each request, in order.
        forms: what came to the token endpoint, with the header `authorization`.
        issued: the access tokens that are valid now.
        refresh: the refresh tokens that are valid now.
        links: what a person was shown.
        comes_back: changes the query with which the browser comes back.
        token_answer: answers the token endpoint in its place.
        needed_scope: without which a token does not do.
        slow: ends a request with the query `slow`; `waiting` tells that one has come.
    """

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.forms: list[dict[str, str]] = []
        self.links: list[str] = []
        self.issued: set[str] = set()
        self.refresh: set[str] = set()
        self.metadata: dict[str, Any] = {
            "issuer": AUTH,
            "authorization_endpoint": f"{AUTH}/authorize",
            "token_endpoint": f"{AUTH}/token",
            "registration_endpoint": f"{AUTH}/register",
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["client_secret_basic", "none"],
        }
        self.resource: dict[str, Any] = {"resource": MCP, "authorization_servers": [AUTH]}
        self.registration: dict[str, Any] = {"token_endpoint_auth_method": "none"}
        self.token_answer: Callable[[dict[str, str]], httpx2.Response | None] = lambda _form: None
        self.comes_back: Callable[[dict[str, str]], dict[str, str]] = lambda query: query
        self.needed_scope = ""
        self.expires_in: int | None = 3600
        self.slow = anyio.Event()
        self.waiting = anyio.Event()

    def transport(self) -> httpx2.MockTransport:
        """What to give a client."""
        return httpx2.MockTransport(self._answer)

    async def browse(self, link: str) -> None:
        """Be a person who says yes."""
        self.links.append(link)
        query = {name: values[0] for name, values in parse_qs(urlsplit(link).query).items()}
        back = self.comes_back({"code": "code-1", "state": query["state"]})
        async with httpx2.AsyncClient(timeout=5) as browser:
            await browser.get(f"{query['redirect_uri']}?{urlencode(back)}")

    def times(self, method: str, url: str) -> int:
        """How often that was asked."""
        return self.asked.count(f"{method} {url}")

    async def _answer(self, request: httpx2.Request) -> httpx2.Response:
        url = str(request.url.copy_with(query=None))
        self.asked.append(f"{request.method} {url}")
        match url:
            case "https://mcp.test/mcp":
                return await self._mcp(request)
            case "https://mcp.test/.well-known/oauth-protected-resource/mcp":
                return httpx2.Response(200, json=self.resource)
            case "https://auth.test/.well-known/oauth-authorization-server":
                return httpx2.Response(200, json=self.metadata)
            case "https://auth.test/register":
                asked = json.loads(request.content)
                return httpx2.Response(201, json={**asked, "client_id": "registered", **self.registration})
            case "https://auth.test/token":
                return self._token(request)
            case _:
                return httpx2.Response(404)

    async def _mcp(self, request: httpx2.Request) -> httpx2.Response:
        token = request.headers.get("authorization", "").removeprefix("Bearer ")
        if token not in self.issued:
            return httpx2.Response(401, headers={"www-authenticate": 'Bearer error="invalid_token"'})
        if self.needed_scope and self.needed_scope not in self.forms[-1].get("scope", self.links[-1]):
            challenge = f'Bearer error="insufficient_scope", scope="{self.needed_scope}"'
            return httpx2.Response(403, headers={"www-authenticate": challenge})
        if request.url.query == b"slow":
            self.waiting.set()
            await self.slow.wait()
        return httpx2.Response(200, text=token)

    def _token(self, request: httpx2.Request) -> httpx2.Response:
        form = {name: values[0] for name, values in parse_qs(request.content.decode()).items()}
        self.forms.append({**form, "authorization": request.headers.get("authorization", "")})
        made = self.token_answer(form)
        if made is not None:
            return made
        if form["grant_type"] == "refresh_token":
            if form["refresh_token"] not in self.refresh:
                return httpx2.Response(400, json={"error": "invalid_grant"})
            self.refresh.remove(form["refresh_token"])
        number = len(self.forms)
        self.issued.add(f"access-{number}")
        self.refresh.add(f"refresh-{number}")
        tokens: dict[str, Any] = {"access_token": f"access-{number}", "token_type": "Bearer"}
        if form["grant_type"] in ("authorization_code", "refresh_token"):
            tokens["refresh_token"] = f"refresh-{number}"
        if self.expires_in is not None:
            tokens["expires_in"] = self.expires_in
        return httpx2.Response(200, json=tokens)
