"""Owners who have signed in with a browser, and the links that sign one in; it knows no page and no cookie.

There is no password: an owner shows its key, or opens a link that works once. Both lead to a session of an hour, which
is kept in memory alone, as its SHA-256. Spec: gateway.md 48.
"""

import hmac
import secrets
from collections.abc import MutableMapping
from hashlib import sha256
from typing import TypeVar

from msgspec import Struct

from toolwire.core.ports import Clock
from toolwire.gateway.keys import KeyRecord

LINK_TTL_S = 3600.0
SESSION_TTL_S = 3600.0
MAX_LINKS = 100
MAX_SESSIONS = 1000


class SignedIn(Struct, frozen=True):
    """An owner at a browser. `key_id` is the key that was shown, `None` for a link."""

    owner: str
    expires_at: float
    key_id: str | None = None


T = TypeVar("T")


class SignIns:
    """Sessions of browsers and links to them. Everything is forgotten at a restart."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._secret = secrets.token_bytes(32)
        self._links: dict[bytes, SignedIn] = {}
        self._sessions: dict[bytes, SignedIn] = {}

    def new_link(self, owner: str) -> str:
        """The secret of a link that signs `owner` in, once, within `LINK_TTL_S`."""
        secret = secrets.token_urlsafe(32)
        _bounded(self._links, MAX_LINKS)[_digest(secret)] = SignedIn(owner, self._clock.now() + LINK_TTL_S)
        return secret

    def link_owner(self, secret: str) -> str | None:
        """Whom a link would sign in; it stays good."""
        link = self._good(self._links, secret)
        return None if link is None else link.owner

    def use_link(self, secret: str) -> str | None:
        """Use a link up; the secret of the session that begins, or `None` when it is not good."""
        link = self._good(self._links, secret)
        if link is None:
            return None
        del self._links[_digest(secret)]
        return self.begin(link.owner, None)

    def begin(self, owner: str, key_id: str | None) -> str:
        """Begin a session; its secret."""
        secret = secrets.token_urlsafe(32)
        signed_in = SignedIn(owner, self._clock.now() + SESSION_TTL_S, key_id)
        _bounded(self._sessions, MAX_SESSIONS)[_digest(secret)] = signed_in
        return secret

    def find(self, secret: str) -> SignedIn | None:
        """Who is signed in by a session, now."""
        return self._good(self._sessions, secret)

    def end(self, secret: str) -> None:
        """End a session; an unknown one is fine."""
        self._sessions.pop(_digest(secret), None)

    def revoked(self, record: KeyRecord) -> None:
        """End the sessions that a key has begun."""
        self._sessions = {known: each for known, each in self._sessions.items() if each.key_id != record.key_id}

    def token(self, secret: str, purpose: bytes) -> str:
        """What a form of a session must bring back, so that no other page can send it; it holds for one purpose."""
        return hmac.new(self._secret, _digest(secret) + purpose, "sha256").hexdigest()

    def is_token(self, token: str, secret: str, purpose: bytes) -> bool:
        """Whether a form has brought back what it was given."""
        return hmac.compare_digest(token.encode(), self.token(secret, purpose).encode())

    def _good(self, among: dict[bytes, SignedIn], secret: str) -> SignedIn | None:
        found = among.get(_digest(secret))
        return None if found is None or found.expires_at <= self._clock.now() else found


def _bounded(kept: MutableMapping[bytes, T], most: int) -> MutableMapping[bytes, T]:
    """`kept` with room for one more: the oldest goes."""
    while len(kept) >= most:
        del kept[next(iter(kept))]
    return kept


def _digest(secret: str) -> bytes:
    return sha256(secret.encode()).digest()
