"""OAuth's endpoints for programs: registration, tokens, revocation, and the metadata that lead to them; it asks nobody.

Answers are OAuth's own JSON, not the gateway's envelope, because that is what clients read.
Spec: OAuth 2.1, 3.2; RFC 7009; RFC 7591; RFC 8414; RFC 9728; contract gateway.md 47, 48.
"""

import functools
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from toolwire.core.errors import InvalidParam, ParseError
from toolwire.core.jsontypes import JsonObject
from toolwire.core.ports import Clock
from toolwire.gateway.agents import Agents
from toolwire.gateway.oauth.clients import ClientIds
from toolwire.gateway.oauth.consent import AUTHORIZE_PATH
from toolwire.gateway.oauth.grants import SCOPE, Grants, Tokens
from toolwire.gateway.oauth.places import Places
from toolwire.gateway.oauth.refused import Refused
from toolwire.gateway.oauth.requests import Form, check_scope, read_form, read_verifier
from toolwire.gateway.places import agent_in
from toolwire.surfaces.described import FORM, JSON, Answers, Described, Handler, marked
from toolwire.surfaces.rest import read_json
from toolwire.wire.answers.oauth import (
    ClientMetadata,
    OAuthRefusal,
    RegisteredClient,
    ResourceMetadata,
    RevocationForm,
    ServerMetadata,
    TokenAnswer,
    TokenForm,
)

MAX_METADATA_BYTES = 16 * 1024
RESOURCE_PATH = "/.well-known/oauth-protected-resource"
SERVER_PATH = "/.well-known/oauth-authorization-server"

Handle = Callable[[Request], Awaitable[JsonObject | None]]


_REFUSED: Mapping[int, str] = {400: "refused", 401: "the client may not", 404: "there is no such endpoint"}


def _described(
    answers: Any, body: Any = None, body_media: str = FORM, *, status: int = 200
) -> Callable[[Handler], Handler]:
    media = {} if answers is None else {JSON: answers}
    others = {status: Answers("the answer", media)}
    others |= {code: Answers(words, {JSON: OAuthRefusal}) for code, words in _REFUSED.items()}
    errors = () if body is None else ("payload_too_large", "unsupported_media_type")
    return marked(Described(body=body, body_media=body_media, others=others, errors=errors, enveloped=False))


class TokenRoutes:
    """The endpoints.

    Args:
        places: where this gateway is.
        agents: all agents.
        ids: registers clients.
        grants: gives tokens.
        clock: wall time.
        documents: whether clients may be known by a document instead of registering.
    """

    def __init__(
        self, places: Places, agents: Agents, ids: ClientIds, grants: Grants, clock: Clock, documents: bool
    ) -> None:
        self._places = places
        self._agents = agents
        self._ids = ids
        self._grants = grants
        self._clock = clock
        self._documents = documents

    def routes(self) -> Sequence[Route]:
        """What to mount."""
        return (
            Route(SERVER_PATH, _told(self.server), methods=["GET"]),
            Route(RESOURCE_PATH, _told(self.resource), methods=["GET"]),
            Route(RESOURCE_PATH + "/{path:path}", _told(self.resource), methods=["GET"]),
            Route("/oauth/register", _told(self.register, 201), methods=["POST"]),
            Route("/oauth/token", _told(self.token), methods=["POST"]),
            Route("/oauth/revoke", _told(self.revoke), methods=["POST"]),
        )

    @_described(ServerMetadata)
    async def server(self, request: Request) -> JsonObject:
        """What this authorization server does (RFC 8414)."""
        base = self._base(request)
        return {
            "issuer": base,
            "authorization_endpoint": base + AUTHORIZE_PATH,
            "token_endpoint": f"{base}/oauth/token",
            "registration_endpoint": f"{base}/oauth/register",
            "revocation_endpoint": f"{base}/oauth/revoke",
            "scopes_supported": [SCOPE, "offline_access"],
            "response_types_supported": ["code"],
            "response_modes_supported": ["query"],
            "grant_types_supported": ["authorization_code", "refresh_token"],
            "token_endpoint_auth_methods_supported": ["none"],
            "revocation_endpoint_auth_methods_supported": ["none"],
            "code_challenge_methods_supported": ["S256"],
            "authorization_response_iss_parameter_supported": True,
            "client_id_metadata_document_supported": self._documents,
        }

    @_described(ResourceMetadata)
    async def resource(self, request: Request) -> JsonObject:
        """What an agent's MCP endpoint, or the gateway as a whole, wants of its callers (RFC 9728).

        It says the same of every agent, whether or not there is one: nobody learns here what there is.
        """
        base, path = self._base(request), str(request.path_params.get("path", ""))
        if path and agent_in(f"/{path}") is None:
            raise Refused("invalid_target", "there is no MCP endpoint of that form", 404)
        return {
            "resource": f"{base}/{path}" if path else base,
            "authorization_servers": [base],
            "scopes_supported": [SCOPE],
            "bearer_methods_supported": ["header"],
            "resource_name": "Toolwire",
        }

    @_described(RegisteredClient, ClientMetadata, JSON, status=201)
    async def register(self, request: Request) -> JsonObject:
        """Register a client (RFC 7591); nothing is kept of it."""
        try:
            metadata = await read_json(request, JsonObject, MAX_METADATA_BYTES)
        except (ParseError, InvalidParam) as error:
            raise Refused("invalid_client_metadata", error.told) from None
        return self._ids.register(metadata, self._clock.now())

    @_described(TokenAnswer, TokenForm)
    async def token(self, request: Request) -> JsonObject:
        """Tokens for a code or a refresh token (OAuth 2.1, 3.2)."""
        form = await self._form(request)
        client_id = form.need("client_id")
        target = self._places.target(form["resource"], self._base(request)) if form.get("resource") else None
        grant_type = form.need("grant_type")
        if grant_type == "authorization_code":
            code, uri = form.need("code"), form.get("redirect_uri") or None
            tokens = await self._grants.exchange(code, client_id, uri, read_verifier(form), target)
        elif grant_type == "refresh_token":
            check_scope(form.get("scope"))
            tokens = await self._grants.refresh(form.need("refresh_token"), client_id, target)
        else:
            raise Refused("unsupported_grant_type", "grant_type is authorization_code or refresh_token")
        return _shown(tokens)

    @_described(None, RevocationForm)
    async def revoke(self, request: Request) -> None:
        """End what a token stands for (RFC 7009)."""
        form = await self._form(request)
        await self._grants.revoke_token(form.need("token"), form.need("client_id"))

    async def _form(self, request: Request) -> Form:
        form = await read_form(request)
        form.check_once()
        if "authorization" in request.headers or "client_secret" in form or "client_assertion" in form:
            raise Refused("invalid_client", "clients are public here; send client_id alone", 401)
        return form

    def _base(self, request: Request) -> str:
        return self._places.base(request.headers.get("host", "").encode("latin-1"), request.url.scheme)


def _told(handle: Handle, status: int = 200) -> Callable[[Request], Awaitable[Response]]:
    """`handle` with its answer, or its refusal, as OAuth's JSON."""

    @functools.wraps(handle)
    async def told(request: Request) -> Response:
        try:
            answer = await handle(request)
        except Refused as error:
            body = {"error": error.error, "error_description": error.description}
            challenge = {"www-authenticate": 'Basic realm="OAuth"'} if error.status == 401 else {}
            return Response(msgspec.json.encode(body), error.status, challenge, "application/json")
        return Response(b"" if answer is None else msgspec.json.encode(answer), status, None, "application/json")

    return told


def _shown(tokens: Tokens) -> JsonObject:
    return {
        "access_token": tokens.access,
        "token_type": "Bearer",
        "expires_in": tokens.expires_in_s,
        "refresh_token": tokens.refresh,
        "scope": SCOPE,
    }
