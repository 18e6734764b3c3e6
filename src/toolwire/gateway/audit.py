"""Who called what, when and with which outcome: one chain of entries an owner, each sealed by the one before it.

What a call said is kept as digests alone, unless the host's settings turn bodies on. Entries are written behind the
calls, many in one row: a crash may lose the last moments, and never breaks the chain. It judges nothing.
"""

import hashlib
from collections.abc import AsyncGenerator, Sequence
from typing import Any, Final

import msgspec
from msgspec import Struct
from msgspec.structs import asdict, replace

from toolwire.core.event import Finished, Stamped
from toolwire.core.ports import Append, Op, Put, Store
from toolwire.core.result import Result
from toolwire.engine.record import Record, status_of
from toolwire.engine.recorder import Recorder
from toolwire.wire.answers.records import AuditEntry
from toolwire.wire.rest import rfc3339

FIRST: Final = "0" * 64
"""What stands for the entry before the first one."""
_PAGE = 100


class _Head(Struct, frozen=True):
    """The end of an owner's chain."""

    seq: int
    hash: str


_encode = msgspec.json.Encoder().encode
_canonical = msgspec.json.Encoder(order="deterministic").encode
_decode = msgspec.json.Decoder(list[AuditEntry]).decode
_decode_head = msgspec.json.Decoder(_Head).decode


class Audit:
    """The chains of all owners. Call `load` before anything else, and have the engine tell it of calls.

    Args:
        store: keeps the chains.
        recorder: writes them.
        bodies: whether what calls say is kept, too.
    """

    def __init__(self, store: Store, recorder: Recorder, bodies: bool) -> None:
        self._store = store
        self._recorder = recorder
        self._bodies = bodies
        self._heads: dict[str, _Head] = {}
        self._open: dict[str, _Segment] = {}

    async def load(self) -> None:
        """Read where every chain ends.

        Raises:
            StoreUnavailable: the store cannot be read.
        """
        after = ""
        while rows := await self._store.scan("audit_head", None, after, _PAGE):
            for row in rows:
                self._heads[row.key] = _decode_head(row.value)
            after = rows[-1].key

    def observe(self, record: Record) -> None:
        """A call begins; see `engine.Engine.observers`."""

        def hear(stamped: Stamped) -> None:
            if isinstance(stamped.event, Finished):
                self._note(record, stamped.event.result)

        record.listen(hear)

    async def read(self, owner: str, after: int = 0) -> AsyncGenerator[AuditEntry]:
        """An owner's entries with a higher number than `after`, in order.

        Raises:
            StoreUnavailable: the store cannot be read.
        """
        await self._recorder.caught_up()
        row_seq = 0
        while rows := await self._store.read(_stream(owner), row_seq, _PAGE):
            for row in rows:
                for entry in _decode(row.value):
                    if entry.seq > after:
                        yield entry
            row_seq = rows[-1].seq

    async def end(self, owner: str) -> int:
        """The number of an owner's last entry; 0 where there is none."""
        await self._recorder.caught_up()
        return self._heads.get(owner, _Head(0, FIRST)).seq

    def _note(self, record: Record, result: Result) -> None:
        owner = record.call.caller.owner
        segment = self._open.get(owner)
        if segment is None:
            segment = self._open[owner] = _Segment()
            self._recorder.add(lambda: self._ops_of(owner, segment))
        segment.ended.append((record, result))

    def _ops_of(self, owner: str, segment: "_Segment") -> Sequence[Op]:
        """What writes a segment down; the same again when the store is tried again."""
        if segment.ops is None:
            if self._open.get(owner) is segment:
                del self._open[owner]
            head = self._heads.get(owner, _Head(0, FIRST))
            entries: list[AuditEntry] = []
            for record, result in segment.ended:
                entry = sealed(self._entry(head.seq + 1, record, result), head.hash)
                entries.append(entry)
                head = _Head(entry.seq, entry.hash)
            segment.ops = (
                Append(_stream(owner), _encode(entries)),
                Put("audit_head", owner, owner, _encode(head)),
            )
            self._heads[owner] = head
            segment.ended.clear()
        return segment.ops

    def _entry(self, seq: int, record: Record, result: Result) -> AuditEntry:
        call = record.call
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
            None if key is None else _digest(key),
            call.parent,
            call.arguments if kept else None,
            msgspec.json.decode(_canonical(said)) if kept else None,
        )


class _Segment:
    """Entries that go into one row."""

    def __init__(self) -> None:
        self.ended: list[tuple[Record, Result]] = []
        self.ops: Sequence[Op] | None = None


def sealed(entry: AuditEntry, previous: str) -> AuditEntry:
    """An entry at its place in the chain, after the one with the hash `previous`."""
    return replace(entry, previous=previous, hash=_hash_of(entry, previous))


def hash_of(entry: AuditEntry) -> str:
    """What `hash` of an entry must be."""
    return _hash_of(entry, entry.previous)


def _hash_of(entry: AuditEntry, previous: str) -> str:
    held = asdict(entry)
    held["previous"] = previous
    del held["hash"]
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


def _stream(owner: str) -> str:
    return f"audit:{owner}"


def _digest(value: Any) -> str:
    try:
        return hashlib.sha256(_canonical(value)).hexdigest()
    except (TypeError, ValueError, RecursionError):
        return ""
