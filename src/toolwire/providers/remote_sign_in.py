"""The ways to sign in at an MCP server: a person in a browser, or a program for itself; it renews and keeps nothing.

`auth_of` is the door: from what is written down (`remote_auth`) to what signs requests (`remote_oauth`).
"""

import time
import uuid
from typing import Any, cast
from urllib.parse import parse_qs, urlsplit

import httpx2
import jwt
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from mcp.client.auth.utils import union_scopes
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientInformationFull, OAuthClientMetadata
from pydantic import AnyUrl

from toolwire.providers.remote_auth import Assertion, Auth, Credentials, Enterprise, SignIn, SignInFailed
from toolwire.providers.remote_http import shown_url
from toolwire.providers.remote_oauth import OAuth, reason_of
from toolwire.providers.remote_oauth_store import TokenStore
from toolwire.providers.remote_redirect import Loopback

CLIENT_NAME = "Toolwire"
ASSERTION_S = 300
EXCHANGE_S = 30.0
JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"
TOKEN_EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"
ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
PLACEHOLDER = AnyUrl("http://127.0.0.1/callback")
"""Stands for the address of a browser's return until there is one."""


def auth_of(url: str, auth: Auth, store: TokenStore) -> OAuth:
    """What signs the requests to the MCP server at `url`.

    Args:
        url: the server's endpoint.
        auth: who signs in, and how.
        store: keeps what is got.
    """
    match auth:
        case SignIn():
            return PersonOAuth(url, auth, store)
        case _:
            return ProgramOAuth(url, auth, store)


class PersonOAuth(OAuth):
    """A person signs in in a browser."""

    def __init__(self, url: str, auth: SignIn, store: TokenStore) -> None:
        client = None
        if auth.client_id is not None:
            client = OAuthClientInformationFull(
                client_id=auth.client_id,
                client_secret=auth.client_secret,
                token_endpoint_auth_method=auth.client_secret_method if auth.client_secret else "none",
            )
        metadata = OAuthClientMetadata(redirect_uris=[PLACEHOLDER], client_name=CLIENT_NAME, scope=auth.scope)
        super().__init__(url, metadata, store, client, auth.issuer, auth.metadata_url)
        self._auth = auth
        self._loopback: Loopback | None = None
        self._link = ""
        self.context.redirect_handler = self._remember
        self.context.callback_handler = self._come_back

    async def begin(self) -> None:
        """See `OAuth.begin`: listen for the browser, where the registration says so."""
        if self._auth.show is None:
            self.wants_person = True
            shown = shown_url(self.context.server_url)
            raise SignInFailed(f"{shown} wants somebody to sign in; {self._auth.instead}")
        info = self.context.client_info
        before = [] if info is None else [str(uri) for uri in info.redirect_uris or ()]
        self._loopback = await self._listening(before)
        redirect = self._loopback.url
        self.context.client_metadata.redirect_uris = [AnyUrl(redirect)]
        if self._client is None and before and redirect not in before:
            self.context.client_info = None  # its port is taken, and not every server lets another one pass

    async def _listening(self, before: list[str]) -> Loopback:
        port = self._auth.port
        if port:
            try:
                return await Loopback.open(port)
            except OSError as error:
                raise SignInFailed(f"port {port} cannot be listened on for the sign-in: {error.strerror}") from None
        for uri in before:
            try:
                return await Loopback.open(urlsplit(uri).port or 0)
            except (OSError, ValueError):
                continue
        return await Loopback.open()

    async def end(self) -> None:
        """See `OAuth.end`: listen no more."""
        if self._loopback is not None:
            await self._loopback.aclose()
            self._loopback = None

    async def _perform_authorization_code_grant(self) -> tuple[str, str]:
        metadata = self.context.oauth_metadata
        if metadata is not None and "S256" not in (metadata.code_challenge_methods_supported or ()):
            raise SignInFailed(
                f"the authorization server {shown_url(str(metadata.issuer))} does not say that it takes PKCE with "
                "S256, without which a sign-in is not safe"
            )
        if metadata is not None:
            self.checked(str(metadata.authorization_endpoint))
        self.context.client_metadata.scope = union_scopes(self.context.client_metadata.scope, self._auth.scope)
        return await super()._perform_authorization_code_grant()

    async def _remember(self, link: str) -> None:
        self._link = link

    async def _come_back(self) -> AuthorizationCodeResult:
        loopback, show = self._loopback, self._auth.show
        if loopback is None or show is None:
            raise SignInFailed("nobody can sign in here")
        state = parse_qs(urlsplit(self._link).query)["state"][0]
        with self.clocks.stopped():
            found = await loopback.answer(state, lambda: show(self._link), self._auth.wait_s)
        if "error" in found:
            reason = ": ".join(found[key][:200] for key in ("error", "error_description") if found.get(key))
            raise SignInFailed(f"the authorization server has refused the sign-in: {reason}")
        return AuthorizationCodeResult(code=found.get("code", ""), state=found["state"], iss=found.get("iss"))


class ProgramOAuth(OAuth):
    """A program signs in for itself; nobody is asked."""

    def __init__(self, url: str, auth: Credentials | Assertion | Enterprise, store: TokenStore) -> None:
        method = auth.client_secret_method if auth.client_secret else "none"
        grant = JWT_BEARER
        if isinstance(auth, Credentials):
            grant = "client_credentials"
            if (auth.client_secret is None) == (auth.private_key is None):
                raise SignInFailed("Credentials take client_secret or private_key, one of them")
            method = "private_key_jwt" if auth.private_key else method
        client = OAuthClientInformationFull(
            client_id=auth.client_id,
            client_secret=auth.client_secret,
            grant_types=[grant],
            token_endpoint_auth_method=method,
        )
        metadata = OAuthClientMetadata(redirect_uris=None, grant_types=[grant], scope=auth.scope)
        super().__init__(url, metadata, store, client, auth.issuer)
        self._auth = auth
        self._grant = grant

    async def _perform_authorization(self) -> httpx2.Request:
        """The request for a token."""
        metadata = self.context.oauth_metadata
        if metadata is None:
            raise SignInFailed(
                f"no authorization server is known for {shown_url(self.context.server_url)}, and credentials are sent "
                "to none that is guessed"
            )
        form: dict[str, str] = {"grant_type": self._grant, "client_id": self._auth.client_id}
        form["resource"] = self.context.get_resource_url()
        scope = self._auth.scope or self.context.client_metadata.scope
        if scope:
            form["scope"] = scope
        issuer = str(metadata.issuer)
        match self._auth:
            case Credentials(private_key=str(key)) as auth:
                form |= {"client_assertion_type": ASSERTION_TYPE, "client_assertion": _signed(auth, key, issuer)}
            case Credentials():
                pass
            case Assertion(assertion=given):
                form["assertion"] = given if isinstance(given, str) else await given(issuer, form["resource"])
            case Enterprise() as enterprise:
                form["assertion"] = await _exchanged(enterprise, issuer, form["resource"])
        form, headers = self.context.prepare_token_auth(form, dict(FORM))
        if "Authorization" in headers:
            form.pop("client_id", None)
        return httpx2.Request("POST", self._get_token_endpoint(), data=form, headers=headers)


def _signed(auth: Credentials, pem: str, issuer: str) -> str:
    """Who we are, signed for one authorization server (RFC 7523)."""
    now = int(time.time())
    claims = {"iss": auth.client_id, "sub": auth.client_id, "aud": issuer, "iat": now, "exp": now + ASSERTION_S}
    try:
        key = load_pem_private_key(pem.encode(), None)
        algorithm = auth.algorithm or _algorithm(key)
        return jwt.encode({**claims, "jti": str(uuid.uuid4())}, cast("Any", key), algorithm=algorithm)
    except (ValueError, TypeError, NotImplementedError, jwt.PyJWTError) as error:
        raise SignInFailed(
            f"the private key cannot sign: {type(error).__name__}; it must be in PEM, without a password"
        ) from None


def _algorithm(key: object) -> str:
    """What keys of this kind sign with."""
    match key:
        case ec.EllipticCurvePrivateKey():
            return {256: "ES256", 384: "ES384", 521: "ES512"}[key.key_size]
        case rsa.RSAPrivateKey():
            return "RS256"
        case ed25519.Ed25519PrivateKey():
            return "EdDSA"
        case _:
            raise TypeError("no such key can sign")


async def _exchanged(auth: Enterprise, issuer: str, resource: str) -> str:
    """An assertion for one authorization server and one resource, for the ID token of a person (RFC 8693)."""
    form = {
        "grant_type": TOKEN_EXCHANGE,
        "requested_token_type": "urn:ietf:params:oauth:token-type:id-jag",
        "subject_token_type": "urn:ietf:params:oauth:token-type:id_token",
        "subject_token": auth.id_token,
        "client_id": auth.idp_client_id,
        "audience": issuer,
        "resource": resource,
    }
    shown = shown_url(auth.idp_token_endpoint)
    try:
        async with httpx2.AsyncClient(timeout=EXCHANGE_S) as http:
            response = await http.post(auth.idp_token_endpoint, data=form)
            if response.status_code != 200:
                raise SignInFailed(f"the identity provider gives no assertion: {await reason_of(response)}")
            return str(response.json()["access_token"])
    except httpx2.HTTPError as error:
        raise SignInFailed(f"the identity provider cannot be reached at {shown}: {type(error).__name__}") from None
    except (ValueError, KeyError, TypeError):
        raise SignInFailed(f"the answer of the identity provider at {shown} is no token") from None
