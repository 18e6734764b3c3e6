"""Which way groups become durable, and what becomes of those that were logged when the log or the database fails."""

import resource
import shutil
import sqlite3
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from toolwire.adapters.clock import SystemClock
from toolwire.adapters.committer import MAX_LOGGED_BYTES, MIN_ROOM_BYTES, Committer
from toolwire.adapters.database import open_for_reading, open_for_writing
from toolwire.adapters.group import APPLY, Claim, Ticket, Work
from toolwire.adapters.redo import CAPACITY, SUFFIXES
from toolwire.core.errors import StoreConflict, StoreUnavailable
from toolwire.core.ports import Append, Enqueue, Op, Put


@contextmanager
def committer_of(path: Path, max_bytes: int | None = None) -> Generator[Committer]:
    """A committer that is let go of as a killed process lets go: nothing is applied."""
    with closing(open_for_writing(path)) as connection:
        connection.execute("PRAGMA busy_timeout = 0")
        committer = Committer(connection, path, SystemClock(), max_bytes)
        committer.recover()
        yield committer


def settle(committer: Committer, *works: Work, size: int = 1000) -> list[Exception | None]:
    tickets = [Ticket(work) for work in works]
    committer.settle(tickets, size)
    return [ticket.error for ticket in tickets]


def appended(text: str) -> tuple[Op, ...]:
    return (Append("s", text.encode()),)


def in_database(path: Path) -> list[str]:
    with closing(open_for_reading(path)) as connection:
        return [value.decode() for (value,) in connection.execute("SELECT value FROM rows ORDER BY seq")]


@contextmanager
def locked(path: Path) -> Generator[None]:
    """Another program has the database."""
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


@contextmanager
def unwritable() -> Generator[None]:
    """No file takes anything, as on a disk that fails."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


def test_a_small_group_is_logged_and_the_database_gets_it_when_it_is_applied(path: Path):
    with committer_of(path) as committer:
        assert settle(committer, appended("a"), appended("b")) == [None, None]
        assert committer.behind
        assert in_database(path) == []

        assert settle(committer, APPLY) == [None]
        assert not committer.behind
        assert in_database(path) == ["a", "b"]


def test_what_was_logged_is_there_after_a_kill_once(path: Path):
    with committer_of(path) as committer:
        settle(committer, appended("a"))
        settle(committer, appended("b"), (Put("call", "", "k", b"1", expect=0),))

    with committer_of(path) as committer:
        assert in_database(path) == ["a", "b"]
        assert isinstance(settle(committer, (Put("call", "", "k", b"2", expect=0),))[0], StoreConflict)
        settle(committer, appended("c"))

    with committer_of(path):
        assert in_database(path) == ["a", "b", "c"]


def test_a_log_that_the_database_has_taken_is_not_applied_again(path: Path):
    with committer_of(path) as committer:
        settle(committer, appended("a"))
        logged = Path(f"{path}{SUFFIXES[0]}").read_bytes()
        committer.apply()
    Path(f"{path}{SUFFIXES[0]}").write_bytes(logged)

    with committer_of(path):
        assert in_database(path) == ["a"]


def test_a_commit_that_a_loss_of_power_has_undone_is_made_again_and_all_that_came_after_it(path: Path, tmp_path: Path):
    (lost := tmp_path / "lost").mkdir()
    with committer_of(path) as committer:
        settle(committer, appended("earlier"))
        committer.apply()
        settle(committer, appended("a"))
        for suffix in ("-wal", ""):  # as the disk has them: what is applied now is in the page cache alone
            shutil.copy(f"{path}{suffix}", lost)
        committer.apply()
        settle(committer, appended("b"), appended("c"))
        for suffix in SUFFIXES:
            shutil.copy(f"{path}{suffix}", lost)

    with committer_of(lost / "store.db"):
        assert in_database(lost / "store.db") == ["earlier", "a", "b", "c"]


def test_conflicts_are_decided_against_what_was_logged(path: Path):
    with committer_of(path) as committer:
        first = settle(
            committer, (Put("call", "", "k", b"1"),), (Put("call", "", "k", b"2", expect=0), Append("s", b""))
        )
        assert [type(error) for error in first] == [type(None), StoreConflict]
        assert settle(committer, (Put("call", "", "k", b"2", expect=1), *appended("second"))) == [None]
        assert isinstance(settle(committer, (Put("call", "", "k", b"3", expect=1),))[0], StoreConflict)

    with committer_of(path):
        assert in_database(path) == ["second"]


@pytest.mark.parametrize("work", [Claim("q", "me", 1, 60.0), (Put("call", "", "large", b"x" * MAX_LOGGED_BYTES),)])
def test_what_must_see_the_database_or_is_large_goes_there_after_what_was_logged(path: Path, work: Work):
    with committer_of(path) as committer:
        settle(committer, (Enqueue("q", "w", 0.0, b""), *appended("a")))
        ticket = Ticket(work)
        committer.settle([ticket], 1000 if isinstance(work, Claim) else MAX_LOGGED_BYTES + 1)

        assert ticket.error is None
        assert not committer.behind
        assert in_database(path) == ["a"]


def test_what_was_looked_up_for_a_group_that_conflicts_is_not_held_against_the_database_later(path: Path):
    with committer_of(path) as committer:
        settle(committer, (Put("call", "", "k", b""), *appended("a")), APPLY)
        assert isinstance(settle(committer, (Put("call", "", "k", b"", expect=0), *appended("no")))[0], StoreConflict)
        assert settle(committer, appended("b"), Claim("q", "me", 1, 60.0)) == [None, None]
        assert settle(committer, appended("c")) == [None]
        committer.apply()

        assert in_database(path) == ["a", "b", "c"]


def test_a_full_log_is_applied_before_it_takes_more(path: Path):
    with committer_of(path) as committer:
        count = 2 * CAPACITY // 100_000
        for number in range(count):
            assert settle(committer, (Put("call", "", f"{number}", b"x" * 100_000), *appended(f"{number}"))) == [None]

        assert Path(f"{path}{SUFFIXES[0]}").stat().st_size <= CAPACITY
        assert 0 < len(in_database(path)) < count
        committer.apply()
        assert len(in_database(path)) == count


def test_a_group_that_the_log_cannot_hold_at_all_goes_to_the_database(path: Path):
    with committer_of(path) as committer:
        assert settle(committer, (Put("call", "", "k" * CAPACITY, b""), *appended("a"))) == [None]
        assert in_database(path) == ["a"]


def test_where_there_is_little_room_the_database_decides_about_each_group(path: Path):
    with committer_of(path, max_bytes=MIN_ROOM_BYTES) as committer:
        settle(committer, appended("a"))
        assert in_database(path) == ["a"]


def test_a_log_that_cannot_be_read_is_refused(path: Path):
    Path(f"{path}{SUFFIXES[0]}").mkdir()

    with pytest.raises(StoreUnavailable, match=r"the redo log of '.*store.db' cannot be read"), committer_of(path):
        pass


def test_a_log_that_cannot_be_written_is_done_without(path: Path):
    with committer_of(path) as committer:
        Path(f"{path}{SUFFIXES[0]}").mkdir()

        assert settle(committer, appended("a"), (Put("call", "", "k", b"", expect=7),))[0] is None
        assert settle(committer, appended("b")) == [None]
        assert in_database(path) == ["a", "b"]


def test_what_neither_log_nor_database_takes_is_refused_and_not_written_later(path: Path):
    with committer_of(path) as committer:
        settle(committer, appended("logged"))
        log = Path(f"{path}{SUFFIXES[0]}")
        with locked(path), unwritable():
            refused = settle(committer, appended("refused"), (Put("call", "", "k", b"", expect=7),))
            assert [type(error) for error in refused] == [StoreUnavailable, StoreConflict]
            assert "another program keeps" in str(refused[0])
            assert settle(committer, appended("too")) != [None]

        assert log.exists()
        assert settle(committer, appended("again")) == [None]
        assert in_database(path) == ["logged", "again"]


def test_while_the_database_does_not_take_what_was_logged_nothing_more_is_taken(path: Path):
    with committer_of(path) as committer:
        settle(committer, (Put("call", "", "k", b""), *appended("a")))
        with locked(path):
            with pytest.raises(StoreUnavailable, match="another program keeps"):
                committer.apply()
            assert isinstance(settle(committer, appended("b"))[0], StoreUnavailable)
            assert committer.concerns(("call", "", "k"))
            assert not committer.concerns(("call", "", "other"))

        assert settle(committer, appended("c")) == [None]
        assert in_database(path) == ["a", "c"]


def test_what_the_database_does_not_take_at_the_end_stays_in_the_log(path: Path):
    connection = open_for_writing(path)
    connection.execute("PRAGMA busy_timeout = 0")
    committer = Committer(connection, path, SystemClock())
    committer.recover()
    settle(committer, appended("a"))
    with locked(path):
        committer.close()

    with committer_of(path):
        assert in_database(path) == ["a"]


def test_a_log_of_another_history_is_refused(path: Path, tmp_path: Path):
    with committer_of(path) as committer:
        settle(committer, appended("a"))
        committer.apply()
        (backup := tmp_path / "backup").mkdir()
        shutil.copy(f"{path}-wal", backup)
        shutil.copy(path, backup)
        settle(committer, (Put("call", "", "k", b"", expect=0),))
    with committer_of(backup / "store.db") as committer:
        settle(committer, (Put("call", "", "k", b"", expect=0),))
        committer.settle([Ticket(APPLY)], 0)
    with closing(sqlite3.connect(path)) as original, closing(sqlite3.connect(backup / "store.db")) as other:
        generation = original.execute("SELECT generation FROM redo").fetchone()
        other.execute("UPDATE redo SET generation = ?", generation)
        other.commit()
    for suffix in SUFFIXES:
        shutil.copy(f"{path}{suffix}", backup)

    with (
        pytest.raises(StoreUnavailable, match=r"is not of this database .* restore both from one backup"),
        committer_of(backup / "store.db"),
    ):
        pass
