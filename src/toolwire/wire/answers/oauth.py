"""OAuth's own answers, which stand outside the envelope because that is what its clients read; they grant nothing.

Spec: RFC 6749, 5.1 and 5.2; RFC 7591, 3.2.1; RFC 8414, 2; RFC 9728, 2.
"""

from msgspec import Struct


class ServerMetadata(Struct, frozen=True, kw_only=True):
    """What the authorization server does."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    registration_endpoint: str
    revocation_endpoint: str
    scopes_supported: list[str]
    response_types_supported: list[str]
    response_modes_supported: list[str]
    grant_types_supported: list[str]
    token_endpoint_auth_methods_supported: list[str]
    revocation_endpoint_auth_methods_supported: list[str]
    code_challenge_methods_supported: list[str]
    authorization_response_iss_parameter_supported: bool
    client_id_metadata_document_supported: bool


class ResourceMetadata(Struct, frozen=True, kw_only=True):
    """What an MCP endpoint wants of its callers."""

    resource: str
    authorization_servers: list[str]
    scopes_supported: list[str]
    bearer_methods_supported: list[str]
    resource_name: str


class ClientMetadata(Struct, frozen=True):
    """A client as it registers itself; other members of RFC 7591 are read past."""

    redirect_uris: list[str]
    client_name: str | None = None


class RegisteredClient(Struct, frozen=True):
    """A client that has registered."""

    client_id: str
    redirect_uris: list[str]


class TokenForm(Struct, frozen=True, kw_only=True):
    """A request for tokens: by a code, or by a refresh token."""

    grant_type: str
    client_id: str
    code: str | None = None
    redirect_uri: str | None = None
    code_verifier: str | None = None
    refresh_token: str | None = None
    scope: str | None = None
    resource: str | None = None


class TokenAnswer(Struct, frozen=True, kw_only=True):
    """New tokens; `expires_in` is in seconds."""

    access_token: str
    token_type: str
    expires_in: int
    refresh_token: str
    scope: str


class RevocationForm(Struct, frozen=True, kw_only=True):
    """A token that is to open nothing any more."""

    token: str
    client_id: str


class OAuthRefusal(Struct, frozen=True):
    """A refusal in OAuth's words."""

    error: str
    error_description: str
