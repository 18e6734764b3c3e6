"""What a group of transactions comes to, worked out in memory; it does not talk to a database.

A group becomes one commit, so only its net effect is written. Which transactions conflict is decided here, against
the versions and the last rows that the database has, before anything is written: a conflict leaves nothing to undo,
and the effect of hundreds of transactions is a handful of statements (`Effects`). Few statements matter more than
they seem to: each one gives up the interpreter lock and has to win it back from a busy event loop.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias, assert_never

from toolwire.core.errors import StoreConflict
from toolwire.core.ports import Ack, Append, Del, Drop, Enqueue, Nack, Op, Put

Identity: TypeAlias = tuple[str, str, str]
"""Kind, owner and key of a record."""
WorkId: TypeAlias = tuple[str, str]
"""Queue and id of an entry."""


def touched(batches: Iterable[Sequence[Op]]) -> tuple[list[Identity], list[str]]:
    """The records and the streams whose present state decides about the batches.

    Not so that of a record which is put or removed just once, whatever it is: the statement that does it finds out.
    """
    records: dict[Identity, None] = {}
    once: set[Identity] = set()
    streams: dict[str, None] = {}
    for ops in batches:
        for op in ops:
            if isinstance(op, (Put, Del)):
                identity = (op.kind, op.owner, op.key)
                if op.expect is not None or identity in once:
                    records[identity] = None
                once.add(identity)
            elif isinstance(op, Append):
                streams[op.stream] = None
    return list(records), list(streams)


class Effects:
    """What to write: first the deletions, then the rest. Each row is in the order of its query's columns.

    `put` has a version for each record; `put_next` is for those that get the one after whatever there is.
    """

    def __init__(self) -> None:
        self.deleted: dict[Identity, None] = {}
        self.put: dict[Identity, tuple[str, str, str, int, float | None, bytes]] = {}
        self.put_next: list[tuple[str, str, str, float | None, bytes]] = []
        self.dropped: dict[str, None] = {}
        self.appended: dict[str, list[tuple[str, int, bytes]]] = {}
        self.acked: dict[WorkId, None] = {}
        self.enqueued: dict[WorkId, tuple[str, str, float, bytes]] = {}
        self.given_back: dict[WorkId, tuple[str, str, float]] = {}


class Plan:
    """Takes transactions in order and adds up their effects.

    Args:
        versions: the versions of the `touched` records, 0 for one that is absent or has expired.
        last_seqs: the last rows of the `touched` streams; empty ones are left out.
        now: Unix seconds; what expires at `now` or before is absent.
    """

    def __init__(self, versions: Mapping[Identity, int], last_seqs: Mapping[str, int], now: float) -> None:
        self._versions = dict(versions)
        self._last_seqs = dict(last_seqs)
        self._now = now
        self.effects = Effects()

    def add(self, ops: Sequence[Op]) -> None:
        """Add one transaction.

        Raises:
            StoreConflict: the transaction has no effect at all.
        """
        numbers = self._decide(ops)
        for op, number in zip(ops, numbers, strict=True):
            self._note(op, number)

    def _decide(self, ops: Sequence[Op]) -> list[int]:
        """The version or `seq` that each operation gives, 0 where there is none; changes nothing if one conflicts."""
        versions: dict[Identity, int] = {}
        last_seqs: dict[str, int] = {}
        numbers: list[int] = []
        for op in ops:
            number = 0
            match op:
                case Put():
                    identity = (op.kind, op.owner, op.key)
                    if identity not in self._versions:
                        numbers.append(0)
                        continue
                    number = self._check_version(identity, versions.get(identity), op.expect) + 1
                    gone = op.expires_at is not None and op.expires_at <= self._now
                    versions[identity] = 0 if gone else number
                case Del():
                    identity = (op.kind, op.owner, op.key)
                    self._check_version(identity, versions.get(identity), op.expect)
                    versions[identity] = 0
                case Append():
                    number = self._check_seq(op, last_seqs.get(op.stream))
                    last_seqs[op.stream] = number
                case Drop():
                    last_seqs[op.stream] = 0
                case Enqueue() | Ack() | Nack():
                    pass
                case _:
                    assert_never(op)
            numbers.append(number)
        self._versions.update(versions)
        self._last_seqs.update(last_seqs)
        return numbers

    def _check_version(self, identity: Identity, version: int | None, expect: int | None) -> int:
        if version is None:
            version = self._versions.get(identity, 0)
        if expect is not None and expect != version:
            kind, _, key = identity
            raise StoreConflict(f"{kind} {key!r} is at version {version}, not {expect}: read it and decide again")
        return version

    def _check_seq(self, op: Append, last: int | None) -> int:
        if last is None:
            last = self._last_seqs.get(op.stream, 0)
        if op.seq is None:
            return last + 1
        if op.seq <= last:
            raise StoreConflict(f"stream {op.stream!r} is at {last}, not before {op.seq}: read what is there")
        return op.seq

    def _note(self, op: Op, number: int) -> None:
        effects = self.effects
        match op:
            case Put():
                identity = (op.kind, op.owner, op.key)
                if number == 0:
                    effects.put_next.append((*identity, op.expires_at, op.value))
                else:
                    effects.deleted.pop(identity, None)
                    effects.put[identity] = (*identity, number, op.expires_at, op.value)
            case Del():
                identity = (op.kind, op.owner, op.key)
                effects.put.pop(identity, None)
                effects.deleted[identity] = None
            case Append():
                effects.appended.setdefault(op.stream, []).append((op.stream, number, op.value))
            case Drop():
                effects.appended.pop(op.stream, None)
                effects.dropped[op.stream] = None
            case Enqueue() | Ack() | Nack():
                self._note_work(op)
            case _:
                assert_never(op)

    def _note_work(self, op: Enqueue | Ack | Nack) -> None:
        effects, work_id = self.effects, (op.queue, op.id)
        match op:
            case Enqueue():
                effects.given_back.pop(work_id, None)
                effects.enqueued[work_id] = (*work_id, op.due, op.body)
            case Ack():
                effects.given_back.pop(work_id, None)
                effects.enqueued.pop(work_id, None)
                effects.acked[work_id] = None
            case Nack():
                if new := effects.enqueued.get(work_id):
                    effects.enqueued[work_id] = (*work_id, op.due, new[3])
                else:  # after an Ack there is nothing to give back, and nothing is what the update will find
                    effects.given_back[work_id] = (*work_id, op.due)
