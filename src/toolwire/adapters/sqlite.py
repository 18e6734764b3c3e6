"""The `Store` port on one SQLite file; it does not decide what is kept in it.

Writing goes through one thread (`writer`), a group of transactions at a time (`committer`): what `tx` has answered
survives a loss of power, in the database or in the redo log beside it. Reading happens beside it on connections of its
own, each time on the last commit, once the database has all that the reader might look for. One process at a time has
the file open.
"""

import sqlite3
from collections import deque
from collections.abc import Sequence
from contextlib import ExitStack
from os import PathLike
from pathlib import Path
from types import CoroutineType, TracebackType
from typing import Any, Self

from anyio import CancelScope, CapacityLimiter, Lock, to_thread

from toolwire.adapters.committer import Committer
from toolwire.adapters.database import FileLock, open_for_reading, open_for_writing, unavailable
from toolwire.adapters.group import APPLY, Claim, Sweep
from toolwire.adapters.queries import SQL
from toolwire.adapters.writer import MAX_WAITING_BYTES, Writer, size_of
from toolwire.core.errors import StoreUnavailable
from toolwire.core.ports import Clock, Leased, Op, Row, Stored

MAX_READERS = 4
"""Reads at the same time, each with a thread and a connection; the next one waits for one of them."""
SWEEP_LIMIT = 1000
"""Records removed in one go."""


class SqliteStore:
    """The `Store` port on a file. `open` makes one, and `async with` closes it; both on one event loop."""

    def __init__(self, lock: FileLock, writer: Writer, committer: Committer, path: Path, clock: Clock) -> None:
        self._lock: FileLock | None = lock
        self._writer = writer
        self._committer = committer
        self._path = path
        self._clock = clock
        self._limiter = CapacityLimiter(MAX_READERS)
        self._idle: deque[sqlite3.Connection] = deque()
        self._closing = Lock()
        self._closed = False

    @classmethod
    async def open(
        cls,
        path: str | PathLike[str],
        clock: Clock,
        *,
        max_bytes: int | None = None,
        max_waiting_bytes: int = MAX_WAITING_BYTES,
    ) -> Self:
        """Open the database, and make it if there is none; its directory must exist.

        Args:
            path: the file; `-wal`, `-shm`, `-redo-0`, `-redo-1` and `.lock` are added to its name for those beside it.
            clock: says what is due and what has expired; asked from several threads.
            max_bytes: the size at which the store counts as full; `None` for the disk's.
            max_waiting_bytes: what may wait to be written, before the next caller waits to hand in more.

        Raises:
            StoreUnavailable: another process has the file open, it cannot be opened or written, it is damaged, or a
                newer version has written it.
        """
        where, lock, committer = await to_thread.run_sync(_open, path, clock, max_bytes)
        return cls(lock, Writer(committer, where, max_waiting_bytes), committer, where, clock)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    def tx(self, ops: Sequence[Op]) -> "CoroutineType[Any, Any, None]":
        """Apply all of `ops` durably, or none; see `Store.tx`.

        Raises:
            StoreConflict: an `expect` or a `seq` did not hold.
            StoreUnavailable: the store is full, read-only, closed or broken.
            ValueError: SQLite has no room for a value, such as a key that is not Unicode; nothing was written.

        Cancellation: before there is room for it (`max_waiting_bytes`) the batch is not applied, afterwards it is.
        """
        return self._writer.do(tuple(ops), size_of(ops))

    async def get(self, kind: str, owner: str, key: str) -> Stored | None:
        """The record, or `None`; see `Store.get`."""
        if self._committer.concerns((kind, owner, key)):
            await self._writer.do(APPLY)
        rows = await self._read("get_record", (kind, owner, key, self._clock.now()))
        return Stored(*rows[0]) if rows else None

    async def scan(self, kind: str, owner: str | None, after: str = "", limit: int = 1000) -> Sequence[Stored]:
        """Records of a kind in key order; see `Store.scan`."""
        await self._catch_up()
        now, limit = self._clock.now(), max(limit, 0)
        if owner is None:
            rows = await self._read("scan_all", (kind, after, now, limit, kind, after, now))
        else:
            rows = await self._read("scan_owner", (kind, owner, after, now, limit))
        return [Stored(*row) for row in rows]

    async def read(self, stream: str, after: int = 0, limit: int = 1000) -> Sequence[Row]:
        """Rows of a stream after one of them; see `Store.read`."""
        await self._catch_up()
        return [Row(*row) for row in await self._read("read_rows", (stream, after, max(limit, 0)))]

    async def claim(self, queue: str, worker: str, n: int, lease_s: float) -> Sequence[Leased]:
        """Lease due entries; see `Store.claim`.

        Cancellation: entries may have been leased to a caller that does not learn of it; their lease lapses.
        """
        leased: list[Leased] = await self._writer.do(Claim(queue, worker, n, lease_s))
        return leased

    async def sweep(self) -> int:
        """Remove expired records for good, some at a time between other transactions; see `Store.sweep`."""
        removed = 0
        while True:
            part: int = await self._writer.do(Sweep(SWEEP_LIMIT))
            removed += part
            if part < SWEEP_LIMIT:
                return removed

    async def close(self) -> None:
        """Write what waits, then let go of the files; closing twice is fine.

        Raises:
            StoreUnavailable: the disk did not answer in time; the files stay open until it does.
        """
        self._closed = True
        with CancelScope(shield=True):  # bounded: by the writer's own time-out, and by reads that have begun
            async with self._closing:
                await self._writer.close()
                readers = [object() for _ in range(MAX_READERS)]
                for reader in readers:
                    await self._limiter.acquire_on_behalf_of(reader)
                self._let_go()
                for reader in readers:
                    self._limiter.release_on_behalf_of(reader)

    def _let_go(self) -> None:
        while self._idle:
            self._idle.pop().close()
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    async def _catch_up(self) -> None:
        """Have the database take what was logged."""
        if self._committer.behind:
            await self._writer.do(APPLY)

    async def _read(self, query: str, parameters: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        return await to_thread.run_sync(self._fetch, SQL[query], parameters, limiter=self._limiter)

    def _fetch(self, sql: str, parameters: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        """In a worker thread: all rows of one query, which sees one commit."""
        if self._closed:
            raise StoreUnavailable(f"the store {str(self._path)!r} is closed; open it again")
        try:
            connection = self._idle.pop() if self._idle else open_for_reading(self._path)
            try:
                return connection.execute(sql, parameters).fetchall()
            finally:
                self._idle.append(connection)
        except sqlite3.Error as error:
            failure = unavailable(error, self._path)
            if failure is None:
                raise ValueError(f"the store cannot hold such a key: {error}") from error
            self._committer.distrust()
            raise failure from error


def _open(path: str | PathLike[str], clock: Clock, max_bytes: int | None) -> tuple[Path, FileLock, Committer]:
    where = Path(path).absolute()  # readers open it again later, wherever the process stands by then
    with ExitStack() as on_failure:
        lock = FileLock(where)
        on_failure.callback(lock.release)
        connection = open_for_writing(where, max_bytes)
        on_failure.callback(connection.close)
        committer = Committer(connection, where, clock, max_bytes)
        committer.recover()
        on_failure.pop_all()
    return where, lock, committer
