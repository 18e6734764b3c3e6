"""A journal in a file of JSON lines, for one process at a time; it does not share the file.

The file is only ever appended to, one `fsync` for all that was waiting; when most of it is out of date it is written
anew beside itself and put in its place. A last line that was torn by a crash is cut off; a damaged one is passed over.
"""

import contextlib
import logging
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, TypeAlias

import anyio
import anyio.to_thread
import msgspec
from anyio import CapacityLimiter
from msgspec import Raw, Struct

from toolwire.agent.journal import Answer, Answers, Known, encode_answer
from toolwire.core.errors import Conflict
from toolwire.core.ids import new_id

if sys.platform == "win32":
    import msvcrt

    def _lock(fd: int) -> None:
        msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _lock(fd: int) -> None:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)


VERSION: Final = 1
COMPACT_ABOVE_BYTES: Final = 1024 * 1024
_LINE_OVERHEAD: Final = 100
"""About how many bytes of a line are not the answer."""

_log = logging.getLogger("toolwire.agent.journal")


class _Header(Struct, frozen=True, tag="journal", tag_field="line"):
    id: str
    version: int


class _Begun(Struct, frozen=True, tag="begun", tag_field="line"):
    message_id: str
    at: float


class _Ended(Struct, frozen=True, tag="ended", tag_field="line", omit_defaults=True):
    message_id: str
    at: float
    answer: Raw = Raw(b"")


_Line: TypeAlias = _Header | _Begun | _Ended
_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(_Line).decode


class _Batch:
    """Lines that go into the file together."""

    def __init__(self) -> None:
        self.lines: list[bytes] = []
        self.written = False
        self.error: OSError | None = None


class FileJournal:
    """A journal that outlives the process: what was begun when it died is never begun again by itself.

    Args:
        path: the file; it is made, with its folder, if it is not there. A file `<path>.lock` beside it keeps a second
            process out.
        answers: where the answers are kept in memory, with its limits.
        now: the wall time, Unix seconds.
        compact_above_bytes: a smaller file is never written anew.

    Raises:
        Conflict: another process has the file, or it is not a journal.
        OSError: the file cannot be read or written.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        answers: Answers | None = None,
        now: Callable[[], float] = time.time,
        compact_above_bytes: int = COMPACT_ABOVE_BYTES,
    ) -> None:
        self._path = Path(path)
        self._answers = Answers(now=now) if answers is None else answers
        self._now = now
        self._compact_above_bytes = compact_above_bytes
        self._begun: dict[str, float] = {}
        self._id = ""
        self._size = 0
        self._batch = _Batch()
        self._turn = anyio.Lock()
        self._thread = CapacityLimiter(1)
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._lock_fd = _locked(self._path)
        self._fd = -1
        try:
            self._fd = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
            self._load()
        except BaseException:
            self._close_files()
            raise

    @property
    def id(self) -> str:
        """By what a gateway knows this memory; it stands in the file."""
        return self._id

    def lookup(self, message_id: str) -> Known | None:
        """What is known of a message: "begun" is one that an earlier process took and never ended."""
        known = self._answers.get(message_id)
        if known is None and message_id in self._begun:
            return "begun"
        return known

    async def begin(self, message_id: str) -> None:
        """Write down that work on a message begins.

        Raises:
            OSError: it could not be written; the message counts as not begun.
        """
        at = self._now()
        self._begun[message_id] = at
        try:
            await self._commit(_encode(_Begun(message_id, at)))
        except OSError:
            self._begun.pop(message_id, None)
            raise

    async def finish(self, message_id: str, answer: Answer) -> None:
        """Write down the answer.

        Raises:
            OSError: it could not be written; this process knows the answer, a later one will not.
        """
        encoded, at = encode_answer(answer), self._now()
        self._answers.put(message_id, encoded, at)
        self._begun.pop(message_id, None)
        await self._commit(_encode(_Ended(message_id, at, Raw(encoded))))

    async def close(self) -> None:
        """Let go of the file; closing twice is fine."""
        async with self._turn:
            self._close_files()

    async def _commit(self, line: bytes) -> None:
        """Return once `line` is on the disk; whoever comes meanwhile goes into the next batch, written as one.

        Cancellation: the line may or may not get written; the file stays whole.
        """
        batch = self._batch
        batch.lines.append(line)
        async with self._turn:
            if not batch.written:
                self._batch = _Batch()
                batch.written = True
                with anyio.CancelScope(shield=True):
                    await self._write_batch(batch)
        if batch.error is not None:
            raise batch.error

    async def _write_batch(self, batch: _Batch) -> None:
        live = self._answers.total_bytes + _LINE_OVERHEAD * (len(self._answers) + len(self._begun))
        compact = self._size > max(self._compact_above_bytes, 2 * live)
        try:
            if compact:  # what the batch says is in memory already, so the new file says it too
                await anyio.to_thread.run_sync(self._rewrite, self._snapshot(), limiter=self._thread)
            else:
                await anyio.to_thread.run_sync(self._append, batch.lines, limiter=self._thread)
        except OSError as error:
            batch.error = error

    def _append(self, lines: Sequence[bytes]) -> None:
        data = b"\n".join(lines) + b"\n"
        try:
            _write_all(self._fd, data)
            os.fsync(self._fd)
        except OSError:
            with contextlib.suppress(OSError):  # half a line must not spoil the next one
                os.ftruncate(self._fd, self._size)
            raise
        self._size += len(data)

    def _snapshot(self) -> list[bytes]:
        oldest = self._now() - self._answers.ttl_s
        self._answers.trim()
        self._begun = {message_id: at for message_id, at in self._begun.items() if at > oldest}
        lines = [_encode(_Header(self._id, VERSION))]
        lines += [_encode(_Begun(message_id, at)) for message_id, at in self._begun.items()]
        lines += [_encode(_Ended(message_id, at, Raw(answer))) for message_id, at, answer in self._answers.items()]
        return lines

    def _rewrite(self, lines: Sequence[bytes]) -> None:
        beside = self._path.with_name(self._path.name + ".new")
        fd = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)
        try:
            data = b"\n".join(lines) + b"\n"
            _write_all(fd, data)
            os.fsync(fd)
            os.replace(beside, self._path)
        except OSError:
            os.close(fd)
            raise
        os.close(self._fd)
        self._fd, self._size = fd, len(data)
        _sync_folder(self._path.parent)

    def _load(self) -> None:
        damaged = 0
        with self._path.open("rb") as file:
            for number, line in enumerate(file):
                if not line.endswith(b"\n"):
                    os.ftruncate(self._fd, self._size)
                    break
                self._size += len(line)
                try:
                    self._take(_decode(line), number)
                except msgspec.DecodeError:
                    damaged += 1
                if not self._id:
                    raise Conflict(f"{str(self._path)!r} is not a journal; name another file for it")
        if damaged:
            _log.warning("%d damaged lines in the journal %s were passed over", damaged, self._path)
        if not self._id:
            self._id = new_id("jrn")
            self._append([_encode(_Header(self._id, VERSION))])
            _sync_folder(self._path.parent)

    def _take(self, line: _Line, number: int) -> None:
        match line:
            case _Header(id=id, version=version):
                if number != 0 or version != VERSION:
                    raise Conflict(f"{str(self._path)!r} is a journal of version {version!r}; name another file")
                self._id = id
            case _Begun(message_id=message_id, at=at):
                if at > self._now() - self._answers.ttl_s:
                    self._begun[message_id] = at
            case _Ended(message_id=message_id, at=at, answer=answer):
                self._begun.pop(message_id, None)
                self._answers.put(message_id, bytes(answer), at)

    def _close_files(self) -> None:
        for fd in (self._fd, self._lock_fd):
            if fd >= 0:
                os.close(fd)
        self._fd = self._lock_fd = -1


def _locked(path: Path) -> int:
    fd = os.open(path.with_name(path.name + ".lock"), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        _lock(fd)
    except OSError:
        os.close(fd)
        raise Conflict(f"the journal {str(path)!r} is in use elsewhere; give each agent one of its own") from None
    return fd


def _write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def _sync_folder(path: Path) -> None:
    """Make a new name in a folder last; where folders cannot be opened (Windows) there is nothing to do."""
    with contextlib.suppress(OSError):
        fd = os.open(path, os.O_RDONLY)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)
