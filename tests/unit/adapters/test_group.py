"""What becomes of the tickets of a group when the database cannot do what it should."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from toolwire.adapters.clock import SystemClock
from toolwire.adapters.database import open_for_writing
from toolwire.adapters.group import Claim, Sweep, Ticket, settle
from toolwire.core.errors import StoreConflict, StoreUnavailable
from toolwire.core.ports import Append, Enqueue, Put


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


@pytest.fixture
def connection(path: Path) -> Iterator[sqlite3.Connection]:
    connection = open_for_writing(path, max_bytes=200_000)
    yield connection
    connection.close()


def tickets_of_every_sort() -> list[Ticket]:
    return [
        Ticket((Append("s", b"1"), Enqueue("q", "w", 0.0, b""))),
        Ticket((Put("call", "", "k", b"", expect=1),)),
        Ticket(Claim("q", "me", 1, 60)),
        Ticket(Sweep(10)),
        Ticket((Append("s", b"2"),)),
    ]


def test_one_commit_settles_tickets_of_every_sort_in_order(path: Path, connection: sqlite3.Connection):
    before = open_for_writing(path)
    tickets = tickets_of_every_sort()
    version = before.execute("PRAGMA data_version").fetchone()

    settle(connection, tickets, SystemClock(), path)

    assert [type(ticket.error) for ticket in tickets] == [type(None), StoreConflict, type(None), type(None), type(None)]
    assert [work.id for work in tickets[2].result] == ["w"]
    assert tickets[3].result == 0
    assert before.execute("PRAGMA data_version").fetchone() != version
    assert before.execute("SELECT seq, value FROM rows").fetchall() == [(1, b"1"), (2, b"2")]
    before.close()


def test_a_full_disk_is_everybodys_even_of_one_who_conflicts_with_what_was_not_written(
    path: Path, connection: sqlite3.Connection
):
    tickets = [
        Ticket((Put("call", "", "k", b"", expect=0),)),
        Ticket((Put("call", "", "k", b"", expect=0),)),
        Ticket((Put("call", "", "large", b"x" * 300_000),)),
    ]

    settle(connection, tickets, SystemClock(), path)

    assert [type(ticket.error) for ticket in tickets] == [StoreUnavailable] * 3
    assert {str(ticket.error) for ticket in tickets} == {
        f"the disk of '{path}' is full: free some space and try again (SQLITE_FULL)"
    }
    retry = Ticket((Put("call", "", "k", b"", expect=0),))
    settle(connection, [retry], SystemClock(), path)
    assert retry.error is None


def test_a_read_only_database_is_refused_with_what_to_do(path: Path, connection: sqlite3.Connection):
    read_only = sqlite3.connect(f"file:{path}?mode=ro", uri=True, isolation_level=None)
    tickets = tickets_of_every_sort()

    settle(read_only, tickets, SystemClock(), path)
    read_only.close()

    assert {str(ticket.error) for ticket in tickets} == {
        f"cannot write '{path}': make the file and its directory writable for this user (SQLITE_READONLY)"
    }


def test_a_database_that_another_program_keeps_locked_is_refused_with_what_to_do(
    path: Path, connection: sqlite3.Connection
):
    connection.execute("PRAGMA busy_timeout = 0")
    other = open_for_writing(path)
    other.execute("BEGIN IMMEDIATE")
    ticket = Ticket((Append("s", b""),))

    settle(connection, [ticket], SystemClock(), path)
    other.execute("ROLLBACK")
    other.close()

    assert isinstance(ticket.error, StoreUnavailable)
    assert "another program keeps" in ticket.error.message
    again = Ticket((Append("s", b""),))
    settle(connection, [again], SystemClock(), path)
    assert again.error is None


def test_a_ticket_that_sqlite_refuses_does_not_stop_the_others(path: Path, connection: sqlite3.Connection):
    tickets = [*tickets_of_every_sort(), Ticket((Append("\ud800", b""),))]

    settle(connection, tickets, SystemClock(), path)

    assert isinstance(tickets[-1].error, ValueError)
    assert isinstance(tickets[1].error, StoreConflict)
    assert [ticket.error for ticket in tickets[2:-1]] == [None, None, None]
    assert [work.attempts for work in tickets[2].result] == [1]
    assert connection.execute("SELECT seq, value FROM rows").fetchall() == [(1, b"1"), (2, b"2")]


def test_hundreds_of_rows_of_every_sort_go_in_at_once(path: Path):
    connection = open_for_writing(path)
    for count in (1, 2, 5, 17, 65, 256, 257, 700):
        ops = [
            op
            for n in range(count)
            for op in (
                Put("call", "", f"{count}:{n}", b""),
                Append(f"{count}", b""),
                Enqueue("q", f"{count}:{n}", 0, b""),
            )
        ]
        ticket = Ticket(tuple(ops))
        settle(connection, [ticket], SystemClock(), path)
        assert ticket.error is None

    written = 1 + 2 + 5 + 17 + 65 + 256 + 257 + 700
    for table in ("records", "rows", "work"):
        assert connection.execute(f"SELECT count(*) FROM {table}").fetchone() == (written,)
    connection.close()
