"""The `Store` port in this process's memory; nothing survives the process.

It is the model that every other store is compared with, so it is written to be read: no index, no cache.
"""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import count
from operator import attrgetter
from typing import TypeAlias, TypeVar, assert_never

from anyio.lowlevel import checkpoint
from msgspec import Struct

from toolwire.core.errors import StoreConflict, StoreUnavailable
from toolwire.core.ports import Ack, Append, Clock, Del, Drop, Enqueue, Leased, Nack, Op, Put, Row, Stored

_K = TypeVar("_K")
_V = TypeVar("_V")

_Identity: TypeAlias = tuple[str, str, str]
_WorkId: TypeAlias = tuple[str, str]


class _Record(Struct, frozen=True):
    value: bytes
    version: int
    expires_at: float | None


class _Work(Struct, frozen=True):
    body: bytes
    due: float
    position: int
    """Counts the entries as they come: the order among those that are due at the same time."""
    attempts: int = 0
    lease_until: float | None = None


class MemoryStore:
    """The `Store` port for tests and for processes that need not remember.

    A transaction is applied before `tx` first suspends, so cancellation never prevents or divides one.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._records: dict[_Identity, _Record] = {}
        self._streams: dict[str, list[Row]] = {}
        self._work: dict[_WorkId, _Work] = {}
        self._positions = count()
        self._undo: list[Callable[[], object]] = []
        self._closed = False

    async def tx(self, ops: Sequence[Op]) -> None:
        """Apply all of `ops` or none; see `Store.tx`."""
        self._check_open()
        self._undo = []
        try:
            for op in ops:
                self._apply(op)
        except StoreConflict:
            for undo in reversed(self._undo):
                undo()
            raise
        await checkpoint()

    async def get(self, kind: str, owner: str, key: str) -> Stored | None:
        """The record, or `None`; see `Store.get`."""
        self._check_open()
        await checkpoint()
        record = self._live((kind, owner, key))
        return record and Stored(key, owner, record.value, record.version)

    async def scan(self, kind: str, owner: str | None, after: str = "", limit: int = 1000) -> Sequence[Stored]:
        """Records of a kind in key order; see `Store.scan`."""
        self._check_open()
        await checkpoint()
        found = sorted(
            (its_key, its_owner)
            for its_kind, its_owner, its_key in self._records
            if its_kind == kind and owner in (None, its_owner) and its_key > after
        )
        page: list[Stored] = []
        for its_key, its_owner in found:
            record = self._live((kind, its_owner, its_key))
            if record is None:
                continue
            if len(page) >= limit and (not page or page[-1].key != its_key):
                break
            page.append(Stored(its_key, its_owner, record.value, record.version))
        return page

    async def read(self, stream: str, after: int = 0, limit: int = 1000) -> Sequence[Row]:
        """Rows of a stream after one of them; see `Store.read`."""
        self._check_open()
        await checkpoint()
        rows = self._streams.get(stream, [])
        start = bisect_right(rows, after, key=attrgetter("seq"))
        return rows[start : start + max(limit, 0)]

    async def claim(self, queue: str, worker: str, n: int, lease_s: float) -> Sequence[Leased]:
        """Lease due entries; see `Store.claim`."""
        self._check_open()
        now = self._clock.now()
        free = [
            (work.due, work.position, its_id)
            for (its_queue, its_id), work in self._work.items()
            if its_queue == queue and work.due <= now and (work.lease_until is None or work.lease_until <= now)
        ]
        leased: list[Leased] = []
        for _, _, its_id in sorted(free)[: max(n, 0)]:
            work = self._work[queue, its_id]
            attempts, until = work.attempts + 1, now + lease_s
            self._work[queue, its_id] = _Work(work.body, work.due, work.position, attempts, until)
            leased.append(Leased(queue, its_id, work.body, attempts, until))
        await checkpoint()
        return leased

    async def sweep(self) -> int:
        """Remove expired records for good; see `Store.sweep`."""
        self._check_open()
        expired = [identity for identity in self._records if self._live(identity) is None]
        for identity in expired:
            del self._records[identity]
        await checkpoint()
        return len(expired)

    async def close(self) -> None:
        """Refuse everything from now on; closing twice is fine."""
        self._closed = True
        await checkpoint()

    def _check_open(self) -> None:
        if self._closed:
            raise StoreUnavailable("the store in memory is closed; make another one")

    def _live(self, identity: _Identity) -> _Record | None:
        record = self._records.get(identity)
        if record is None or (record.expires_at is not None and record.expires_at <= self._clock.now()):
            return None
        return record

    def _apply(self, op: Op) -> None:
        match op:
            case Put(kind, owner, key, value, expect, expires_at):
                version = self._check_version((kind, owner, key), expect)
                self._set(self._records, (kind, owner, key), _Record(value, version + 1, expires_at))
            case Del(kind, owner, key, expect):
                self._check_version((kind, owner, key), expect)
                self._set(self._records, (kind, owner, key), None)
            case Append(stream, value, seq):
                self._append(stream, value, seq)
            case Drop(stream):
                self._set(self._streams, stream, None)
            case Enqueue(queue, its_id, due, body):
                old = self._work.get((queue, its_id))
                position = old.position if old else next(self._positions)
                self._set(self._work, (queue, its_id), _Work(body, due, position))
            case Ack(queue, its_id):
                self._set(self._work, (queue, its_id), None)
            case Nack(queue, its_id, due):
                if old := self._work.get((queue, its_id)):
                    self._set(self._work, (queue, its_id), _Work(old.body, due, old.position, old.attempts))
            case _:
                assert_never(op)

    def _append(self, stream: str, value: bytes, seq: int | None) -> None:
        rows = self._streams.get(stream)
        if rows is None:
            rows = list[Row]()
            self._set(self._streams, stream, rows)
        last = rows[-1].seq if rows else 0
        if seq is not None and seq <= last:
            raise StoreConflict(f"stream {stream!r} is at {last}, not before {seq}: read what is there")
        rows.append(Row(last + 1 if seq is None else seq, value))
        self._undo.append(rows.pop)

    def _check_version(self, identity: _Identity, expect: int | None) -> int:
        """The version that is there now, 0 for none; raises unless it is the expected one."""
        record = self._live(identity)
        version = record.version if record else 0
        if expect is not None and expect != version:
            kind, _, key = identity
            raise StoreConflict(f"{kind} {key!r} is at version {version}, not {expect}: read it and decide again")
        return version

    def _set(self, table: dict[_K, _V], key: _K, value: _V | None) -> None:
        """Put `value` (or, with `None`, nothing) under `key`, and remember how to undo that."""
        old = table.get(key)
        if value is None:
            table.pop(key, None)
        else:
            table[key] = value
        if old is None:
            self._undo.append(lambda: table.pop(key, None))
        else:
            self._undo.append(lambda: table.__setitem__(key, old))
