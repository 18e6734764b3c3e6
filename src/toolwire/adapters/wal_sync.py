"""Has the disk take what SQLite has written to its write-ahead log, while its writer goes on; it writes nothing itself.

A commit with `synchronous = NORMAL` is in that log, and on the disk some time later. `begin` has the disk take it, on a
thread of its own, and whoever depends on it waits for that.
"""

import os
import threading
from pathlib import Path


class WalSync:
    """The write-ahead log of one database, which its writer has open.

    Args:
        database: where the database is.

    Raises:
        OSError: the log cannot be opened.
    """

    def __init__(self, database: Path) -> None:
        self._name = f"toolwire-sync {database.name}"
        self._file = os.open(f"{database}-wal", os.O_RDWR | os.O_CLOEXEC)
        self._thread: threading.Thread | None = None
        self._error: OSError | None = None

    def begin(self) -> None:
        """Have the disk take what was written until now; between two of these comes `wait`."""
        self._thread = threading.Thread(target=self._sync, name=self._name, daemon=True)
        self._thread.start()

    def wait(self) -> None:
        """Come back when the disk has what there was at the last `begin`.

        Raises:
            OSError: it has not taken it, now or earlier.
        """
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        if self._error is not None:
            raise self._error

    def close(self) -> None:
        """Let go of the file; closing twice is fine."""
        if self._thread is not None:
            self._thread.join()
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _sync(self) -> None:
        try:
            os.fdatasync(self._file)
        except OSError as error:
            self._error = error
