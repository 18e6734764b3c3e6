"""Owners and the keys that say who somebody is; it does not decide what a key opens.

A key is shown once, when it is made; what stays is its SHA-256 and its first 12 characters (gateway.md 46). All of them
are held in memory, so that a call's key is found without the store, and the store is written before a key counts.
"""

import hmac
import logging
from collections.abc import Callable
from hashlib import sha256
from typing import Literal

import anyio
import msgspec
from msgspec import Struct

from toolwire.core.errors import Conflict, KeyNotFound, StoreConflict, StoreUnavailable
from toolwire.core.ids import SHOWN_PREFIX_LEN, key_hash, new_id, new_key
from toolwire.core.ports import Clock, Del, Put, Store, Stored

logger = logging.getLogger("toolwire.gateway")

KeyKind = Literal["bak", "oag", "agk"]
"""`oag` is an owner, `bak` may call one agent, `agk` is one agent."""

FIRST_OWNER = "owner"
"""The id of the owner that the first start makes; the one who may make other owners (gateway.md §6)."""

REVOKED_TTL_S = 30 * 86_400.0
"""How long a revoked key is listed, unless the settings say otherwise."""
LOOK_EVERY_S = 3600.0

MAX_CALLING_KEYS = 3
"""Active `bak_` keys of one agent (gateway.md 46)."""


class Owner(Struct, frozen=True, omit_defaults=True):
    """One tenant. `created_at` is Unix seconds, UTC."""

    owner_id: str
    name: str
    created_at: float


class KeyRecord(Struct, frozen=True, omit_defaults=True):
    """What is kept of a key.

    `hash` is SHA-256 as hex. `agent_id` is set for `bak` and `agk`. Times are Unix seconds, UTC; with `revoked_at` the
    key opens nothing any more.
    """

    key_id: str
    kind: KeyKind
    owner: str
    prefix: str
    hash: str
    created_at: float
    agent_id: str | None = None
    name: str = ""
    revoked_at: float | None = None

    @property
    def active(self) -> bool:
        """Whether the key still opens anything."""
        return self.revoked_at is None


_encode = msgspec.msgpack.Encoder().encode
_decode_key = msgspec.msgpack.Decoder(KeyRecord).decode
_decode_owner = msgspec.msgpack.Decoder(Owner).decode


class Keys:
    """All owners and keys of this gateway. Call `load` before anything else.

    Args:
        store: keeps them.
        clock: wall time.
        revoked_ttl_s: how long a revoked key is listed; then it is forgotten.
    """

    def __init__(self, store: Store, clock: Clock, revoked_ttl_s: float = REVOKED_TTL_S) -> None:
        self._revoked_ttl_s = revoked_ttl_s
        self._store = store
        self._clock = clock
        self._owners: dict[str, Owner] = {}
        self._records: dict[str, KeyRecord] = {}
        self._by_hash: dict[str, KeyRecord] = {}
        self._writing = anyio.Lock()
        self._revoked: list[Callable[[KeyRecord], None]] = []

    async def load(self) -> None:
        """Read all owners and keys from the store.

        Raises:
            StoreUnavailable: the store cannot be read.
        """
        for row in await scan_all(self._store, "owner"):
            owner = _decode_owner(row.value)
            self._owners[owner.owner_id] = owner
        for row in await scan_all(self._store, "key"):
            self._keep(_decode_key(row.value))

    async def ensure_first_owner(self) -> str | None:
        """Make the first owner and its `oag_` key unless it is there; the key, or `None` when nothing was made.

        Raises:
            StoreUnavailable: the store cannot be written.
        """
        if FIRST_OWNER in self._owners:
            return None
        owner = Owner(FIRST_OWNER, FIRST_OWNER, self._clock.now())
        try:
            return await self._add_owner(owner)
        except StoreConflict:  # another process on the same store was faster
            await self.load()
            return None

    async def create_owner(self, name: str) -> tuple[Owner, str]:
        """Make another owner; the owner and its first `oag_` key.

        Raises:
            StoreUnavailable: the store cannot be written.
        """
        owner = Owner(new_id("own"), name, self._clock.now())
        return owner, await self._add_owner(owner)

    def owners(self) -> list[Owner]:
        """All owners, by age."""
        return sorted(self._owners.values(), key=lambda owner: owner.created_at)

    async def create(
        self, kind: KeyKind, owner: str, agent_id: str | None = None, name: str = ""
    ) -> tuple[KeyRecord, str]:
        """Make a key; its record and the secret, which is not kept.

        Args:
            kind: what it is for.
            owner: the owner's id.
            agent_id: the agent that a `bak` or `agk` is bound to; `None` for `oag`.
            name: a word for people.

        Raises:
            Conflict: the agent has its three `bak_` keys already.
            StoreUnavailable: the store cannot be written; there is no such key.
        """
        if (agent_id is None) != (kind == "oag"):
            raise ValueError(f"a key of kind {kind!r} {'takes no' if kind == 'oag' else 'needs an'} agent_id")
        async with self._writing:
            if kind == "bak":
                self._check_room(owner, agent_id)
            record, secret = self._new(kind, owner, agent_id, name)
            await self._store.tx([_put(record)])
            self._keep(record)
        return record, secret

    async def revoke(self, owner: str, key_id: str) -> KeyRecord:
        """Make a key open nothing, from now on; revoking it again changes nothing.

        Raises:
            KeyNotFound: this owner has no such key.
            Conflict: it is the owner's last `oag_` key.
            StoreUnavailable: the store cannot be written; the key still counts.
        """
        async with self._writing:
            record = self._records.get(key_id)
            if record is None or record.owner != owner:
                raise KeyNotFound(f"no key {key_id!r} here; list the keys to find its id")
            if not record.active:
                return record
            if record.kind == "oag" and self._count("oag", owner, None) == 1:
                raise Conflict("this is the last oag_ key of its owner; make another one before you revoke it")
            record = msgspec.structs.replace(record, revoked_at=self._clock.now())
            await self._store.tx([_put(record)])
            self._drop(record)
        return record

    async def revoke_all(self, owner: str, agent_id: str) -> None:
        """Revoke every key of an agent, at once.

        Raises:
            StoreUnavailable: the store cannot be written; all keys still count.
        """
        async with self._writing:
            now = self._clock.now()
            records = [msgspec.structs.replace(r, revoked_at=now) for r in self.list(owner, agent_id) if r.active]
            await self._store.tx([_put(record) for record in records])
            for record in records:
                self._drop(record)

    async def keep(self) -> None:
        """Forget old keys now and then until cancelled; a store that fails is left alone until the next time."""
        while True:
            try:
                await self.forget_revoked()
            except StoreUnavailable as error:
                logger.warning("cannot forget old keys: %s", error.message)
            await anyio.sleep(LOOK_EVERY_S)

    async def forget_revoked(self) -> None:
        """Forget the keys that were revoked so long ago that nobody asks about them any more.

        Raises:
            StoreUnavailable: the store cannot be written; they are forgotten the next time.
        """
        old = self._clock.now() - self._revoked_ttl_s
        async with self._writing:
            gone = [one for one in self._records.values() if one.revoked_at is not None and one.revoked_at <= old]
            if gone:
                await self._store.tx([Del("key", record.owner, record.key_id) for record in gone])
            for record in gone:
                del self._records[record.key_id]

    def on_revoked(self, listener: Callable[[KeyRecord], None]) -> None:
        """Tell `listener` of every key that is revoked, to close what it has opened; it must not block or raise."""
        self._revoked.append(listener)

    def list(self, owner: str, agent_id: str | None = None) -> list[KeyRecord]:
        """An owner's keys, revoked ones too, oldest first; with `agent_id` only those of that agent."""
        found = [r for r in self._records.values() if r.owner == owner and agent_id in (None, r.agent_id)]
        return sorted(found, key=lambda record: record.created_at)

    def find(self, secret: bytes) -> KeyRecord | None:
        """The active key with this secret. It is looked up by its hash: no secret is compared with another."""
        digest = sha256(secret).hexdigest()
        record = self._by_hash.get(digest)
        if record is None or not hmac.compare_digest(record.hash, digest):
            return None
        return record

    def get(self, key_id: str) -> KeyRecord | None:
        """A key by its id, active or not."""
        return self._records.get(key_id)

    def owner_name(self, owner_id: str) -> str | None:
        """What an owner is called."""
        owner = self._owners.get(owner_id)
        return None if owner is None else owner.name

    def _new(self, kind: KeyKind, owner: str, agent_id: str | None, name: str) -> tuple[KeyRecord, str]:
        secret = new_key(f"{kind}_")
        shown, hashed = secret[:SHOWN_PREFIX_LEN], key_hash(secret)
        return KeyRecord(new_id("key"), kind, owner, shown, hashed, self._clock.now(), agent_id, name), secret

    async def _add_owner(self, owner: Owner) -> str:
        record, secret = self._new("oag", owner.owner_id, None, "")
        async with self._writing:
            await self._store.tx([Put("owner", "", owner.owner_id, _encode(owner), expect=0), _put(record)])
            self._owners[owner.owner_id] = owner
            self._keep(record)
        return secret

    def _check_room(self, owner: str, agent_id: str | None) -> None:
        if self._count("bak", owner, agent_id) >= MAX_CALLING_KEYS:
            raise Conflict(f"agent {agent_id!r} has {MAX_CALLING_KEYS} active bak_ keys; revoke one of them first")

    def _count(self, kind: KeyKind, owner: str, agent_id: str | None) -> int:
        return sum(1 for r in self.list(owner, agent_id) if r.kind == kind and r.active)

    def _drop(self, record: KeyRecord) -> None:
        self._keep(record)
        for listener in self._revoked:
            listener(record)

    def _keep(self, record: KeyRecord) -> None:
        self._records[record.key_id] = record
        if record.active:
            self._by_hash[record.hash] = record
        else:
            self._by_hash.pop(record.hash, None)


def _put(record: KeyRecord) -> Put:
    return Put("key", record.owner, record.key_id, _encode(record))


async def scan_all(store: Store, kind: str) -> list[Stored]:
    """Every record of a kind, of all owners, page by page.

    Raises:
        StoreUnavailable: the store cannot be read.
    """
    rows: list[Stored] = []
    while page := await store.scan(kind, None, rows[-1].key if rows else ""):
        rows += page
    return rows
