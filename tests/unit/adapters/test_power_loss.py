"""A loss of power at any moment: what was answered is made again of what the disk has by then, once and in order.

The disk is modelled as slow as it may be. It has each record of the redo log when that was appended, a commit that was
made durably when that came back, and any other commit only when somebody has waited for it (`WalSync.wait`).
"""

import random
import shutil
from contextlib import closing
from pathlib import Path

import pytest

from toolwire.adapters import committer as committers
from toolwire.adapters.clock import SystemClock
from toolwire.adapters.committer import MAX_LOGGED_BYTES, Committer
from toolwire.adapters.database import open_for_writing
from toolwire.adapters.group import Claim, Ticket, Work
from toolwire.adapters.redo import SUFFIXES
from toolwire.adapters.wal_sync import WalSync
from toolwire.core.errors import StoreConflict
from toolwire.core.ports import Append, Del, Put


class Disk:
    """What would be left of the database at `path` if the power went now."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._folder = path.parent / "disk"
        self._folder.mkdir()

    def catch_up(self) -> None:
        for suffix in ("-wal", ""):
            shutil.copy(f"{self._path}{suffix}", self._folder / f"store.db{suffix}")

    def left(self, chance: random.Random) -> Path:
        """A copy; perhaps with a part of what SQLite has written since."""
        folder = self._path.parent / "left"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self._folder, folder)
        for suffix in SUFFIXES:
            if (file := Path(f"{self._path}{suffix}")).exists():
                shutil.copy(file, folder)
        on_disk, written = (folder / "store.db-wal").read_bytes(), Path(f"{self._path}-wal").read_bytes()
        if written.startswith(on_disk) and chance.random() < 0.5:
            (folder / "store.db-wal").write_bytes(written[: chance.randint(len(on_disk), len(written))])
        return folder / "store.db"


class Writer:
    """Numbered transactions: each appends its number, keeps it as a record, and removes a record of the one before."""

    def __init__(self, committer: Committer, chance: random.Random) -> None:
        self._committer = committer
        self._chance = chance
        self.answered = 0

    def write(self) -> bool:
        """Have a group made durable; says whether the database itself was told."""
        works: list[Work] = []
        for number in range(self.answered, self.answered + self._chance.choice((1, 1, 2, 5))):
            value = b"x" * self._chance.choice((10, 300, 3000))
            ops = [
                Append("s", b"%d" % number),
                Put("call", "", f"{number}", value, 0),
                Put("open", "", f"{number}", b""),
            ]
            works.append((*ops, Del("open", "", f"{number - 1}")))
            self.answered = number + 1
        if self._chance.random() < 0.2:
            works.append((Append("s", b"never"), Put("call", "", f"{self.answered - 1}", b"", 0)))
        directly = self._chance.random() < 0.1
        if directly:
            works.append(Claim("q", "me", 1, 60.0))
        tickets = [Ticket(work) for work in works]
        self._committer.settle(tickets, self._chance.choice((1000, MAX_LOGGED_BYTES + 1)) if directly else 1000)
        assert {type(ticket.error) for ticket in tickets} <= {type(None), StoreConflict}
        return directly


def recovered(path: Path) -> tuple[list[int], set[str], set[str]]:
    """What a database has after it was opened: its rows, its records, and those that the next one removes."""
    with closing(open_for_writing(path)) as connection:
        committer = Committer(connection, path, SystemClock())
        committer.recover()
        rows = [int(value) for (value,) in connection.execute("SELECT value FROM rows ORDER BY seq")]
        keys = {
            kind: {key for (key,) in connection.execute("SELECT key FROM records WHERE kind = ?", (kind,))}
            for kind in ("call", "open")
        }
        committer.close()
    return rows, keys["call"], keys["open"]


@pytest.mark.parametrize("seed", range(4))
def test_what_was_answered_survives_whenever_the_power_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int):
    chance, path = random.Random(seed), tmp_path / "store.db"
    disk = Disk(path)

    class LateSync(WalSync):
        is_due = False

        def begin(self) -> None:
            self.is_due = True

        def wait(self) -> None:
            if self.is_due:
                disk.catch_up()
                self.is_due = False

    with closing(open_for_writing(path)) as connection:
        connection.execute("PRAGMA wal_autocheckpoint = 60")
        with monkeypatch.context() as late:
            late.setattr(committers, "WalSync", LateSync)
            committer = Committer(connection, path, SystemClock())
        committer.recover()
        writer = Writer(committer, chance)
        for _ in range(250):
            if writer.write():
                disk.catch_up()
            if chance.random() < 0.15:
                committer.apply()
            if chance.random() < 0.1:
                numbers = range(writer.answered)
                last = {f"{writer.answered - 1}"}
                assert recovered(disk.left(chance)) == (list(numbers), {str(number) for number in numbers}, last)
        committer.close()
