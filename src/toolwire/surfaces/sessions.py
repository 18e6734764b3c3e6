"""MCP sessions of the initialize wire: sealed tokens that any replica can check; it holds nothing for an idle one.

A token binds (principal, agent) and names the session's channel, so a session that never comes back costs nothing. The
store learns of a session when it is used for longer than a moment (where they are counted: when it is used) and when it
is ended.
Spec: MCP 2025-11-25 basic/transports#session-management; gateway.md 40, D12.
"""

import hashlib
import hmac
import os
from base64 import b32hexencode, urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Awaitable, Callable
from typing import TypeAlias

import msgspec
from msgspec import Struct

from toolwire.core.call import Caller
from toolwire.core.errors import RateLimited, SessionNotFound
from toolwire.core.ports import Clock, Put, Store
from toolwire.engine.recorder import Recorder

RANDOM_BYTES = 10
MAC_BYTES = 16
TRUSTED_S = 5.0
"""How long a look into the store is trusted at most: another replica's DELETE is seen within this."""
TOUCHES = 24
"""How often a session in steady use is written down within its idle time; it lives that much longer than promised."""
MAX_RETRY_S = 60.0
"""The longest that a client with too many sessions is told to wait."""
CACHED = 4096
"""Sessions whose last look is remembered; the oldest are forgotten, not ended."""
_ISSUED_BYTES = 6
_ENDED = ":ended"
_KEPT = ":kept"


class Kept(Struct, frozen=True, array_like=True):
    """What a client has asked for: the level of log messages, and the resources whose changes it wants to know of."""

    log_level: str | None = None
    uris: frozenset[str] = frozenset()


NOTHING_KEPT = Kept()
_encode = msgspec.json.Encoder(order="deterministic").encode
_decode_kept = msgspec.json.Decoder(Kept).decode
ChangeKept: TypeAlias = Callable[[Kept], Kept]
Keep: TypeAlias = Callable[[ChangeKept], Awaitable[object]]
"""Applies a change to what is kept."""


class Session(Struct, frozen=True):
    """A session that may be used now. `context_id` is its channel, created with its first call.

    `kept` is what its client has asked for, and `capabilities` what that has declared, packed into a byte.
    """

    id: str
    context_id: str
    kept: Kept = NOTHING_KEPT
    capabilities: int = 0


class _Seen(Struct):
    """What is remembered of a session: when it was begun, looked up, and written down as in use; Unix seconds."""

    session: Session
    issued_at: float
    looked_at: float = float("-inf")
    touched_at: float = float("-inf")


class Sessions:
    """Mints, checks and ends sessions. `secret` seals the tokens; replicas share it.

    `on_end` is told the `context_id` of each session that was ended. `keeps` says that sessions keep anything. `limit`
    is how many a principal may have that were used within the idle time; 0 for as many as it likes.
    """

    def __init__(
        self,
        store: Store,
        recorder: Recorder,
        clock: Clock,
        secret: bytes,
        idle_ttl_s: float,
        on_end: Callable[[str], Awaitable[None]] | None = None,
        keeps: bool = False,
        *,
        limit: int = 0,
    ) -> None:
        self._store = store
        self._recorder = recorder
        self._clock = clock
        self._secret = secret
        self._on_end = on_end
        self._keeps = keeps
        self.limit = limit
        self._idle_ttl_s = idle_ttl_s
        self._touch_every_s = idle_ttl_s / TOUCHES
        # The token says when a session was begun, which is as good as a row about a use; but nobody can count tokens.
        self._unwritten_s = 0.0 if limit else self._touch_every_s
        self._trusted_s = min(TRUSTED_S, self._touch_every_s)
        self._seen: dict[tuple[str, str, str], _Seen] = {}

    def mint(self, caller: Caller, agent_id: str, capabilities: int = 0) -> Session:
        """A new session for this caller and agent, whose client has these capabilities; nothing is stored yet."""
        issued = int(self._clock.now() * 1000).to_bytes(_ISSUED_BYTES, "big")
        payload = issued + os.urandom(RANDOM_BYTES) + bytes((capabilities,))
        token = urlsafe_b64encode(payload + self._mac(payload, caller.principal, agent_id)).rstrip(b"=").decode()
        return _session(token, payload)

    async def check_room(self, caller: Caller) -> None:
        """Refuse a principal that has as many sessions as it may; asked before one is minted, where there is a limit.

        A session that was never used is not known to anybody and does not count, nor does one that was ended.

        Raises:
            RateLimited: end one, or wait until one has been idle for long.
            StoreUnavailable: they cannot be counted.
        """
        await self._recorder.caught_up()
        used: set[str] = set()
        ended: set[str] = set()
        after = ""
        while page := await self._store.scan("session", caller.principal, after):
            after = page[-1].key
            for row in page:
                if row.key.endswith(_ENDED):
                    ended.add(row.key.removesuffix(_ENDED))
                elif not row.key.endswith(_KEPT):
                    used.add(row.key)
        if len(used - ended) >= self.limit:
            raise RateLimited(
                f"you have {len(used - ended)} MCP sessions, as many as there may be; end one with DELETE, or wait "
                f"until one has not been used for {self._idle_ttl_s:g} s",
                retry_after_ms=int(min(self._idle_ttl_s, MAX_RETRY_S) * 1000),
            )

    def derive(self, purpose: bytes) -> bytes:
        """A secret for something else that we hand out and take back; replicas derive the same."""
        return hmac.digest(self._secret, b"mcp-derived\0" + purpose, "sha256")

    async def find(self, token: str, caller: Caller, agent_id: str) -> Session:
        """The session of a token.

        Raises:
            SessionNotFound: unknown, ended, idle for too long, or of another caller or agent: all in the same words.
        """
        now = self._clock.now()
        key = (token, caller.principal, agent_id)
        seen = self._seen.get(key)
        if seen is None:
            seen = self._open(token, caller.principal, agent_id)
        if not 0 <= now - seen.looked_at < self._trusted_s:
            kept = await self._look(seen, caller.principal, now)
            seen.session = msgspec.structs.replace(seen.session, kept=kept)
            seen.looked_at = now
            self._remember(key, seen)
        if now - seen.touched_at > self._touch_every_s:
            seen.touched_at = now
            rows = self._rows(seen.session, caller, now)
            self._recorder.add(lambda: rows)
        return seen.session

    def at_hand(self, token: str, caller: Caller, agent_id: str) -> Session | None:
        """The session of a token if it was found a moment ago; `None` says no more than that it has to be found."""
        seen, now = self._seen.get((token, caller.principal, agent_id)), self._clock.now()
        if seen is None or not 0 <= now - seen.looked_at < self._trusted_s:
            return None
        return None if now - seen.touched_at > self._touch_every_s else seen.session

    async def keep(self, session: Session, caller: Caller, agent_id: str, change: ChangeKept) -> Session:
        """Change what a session keeps, for as long as it lives; gives the session with it.

        Raises:
            StoreUnavailable: it could not be stored; this process knows it all the same, until it looks again.
        """
        now, key = self._clock.now(), (session.id, caller.principal, agent_id)
        seen = self._seen.get(key) or self._open(session.id, caller.principal, agent_id)
        changed = msgspec.structs.replace(seen.session, kept=change(seen.session.kept))
        self._remember(
            key, _Seen(changed, seen.issued_at, now, now)
        )  # before it is stored, so that two changes at once both count
        await self._store.tx(self._rows(changed, caller, now))
        return changed

    def _rows(self, session: Session, caller: Caller, now: float) -> tuple[Put, ...]:
        """What says until when a session lives that is used now."""
        key, ends = _row_key(session.id), now + self._idle_ttl_s + self._touch_every_s
        use = Put("session", caller.principal, key, b"", expires_at=ends)
        if session.kept == NOTHING_KEPT:
            return (use,)
        return use, Put("session", caller.principal, key + _KEPT, _encode(session.kept), expires_at=ends)

    async def end(self, session: Session, caller: Caller, agent_id: str) -> None:
        """End a session for good (DELETE).

        Raises:
            StoreUnavailable: the end could not be stored; the session goes on.
        """
        # The end is a row of its own: a use of the session that is still to be written must not undo it.
        ends = self._clock.now() + 2 * (self._idle_ttl_s + self._touch_every_s)
        key = _row_key(session.id) + _ENDED
        await self._store.tx([Put("session", caller.principal, key, b"", expires_at=ends)])
        self._seen.pop((session.id, caller.principal, agent_id), None)
        if self._on_end is not None:
            await self._on_end(session.context_id)

    def _remember(self, key: tuple[str, str, str], seen: _Seen) -> None:
        if len(self._seen) >= CACHED and key not in self._seen:
            del self._seen[next(iter(self._seen))]
        self._seen[key] = seen

    async def _look(self, seen: _Seen, principal: str, now: float) -> Kept:
        """See that the session has not ended; gives what it keeps."""
        key = _row_key(seen.session.id)
        if await self._store.get("session", principal, key + _ENDED) is not None:
            raise _not_found()
        lives_s = self._idle_ttl_s + self._unwritten_s
        if now - seen.issued_at > lives_s and await self._store.get("session", principal, key) is None:
            raise _not_found()
        kept = await self._store.get("session", principal, key + _KEPT) if self._keeps else None
        return NOTHING_KEPT if kept is None else _decode_kept(kept.value)

    def _open(self, token: str, principal: str, agent_id: str) -> _Seen:
        raw = _raw(token)
        payload, mac = raw[:-MAC_BYTES], raw[-MAC_BYTES:]
        if len(payload) != _ISSUED_BYTES + RANDOM_BYTES + 1 or not hmac.compare_digest(
            mac, self._mac(payload, principal, agent_id)
        ):
            raise _not_found()
        issued_at = int.from_bytes(payload[:_ISSUED_BYTES], "big") / 1000
        seen = _Seen(_session(token, payload), issued_at)
        if self._unwritten_s:
            seen.touched_at = issued_at
        return seen

    def _mac(self, payload: bytes, principal: str, agent_id: str) -> bytes:
        bound = b"\0".join((payload, principal.encode(), agent_id.encode()))
        return hmac.digest(self._secret, b"mcp-session\0" + bound, "sha256")[:MAC_BYTES]


def _raw(token: str) -> bytes:
    """What a token holds; one spelling only, because the end of a session is kept under its spelling."""
    try:
        spelled = token.encode("ascii")
        raw = urlsafe_b64decode(spelled + b"=" * (-len(spelled) % 4))
    except ValueError:
        raise _not_found() from None
    if urlsafe_b64encode(raw).rstrip(b"=") != spelled:
        raise _not_found()
    return raw


def _row_key(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def _session(token: str, payload: bytes) -> Session:
    context_id = "ch_" + b32hexencode(payload[:-1]).decode().rstrip("=").lower()
    return Session(token, context_id, capabilities=payload[-1])


def _not_found() -> SessionNotFound:
    return SessionNotFound("this Mcp-Session-Id is unknown or has ended; send initialize to begin a new one")
