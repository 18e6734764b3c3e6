"""What owners have granted to clients, and the codes and tokens that come of it; it asks nobody and shows nothing.

A code is good once, a refresh token too: whoever comes with a spent one is not told from a thief, and all that came of
it ends (OAuth 2.1, 4.1.3 and 4.3.1). Of codes and tokens only SHA-256 is kept. Codes live in memory, grants in the
store and in memory, so that a call's token is found without the store.
Spec: gateway.md 48, D23; RFC 7009; RFC 8707.
"""

import logging
import secrets
from base64 import urlsafe_b64encode
from collections.abc import Callable, Sequence
from hashlib import sha256
from hmac import compare_digest

import anyio
import msgspec
from msgspec import Struct
from msgspec.structs import replace

from toolwire.core.errors import Conflict, KeyNotFound
from toolwire.core.ids import new_id
from toolwire.core.ports import Clock, Del, Op, Put, Store
from toolwire.gateway.auth import ACCESS_PREFIX, TOKEN_SCOPES, Access
from toolwire.gateway.keys import scan_all
from toolwire.gateway.oauth.refused import Refused

logger = logging.getLogger("toolwire.oauth")

REFRESH_PREFIX = "ort_"
CODE_PREFIX = "oac_"
(SCOPE,) = TOKEN_SCOPES
MAX_GRANTS = 500
"""Grants of one owner."""
MAX_CODES = 1000
LOOK_EVERY_S = 3600.0
MAX_LIVE_ACCESS = 8
"""Access tokens of one grant that are good at once; with one more the oldest goes."""


class Lifetimes(Struct, frozen=True):
    """Seconds. A refresh token's begins anew with each that takes its place."""

    code_s: float = 120.0
    access_s: float = 3600.0
    refresh_s: float = 30 * 86_400.0


class Consent(Struct, frozen=True):
    """What an owner said yes to. `target` is the agent that the client named as its resource, "" for the gateway."""

    owner: str
    client_id: str
    client_name: str
    redirect_uri: str
    redirect_host: str
    challenge: str
    agents: tuple[str, ...]
    target: str = ""


class _Pending(Struct, frozen=True):
    consent: Consent
    expires_at: float


class Issued(Struct, frozen=True, array_like=True):
    """An access token that was given out: its SHA-256 and when it ends, in Unix seconds."""

    hash: bytes
    expires_at: float


class Grant(Struct, frozen=True, omit_defaults=True):
    """What one client has of one owner. Times are Unix seconds, UTC; hashes are SHA-256.

    `client_url` is the id of a client that has published a document on itself.
    """

    grant_id: str
    owner: str
    client_hash: bytes
    client_name: str
    redirect_host: str
    agents: tuple[str, ...]
    created_at: float
    renewed_at: float
    expires_at: float
    code_hash: bytes
    refresh_hash: bytes
    accesses: tuple[Issued, ...]
    target: str = ""
    client_url: str = ""


class Tokens(Struct, frozen=True):
    """What a client gets; nothing of it is kept in clear."""

    access: str
    refresh: str
    expires_in_s: int


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Grant).decode


class Grants:
    """All grants of this gateway. Call `load` before anything else."""

    def __init__(self, store: Store, clock: Clock, lifetimes: Lifetimes | None = None) -> None:
        self._store = store
        self._clock = clock
        self._lifetimes = lifetimes or Lifetimes()
        self._codes: dict[bytes, _Pending] = {}
        self._grants: dict[str, Grant] = {}
        self._by_code: dict[bytes, str] = {}
        self._by_refresh: dict[bytes, str] = {}
        self._by_access: dict[bytes, Access] = {}
        self._writing = anyio.Lock()
        self._ended: list[Callable[[str], None]] = []

    async def load(self) -> None:
        """Read all grants from the store.

        Raises:
            StoreUnavailable: the store cannot be read.
        """
        for row in await scan_all(self._store, "oauth_grant"):
            self._keep(_decode(row.value))

    async def keep(self) -> None:
        """Forget grants whose time is over now and then, until cancelled; the store forgets them by itself."""
        while True:
            await anyio.sleep(LOOK_EVERY_S)
            self.forget_old()

    def find(self, secret: bytes) -> Access | None:
        """What an access token opens now; `None` for one that is unknown, over or revoked."""
        access = self._by_access.get(sha256(secret).digest())
        return None if access is None or access.expires_at <= self._clock.now() else access

    def on_ended(self, listener: Callable[[str], None]) -> None:
        """Tell `listener` of the id of every grant that ends; it must not block or raise."""
        self._ended.append(listener)

    def list(self, owner: str) -> Sequence[Grant]:
        """An owner's grants, oldest first."""
        self.forget_old()
        return sorted((g for g in self._grants.values() if g.owner == owner), key=lambda grant: grant.created_at)

    def new_code(self, consent: Consent) -> str:
        """A code for what an owner has just said yes to.

        Raises:
            Conflict: the owner has as many grants as it may have.
        """
        if len(self.list(consent.owner)) >= MAX_GRANTS:
            raise Conflict(f"there are {MAX_GRANTS} grants already; revoke some with `toolwire grant revoke`")
        now = self._clock.now()
        self._codes = {digest: each for digest, each in self._codes.items() if each.expires_at > now}
        if len(self._codes) >= MAX_CODES:
            del self._codes[next(iter(self._codes))]
        code = _new_secret(CODE_PREFIX)
        self._codes[_digest(code)] = _Pending(consent, now + self._lifetimes.code_s)
        return code

    async def exchange(
        self, code: str, client_id: str, redirect_uri: str | None, verifier: str, target: str | None
    ) -> Tokens:
        """Tokens for a code, which is spent by this whatever comes of it.

        Args:
            code: the code.
            client_id: who asks.
            redirect_uri: where the code was sent; clients of OAuth 2.1 leave it out, because the verifier says more.
            verifier: what the code's challenge was made of (RFC 7636).
            target: the resource that is asked for, as an agent's id or "" for the gateway; `None` if none is named.

        Raises:
            Refused: `invalid_grant`, or `invalid_target`.
            StoreUnavailable: the store cannot be written; there is no grant.
        """
        digest = _digest(code)
        async with self._writing:
            pending = self._codes.pop(digest, None)
            if pending is None:
                await self._end_spent(self._by_code.get(digest), "a code")
                raise _not_good("the code is unknown, over or was used before")
            consent = pending.consent
            if pending.expires_at <= self._clock.now():
                raise _not_good("the code is unknown, over or was used before")
            if consent.client_id != client_id or redirect_uri not in (None, consent.redirect_uri):
                raise _not_good("the code was given to another client or redirect_uri")
            if not compare_digest(challenge_of(verifier), consent.challenge):
                raise _not_good("the code_verifier does not fit")
            if target is not None and target != consent.target:
                raise Refused("invalid_target", "resource is not the one that was authorized")
            return await self._begin(consent, digest)

    async def refresh(self, token: str, client_id: str, target: str | None) -> Tokens:
        """New tokens for a refresh token, which is spent by this.

        Raises:
            Refused: `invalid_grant`, or `invalid_target`.
            StoreUnavailable: the store cannot be written; the refresh token is still good.
        """
        digest = _digest(token)
        async with self._writing:
            grant = self._live(self._by_refresh.get(digest))
            if grant is None:
                spent = await self._store.get("oauth_spent", "", digest.hex())
                await self._end_spent(None if spent is None else spent.value.decode(), "a refresh token")
                raise _not_good("the refresh token is unknown, over or was used before")
            if not compare_digest(grant.client_hash, _digest(client_id)):
                raise _not_good("the refresh token was given to another client")
            if target is not None and target != grant.target:
                raise Refused("invalid_target", "resource is not the one that was authorized")
            return await self._renew(grant)

    async def revoke_token(self, token: str, client_id: str) -> None:
        """End the grant that a client's access or refresh token is of; one that is unknown is fine (RFC 7009, 2.2).

        Raises:
            StoreUnavailable: the store cannot be written; the grant still holds.
        """
        digest = _digest(token)
        async with self._writing:
            access = self._by_access.get(digest)
            grant = self._live(self._by_refresh.get(digest) if access is None else access.key_id)
            if grant is not None and compare_digest(grant.client_hash, _digest(client_id)):
                await self._end(grant)

    async def revoke(self, owner: str, grant_id: str) -> None:
        """End a grant: its tokens open nothing any more, from now on.

        Raises:
            KeyNotFound: this owner has no such grant.
            StoreUnavailable: the store cannot be written; the grant still holds.
        """
        async with self._writing:
            grant = self._live(grant_id)
            if grant is None or grant.owner != owner:
                raise KeyNotFound(f"no grant {grant_id!r} here; list the grants to find its id")
            await self._end(grant)

    async def _begin(self, consent: Consent, code_hash: bytes) -> Tokens:
        now = self._clock.now()
        tokens = self._new_tokens()
        grant = Grant(
            new_id("grant"),
            consent.owner,
            _digest(consent.client_id),
            consent.client_name,
            consent.redirect_host,
            consent.agents,
            now,
            now,
            now + self._lifetimes.refresh_s,
            code_hash,
            _digest(tokens.refresh),
            (Issued(_digest(tokens.access), now + self._lifetimes.access_s),),
            consent.target,
            consent.client_id if consent.client_id.startswith("https://") else "",
        )
        await self._store.tx([_put(grant)])
        self._keep(grant)
        return tokens

    async def _renew(self, grant: Grant) -> Tokens:
        now = self._clock.now()
        tokens = self._new_tokens()
        live = tuple(each for each in grant.accesses if each.expires_at > now)[-(MAX_LIVE_ACCESS - 1) :]
        renewed = replace(
            grant,
            renewed_at=now,
            expires_at=now + self._lifetimes.refresh_s,
            refresh_hash=_digest(tokens.refresh),
            accesses=(*live, Issued(_digest(tokens.access), now + self._lifetimes.access_s)),
        )
        spent = Put("oauth_spent", "", grant.refresh_hash.hex(), grant.grant_id.encode(), None, renewed.expires_at)
        await self._store.tx([_put(renewed), spent])
        self._drop(grant)
        self._keep(renewed)
        return tokens

    def _new_tokens(self) -> Tokens:
        return Tokens(_new_secret(ACCESS_PREFIX), _new_secret(REFRESH_PREFIX), int(self._lifetimes.access_s))

    async def _end_spent(self, grant_id: str | None, what: str) -> None:
        grant = self._live(grant_id)
        if grant is not None:
            logger.warning("%s of %s was used twice; it is revoked, because one of the two was a thief", what, grant_id)
            await self._end(grant)

    async def _end(self, grant: Grant) -> None:
        ops: list[Op] = [Del("oauth_grant", grant.owner, grant.grant_id)]
        await self._store.tx(ops)
        self._drop(grant)
        self._tell_ended(grant)

    def _tell_ended(self, grant: Grant) -> None:
        for listener in self._ended:
            listener(grant.grant_id)

    def _live(self, grant_id: str | None) -> Grant | None:
        grant = None if grant_id is None else self._grants.get(grant_id)
        return None if grant is None or grant.expires_at <= self._clock.now() else grant

    def forget_old(self) -> None:
        """Forget grants whose time is over; what they hold open ends."""
        now = self._clock.now()
        for grant in [each for each in self._grants.values() if each.expires_at <= now]:
            self._drop(grant)
            self._tell_ended(grant)

    def _keep(self, grant: Grant) -> None:
        self._grants[grant.grant_id] = grant
        self._by_code[grant.code_hash] = self._by_refresh[grant.refresh_hash] = grant.grant_id
        agents = frozenset(grant.agents)
        for each in grant.accesses:
            self._by_access[each.hash] = Access(grant.grant_id, grant.owner, agents, each.expires_at)

    def _drop(self, grant: Grant) -> None:
        self._grants.pop(grant.grant_id, None)
        self._by_code.pop(grant.code_hash, None)
        self._by_refresh.pop(grant.refresh_hash, None)
        for each in grant.accesses:
            self._by_access.pop(each.hash, None)


def challenge_of(verifier: str) -> str:
    """The S256 challenge of a verifier (RFC 7636, 4.2)."""
    return urlsafe_b64encode(_digest(verifier)).rstrip(b"=").decode()


def _new_secret(prefix: str) -> str:
    return prefix + secrets.token_hex(32)


def _digest(secret: str) -> bytes:
    return sha256(secret.encode()).digest()


def _put(grant: Grant) -> Put:
    return Put("oauth_grant", grant.owner, grant.grant_id, _encode(grant), None, grant.expires_at)


def _not_good(description: str) -> Refused:
    return Refused("invalid_grant", description)
