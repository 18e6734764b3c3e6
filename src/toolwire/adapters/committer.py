"""Makes groups of transactions durable on the cheaper of two ways; it does not know threads, event loops or who waits.

*Logged*: a small group goes into the redo log (`redo`), and into a plan (`plan`) of what the database is still to get.
*Directly*: all else is one commit of the database (`group`), which gets what was planned first.

What was logged is as good as committed, except that the database does not show it: whoever reads there has the plan
applied first, if it concerns what is read. It is also applied when the log is full, and when nothing is to be done.
Nobody waits until that commit is on the disk, because the log has it all until then; only the commit after it does. A
log that a crash has left is applied when the database is opened.

Transactions are logged only while the database is known to take what they bring. Should it refuse all the same, the
plan stays, nothing more is taken before the database has it, and after a restart the log still holds it.
"""

import logging
import os
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from toolwire.adapters.database import unavailable
from toolwire.adapters.group import Ticket, decide, roll_back, settle, tell_all, write
from toolwire.adapters.plan import Identity, Plan
from toolwire.adapters.queries import SQL
from toolwire.adapters.redo import RedoLog, new_generation
from toolwire.adapters.wal_sync import WalSync
from toolwire.core.errors import StoreConflict, StoreUnavailable
from toolwire.core.ports import Clock

logger = logging.getLogger("toolwire.store")

MAX_LOGGED_BYTES: Final = 512 * 1024
"""Of a group (`writer.size_of`): a larger one costs the database little a transaction, and would fill the log."""
MIN_ROOM_BYTES: Final = 64 * 2**20
"""What must be left on the disk, or of the size that the database may have, to log anything."""


class Committer:
    """Commits to one database, from one thread at a time.

    Args:
        connection: the writing connection.
        path: where the database is.
        clock: says what has expired.
        max_bytes: what its size is limited to; `None` for the disk.

    Raises:
        StoreUnavailable: its write-ahead log cannot be opened.

    Attributes:
        behind: there is something that the database does not have yet. Read from any thread, as is `concerns`.
    """

    def __init__(self, connection: sqlite3.Connection, path: Path, clock: Clock, max_bytes: int | None = None) -> None:
        self._connection = connection
        self._path = path
        self._clock = clock
        self._max_bytes = max_bytes
        self._plan = Plan()
        self._redo = RedoLog(path)
        try:
            self._wal = WalSync(path)
        except OSError as error:
            raise StoreUnavailable(f"the log of {str(path)!r} cannot be opened: {error.strerror}") from error
        self._logs = True
        self._is_strict = True
        self._trusts_database = False
        self._broken: StoreUnavailable | None = None
        self.behind = False

    def recover(self) -> None:
        """Apply what a process that did not close the database has left in the log.

        Raises:
            StoreUnavailable: the log cannot be read, or the database does not take what it holds; all files are closed.
        """
        try:
            self._read_log()
            self.apply(durably=True)
        except StoreUnavailable:
            self._let_go()
            raise
        self._trusts_database = self._has_room()

    def concerns(self, identity: Identity) -> bool:
        """Whether the database has another record there than it is to have."""
        return self.behind and self._plan.effects.concern(identity)

    def distrust(self) -> None:
        """The database was found to be faulty: log nothing before it has taken something again. From any thread."""
        self._trusts_database = False

    def settle(self, tickets: Sequence[Ticket], size: int) -> None:
        """Make durable what `tickets` ask for, in order, and note in each how it went; never raises.

        Args:
            tickets: the group.
            size: about how many bytes it holds.
        """
        if self._logs and self._trusts_database and size <= MAX_LOGGED_BYTES and self._log(tickets):
            return
        try:
            self.apply()
            self._be_strict(True)
        except StoreUnavailable as failure:
            tell_all(tickets, failure)
            return
        settle(self._connection, tickets, self._clock, self._path)
        if not self._trusts_database:
            failed = any(isinstance(ticket.error, StoreUnavailable) for ticket in tickets)
            self._trusts_database = not failed and self._has_room()

    def apply(self, *, durably: bool = False) -> None:
        """Have the database take what was planned.

        Args:
            durably: come back when the disk has it, too, as the log is not to be relied on.

        Raises:
            StoreUnavailable: it does not; the plan stays.
        """
        if not self.behind:
            self._plan = Plan()  # what it knows of the database counts no longer than nobody else writes there
            return
        if self._broken is not None:
            raise self._broken
        generation = new_generation()
        self._be_strict(durably)
        try:
            self._wal.wait()  # for the commit before, of which the log is about to be given up
            self._connection.execute("BEGIN IMMEDIATE")
            write(self._connection, self._plan.effects)
            self._connection.execute(SQL["set_generation"], (generation,))
            self._connection.execute("COMMIT")
        except Exception as error:  # whatever it is, it must not end the thread
            roll_back(self._connection)
            self._trusts_database = False
            raise self._failure(error) from error
        self._redo.begin(generation)
        self._plan, self.behind = Plan(), False
        if not durably:
            self._wal.begin()
        self._trusts_database = self._has_room()

    def _be_strict(self, strict: bool) -> None:
        """Whether the next commit comes back when the disk has it.

        Raises:
            StoreUnavailable: the database does not even take that.
        """
        if strict == self._is_strict:
            return
        try:
            self._connection.execute(f"PRAGMA synchronous = {'FULL' if strict else 'NORMAL'}")
        except sqlite3.Error as error:
            roll_back(self._connection)
            raise self._failure(error) from error
        self._is_strict = strict

    def close(self) -> None:
        """Apply what was planned, and let go of the files; what the database refuses stays in the log."""
        try:
            self.apply(durably=True)
            self._wal.wait()
            self._redo.remove()
        except StoreUnavailable as failure:
            logger.error("what was written last stays in the redo log until the next start: %s", failure.message)
        except OSError as error:
            logger.warning("the redo log of %s cannot be removed: %s", self._path, error)
        self._let_go()
        self._connection.close()

    def _let_go(self) -> None:
        self._redo.close()
        self._wal.close()

    def _read_log(self) -> None:
        try:
            self._wal.begin()  # whoever was here before may have left a commit that is not on the disk
            self._plan_again()
            self._wal.wait()
        except OSError as error:
            raise StoreUnavailable(f"the redo log of {str(self._path)!r} cannot be read: {error.strerror}") from error
        except StoreConflict as conflict:
            raise StoreUnavailable(
                f"the redo log beside {str(self._path)!r} is not of this database ({conflict.message}): restore both "
                "from one backup, or remove the log"
            ) from conflict
        except sqlite3.Error as error:
            raise self._failure(error) from error

    def _log(self, tickets: Sequence[Ticket]) -> bool:
        """Log a group; `False` says that it has to go the other way, and nothing has been done."""
        batches = [(ticket, work) for ticket in tickets if isinstance(work := ticket.work, tuple)]
        if len(batches) < len(tickets):
            return False
        now, works = self._clock.now(), [work for _, work in batches]
        try:
            record = self._redo.record_of(now, works)
            if not self._redo.has_room(record):
                self.apply()
                record = self._redo.record_of(now, works)
                if not (self._trusts_database and self._redo.has_room(record)):
                    return False
            decide(self._connection, self._plan, batches, now)
        except (ValueError, StoreUnavailable, sqlite3.Error):
            return False
        accepted = [work for ticket, work in batches if ticket.error is None]
        if not accepted:
            return True
        if len(accepted) < len(works):
            record = self._redo.record_of(now, accepted)
        self.behind = True
        try:
            self._redo.append(record)
        except OSError as error:
            self._do_without_log(tickets, error)
        return True

    def _do_without_log(self, tickets: Sequence[Ticket], error: OSError) -> None:
        """The log does not take a group that is planned already: the database takes all there is, or nothing of it."""
        logger.warning(
            "the redo log of %s cannot be written (%s): until the next start every commit is the database's own",
            self._path, error.strerror or error,
        )  # fmt: skip
        self._logs = False
        try:
            self.apply(durably=True)
        except StoreUnavailable as failure:
            self._plan = Plan()
            try:
                self._plan_again()
            except (OSError, sqlite3.Error, StoreConflict) as lost:
                self._broken = self._failure(lost)
            tell_all([ticket for ticket in tickets if ticket.error is None], failure)

    def _plan_again(self) -> None:
        """Plan what the log holds."""
        generation = self._connection.execute(SQL["get_generation"]).fetchone()[0]
        for now, transactions in self._redo.read(generation):
            tickets = [(Ticket(tuple(ops)), tuple(ops)) for ops in transactions]
            decide(self._connection, self._plan, tickets, now)
            for ticket, _ in tickets:
                if ticket.error is not None:
                    raise ticket.error
        self.behind = self._redo.size > 0

    def _has_room(self) -> bool:
        """Whether there is so much room that the database will not be full before it is looked at again."""
        try:
            disk = os.statvfs(self._path.parent)
            left = disk.f_bavail * disk.f_frsize
            if self._max_bytes is not None:
                left = min(left, self._max_bytes - self._path.stat().st_size)
        except OSError:
            return False
        return left >= MIN_ROOM_BYTES

    def _failure(self, error: Exception) -> StoreUnavailable:
        return unavailable(error, self._path) or StoreUnavailable(
            f"{str(self._path)!r} does not take what its redo log holds: {error}",
            told="the store does not take what its log holds: ask whoever runs it to look at its log",
        )
