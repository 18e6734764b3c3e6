"""What transactions come to that the database does not have yet, worked out in memory; it does not talk to a database.

Only their net effect is written, one commit for many of them. Which of them conflict is decided here, against the
versions and the last rows that the database has, before anything is written: a conflict leaves nothing to undo, and the
effect of hundreds of transactions is a handful of statements (`Effects`). Few statements matter more than they seem to:
each one gives up the interpreter lock and has to win it back from a busy event loop.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, TypeAlias

from toolwire.core.errors import StoreConflict
from toolwire.core.ports import Ack, Append, Del, Drop, Enqueue, Nack, Op, Put

Identity: TypeAlias = tuple[str, str, str]
"""Kind, owner and key of a record."""
WorkId: TypeAlias = tuple[str, str]
"""Queue and id of an entry."""

MAX_SEQ: Final = 2**63
"""Beyond this the database has no number for a row."""


class Effects:
    """What to write: first the deletions, then the rest. Each row is in the order of its query's columns.

    `put` has a version for each record. `put_next` is for those whose version was not looked up: how much higher it is
    to be than that of whatever is there, and when (Unix seconds) that must not have expired to count.
    """

    def __init__(self) -> None:
        self.deleted: dict[Identity, None] = {}
        self.put: dict[Identity, tuple[str, str, str, int, float | None, bytes]] = {}
        self.put_next: dict[Identity, tuple[str, str, str, int, float | None, bytes, float]] = {}
        self.dropped: dict[str, None] = {}
        self.appended: dict[str, list[tuple[str, int, bytes]]] = {}
        self.acked: dict[WorkId, None] = {}
        self.enqueued: dict[WorkId, tuple[str, str, float, bytes]] = {}
        self.given_back: dict[WorkId, tuple[str, str, float]] = {}

    def concern(self, identity: Identity) -> bool:
        """Whether the database is to have another record there than it has."""
        return identity in self.put_next or identity in self.put or identity in self.deleted


class Plan:
    """Takes groups of transactions in order, and adds up their effects.

    For each group: ask what is `unknown`, look it up, and `begin`; then `add` its transactions.
    """

    def __init__(self) -> None:
        self._versions: dict[Identity, int] = {}
        self._last_seqs: dict[str, int] = {}
        self._now = 0.0
        self.effects = Effects()

    def unknown(self, batches: Iterable[Sequence[Op]], now: float) -> tuple[dict[Identity, float], list[str]]:
        """The records and the streams of which the database's state decides about the next group.

        Not so that of a record which is put or removed whatever it is: the statement that does it finds out.

        Returns:
            For each record when (Unix seconds) it must not have expired to count; and the streams.

        Raises:
            ValueError: the database may not be able to hold something of the group.
        """
        put, deleted, last_seqs = self.effects.put, self.effects.deleted, self._last_seqs
        records: dict[Identity, float] = {}
        streams: dict[str, None] = {}
        for ops in batches:
            for op in ops:
                if type(op) is Put or type(op) is Del:
                    if op.expect is not None:
                        identity = (op.kind, op.owner, op.key)
                        if identity not in put and identity not in deleted:
                            pending = self.effects.put_next.get(identity)
                            records[identity] = now if pending is None else pending[6]
                elif type(op) is Append:
                    if op.stream not in last_seqs:
                        streams[op.stream] = None
                    if op.seq is not None and op.seq >= MAX_SEQ:
                        raise ValueError(f"{op.seq} has more than 64 bits")
                elif (type(op) is Enqueue or type(op) is Nack) and op.due != op.due:
                    raise ValueError(f"{op.id!r} is due at a time that is not a number")
        return records, list(streams)

    def begin(self, versions: Mapping[Identity, int], last_seqs: Mapping[str, int], now: float) -> None:
        """Begin a group.

        Args:
            versions: the versions in the database of the records that were `unknown`, 0 for one that is absent or has
                expired.
            last_seqs: the last rows there of the streams that were, 0 for one that is empty.
            now: Unix seconds; what expires at `now` or before is absent.
        """
        effects, self._now = self.effects, now
        self._versions = dict(versions)
        self._last_seqs.update(last_seqs)
        for identity in self._versions.keys() & effects.put_next.keys():
            kind, owner, key, higher, expires_at, value, _ = effects.put_next.pop(identity)
            effects.put[identity] = (kind, owner, key, versions[identity] + higher, expires_at, value)

    def add(self, ops: Sequence[Op]) -> None:
        """Add one transaction.

        Raises:
            StoreConflict: the transaction has no effect at all.
        """
        for op in ops:
            if (type(op) is Put or type(op) is Del) and op.expect is not None:
                self._check(ops)
                break
            if type(op) is Append and op.seq is not None:
                self._check(ops)
                break
        for op in ops:
            self._note(op)

    def _check(self, ops: Sequence[Op]) -> None:
        """Go through a transaction without noting anything, for a conflict."""
        versions: dict[Identity, int | None] = {}
        last_seqs: dict[str, int] = {}
        for op in ops:
            if type(op) is Put or type(op) is Del:
                identity = (op.kind, op.owner, op.key)
                version = versions[identity] if identity in versions else self._version(identity)
                if op.expect is not None and op.expect != version:
                    raise StoreConflict(
                        f"{op.kind} {op.key!r} is at version {version}, not {op.expect}: read it and decide again"
                    )
                lasts = type(op) is Put and (op.expires_at is None or op.expires_at > self._now)
                versions[identity] = 0 if not lasts else None if version is None else version + 1
            elif type(op) is Append:
                last = last_seqs[op.stream] if op.stream in last_seqs else self._last_seqs.get(op.stream, 0)
                if op.seq is not None and op.seq <= last:
                    raise StoreConflict(f"stream {op.stream!r} is at {last}, not before {op.seq}: read what is there")
                last_seqs[op.stream] = last + 1 if op.seq is None else op.seq
            elif type(op) is Drop:
                last_seqs[op.stream] = 0

    def _version(self, identity: Identity) -> int | None:
        """The version that a record has by now; `None` where nothing depends on it, for then it was not looked up."""
        if (row := self.effects.put.get(identity)) is not None:
            return 0 if row[4] is not None and row[4] <= self._now else row[3]
        if (row := self.effects.put_next.get(identity)) is not None and row[4] is not None and row[4] <= self._now:
            return 0
        return 0 if identity in self.effects.deleted else self._versions.get(identity)

    def _note(self, op: Op) -> None:
        effects = self.effects
        if type(op) is Put:
            identity = kind, owner, key = (op.kind, op.owner, op.key)
            version = self._version(identity)
            if version is None:
                before = effects.put_next.get(identity)
                higher, since = (1, self._now) if before is None else (before[3] + 1, before[6])
                effects.put_next[identity] = (kind, owner, key, higher, op.expires_at, op.value, since)
            else:
                effects.deleted.pop(identity, None)
                effects.put_next.pop(identity, None)
                effects.put[identity] = (kind, owner, key, version + 1, op.expires_at, op.value)
        elif type(op) is Del:
            identity = (op.kind, op.owner, op.key)
            effects.put.pop(identity, None)
            effects.put_next.pop(identity, None)
            effects.deleted[identity] = None
        elif type(op) is Append:
            seq = self._last_seqs.get(op.stream, 0) + 1 if op.seq is None else op.seq
            self._last_seqs[op.stream] = seq
            effects.appended.setdefault(op.stream, []).append((op.stream, seq, op.value))
        elif type(op) is Drop:
            self._last_seqs[op.stream] = 0
            effects.appended.pop(op.stream, None)
            effects.dropped[op.stream] = None
        elif type(op) is Enqueue or type(op) is Ack or type(op) is Nack:
            self._note_work(op)

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
