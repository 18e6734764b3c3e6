"""The folder in which `up` keeps everything, as the command line sees it: its lock, `host.json`, files with keys.

What the store keeps in it is the store's matter.
"""

import contextlib
import errno
import os
import tempfile
from collections.abc import Generator
from pathlib import Path
from typing import IO, Final

import msgspec
from msgspec import Struct

from toolwire.cli.failure import Failed

HOST_FILE: Final = "host.json"
LOCK_FILE: Final = "host.lock"
OWNER_KEY_FILE: Final = "owner.key"
IGNORE_FILE: Final = ".gitignore"


class HostInfo(Struct, frozen=True):
    """What a running host leaves in its folder for the other commands.

    `url` is where this machine reaches it, `owner_key_file` the file with the owner's key.
    """

    url: str
    pid: int
    owner_key_file: str


class DataFolder:
    """One data folder; it need not exist."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def prepare(self) -> None:
        """Make the folder, for its user alone and kept out of git, and see that it can be written.

        Raises:
            Failed: that is not possible here.
        """
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=self.path):
                pass
            if not (self.path / IGNORE_FILE).exists():
                (self.path / IGNORE_FILE).write_text("*\n", "utf-8")  # there are keys in here
        except OSError as error:
            reason = f"cannot write the data folder {str(self.path)!r}: {_reason(error)}"
            raise Failed(f"{reason}; make it writable, or name another one with --data", "data_folder") from None

    @contextlib.contextmanager
    def lock(self) -> Generator[None]:
        """Be the only host on this folder while the block lasts; the system lets go of it however the process ends.

        Raises:
            Failed: another process is the host.
        """
        with (self.path / LOCK_FILE).open("a+b") as file:
            try:
                _lock(file)
            except OSError as error:
                if error.errno not in (errno.EACCES, errno.EAGAIN, errno.EDEADLK):
                    raise
                raise self._in_use() from None
            yield

    def _in_use(self) -> Failed:
        host = self.host()
        who = f"by the host at {host.url} (process {host.pid})" if host else "by another process"
        folder = str(self.path)
        return Failed(
            f"the data folder {folder!r} is in use {who}; stop that one, or name another --data", "data_in_use"
        )

    def host(self) -> HostInfo | None:
        """What the last host wrote; it may have been killed since."""
        try:
            return msgspec.json.decode((self.path / HOST_FILE).read_bytes(), type=HostInfo)
        except (OSError, msgspec.DecodeError):
            return None

    @contextlib.contextmanager
    def announce(self, host: HostInfo) -> Generator[None]:
        """Tell the other commands of the host while the block lasts."""
        write_private(self.path / HOST_FILE, msgspec.json.format(msgspec.json.encode(host)) + b"\n")
        try:
            yield
        finally:
            self.withdraw()

    def withdraw(self) -> None:
        """Tell of no host any more."""
        with contextlib.suppress(OSError):
            (self.path / HOST_FILE).unlink()

    @property
    def owner_key_file(self) -> Path:
        """Where the owner's key is kept."""
        return self.path / OWNER_KEY_FILE

    def owner_key(self) -> str | None:
        """The owner's key, if it is here and we may read it."""
        return read_key(self.owner_key_file)


def read_key(path: Path) -> str | None:
    """The key in a file; `None` when there is no such file or none that we may read."""
    try:
        return path.read_text("utf-8").strip() or None
    except (OSError, UnicodeDecodeError):
        return None


def write_private(path: Path, content: bytes) -> None:
    """Put a file in place that its user alone may read (mode 0600), whole or not at all.

    Raises:
        OSError: it cannot be written.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")  # mkstemp makes it 0600
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.unlink(name)
        if isinstance(error, OSError) and error.filename is None:
            error.filename = str(path)  # a disk that is full does not say which file it had no room for
        raise


def _lock(file: IO[bytes]) -> None:
    if os.name == "nt":
        import msvcrt

        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
