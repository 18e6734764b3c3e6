"""A group of waiting transactions as one commit; it does not know threads, event loops or who waits.

`settle` gives every ticket its outcome. A conflict is one ticket's own; a failing disk is everybody's; a value that
SQLite refuses (a key that is not Unicode, a number beyond 64 bits) is its ticket's own again, found by writing the
others without it.
"""

import math
import sqlite3
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias

import msgspec
from msgspec import Struct

from toolwire.adapters.database import unavailable
from toolwire.adapters.plan import Effects, Plan
from toolwire.adapters.queries import SQL, for_rows
from toolwire.core.errors import StoreConflict, StoreUnavailable
from toolwire.core.ports import Clock, Leased, Op

STATEMENT_ROWS = (1, 4, 8, 16, 32, 64, 256)
"""How many rows the prepared statements take; the last places of one may stay empty."""
_EMPTY = math.nan
"""What stands in an empty place: SQLite keeps it as NULL. `None` does the same, but the driver looks for an adapter for
each of them, at ten times the cost."""

_PAIRS = msgspec.json.Decoder(list[tuple[int, int]])


class Claim(Struct, frozen=True):
    """`Store.claim`, waiting for its turn."""

    queue: str
    worker: str
    n: int
    lease_s: float


class Sweep(Struct, frozen=True):
    """A part of `Store.sweep`: up to `limit` records, so that nobody waits long behind it."""

    limit: int


class Apply(Struct, frozen=True):
    """Nothing but to have the database take what was done before."""


APPLY = Apply()

Work: TypeAlias = tuple[Op, ...] | Claim | Sweep | Apply


class Ticket:
    """One piece of work for the writer, and what became of it: `error`, or `result`."""

    __slots__ = ("error", "result", "work")

    def __init__(self, work: Work) -> None:
        self.work = work
        self.result: Any = None
        self.error: Exception | None = None


def settle(connection: sqlite3.Connection, tickets: Sequence[Ticket], clock: Clock, path: Path) -> None:
    """Write what `tickets` ask for, in order and in one commit, and note in each how it went; never raises."""
    try:
        _commit(connection, tickets, clock.now())
    except Exception as error:  # noqa: BLE001 - whatever it is, those who wait must be told
        roll_back(connection)
        if (failure := unavailable(error, path)) is not None:
            # The cause has no traceback: that would keep our frames, with all that was to be written, in a cycle which
            # an idle process does not collect for a long time.
            failure.__cause__ = error.with_traceback(None)
            tell_all(tickets, failure)
        elif len(tickets) == 1:
            refused = ValueError(f"the store cannot hold this batch: {error}")
            refused.__cause__ = error.with_traceback(None)
            tickets[0].error = refused
        else:
            for ticket in tickets:
                settle(connection, [ticket], clock, path)


def tell_all(tickets: Sequence[Ticket], failure: StoreUnavailable) -> None:
    """Nothing was written, for a reason that is everybody's; each gets an error for a traceback of its own."""
    for ticket in tickets:
        ticket.error = StoreUnavailable(failure.message, told=failure.told)
        ticket.error.__cause__ = failure.__cause__


def roll_back(connection: sqlite3.Connection) -> None:
    """End the transaction that is open, if one is, without an effect."""
    if connection.in_transaction:  # SQLite has ended it already after some errors
        try:
            connection.execute("ROLLBACK")
        except sqlite3.Error:
            return  # the next BEGIN says what is wrong


def _commit(connection: sqlite3.Connection, tickets: Sequence[Ticket], now: float) -> None:
    connection.execute("BEGIN IMMEDIATE")
    batches: list[tuple[Ticket, tuple[Op, ...]]] = []
    for ticket in tickets:
        match ticket.work:
            case Claim() as claim:
                _transact(connection, batches, now)  # a claim sees what was enqueued before it
                batches = []
                ticket.result = _claim(connection, claim, now)
            case Sweep(limit):
                _transact(connection, batches, now)
                batches = []
                ticket.result = connection.execute(SQL["sweep_records"], (now, limit)).rowcount
            case Apply():
                pass
            case ops:
                batches.append((ticket, ops))
    _transact(connection, batches, now)
    connection.execute("COMMIT")


def _claim(connection: sqlite3.Connection, claim: Claim, now: float) -> list[Leased]:
    until = now + claim.lease_s
    parameters = (until, claim.worker, claim.queue, now, now, max(claim.n, 0))
    found: list[tuple[float, int, str, bytes, int]] = connection.execute(SQL["claim_work"], parameters).fetchall()
    return [Leased(claim.queue, its_id, body, attempts, until) for _, _, its_id, body, attempts in sorted(found)]


def _transact(connection: sqlite3.Connection, batches: Sequence[tuple[Ticket, tuple[Op, ...]]], now: float) -> None:
    plan = Plan()
    decide(connection, plan, batches, now)
    write(connection, plan.effects)


def decide(
    connection: sqlite3.Connection, plan: Plan, batches: Sequence[tuple[Ticket, tuple[Op, ...]]], now: float
) -> None:
    """Add the transactions of a group to `plan`, and note in the ticket of each whether it conflicts."""
    records, streams = plan.unknown((ops for _, ops in batches), now)
    identities = list(records)
    versions = _lookup(connection, "versions", [(*identity, then) for identity, then in records.items()])
    last_seqs = _lookup(connection, "last_seqs", [(stream,) for stream in streams])
    plan.begin(
        dict.fromkeys(identities, 0) | {identities[place]: version for place, version in versions},
        dict.fromkeys(streams, 0) | {streams[place]: seq for place, seq in last_seqs},
        now,
    )
    for ticket, ops in batches:
        try:
            plan.add(ops)
        except StoreConflict as conflict:
            ticket.error = conflict
        else:
            ticket.error = None  # the group may have been tried before


def _lookup(
    connection: sqlite3.Connection, name: str, keys: Sequence[tuple[str | float, ...]]
) -> Iterator[tuple[int, int]]:
    """Pairs of a key's place in `keys` and the number found for it; a key with none is left out."""
    numbered = [(place, *key) for place, key in enumerate(keys)]
    for cursor in _with_rows(connection, name, numbered):
        yield from _PAIRS.decode(cursor.fetchone()[0])


def write(connection: sqlite3.Connection, effects: Effects) -> None:
    """Write what was planned, into the transaction that is open."""
    steps: tuple[tuple[str, Sequence[tuple[Any, ...]]], ...] = (
        ("delete_records", list(effects.deleted)),
        ("put_records", list(effects.put.values())),
        ("drop_streams", [(stream,) for stream in effects.dropped]),
        ("append_rows", list(chain.from_iterable(effects.appended.values()))),
        ("delete_work", list(effects.acked)),
        ("put_work", list(effects.enqueued.values())),
        ("give_back_work", list(effects.given_back.values())),
        ("put_next_records", list(effects.put_next.values())),
    )
    for name, rows in steps:
        for _ in _with_rows(connection, name, rows):
            pass


def _with_rows(connection: sqlite3.Connection, name: str, rows: Sequence[tuple[Any, ...]]) -> Iterator[sqlite3.Cursor]:
    """Execute the query `name` for all of `rows`, as few times as that takes."""
    largest = STATEMENT_ROWS[-1]
    for start in range(0, len(rows), largest):
        part = rows[start : start + largest]
        size = next(size for size in STATEMENT_ROWS if size >= len(part))
        parameters = list(chain.from_iterable(part))
        parameters += [_EMPTY] * (len(part[0]) * (size - len(part)))
        yield connection.execute(for_rows(name, size), parameters)
