"""Writes that cannot leave the workspace, whatever the path says and whoever changes links meanwhile; no edits here.

A path is resolved once. Then each directory of the resolved path is opened from the one above it without following
links, beginning at the root, and the file is replaced by its name in the last one. So a link that is put in the way
after the check makes the write fail, and never leads it elsewhere. A file is replaced as a whole, by a rename: a hard
link that shares its content with a file outside does not carry the write there.
"""

import errno
import os
import secrets
import stat
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import NamedTuple

from toolwire.sdk.builtin.workspace import Workspace, WorkspaceEscape, shortened
from toolwire.sdk.result import ToolError

MAX_BYTES = 16 * 1024 * 1024
"""The largest file that Edit and Write take on."""

_DIRECTORY = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_FILE = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_NO_HARD_LINKS = {errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EACCES}


class Place(NamedTuple):
    """Where a file is or will be: its opened directory, its name there, its real path."""

    directory: int
    name: str
    real: str


class Current(NamedTuple):
    """What a file contains now, and its status, by which a later change is noticed."""

    body: bytes
    status: os.stat_result


@contextmanager
def open_place(workspace: Workspace, path: str, create: bool) -> Generator[Place]:
    """Open the directory of `path`; with `create`, make the directories that are missing.

    Raises:
        WorkspaceEscape: the path is outside, or leads outside through a link.
        ToolError: it is no path of a file.
        FileNotFoundError: a directory is missing, without `create`.
        OSError: the system refuses.
    """
    real = _fenced(workspace, path)
    parts = os.path.relpath(real, workspace.root).split(os.sep)
    directory = os.open(workspace.root, _DIRECTORY)
    try:
        for part in parts[:-1]:
            below = _enter(directory, part, path, create)
            os.close(directory)
            directory = below
        yield Place(directory, parts[-1], real)
    finally:
        os.close(directory)


def read_current(place: Place, path: str) -> Current | None:
    """The content of the file, or `None` when there is none.

    Raises:
        ToolError: it is not a regular file, or too large.
        OSError: the system refuses.
    """
    try:
        file = os.open(place.name, _FILE, dir_fd=place.directory)
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENXIO):  # a link, a socket
            raise ToolError(f"{shortened(path)} is not a regular file; name another one") from None
        raise
    try:
        status = os.fstat(file)
        if stat.S_ISDIR(status.st_mode):
            raise ToolError(f"{shortened(path)} is a directory; name a file in it")
        if not stat.S_ISREG(status.st_mode):
            raise ToolError(f"{shortened(path)} is not a regular file; name another one")
        if status.st_size > MAX_BYTES:
            raise ToolError(f"{shortened(path)} has {status.st_size} bytes and the limit is {MAX_BYTES}; use Bash")
        with os.fdopen(file, "rb", closefd=False) as opened:
            return Current(opened.read(), status)
    finally:
        os.close(file)


def replace(place: Place, path: str, body: bytes, current: Current | None) -> None:
    """Put `body` in the place of `current`, or of nothing, at once: nobody ever sees half of it.

    Raises:
        ToolError: the file is read-only, or somebody else has changed it since `current` was read.
        OSError: the system refuses; the file is as it was.
    """
    if current is not None and not current.status.st_mode & 0o222:
        raise ToolError(f"{shortened(path)} is read-only; ask the user before changing its mode")
    temporary = f".toolwire-{secrets.token_hex(8)}"
    file = os.open(temporary, _NEW, 0o666, dir_fd=place.directory)
    try:
        with os.fdopen(file, "wb") as opened:
            opened.write(body)
            opened.flush()
            if current is not None:
                _keep_rights(file, current.status)
            os.fsync(file)
        _check_unchanged(place, path, current)
        if current is None:
            _appear(place, temporary, path)
        else:
            os.rename(temporary, place.name, src_dir_fd=place.directory, dst_dir_fd=place.directory)
    finally:
        with suppress(FileNotFoundError):
            os.unlink(temporary, dir_fd=place.directory)


def _fenced(workspace: Workspace, path: str) -> str:
    named = workspace.locate(path)
    if named.endswith(("/", os.sep)):
        raise ToolError(f"{shortened(path)} is the name of a directory; name a file")
    real = os.path.realpath(named)
    if real == workspace.root:
        raise ToolError(f"{shortened(path)} is the workspace itself; name a file in it")
    if workspace.contains(real):
        return real
    how = " through a symbolic link" if workspace.contains(os.path.normpath(named)) else ""
    raise WorkspaceEscape(
        f"{shortened(path)} leads outside the workspace{how}; files are written only below {workspace.root!r}. "
        "Choose a path inside it, or tell the user what you need"
    )


def _enter(directory: int, part: str, path: str, create: bool) -> int:
    try:
        try:
            return os.open(part, _DIRECTORY, dir_fd=directory)
        except FileNotFoundError:
            if not create:
                raise
            with suppress(FileExistsError):  # somebody else was faster
                os.mkdir(part, dir_fd=directory)
            return os.open(part, _DIRECTORY, dir_fd=directory)
    except OSError as error:
        if error.errno in (errno.ENOTDIR, errno.ELOOP):
            raise ToolError(f"{part!r} in {shortened(path)} is not a directory; choose another path") from None
        raise


def _keep_rights(file: int, status: os.stat_result) -> None:
    made = os.fstat(file)
    if (made.st_uid, made.st_gid) != (status.st_uid, status.st_gid):
        with suppress(PermissionError):
            os.fchown(file, status.st_uid, status.st_gid)
    os.fchmod(file, stat.S_IMODE(status.st_mode))


def _check_unchanged(place: Place, path: str, current: Current | None) -> None:
    if current is None:
        return
    try:
        now = os.stat(place.name, dir_fd=place.directory, follow_symlinks=False)
    except FileNotFoundError:
        raise ToolError(f"{shortened(path)} was deleted meanwhile; Write it anew if it is still wanted") from None
    if _identity(now) != _identity(current.status):
        raise ToolError(f"{shortened(path)} was changed by somebody else meanwhile; Read it again")


def _identity(status: os.stat_result) -> tuple[int, int, int, int]:
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def _appear(place: Place, temporary: str, path: str) -> None:
    """Give the finished file its name unless that is taken."""
    try:
        os.link(temporary, place.name, src_dir_fd=place.directory, dst_dir_fd=place.directory, follow_symlinks=False)
    except FileExistsError:
        raise ToolError(f"{shortened(path)} was created by somebody else meanwhile; Read it first") from None
    except OSError as error:
        if error.errno not in _NO_HARD_LINKS:
            raise
        os.rename(temporary, place.name, src_dir_fd=place.directory, dst_dir_fd=place.directory)
