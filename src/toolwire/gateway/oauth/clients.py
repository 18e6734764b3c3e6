"""The clients that ask for access: what they say of themselves, and the ids they get; it keeps none of them.

A registered client's id holds all that it said, with a MAC of ours. So a flood of registrations fills nothing, and an
id is good for as long as the folder's secret is (ADR 0023). All clients are public ones: nobody has a secret.
Spec: RFC 7591; contract gateway.md 48.
"""

import hmac
import os
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Any

import msgspec
from msgspec import Struct

from toolwire.core.jsontypes import JsonObject
from toolwire.gateway.oauth.redirects import check_redirect_uris, shown_host
from toolwire.gateway.oauth.refused import Refused

MAX_NAME_LEN = 80
MAX_URIS_LEN = 2048
"""Characters of all redirect URIs together: they travel in every authorization request."""
_PURPOSE = b"oauth-client-1"
_PREFIX = "mcp_"
_MAC_BYTES = 16


class Client(Struct, frozen=True):
    """A client. `document` says that `client_id` is the URL of the document that says all this of it."""

    client_id: str
    name: str
    redirect_uris: tuple[str, ...]
    document: bool = False


class _Kept(Struct, frozen=True, array_like=True):
    name: str
    redirect_uris: tuple[str, ...]
    issued_at: int
    nonce: bytes


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(_Kept).decode


class ClientIds:
    """Makes clients' ids and reads them again, with a secret that outlives a restart."""

    def __init__(self, secret: bytes) -> None:
        self._key = hmac.digest(secret, _PURPOSE, "sha256")

    def register(self, metadata: JsonObject, now: float) -> JsonObject:
        """The answer to a registration (RFC 7591, 3.2.1): what holds, which may differ from what was asked.

        Raises:
            Refused: `invalid_redirect_uri` or `invalid_client_metadata`.
        """
        client = read_metadata(metadata, "")
        kept = _encode(_Kept(client.name, client.redirect_uris, int(now), os.urandom(8)))
        mac = hmac.digest(self._key, kept, "sha256")[:_MAC_BYTES]
        return {
            "client_id": _PREFIX + urlsafe_b64encode(mac + kept).rstrip(b"=").decode(),
            "client_id_issued_at": int(now),
            "client_name": client.name,
            "redirect_uris": list(client.redirect_uris),
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "token_endpoint_auth_method": "none",
        }

    def read(self, client_id: str) -> Client:
        """The client with an id of ours.

        Raises:
            Refused: `invalid_client`: it is not one.
        """
        text = client_id.removeprefix(_PREFIX)
        try:
            raw = urlsafe_b64decode(text.encode("ascii") + b"=" * (-len(text) % 4))
        except ValueError:
            raise _unknown() from None
        mac, kept = raw[:_MAC_BYTES], raw[_MAC_BYTES:]
        if not hmac.compare_digest(mac, hmac.digest(self._key, kept, "sha256")[:_MAC_BYTES]):
            raise _unknown()
        if _PREFIX + urlsafe_b64encode(raw).rstrip(b"=").decode() != client_id:
            raise _unknown()  # base64 with stray characters would be the same client under another name
        client = _decode(kept)
        return Client(client_id, client.name, client.redirect_uris)


def read_metadata(metadata: JsonObject, client_id: str, *, document: bool = False) -> Client:
    """A client as it describes itself; what is not needed is not looked at.

    Raises:
        Refused: `invalid_redirect_uri`, or `invalid_client_metadata`: it wants something that is not done here.
    """
    uris = check_redirect_uris(metadata.get("redirect_uris"))
    if sum(map(len, uris)) > MAX_URIS_LEN:
        raise Refused("invalid_redirect_uri", f"all redirect URIs together have up to {MAX_URIS_LEN} characters")
    for name, needed in (("grant_types", "authorization_code"), ("response_types", "code")):
        wanted: Any = metadata.get(name)
        if wanted is not None and not (isinstance(wanted, list) and needed in wanted):
            raise Refused("invalid_client_metadata", f"{name} must have {needed}")
    name = metadata.get("client_name")
    return Client(client_id, shown_name(name) or shown_host(uris[0]), uris, document)


def shown_name(name: object) -> str:
    """A name as people are shown it: on one line, cut, without what would turn or hide the text around it."""
    if not isinstance(name, str):
        return ""
    words = "".join(char if char.isprintable() else " " for char in name[: 4 * MAX_NAME_LEN]).split()
    text = " ".join(words)
    return text if len(text) <= MAX_NAME_LEN else text[: MAX_NAME_LEN - 1] + "…"


def _unknown() -> Refused:
    return Refused("invalid_client", "the client is unknown here; register it anew", 401)
