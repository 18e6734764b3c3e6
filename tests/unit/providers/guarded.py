"""The official MCP server behind a token, with the authorization server that gives it, over HTTP in this process."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route

from tests.unit.providers.official import make_server
from tests.unit.providers.remote_rig import serving


class Guarded:
    """The official server behind a token, and the authorization server that gives it, at one address."""

    def __init__(self) -> None:
        self.url = ""
        self.grants: list[str] = []
        self.token = "secret-9"
        """The one that is valid, and is given."""
        self.renews = True
        """Whether a refresh token is taken."""
        self._mcp = make_server().streamable_http_app(stateless_http=True)
        self.app = Starlette(
            routes=[
                Route("/.well-known/oauth-protected-resource/mcp", self._resource),
                Route("/.well-known/oauth-authorization-server", self._server),
                Route("/register", self._register, methods=["POST"]),
                Route("/token", self._token, methods=["POST"]),
                Mount("/", self._guarded),
            ],
            lifespan=self._lifespan,
        )

    @asynccontextmanager
    async def _lifespan(self, _app: Starlette) -> AsyncGenerator[None]:
        async with self._mcp.router.lifespan_context(self._mcp):
            yield

    async def _resource(self, _request: Request) -> Response:
        return JSONResponse({"resource": f"{self.url}/mcp", "authorization_servers": [self.url]})

    async def _server(self, _request: Request) -> Response:
        return JSONResponse(
            {
                "issuer": self.url,
                "authorization_endpoint": f"{self.url}/authorize",
                "registration_endpoint": f"{self.url}/register",
                "code_challenge_methods_supported": ["S256"],
                "token_endpoint": f"{self.url}/token",
            }
        )

    async def _register(self, request: Request) -> Response:
        return JSONResponse({**await request.json(), "client_id": "c", "token_endpoint_auth_method": "none"}, 201)

    async def _token(self, request: Request) -> Response:
        form = parse_qs((await request.body()).decode())
        self.grants.append(form["grant_type"][0])
        if form["grant_type"] == ["refresh_token"] and not self.renews:
            return JSONResponse({"error": "invalid_grant"}, 400)
        given = {"access_token": self.token, "refresh_token": "refresh-9", "token_type": "Bearer", "expires_in": 3600}
        return JSONResponse(given)

    async def _guarded(self, scope: Any, receive: Any, send: Any) -> None:
        if (b"authorization", f"Bearer {self.token}".encode()) in scope["headers"]:
            await self._mcp(scope, receive, send)
        else:
            await Response(status_code=401)(scope, receive, send)


@asynccontextmanager
async def guarded() -> AsyncGenerator[Guarded]:
    """One that is served."""
    made = Guarded()
    async with serving(made.app, "on") as url:
        made.url = url
        yield made


async def come_back(link: str) -> None:
    """Be the browser of a person who says yes."""
    query = {name: values[0] for name, values in parse_qs(urlsplit(link).query).items()}
    async with httpx2.AsyncClient() as browser:
        await browser.get(query["redirect_uri"], params={"code": "1", "state": query["state"]})
