"""Opening a SQLite database of ours, and saying what is wrong with one; it does not read or write any rows."""

import fcntl
import os
import sqlite3
from contextlib import ExitStack
from importlib.resources import files
from pathlib import Path

from toolwire.core.errors import StoreUnavailable

BUSY_TIMEOUT_S = 5.0
"""How long another program (a backup, a database browser) may hold the file before we give up."""
CACHED_STATEMENTS = 128
"""More than the 13 queries times at most 7 sizes that a connection can meet."""
CACHED_KIB = 16 * 1024
"""What the writer keeps in memory of the database. SQLite's own 2 MB are less than what a minute of calls touches."""
CHECKPOINT_PAGES = 4000
"""How long the write-ahead log grows before it is taken over: a page that is written again and again until then is
copied once. Four times SQLite's own figure; a start after a kill reads the log in some 50 ms."""
MAX_IDLE_WAL_BYTES = 64 * 2**20
"""What the write-ahead log is cut down to after it had to grow beyond it."""

_MIGRATIONS = sorted(
    (entry for entry in files("toolwire.adapters").joinpath("migrations").iterdir() if entry.name.endswith(".sql")),
    key=lambda entry: entry.name,
)
SCHEMA_VERSION = len(_MIGRATIONS)
"""Kept in the file as `user_version`; file 00n.sql takes a database from version n-1 to n, and none goes back."""

_FULL = "the disk of {path} is full: free some space and try again"
_DENIED = "cannot write {path}: make the file and its directory writable for this user"
_CLOSED_OFF = "cannot open {path}: check that its directory exists and that this user may write there"
_LOCKED = "another program keeps {path} locked: close it (a database browser, a backup) and try again"
_DAMAGED = "{path} is damaged, or not a database: restore it from a backup, or choose another data directory"
_REASONS = {
    sqlite3.SQLITE_FULL: _FULL,
    sqlite3.SQLITE_READONLY: _DENIED,
    sqlite3.SQLITE_PERM: _DENIED,
    sqlite3.SQLITE_AUTH: _DENIED,
    sqlite3.SQLITE_CANTOPEN: _CLOSED_OFF,
    sqlite3.SQLITE_IOERR: "the disk of {path} failed: check the system's log, the space left and the quota",
    sqlite3.SQLITE_BUSY: _LOCKED,
    sqlite3.SQLITE_LOCKED: _LOCKED,
    sqlite3.SQLITE_PROTOCOL: _LOCKED,
    sqlite3.SQLITE_CORRUPT: _DAMAGED,
    sqlite3.SQLITE_NOTADB: _DAMAGED,
    sqlite3.SQLITE_NOMEM: "no memory left for {path}: close other programs, or give this one more",
}
"""What goes wrong with the machine rather than with what it was asked to write, by SQLite's primary result code."""


def unavailable(error: Exception, path: Path) -> StoreUnavailable | None:
    """What to tell the caller about an error of SQLite; `None` when it is about the caller's own values."""
    if not isinstance(error, sqlite3.Error):
        return None
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_OK)  # absent where the driver itself refuses
    reason = _REASONS.get(code & 0xFF)
    if reason is None:
        return None
    message = f"{reason.format(path=repr(str(path)))} ({error.sqlite_errorname})"
    return StoreUnavailable(message, told=reason.format(path="the store"))


def _cannot_open(path: Path, error: OSError) -> StoreUnavailable:
    return StoreUnavailable(f"{_CLOSED_OFF.format(path=repr(str(path)))} ({error.strerror})")


class FileLock:
    """Holds `<path>.lock` for this process, so that one process at a time opens the database.

    The lock goes with the process, however that ends; the file stays, and tells who had it last.

    Raises:
        StoreUnavailable: another process has it, or the directory cannot be written.
    """

    def __init__(self, path: Path) -> None:
        try:
            self._file = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise _cannot_open(path, error) from error
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = os.read(self._file, 32).decode("ascii", "replace").strip() or "unknown"
            os.close(self._file)
            if isinstance(error, BlockingIOError):
                message = f"process {holder} is using {str(path)!r}: stop it, or choose another data directory"
            else:
                message = f"cannot lock {str(path)!r}: {error.strerror}: choose a data directory on a local disk"
            raise StoreUnavailable(message) from error
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, f"{os.getpid()}\n".encode(), 0)

    def release(self) -> None:
        """Let another process have it."""
        os.close(self._file)


def open_for_writing(path: Path, max_bytes: int | None = None) -> sqlite3.Connection:
    """Open the database, made or brought to this version's schema if need be; its files are for this user alone.

    Args:
        path: the file; the lock beside it must be held.
        max_bytes: the size at which the database counts as full; `None` for the disk's.

    Raises:
        StoreUnavailable: it cannot be opened, or a newer Toolwire has written it.
    """
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))  # SQLite gives its other files the same mode
        with ExitStack() as on_failure:
            connection = _connect(path)
            on_failure.callback(connection.close)
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA temp_store = MEMORY")  # statements of many rows keep old pages, else in a file
            connection.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES}")
            connection.execute(f"PRAGMA cache_size = -{CACHED_KIB}")
            connection.execute(f"PRAGMA journal_size_limit = {MAX_IDLE_WAL_BYTES}")
            if max_bytes is not None:
                page_bytes = connection.execute("PRAGMA page_size").fetchone()[0]
                connection.execute(f"PRAGMA max_page_count = {max(max_bytes // page_bytes, 1)}")
            _migrate(connection, path)
            on_failure.pop_all()
        return connection
    except OSError as error:
        raise _cannot_open(path, error) from error
    except sqlite3.Error as error:
        raise unavailable(error, path) or StoreUnavailable(f"cannot open {str(path)!r}: {error}") from error


def open_for_reading(path: Path) -> sqlite3.Connection:
    """Open another connection, which sees what has been committed and writes nothing."""
    connection = _connect(path)
    connection.execute("PRAGMA query_only = ON")
    return connection


def _connect(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(
        path,
        timeout=BUSY_TIMEOUT_S,
        isolation_level=None,
        check_same_thread=False,  # one thread at a time is what the writer and the pool of readers see to
        cached_statements=CACHED_STATEMENTS,
    )


def _migrate(connection: sqlite3.Connection, path: Path) -> None:
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version > SCHEMA_VERSION:
        raise StoreUnavailable(
            f"{str(path)!r} was written by a newer Toolwire (schema {version}, this one knows {SCHEMA_VERSION}): "
            "install that version again, or choose another data directory"
        )
    for number, migration in enumerate(_MIGRATIONS[version:], start=version + 1):
        sql = migration.read_text("utf-8")
        connection.executescript(f"BEGIN IMMEDIATE;\n{sql}\nPRAGMA user_version = {number};\nCOMMIT;")
