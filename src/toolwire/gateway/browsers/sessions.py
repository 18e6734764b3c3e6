"""Sessions of browsers in which an owner is signed in; it knows no cookie and no page.

A session's secret stands for the owner as an `oag_` key does, for 30 days after the browser was last here. What is kept
is its SHA-256, so that a restart signs nobody out, and the key that was pasted, whose end is the session's too.
"""

from collections.abc import Callable
from hashlib import sha256
from secrets import token_urlsafe
from typing import Final

import anyio
import msgspec
from msgspec import Struct
from msgspec.structs import replace

from toolwire.core.errors import KeyNotFound
from toolwire.core.ids import SHOWN_PREFIX_LEN, new_id
from toolwire.core.ports import Clock, Del, Put, Store
from toolwire.gateway.keys import KeyRecord, Keys, scan_all

SECRET_PREFIX: Final = "brs_"
SESSION_TTL_S: Final = 30 * 86400.0
RENEW_AFTER_S: Final = 3600.0
"""How old a session's end may get before it is moved: a page that is loaded often is no reason to write often."""
LOOK_EVERY_S: Final = 3600.0
MAX_SESSIONS: Final = 100
"""Browsers of one owner; the one that was away longest makes room."""
MAX_LABEL_LEN: Final = 200
_KIND: Final = "browser"


class BrowserSession(Struct, frozen=True, omit_defaults=True):
    """A browser in which `owner` is signed in.

    `hash` is the secret's SHA-256 as hex, `key_id` the key that was pasted (`None` for a link), `label` what the
    browser calls itself. Times are Unix seconds, UTC.
    """

    session_id: str
    owner: str
    hash: str
    created_at: float
    seen_at: float
    expires_at: float
    key_id: str | None = None
    label: str = ""


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(BrowserSession).decode


class BrowserSessions:
    """All sessions of browsers, in memory and in the store. Call `load` before anything else, after the keys'.

    Args:
        store: keeps them.
        clock: wall time.
        keys: those that begin sessions; a session ends with its key.
    """

    def __init__(self, store: Store, clock: Clock, keys: Keys) -> None:
        self._store = store
        self._clock = clock
        self._keys = keys
        self._by_hash: dict[str, BrowserSession] = {}
        self._ended: list[Callable[[KeyRecord], None]] = []
        keys.on_revoked(self._on_key_revoked)

    async def load(self) -> None:
        """Read all sessions from the store; those of keys that were revoked are removed there.

        Raises:
            StoreUnavailable: the store cannot be read.
        """
        gone: list[BrowserSession] = []
        for row in await scan_all(self._store, _KIND):
            session = _decode(row.value)
            if self._has_key(session):
                self._by_hash[session.hash] = session
            else:
                gone.append(session)
        await self._remove(gone)

    async def keep(self) -> None:
        """Forget sessions whose time is over now and then, until cancelled; the store forgets them by itself."""
        while True:
            await anyio.sleep(LOOK_EVERY_S)
            self.forget_old()

    def forget_old(self) -> None:
        """Forget sessions whose time is over; what they hold open ends."""
        now = self._clock.now()
        for session in [each for each in self._by_hash.values() if each.expires_at <= now]:
            self._forget(session)

    async def begin(self, owner: str, key_id: str | None, label: str = "") -> str:
        """Sign a browser in; the session's secret, which is not kept.

        Args:
            owner: who is signed in.
            key_id: the key that was pasted; `None` for a link.
            label: what the browser calls itself.

        Raises:
            StoreUnavailable: the store cannot be written; nobody is signed in.
        """
        secret = SECRET_PREFIX + token_urlsafe(32)
        now = self._clock.now()
        shown = "".join(character for character in label if character.isprintable())[:MAX_LABEL_LEN]
        session = BrowserSession(
            new_id("brw"), owner, _hash(secret.encode()), now, now, now + SESSION_TTL_S, key_id, shown
        )
        await self._store.tx([_put(session)])
        self._by_hash[session.hash] = session
        await self._end(self.list(owner)[MAX_SESSIONS:])
        return secret

    def find(self, secret: bytes) -> BrowserSession | None:
        """The session of a secret, if it holds now."""
        session = self._by_hash.get(_hash(secret)) if secret.startswith(SECRET_PREFIX.encode()) else None
        return None if session is None or session.expires_at <= self._clock.now() else session

    def find_key(self, secret: bytes) -> KeyRecord | None:
        """The session of a secret as `gateway.auth` takes it: like an owner's key, whose id is the session's."""
        session = self.find(secret)
        return None if session is None else _as_key(session)

    async def renew(self, session_id: str, owner: str) -> BrowserSession | None:
        """Move a session's end, because its browser is here; `None` where there is no such session.

        Raises:
            StoreUnavailable: the store cannot be written; the end stays where it was.
        """
        session = self._named(owner, session_id)
        now = self._clock.now()
        if session is None or now < session.seen_at + RENEW_AFTER_S:
            return session
        renewed = replace(session, seen_at=now, expires_at=now + SESSION_TTL_S)
        await self._store.tx([_put(renewed)])
        if session.hash in self._by_hash:
            self._by_hash[session.hash] = renewed
        return renewed

    def list(self, owner: str) -> list[BrowserSession]:
        """An owner's sessions that hold, the latest first."""
        now = self._clock.now()
        found = [each for each in self._by_hash.values() if each.owner == owner and each.expires_at > now]
        return sorted(found, key=lambda session: session.seen_at, reverse=True)

    async def end(self, owner: str, session_id: str) -> None:
        """Sign a browser out, from now on.

        Raises:
            KeyNotFound: the owner has no such session.
            StoreUnavailable: the store cannot be written; it is signed out until a restart at least.
        """
        session = self._named(owner, session_id)
        if session is None:
            raise KeyNotFound(f"no browser {session_id!r} is signed in; list them to find its id")
        await self._end([session])

    def on_ended(self, listener: Callable[[KeyRecord], None]) -> None:
        """Tell `listener` of every session that ends, as of a key; it must not block or raise."""
        self._ended.append(listener)

    def _named(self, owner: str, session_id: str) -> BrowserSession | None:
        return next((each for each in self.list(owner) if each.session_id == session_id), None)

    def _has_key(self, session: BrowserSession) -> bool:
        if session.key_id is None:
            return True
        return any(key.key_id == session.key_id and key.active for key in self._keys.list(session.owner))

    def _on_key_revoked(self, record: KeyRecord) -> None:
        for session in [each for each in self._by_hash.values() if each.key_id == record.key_id]:
            self._forget(session)

    async def _end(self, sessions: "list[BrowserSession]") -> None:
        for session in sessions:
            self._forget(session)
        await self._remove(sessions)

    def _forget(self, session: BrowserSession) -> None:
        self._by_hash.pop(session.hash, None)
        for listener in self._ended:
            listener(_as_key(session))

    async def _remove(self, sessions: "list[BrowserSession]") -> None:
        if sessions:
            await self._store.tx([Del(_KIND, session.owner, session.session_id) for session in sessions])


def _as_key(session: BrowserSession) -> KeyRecord:
    shown = session.hash[:SHOWN_PREFIX_LEN]
    return KeyRecord(session.session_id, "oag", session.owner, shown, session.hash, session.created_at)


def _put(session: BrowserSession) -> Put:
    return Put(_KIND, session.owner, session.session_id, _encode(session), expires_at=session.expires_at)


def _hash(secret: bytes) -> str:
    return sha256(secret).hexdigest()
