"""Reads what clients and browsers send to OAuth's endpoints; it decides nothing.

Spec: OAuth 2.1, 3 (a parameter may stand once), 4.1.1; RFC 7636, 4; RFC 8707, 2.
"""

import re
from collections.abc import Mapping
from urllib.parse import parse_qsl

from msgspec import Struct
from starlette.requests import Request

from toolwire.gateway.oauth.grants import SCOPE
from toolwire.gateway.oauth.refused import Refused
from toolwire.surfaces.limits import map_headers, read_body

MAX_FORM_BYTES = 64 * 1024
MAX_FIELDS = 1000
MAX_STATE_LEN = 2048
KNOWN_SCOPES = frozenset((SCOPE, "offline_access"))
"""`offline_access` asks for a refresh token, which everybody gets."""

_CHALLENGE = re.compile(r"[A-Za-z0-9_-]{43}")
_VERIFIER = re.compile(r"[A-Za-z0-9._~-]{43,128}")


class Form(Mapping[str, str]):
    """Parameters of a query or a form: one value each, but for `all`."""

    def __init__(self, pairs: list[tuple[str, str]]) -> None:
        self._pairs = pairs
        self._first = dict(reversed(pairs))

    def __getitem__(self, name: str) -> str:
        return self._first[name]

    def __iter__(self):
        return iter(self._first)

    def __len__(self) -> int:
        return len(self._first)

    def all(self, name: str) -> list[str]:
        """All values of a parameter that may stand several times."""
        return [value for known, value in self._pairs if known == name]

    def check_once(self) -> None:
        """Refuse parameters that stand twice (OAuth 2.1, 3.1 and 3.2.2).

        Raises:
            Refused: `invalid_request`, or `invalid_target` for two resources.
        """
        if len(self._pairs) == len(self._first):
            return
        if len(self.all("resource")) > 1:
            raise Refused("invalid_target", "resource stands more than once; name one MCP endpoint")
        raise Refused("invalid_request", "a parameter stands more than once")

    def need(self, name: str) -> str:
        """A parameter that must be there.

        Raises:
            Refused: `invalid_request`: it is missing or empty.
        """
        value = self._first.get(name)
        if not value:
            raise Refused("invalid_request", f"{name} is missing")
        return value


class Authorization(Struct, frozen=True):
    """What a client asks an owner for, after its client and redirect URI were found good."""

    challenge: str
    state: str | None
    resource: str | None


def read_query(request: Request) -> Form:
    """The parameters of a query.

    Raises:
        Refused: `invalid_request`: it cannot be read.
    """
    return _parsed(request.scope["query_string"])


async def read_form(request: Request) -> Form:
    """The parameters of a form's body.

    Raises:
        Refused: `invalid_request`: it is no form.
        PayloadTooLarge: it is larger than `MAX_FORM_BYTES`.
    """
    headers = map_headers(request.scope["headers"])
    media_type = headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
    if media_type != b"application/x-www-form-urlencoded":
        raise Refused("invalid_request", "send application/x-www-form-urlencoded")
    return _parsed(await read_body(request.receive, headers, MAX_FORM_BYTES))


def read_authorization(query: Form) -> Authorization:
    """The rest of an authorization request.

    Raises:
        Refused: as RFC 6749, 4.1.2.1 has it.
    """
    query.check_once()
    if len(query.get("state", "")) > MAX_STATE_LEN:
        raise Refused("invalid_request", f"state has up to {MAX_STATE_LEN} characters")
    if query.need("response_type") != "code":
        raise Refused("unsupported_response_type", "response_type must be code")
    if query.get("response_mode", "query") != "query":
        raise Refused("invalid_request", "response_mode must be query")
    if "request" in query or "request_uri" in query:
        raise Refused("request_not_supported", "send plain parameters")
    challenge = query.need("code_challenge")
    if query.get("code_challenge_method") != "S256":
        raise Refused("invalid_request", "code_challenge_method must be S256")
    if not _CHALLENGE.fullmatch(challenge):
        raise Refused("invalid_request", "code_challenge must be 43 characters of base64url")
    check_scope(query.get("scope"))
    return Authorization(challenge, query.get("state"), query.get("resource") or None)


def check_scope(scope: str | None) -> None:
    """Refuse a scope of which nothing is known; of others the unknown part is left out (RFC 6749, 3.3).

    Raises:
        Refused: `invalid_scope`.
    """
    if scope and not KNOWN_SCOPES & set(scope.split(" ")):
        raise Refused("invalid_scope", f"the scope here is {SCOPE}")


def read_verifier(form: Form) -> str:
    """The code verifier (RFC 7636, 4.1).

    Raises:
        Refused: `invalid_request`, or `invalid_grant` for one that no challenge can have been made of.
    """
    verifier = form.need("code_verifier")
    if not _VERIFIER.fullmatch(verifier):
        raise Refused("invalid_grant", "code_verifier has 43 to 128 unreserved characters")
    return verifier


def _parsed(raw: bytes) -> Form:
    try:
        return Form(
            parse_qsl(
                raw.decode("ascii"),
                keep_blank_values=True,
                encoding="utf-8",
                errors="strict",
                max_num_fields=MAX_FIELDS,
            )
        )
    except ValueError:
        raise Refused("invalid_request", "the parameters cannot be read") from None
