"""How a client of an MCP server gets a token, as it is written down; it asks nobody for one.

`remote_oauth` does what is said here; it needs the extra `mcp`, and this does not.
"""

from collections.abc import Awaitable, Callable
from typing import Literal, TypeAlias

from msgspec import Struct

from toolwire.core.errors import ServiceUnavailable

SIGN_IN_S = 300.0

Show: TypeAlias = Callable[[str], Awaitable[None]]
"""Shows a person the link with which the sign-in begins; may open it in a browser."""
GetAssertion: TypeAlias = Callable[[str, str], Awaitable[str]]
"""Gives a JWT for an authorization server (its issuer) and a resource (the MCP server's URL)."""


class SignInFailed(ServiceUnavailable):
    """There is no token: nobody has signed in, or the authorization server gives none; says what to do."""


class SignIn(Struct, frozen=True, kw_only=True):
    """A person signs in in a browser (the authorization code flow, with PKCE), and stays signed in while tokens last.

    Attributes:
        show: how the person gets the link; `None` where nobody can sign in, so that only tokens that are kept serve.
        client_id: of a client that was registered beforehand; otherwise we register one.
        client_secret: of that client, if it has one; with it the way to send it, `client_secret_method`.
        metadata_url: of a document that describes the client; it serves as the id where the server takes such.
        issuer: the only authorization server that may hear of that client; by default the one the MCP server names.
        scope: more scopes to ask for than the server says that it needs, separated by spaces.
        port: where the browser comes back to on 127.0.0.1; 0 takes a free one.
        wait_s: how long the person may take.
        instead: what to do where nobody can sign in.
    """

    show: Show | None = None
    client_id: str | None = None
    client_secret: str | None = None
    client_secret_method: Literal["client_secret_basic", "client_secret_post"] = "client_secret_basic"
    metadata_url: str | None = None
    issuer: str | None = None
    scope: str | None = None
    port: int = 0
    wait_s: float = SIGN_IN_S
    instead: str = "run `toolwire tools list URL` with its URL on this machine"

    def __repr__(self) -> str:
        return f"SignIn(client_id={self.client_id!r})"


class Credentials(Struct, frozen=True, kw_only=True):
    """A program signs in for itself, with a secret or with a private key (the client credentials grant).

    Attributes:
        client_id: of the client, registered beforehand.
        client_secret: its secret; or else
        private_key: its private key in PEM, with which it signs an assertion (`private_key_jwt`).
        algorithm: what the key signs with; by default what keys of its kind do (ES256, RS256, EdDSA, …).
        client_secret_method: how the secret is sent.
        issuer: the only authorization server that may hear of the secret; by default the one the MCP server names.
        scope: what to ask for; by default what the server says that it needs.
    """

    client_id: str
    client_secret: str | None = None
    private_key: str | None = None
    algorithm: str | None = None
    client_secret_method: Literal["client_secret_basic", "client_secret_post"] = "client_secret_basic"
    issuer: str | None = None
    scope: str | None = None

    def __repr__(self) -> str:
        return f"Credentials(client_id={self.client_id!r})"


class Assertion(Struct, frozen=True, kw_only=True):
    """A program signs in with a JWT that another authority has issued (the JWT bearer grant): a workload's identity.

    Attributes:
        client_id: of the client, registered beforehand.
        assertion: the JWT, or what gives one for an authorization server and a resource.
        client_secret: of the client, if it has one.
        client_secret_method: how the secret is sent.
        issuer, scope: as in `Credentials`.
    """

    client_id: str
    assertion: str | GetAssertion
    client_secret: str | None = None
    client_secret_method: Literal["client_secret_basic", "client_secret_post"] = "client_secret_basic"
    issuer: str | None = None
    scope: str | None = None

    def __repr__(self) -> str:
        return f"Assertion(client_id={self.client_id!r})"


class Enterprise(Struct, frozen=True, kw_only=True):
    """An enterprise's identity provider vouches for a person: its ID token is exchanged for an assertion there.

    Attributes:
        client_id, client_secret: of the client at the MCP server's authorization server.
        id_token: of the person, from the identity provider.
        idp_client_id: of the client at the identity provider.
        idp_token_endpoint: where it exchanges tokens.
        client_secret_method, issuer, scope: as in `Credentials`.
    """

    client_id: str
    client_secret: str
    id_token: str
    idp_client_id: str
    idp_token_endpoint: str
    client_secret_method: Literal["client_secret_basic", "client_secret_post"] = "client_secret_basic"
    issuer: str | None = None
    scope: str | None = None

    def __repr__(self) -> str:
        return f"Enterprise(client_id={self.client_id!r})"


Auth: TypeAlias = SignIn | Credentials | Assertion | Enterprise
