"""MCP sessions of the initialize wire: sealed tokens that any replica can check; it holds nothing for an idle one.

A token binds (principal, agent) and names the session's channel, so a session that never comes back costs nothing. The
store learns of a session when it is used and when it is ended.
Spec: MCP 2025-11-25 basic/transports#session-management; gateway.md 40, D12.
"""

import hashlib
import hmac
import os
from base64 import b32hexencode, urlsafe_b64decode, urlsafe_b64encode

import msgspec
from msgspec import Struct

from toolwire.core.call import Caller
from toolwire.core.errors import SessionNotFound
from toolwire.core.ports import Clock, Op, Put, Store
from toolwire.engine.recorder import Recorder

RANDOM_BYTES = 10
MAC_BYTES = 16
TRUSTED_S = 5.0
"""How long a look into the store is trusted: another replica's DELETE is seen within this."""
CACHED = 4096
"""Sessions whose last look is remembered; the oldest are forgotten, not ended."""


class Session(Struct, frozen=True):
    """A session that may be used now. `context_id` is its channel, created with its first call."""

    id: str
    context_id: str


class _Kept(Struct, frozen=True):
    last_seen: float
    ended: bool = False


class _Seen(Struct):
    session: Session
    looked_at: float
    touched_at: float


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(_Kept).decode


class Sessions:
    """Mints, checks and ends sessions. `secret` seals the tokens; replicas share it."""

    def __init__(self, store: Store, recorder: Recorder, clock: Clock, secret: bytes, idle_ttl_s: float) -> None:
        self._store = store
        self._recorder = recorder
        self._clock = clock
        self._secret = secret
        self._idle_ttl_s = idle_ttl_s
        self._seen: dict[tuple[str, str, str], _Seen] = {}

    def mint(self, caller: Caller, agent_id: str) -> Session:
        """A new session for this caller and agent; nothing is stored yet."""
        payload = int(self._clock.now()).to_bytes(6, "big") + os.urandom(RANDOM_BYTES)
        token = urlsafe_b64encode(payload + self._mac(payload, caller.principal, agent_id)).rstrip(b"=").decode()
        return Session(token, _context_id(payload))

    async def find(self, token: str, caller: Caller, agent_id: str) -> Session:
        """The session of a token.

        Raises:
            SessionNotFound: unknown, ended, idle for too long, or of another caller or agent: all in the same words.
        """
        now = self._clock.now()
        key = (token, caller.principal, agent_id)
        seen = self._seen.get(key)
        if seen is None:
            seen = self._remember(key, self._open(token, caller.principal, agent_id))
        if not 0 <= now - seen.looked_at < TRUSTED_S:
            await self._look(seen, token, caller.principal, now)
        if now - seen.touched_at > self._idle_ttl_s / 24:
            seen.touched_at = now
            self._recorder.add(lambda: (self._row(token, caller.principal, _Kept(now)),))
        return seen.session

    async def end(self, session: Session, caller: Caller, agent_id: str) -> None:
        """End a session for good (DELETE).

        Raises:
            StoreUnavailable: the end could not be stored; the session goes on.
        """
        await self._store.tx([self._row(session.id, caller.principal, _Kept(self._clock.now(), ended=True))])
        self._seen.pop((session.id, caller.principal, agent_id), None)

    def _remember(self, key: tuple[str, str, str], session: Session) -> _Seen:
        if len(self._seen) >= CACHED:
            del self._seen[next(iter(self._seen))]
        seen = self._seen[key] = _Seen(session, looked_at=float("-inf"), touched_at=float("-inf"))
        return seen

    async def _look(self, seen: _Seen, token: str, principal: str, now: float) -> None:
        stored = await self._store.get("session", principal, _row_key(token))
        if stored is None:
            issued = int.from_bytes(_raw(token)[:6], "big")
            if now - issued > self._idle_ttl_s:
                raise _not_found()
        elif _decode(stored.value).ended:
            raise _not_found()
        seen.looked_at = now

    def _row(self, token: str, principal: str, kept: _Kept) -> Op:
        ends = kept.last_seen + self._idle_ttl_s
        return Put("session", principal, _row_key(token), _encode(kept), expires_at=ends)

    def _open(self, token: str, principal: str, agent_id: str) -> Session:
        raw = _raw(token)
        payload, mac = raw[:-MAC_BYTES], raw[-MAC_BYTES:]
        if len(payload) != 6 + RANDOM_BYTES or not hmac.compare_digest(mac, self._mac(payload, principal, agent_id)):
            raise _not_found()
        return Session(token, _context_id(payload))

    def _mac(self, payload: bytes, principal: str, agent_id: str) -> bytes:
        bound = b"\0".join((payload, principal.encode(), agent_id.encode()))
        return hmac.digest(self._secret, b"mcp-session\0" + bound, "sha256")[:MAC_BYTES]


def _raw(token: str) -> bytes:
    try:
        return urlsafe_b64decode(token.encode("ascii") + b"=" * (-len(token) % 4))
    except ValueError:
        raise _not_found() from None


def _row_key(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def _context_id(payload: bytes) -> str:
    return "ch_" + b32hexencode(payload).decode().rstrip("=").lower()


def _not_found() -> SessionNotFound:
    return SessionNotFound("this Mcp-Session-Id is unknown or has ended; send initialize to begin a new one")
