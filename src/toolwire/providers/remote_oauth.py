"""Signs requests to an MCP server with OAuth 2.1, on top of the official client's provider; who signs in, others say.

The official provider finds the authorization server, registers, checks issuers, and asks for and renews tokens. Here is
what it leaves open: requests do not wait for each other, what is kept includes when a token ends and where it can be
renewed, a refused token is renewed before anybody is asked to sign in again, and no message repeats what a server said.
"""

import logging
import math
import re
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any
from urllib.parse import urlsplit

import anyio
import httpx2
import pydantic
from mcp.client.auth import OAuthClientProvider, OAuthFlowError, OAuthRegistrationError, OAuthTokenError
from mcp.client.auth.utils import extract_field_from_www_auth, issuers_match
from mcp.shared.auth import (
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthMetadata,
    OAuthToken,
    ProtectedResourceMetadata,
)

from toolwire.core.jsontypes import JsonObject
from toolwire.providers.remote_auth import SignInFailed
from toolwire.providers.remote_dpop import Proofs
from toolwire.providers.remote_http import shown_url
from toolwire.providers.remote_oauth_store import Kept, TokenStore, ends_at
from toolwire.providers.remote_person import Clocks

ROUNDS = 5
"""How often a request is sent at most: as it is, with a renewed token, with a new one, and after those of others."""
FAILED_S = 5.0
"""How long a failed sign-in stands: a client that is refused tries once more in the older protocol, at once."""
HARMLESS = "error", "error_description"
MAX_WORDS = 300
REGISTRATION_STATUS = re.compile(r"Registration failed: (\d{3})")
LOOPBACK = "localhost", "127.0.0.1", "::1"


def _is_news(record: logging.LogRecord) -> bool:
    """Not what the official provider logs, with its traceback, of what it also raises."""
    return record.msg != "OAuth flow error"


logging.getLogger("mcp.client.auth.oauth2").addFilter(_is_news)


class OAuth(OAuthClientProvider):
    """What all ways of signing in have in common.

    Args:
        url: the MCP server's.
        metadata: what a registration says of us.
        store: keeps tokens and registrations.
        client: a client that was registered beforehand.
        issuer: the only authorization server to talk to.
        metadata_url: serves as the client's id where the server takes such.

    Attributes:
        clocks: time-outs that stand still while a person signs in.
        wants_person: whether the last request failed because nobody can sign in here.
    """

    def __init__(
        self,
        url: str,
        metadata: OAuthClientMetadata,
        store: TokenStore,
        client: OAuthClientInformationFull | None = None,
        issuer: str | None = None,
        metadata_url: str | None = None,
    ) -> None:
        self.clocks = Clocks()
        self.wants_person = False
        self._store = store
        self._kept = Kept(url)
        self._client = client
        self._issuer = issuer
        self._proofs = Proofs()
        self._failure: str | None = None
        self._failed_until = -math.inf
        super().__init__(url, metadata, _Storage(self), client_metadata_url=metadata_url)

    async def async_auth_flow(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        """Sign `request`, and do what its refusal asks for.

        Raises:
            SignInFailed: there is no token to be had.
        """
        if self._failure is not None and anyio.current_time() < self._failed_until:
            raise SignInFailed(self._failure)
        flow = super().async_auth_flow(request)
        try:
            outgoing = await anext(flow)
            while True:
                for_token = outgoing is not request and self._asks_for_token(outgoing)
                self._proofs.sign(outgoing, for_token)
                response = yield outgoing
                if await self._proofs.wants_nonce(outgoing, response):
                    self._proofs.sign(outgoing, for_token)
                    response = yield outgoing
                outgoing = await flow.asend(await self._proofs.read(response, for_token))
        except StopAsyncIteration:
            self._failure, self.wants_person = None, False
        except OAuthRegistrationError as error:
            if self.context.oauth_metadata is not None:
                raise self._failed(_unregistered(error)) from None
            yield request  # the server wants no OAuth but a key, and its own words say so best
        except (OAuthFlowError, OAuthTokenError) as error:
            raise self._failed(_told(error)) from None
        except pydantic.ValidationError as error:
            raise self._failed(f"the authorization server's answer cannot be read: {_first(error)}") from None
        except SignInFailed as error:
            raise self._failed(error.message) from None
        finally:
            await flow.aclose()

    @property
    def has_tokens(self) -> bool:
        """Whether there is a token to send."""
        return self.context.current_tokens is not None

    def _asks_for_token(self, request: httpx2.Request) -> bool:
        metadata = self.context.oauth_metadata
        return metadata is not None and request.method == "POST" and str(request.url) == str(metadata.token_endpoint)

    def _failed(self, message: str) -> SignInFailed:
        """There is no token; so it is for whatever else is sent now, which must not ask a person once more."""
        self._failure = message
        self._failed_until = anyio.current_time() + FAILED_S
        return SignInFailed(message)

    async def begin(self) -> None:
        """A token is about to be asked for anew.

        Raises:
            SignInFailed: that cannot be done here.
        """

    async def end(self) -> None:
        """A token was asked for."""

    async def _auth_flow(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        refusal: httpx2.Response | None = None
        renewable, asked, sent = True, False, None
        for _ in range(ROUNDS):
            # The official flow holds a lock while it runs. It is left before the request goes out, and taken up again
            # with its refusal, so that a slow answer holds up nobody.
            request.headers.pop("authorization", None)
            if refusal is not None or self._is_over():
                await self._adopt()
            async with aclosing(super()._auth_flow(request)) as flow:
                try:
                    outgoing = await anext(flow)
                    while outgoing is not request or (refusal is not None and _token(request) == sent):
                        if outgoing is request and refusal is not None:
                            await self.begin()
                            answer, refusal, asked = refusal, None, True
                        else:
                            answer = yield outgoing
                        outgoing = await flow.asend(answer)
                finally:
                    if asked:
                        await self.end()
            sent = _token(request)
            refusal = yield request
            if asked or not _refused(refusal):
                return
            if refusal.status_code == 401 and renewable and sent is not None:
                renewable = False
                self._expire(sent)

    def _is_over(self) -> bool:
        return self.context.current_tokens is not None and not self.context.is_token_valid()

    def _expire(self, sent: str) -> None:
        """The token that was sent does not serve: let the next flow renew it, unless another has."""
        tokens = self.context.current_tokens
        if tokens is not None and sent == f"Bearer {tokens.access_token}" and self.context.can_refresh_token():
            self.context.token_expiry_time = 1.0

    async def _adopt(self) -> None:
        """Take up what another process has got since: it has renewed the token, or a person has signed in there."""
        async with self.context.lock:
            if (await self._store.load()).tokens != self._kept.tokens:
                await self._initialize()

    async def _initialize(self) -> None:
        kept = self._kept = await self._store.load()
        context = self.context
        context.client_info = self._client or _read(OAuthClientInformationFull, kept.client)
        known = kept.client or {}
        if self._client is not None and known.get("client_id", self._client.client_id) != self._client.client_id:
            kept = self._kept = Kept(kept.url, kept.principal)  # of a client that is not ours any more
        context.current_tokens = _read(OAuthToken, kept.tokens)
        context.token_expiry_time = kept.expires_at
        context.oauth_metadata = _read(OAuthMetadata, kept.server)
        context.protected_resource_metadata = _read(ProtectedResourceMetadata, kept.resource)
        if context.protected_resource_metadata is not None:
            servers = [str(server) for server in context.protected_resource_metadata.authorization_servers]
            context.auth_server_url = self._select_authorization_server(servers)
        self._proofs.load(kept.proof_key)
        if kept.proof_key is not None and not self._proofs.bound:
            context.clear_tokens()  # nobody can prove any more that they are ours
        if context.current_tokens is not None and context.oauth_metadata is None:
            context.current_tokens.refresh_token = None  # nobody knows where it belongs
        self._initialized = True

    def _select_authorization_server(self, advertised: list[str]) -> str:
        if self._issuer is None:
            return super()._select_authorization_server(advertised)
        for server in advertised:
            if issuers_match(server, self._issuer):
                return server
        raise SignInFailed(
            f"{shown_url(self.context.server_url)} names the authorization server {shown_url(advertised[0])!r}, and "
            f"the client is registered with {self._issuer!r}; if the server has moved, register a client there"
        )

    def _expected_issuer(self) -> str:
        found = super()._expected_issuer()
        if self._issuer is not None and not issuers_match(found, self._issuer):
            raise SignInFailed(
                f"{shown_url(self.context.server_url)} names no authorization server, and the client is registered "
                f"with {self._issuer!r}"
            )
        return found

    def _get_token_endpoint(self) -> str:
        return self.checked(super()._get_token_endpoint())

    def checked(self, url: str) -> str:
        """An endpoint of the authorization server, if what is sent there can be read by nobody on the way.

        Raises:
            SignInFailed: it is neither https, nor on this machine, nor where an MCP server is that is not https either.
        """
        place, server = urlsplit(url), urlsplit(self.context.server_url)
        as_open_as_the_server = server.scheme == "http" and place.hostname == server.hostname
        if place.scheme == "https" or place.hostname in LOOPBACK or as_open_as_the_server:
            return url
        raise SignInFailed(f"the authorization server's {shown_url(url)} is not https, so nobody signs in there")

    async def _handle_token_response(self, response: httpx2.Response) -> None:
        if response.status_code not in (200, 201):
            raise SignInFailed(f"the authorization server gives no token: {await reason_of(response)}")
        try:
            await super()._handle_token_response(response)
        except OAuthTokenError:  # its text may have a token in it
            raise SignInFailed("the authorization server's answer is no token") from None

    async def _handle_refresh_response(self, response: httpx2.Response) -> bool:
        if response.status_code >= 500 or response.status_code == 429:
            raise SignInFailed(f"the token cannot be renewed now: {await reason_of(response)}; try again later")
        if response.status_code == 200 and _read_json(OAuthToken, await response.aread()) is None:
            self.context.clear_tokens()
            return False
        return await super()._handle_refresh_response(response)

    async def keep(self, tokens: OAuthToken | None = None, client: OAuthClientInformationFull | None = None) -> None:
        """Save what is new, and what a later process needs to know with it."""
        if tokens is not None:
            self._kept.tokens = _plain(tokens)
            self._kept.expires_at = ends_at(self._kept.tokens)
            self._kept.proof_key = self._proofs.pem
        held = client or self.context.client_info
        self._kept.client = None if held is None else _plain(held)
        if self._client is not None:
            self._kept.client = {"client_id": self._client.client_id}
        if self.context.oauth_metadata is not None:
            self._kept.server = _plain(self.context.oauth_metadata)
        if self.context.protected_resource_metadata is not None:
            self._kept.resource = _plain(self.context.protected_resource_metadata)
        await self._store.save(self._kept)


class _Storage:
    """The official provider's storage."""

    def __init__(self, auth: OAuth) -> None:
        self._auth = auth

    async def get_tokens(self) -> OAuthToken | None:
        """Not asked: `OAuth._initialize` loads."""
        return None

    async def set_tokens(self, tokens: OAuthToken) -> None:
        """Keep tokens."""
        await self._auth.keep(tokens=tokens)

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        """Not asked: `OAuth._initialize` loads."""
        return None

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        """Keep a registration."""
        await self._auth.keep(client=client_info)


def _refused(response: httpx2.Response) -> bool:
    """Whether the official flow does anything about it."""
    if response.status_code == 401:
        return True
    return response.status_code == 403 and extract_field_from_www_auth(response, "error") == "insufficient_scope"


def _token(request: httpx2.Request) -> str | None:
    return request.headers.get("authorization")


def _plain(model: pydantic.BaseModel) -> JsonObject:
    return model.model_dump(mode="json", exclude_none=True)


def _read(model: type[Any], kept: JsonObject | None) -> Any:
    if kept is None:
        return None
    try:
        return model.model_validate(kept)
    except pydantic.ValidationError:  # of another version of the client
        return None


def _read_json(model: type[Any], body: bytes) -> Any:
    try:
        return model.model_validate_json(body)
    except pydantic.ValidationError:
        return None


async def reason_of(response: httpx2.Response) -> str:
    """What an authorization server says of an error, as far as the standard has words for it."""
    await response.aread()
    try:
        said: Any = response.json()
        words = ": ".join(str(said[key]) for key in HARMLESS if said.get(key))
    except (ValueError, AttributeError):
        words = ""
    status = f"HTTP {response.status_code} of {shown_url(str(response.request.url))}"
    return f"{status}, {words[:MAX_WORDS]}" if words else status


def _unregistered(error: Exception) -> str:
    words = str(error)
    if found := REGISTRATION_STATUS.match(words):  # and then the whole answer, which may have a secret in it
        words = f"HTTP {found[1]}"
    elif words.startswith("Invalid registration response"):
        words = "the answer is no registration"
    return f"no client could be registered for the sign-in, so it needs a client id: {words[:MAX_WORDS]}"


def _told(error: Exception) -> str:
    words = str(error)[:MAX_WORDS]
    return words[:1].lower() + words[1:]


def _first(error: pydantic.ValidationError) -> str:
    """The first thing wrong, without the value."""
    details: Any = error.errors(include_url=False, include_input=False, include_context=False)[0]
    return f"{'.'.join(map(str, details['loc']))}: {details['msg']}"[:MAX_WORDS]
