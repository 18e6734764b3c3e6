"""Says who stands behind a request's keys; it does not decide what that opens (see `door` and the routes).

Every header that can carry a key is looked at. One key sent twice is one key; two that differ are refused, because
nobody could tell which of them the request is meant to run under (gateway.md 45, D22).
"""

from collections.abc import Callable, Sequence
from typing import Literal, Protocol

from msgspec import Struct

from toolwire.core.call import Caller
from toolwire.core.errors import Forbidden, Unauthorized
from toolwire.gateway.keys import FIRST_OWNER, KeyKind, KeyRecord, Keys
from toolwire.surfaces.held_open import HeldOpen

BEARER = b"bearer "
ACCESS_PREFIX = "oat_"
"""How OAuth's access tokens begin; the gateway makes them itself."""
TOKEN_SCOPES = ("mcp",)
"""What every access token may do; the agents it was given say where (gateway.md 46: there are no finer scopes)."""
_ACCESS = ACCESS_PREFIX.encode()

CallerKind = KeyKind | Literal["oat"]
"""What somebody calls with: a key, or an access token that an owner has let a client have."""


class Access(Struct, frozen=True):
    """What an access token opens. `key_id` is the grant's id: limits and records count by it, as they do by keys."""

    key_id: str
    owner: str
    agents: frozenset[str]
    expires_at: float


class AccessTokens(Protocol):
    """The access tokens that were given out."""

    def find(self, secret: bytes) -> Access | None:
        """What an access token opens now; `None` for one that is unknown, over or revoked."""
        ...

    def on_ended(self, listener: Callable[[str], None]) -> None:
        """Tell `listener` of the id of every grant that ends; it must not block or raise."""
        ...


class OwnersBrowsers(Protocol):
    """The sessions of browsers in which owners are signed in."""

    def find_key(self, secret: bytes) -> KeyRecord | None:
        """The session of a secret, as if it were a key of its owner's; `None` for one that does not hold."""
        ...

    def on_ended(self, listener: Callable[[KeyRecord], None]) -> None:
        """Tell `listener` of every session that ends."""
        ...


class Identity(Struct, frozen=True):
    """Who is asking.

    `principal` is the owner's id for `oag` and `oat`, the key's id for `bak` (gateway.md D1) and the agent's id for
    `agk`. `agent_id` is the one agent that a `bak` or `agk` is bound to, `agents` those that an `oat` was given.
    """

    kind: CallerKind
    principal: str
    owner: str
    key_id: str
    agent_id: str | None = None
    agents: frozenset[str] = frozenset()

    @property
    def first_owner(self) -> bool:
        """Whether this is the owner who may make other owners."""
        return self.kind == "oag" and self.owner == FIRST_OWNER

    def caller(self, surface: str) -> Caller:
        """This identity as the caller of a call that comes in by `surface`."""
        return Caller(self.principal, self.owner, surface, TOKEN_SCOPES if self.kind == "oat" else ())


class Auth:
    """Finds the identity of a request by its keys; all in memory.

    Access tokens of OAuth are found by `find_caller` alone: whatever does not ask for them is closed to them. Sessions
    of browsers are not found by it: MCP endpoints are for programs, which have keys.

    Args:
        keys: all keys.
        tokens: OAuth's access tokens; without it none is good.
        browsers: sessions of browsers; without it none is good.

    Attributes:
        held_open: what all of these hold open; it ends with them.
    """

    def __init__(self, keys: Keys, tokens: AccessTokens | None = None, browsers: OwnersBrowsers | None = None) -> None:
        self._keys = keys
        self._tokens = tokens
        self._browsers = browsers
        self.held_open = HeldOpen()
        self.on_revoked(lambda record: self.held_open.end(record.key_id))
        if tokens is not None:
            tokens.on_ended(self.held_open.end)

    def on_revoked(self, listener: Callable[[KeyRecord], None]) -> None:
        """Tell `listener` of every key that is revoked, and of every browser that is signed out, as of a key.

        See `Keys.on_revoked`.
        """
        self._keys.on_revoked(listener)
        if self._browsers is not None:
            self._browsers.on_ended(listener)

    def identify(self, credentials: Sequence[bytes]) -> Identity:
        """Who is asking.

        Args:
            credentials: the values of the headers that can carry a key, as `surfaces.limits.credentials_in` gives them.

        Raises:
            Unauthorized: no key, an unknown or revoked one, or two that differ.
        """
        return identity_of(self.find_key(credentials))

    def find_key(self, credentials: Sequence[bytes]) -> KeyRecord:
        """The active key that a request carries; a caller's cheaper first step, before `identity_of`.

        Raises:
            Unauthorized: as `identify`.
            Forbidden: it is an access token.
        """
        secret = secret_in(credentials)
        record = self._keys.find(secret)
        if record is None and self._browsers is not None:
            record = self._browsers.find_key(secret)
        if record is None:
            if self._access(secret) is not None:
                raise Forbidden("an access token opens the MCP endpoints of its agents alone; use a key")
            raise Unauthorized("the key is unknown or revoked; make one with `toolwire key create`")
        return record

    def find_caller(self, credentials: Sequence[bytes]) -> KeyRecord | Access:
        """The active key or access token of one who wants to call an agent.

        Raises:
            Unauthorized: as `identify`.
        """
        secret = secret_in(credentials)
        found = self._keys.find(secret) or self._access(secret)
        if found is None:
            raise Unauthorized("the key or token is unknown, over or revoked; make a key with `toolwire key create`")
        return found

    def is_active(self, key_id: str) -> bool:
        """Whether the key that somebody was let in by still opens anything."""
        record = self._keys.get(key_id)
        return record is not None and record.active

    def identify_as(self, credentials: Sequence[bytes], *kinds: KeyKind) -> Identity:
        """Who is asking, if by one of these kinds of key.

        Raises:
            Unauthorized: as `identify`.
            Forbidden: the key is good, and of another kind.
        """
        identity = self.identify(credentials)
        if identity.kind not in kinds:
            wanted = " or ".join(f"{kind}_" for kind in kinds)
            raise Forbidden(f"a key of kind {identity.kind}_ does not open this; use {wanted}")
        return identity

    def _access(self, secret: bytes) -> Access | None:
        return self._tokens.find(secret) if self._tokens is not None and secret.startswith(_ACCESS) else None


def secret_in(credentials: Sequence[bytes]) -> bytes:
    """The one key among the header values, without `Bearer`.

    Raises:
        Unauthorized: there is none, or there are two that differ.
    """
    found: bytes | None = None
    for value in credentials:
        secret = value.strip()
        if secret[:7].lower() == BEARER:
            secret = secret[7:].strip()
        if not secret:
            continue
        if found is not None and secret != found:
            raise Unauthorized("two different keys were sent; send one of them")
        found = secret
    if not found:
        raise Unauthorized("no key was sent; send X-Agent-API-Key: bak_… or Authorization: Bearer …")
    return found


def identity_of(record: KeyRecord | Access) -> Identity:
    """Who stands behind a key or an access token."""
    if isinstance(record, Access):
        return Identity("oat", record.owner, record.owner, record.key_id, None, record.agents)
    principal = record.key_id
    if record.kind == "oag":
        principal = record.owner
    elif record.kind == "agk" and record.agent_id is not None:
        principal = record.agent_id
    return Identity(record.kind, principal, record.owner, record.key_id, record.agent_id)
