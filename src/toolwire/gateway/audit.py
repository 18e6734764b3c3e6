"""Who called what, when and with which outcome: one chain of entries an owner, each sealed by the one before it.

What a call said is kept as digests alone, unless the host's settings turn bodies on. Entries are written behind the
calls, many in one row: a crash may lose the last moments, and never breaks the chain. A chain lies in one stream for
each day (UTC), of which is known what the chain was like before it: days that are old enough go, and what is left is
anchored there. It judges nothing.
"""

import hashlib
import logging
from collections.abc import AsyncGenerator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import anyio
import msgspec
from msgspec import Struct
from msgspec.structs import replace

from toolwire.core.errors import StoreConflict, StoreUnavailable
from toolwire.core.jsontypes import JsonObject
from toolwire.core.ports import Append, Clock, Del, Drop, Op, Put, Store
from toolwire.core.result import Result
from toolwire.engine.record import Record, status_of
from toolwire.engine.recorder import Recorder
from toolwire.gateway.keys import scan_all
from toolwire.wire.answers.records import AuditAnchor, AuditEntry
from toolwire.wire.rest import rfc3339

logger = logging.getLogger("toolwire.gateway")

FIRST: Final = "0" * 64
"""What stands for the entry before the first one."""
LOOK_EVERY_S: Final = 3600.0
_PAGE = 100
_START: Final = AuditAnchor(0, FIRST)


class _Day(Struct, frozen=True):
    """One day of an owner's chain, such as "2026-11-30"; `before` is where the chain was when it began.

    "" is what was written before chains were kept by days.
    """

    day: str
    before: AuditAnchor

    def ends_at(self, following: "_Day | None") -> float:
        """When the last of its entries was written at the latest, Unix seconds."""
        if self.day:
            return (datetime.fromisoformat(self.day).replace(tzinfo=UTC) + timedelta(days=1)).timestamp()
        return following.ends_at(None) if following is not None else float("inf")


_encode = msgspec.json.Encoder().encode
_canonical = msgspec.json.Encoder(order="deterministic").encode
_decode = msgspec.json.Decoder(list[AuditEntry]).decode
_decode_head = msgspec.json.Decoder(AuditAnchor).decode
_decode_day = msgspec.json.Decoder(_Day).decode


class Audit:
    """The chains of all owners. Call `load` before anything else, and have the engine tell it of calls.

    Args:
        store: keeps the chains.
        recorder: writes them.
        clock: wall time.
        bodies: whether what calls say is kept, too.
        ttl_s: how long entries are kept, to the end of their day; 0 for as long as the store.
    """

    def __init__(self, store: Store, recorder: Recorder, clock: Clock, bodies: bool, ttl_s: float = 0) -> None:
        self._store = store
        self._recorder = recorder
        self._clock = clock
        self._bodies = bodies
        self._ttl_s = ttl_s
        self._heads: dict[str, AuditAnchor] = {}
        self._days: dict[str, list[_Day]] = {}
        self._open: dict[str, _Segment] = {}

    async def load(self) -> None:
        """Read where every chain ends, and of which days something is kept.

        Raises:
            StoreUnavailable: the store cannot be used.
        """
        for row in await scan_all(self._store, "audit_head"):
            self._heads[row.key] = _decode_head(row.value)
        for row in await scan_all(self._store, "audit_day"):
            self._days.setdefault(row.owner, []).append(_decode_day(row.value))
        undated = [_day_put(owner, _Day("", _START)) for owner in self._heads if owner not in self._days]
        if undated:
            self._days |= {put.owner: [_Day("", _START)] for put in undated}
            await self._store.tx(undated)

    def observe(self, record: Record) -> None:
        """A call begins; see `engine.Engine.observers`."""
        record.at_end(self._note)

    async def read(self, owner: str, after: int = 0) -> AsyncGenerator[AuditEntry]:
        """An owner's entries with a higher number than `after`, in order.

        Raises:
            StoreUnavailable: the store cannot be read.
        """
        await self._recorder.caught_up()
        days = tuple(self._days.get(owner, ()))
        ends = [*(day.before.seq for day in days), self._heads.get(owner, _START).seq][1:]
        for day, end in zip(days, ends, strict=True):
            row_seq = 0
            while end > after and (rows := await self._store.read(_stream(owner, day), row_seq, _PAGE)):
                for row in rows:
                    for entry in _decode(row.value):
                        if entry.seq > after:
                            yield entry
                row_seq = rows[-1].seq

    async def end(self, owner: str) -> int:
        """The number of an owner's last entry; 0 where there is none."""
        await self._recorder.caught_up()
        return self._heads.get(owner, _START).seq

    def anchor(self, owner: str) -> AuditAnchor:
        """The last entry of an owner that is not kept any more, which the first one that is kept follows."""
        days = self._days.get(owner)
        return days[0].before if days else _START

    async def keep(self) -> None:
        """Remove what is old now and then until cancelled; a store that fails is left alone until the next time."""
        while self._ttl_s:
            try:
                await self.remove_old()
            except (StoreUnavailable, StoreConflict) as error:
                logger.warning("cannot remove old entries of the audit: %s", error.message)
            await anyio.sleep(LOOK_EVERY_S)

    async def remove_old(self) -> None:
        """Remove the days that are older than they are to be kept. The last one leaves an empty one in its place.

        Raises:
            StoreUnavailable: the store cannot be written; what is left goes the next time.
        """
        old = self._clock.now() - self._ttl_s
        for owner, days in tuple(self._days.items()):
            while days[0].ends_at(days[1] if len(days) > 1 else None) <= old:
                begins = self._day_of(owner, self._written_head(owner))[1] if len(days) == 1 else ()
                removed = days[0]
                ops = [*begins, Drop(_stream(owner, removed)), Del("audit_day", owner, _key(owner, removed))]
                await self._store.tx(ops)
                days.remove(removed)

    def _note(self, record: Record) -> None:
        """Seal the entry of a call that has ended, at once: what waits to be written are bytes, and no calls."""
        owner = record.call.caller.owner
        head = self._heads.get(owner, _START)
        entry = sealed(self._entry(head.seq + 1, record), head.hash)
        row = _encode(entry)
        segment = self._open.get(owner)
        if segment is None:
            segment = self._open[owner] = _Segment(head)
            self._recorder.add(lambda: self._ops_of(owner, segment))
        segment.entries.append(row)
        self._heads[owner] = AuditAnchor(entry.seq, entry.hash)

    def _ops_of(self, owner: str, segment: "_Segment") -> Sequence[Op]:
        """What writes a segment down; the same again when the store is tried again."""
        if segment.ops is None:
            del self._open[owner]
            day, begins = self._day_of(owner, segment.before)
            segment.ops = (
                *begins,
                Append(_stream(owner, day), b"[%b]" % b",".join(segment.entries)),
                Put("audit_head", owner, owner, _encode(self._heads[owner])),
            )
            segment.entries.clear()
        return segment.ops

    def _written_head(self, owner: str) -> AuditAnchor:
        """The last entry that no segment waits with."""
        segment = self._open.get(owner)
        return self._heads[owner] if segment is None else segment.before

    def _day_of(self, owner: str, head: AuditAnchor) -> tuple[_Day, Sequence[Op]]:
        """The day that is written now, and what begins it if it is a new one; clocks that go back begin none."""
        days = self._days.setdefault(owner, [])
        today = datetime.fromtimestamp(self._clock.now(), UTC).date().isoformat()
        if days and days[-1].day >= today:
            return days[-1], ()
        day = _Day(today, head)
        days.append(day)
        return day, (_day_put(owner, day),)

    def _entry(self, seq: int, record: Record) -> AuditEntry:
        call, result = record.call, record.result
        assert result is not None
        said = Result(result.content, result.structured, result.error)
        key, kept = call.idempotency_key, self._bodies and not record.confidential
        return AuditEntry(
            seq,
            call.id,
            call.agent_id,
            call.tool,
            call.caller.principal,
            call.caller.surface,
            rfc3339(record.created_at),
            rfc3339(record.completed_at or record.clock.now()),
            status_of(result),
            _digest(call.arguments),
            _digest(said),
            None if result.error is None else result.error.code,
            None if key is None else _digest(key) if key else "",
            call.parent,
            call.arguments if kept else None,
            msgspec.json.decode(_canonical(said)) if kept else None,
        )


class _Segment:
    """Entries that go into one row, as JSON; `before` is the head that the first of them follows."""

    def __init__(self, before: AuditAnchor) -> None:
        self.before = before
        self.entries: list[bytes] = []
        self.ops: Sequence[Op] | None = None


class _Held(Struct, frozen=True):
    """What the hash of an entry holds: all of it but the hash itself, in the order of the names."""

    agent_id: str
    arguments: JsonObject | None
    arguments_digest: str
    began_at: str
    call_id: str
    ended_at: str
    error_code: str | None
    idempotency_key_digest: str | None
    parent: str | None
    previous: str
    principal: str
    result: Any
    result_digest: str
    seq: int
    status: str
    surface: str
    tool: str


def sealed(entry: AuditEntry, previous: str) -> AuditEntry:
    """An entry at its place in the chain, after the one with the hash `previous`."""
    return replace(entry, previous=previous, hash=_hash_of(entry, previous))


def hash_of(entry: AuditEntry) -> str:
    """What `hash` of an entry must be."""
    return _hash_of(entry, entry.previous)


def _hash_of(entry: AuditEntry, previous: str) -> str:
    held = _Held(
        entry.agent_id,
        entry.arguments,
        entry.arguments_digest,
        entry.began_at,
        entry.call_id,
        entry.ended_at,
        entry.error_code,
        entry.idempotency_key_digest,
        entry.parent,
        previous,
        entry.principal,
        entry.result,
        entry.result_digest,
        entry.seq,
        entry.status,
        entry.surface,
        entry.tool,
    )
    return hashlib.sha256(_canonical(held)).hexdigest()


def first_break(entries: Sequence[AuditEntry], previous: str = FIRST, seq: int = 0) -> int | None:
    """The number of the first entry that does not follow the one before it; `None` for a chain that holds.

    Args:
        entries: the chain, or a piece of it.
        previous: the hash of the entry before the piece.
        seq: its number.
    """
    for entry in entries:
        if entry.seq != seq + 1 or entry.previous != previous or entry.hash != hash_of(entry):
            return entry.seq
        previous, seq = entry.hash, entry.seq
    return None


def _stream(owner: str, day: _Day) -> str:
    return f"audit:{owner}:{day.day}" if day.day else f"audit:{owner}"


def _key(owner: str, day: _Day) -> str:
    return f"{owner}:{day.day}"


def _day_put(owner: str, day: _Day) -> Put:
    return Put("audit_day", owner, _key(owner, day), _encode(day))


def _digest(value: Any) -> str:
    try:
        return hashlib.sha256(_canonical(value)).hexdigest()
    except (TypeError, ValueError, RecursionError):
        return ""
