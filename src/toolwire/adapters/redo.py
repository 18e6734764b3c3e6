"""The redo log: files that hold the transactions which the database does not have yet; it applies none of them.

A commit of SQLite writes each page that it touches, dozens of them for a handful of small rows, and gives up the
interpreter lock many times. A record of this log is one synchronous write, of what was asked for and nothing else. The
database gets it later, together with what came after it (`committer`).

The log is written in sections. A *generation*, a random number that the database holds, tells which section is for the
state in which it is; whenever it takes over what the section holds, it gets a new one in the same commit, and the next
section begins, in the other of two files. So the last section is there until that commit is on the disk, for which
nobody waits. A record is

    length   4 bytes, little-endian: of what follows the checksum
    checksum 4 bytes, little-endian: CRC-32 of what follows it
    body     MessagePack: [generation, that of the section before, time of the group in Unix seconds, [transaction, …]]

where a transaction is an array of the arrays that `core.ports` makes of its operations. The first record that is not
whole, or of another generation, is the end of its section.
"""

import os
import secrets
import struct
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from toolwire.core.ports import Op

SUFFIXES: Final = ("-redo-0", "-redo-1")
"""What the name of the database is followed by."""
CAPACITY: Final = 2**20
"""Bytes of a section at most. What a start after a crash has to do again is two of them."""

_HEADER: Final = struct.Struct("<II")
_SYNCHRONOUS: Final = getattr(os, "O_DSYNC", os.O_SYNC)


class _Group(NamedTuple):
    generation: int
    before: int
    now: float
    transactions: list[list[Op]]


_encode = msgspec.msgpack.Encoder().encode
_decode: Callable[[bytes], _Group] = msgspec.msgpack.Decoder(_Group).decode


def new_generation() -> int:
    """A number for the state that the database is in from now on; SQLite's integers have a sign."""
    return secrets.randbits(63)


class RedoLog:
    """The log beside one database, whose lock must be held; `read` comes first.

    Attributes:
        size: bytes of the present section.
    """

    def __init__(self, database: Path) -> None:
        self._paths = [Path(f"{database}{suffix}") for suffix in SUFFIXES]
        self._files = [-1, -1]
        self._current = 0
        self._generation: int = 0
        self._before: int = 0
        self.size = 0

    def record_of(self, now: float, transactions: Sequence[Sequence[Op]]) -> bytes:
        """A group as it stands in the present section.

        Args:
            now: when it is decided, Unix seconds.
            transactions: what it consists of.

        Raises:
            ValueError: it has what cannot be encoded, such as half a character.
        """
        try:
            body = _encode((self._generation, self._before, now, transactions))
        except (TypeError, OverflowError) as error:
            raise ValueError(str(error)) from error
        return _HEADER.pack(len(body), zlib.crc32(body)) + body

    def has_room(self, record: bytes) -> bool:
        """Whether a record still fits in."""
        return self.size + len(record) <= CAPACITY

    def append(self, record: bytes) -> None:
        """Add a record of this section; when this returns, it survives a loss of power.

        Raises:
            OSError: it is not in the log, as far as that can be seen to.
        """
        file = self._files[self._current]
        if file < 0:
            file = self._files[self._current] = _open(self._paths[self._current])
        try:
            written = os.pwrite(file, record, self.size)
            if written < len(record):
                raise OSError(f"{written} of {len(record)} bytes were written")
        except OSError:
            self._end_here(file)
            raise
        self.size += len(record)

    def read(self, generation: int) -> Iterator[tuple[float, list[list[Op]]]]:
        """What a database of this generation does not have: when each group was decided, and what it holds.

        When all is read, `append` goes on behind it.

        Raises:
            OSError: the files cannot be read.
        """
        sections = [_groups_of(path) for path in self._paths]
        self._current, self._generation, self._before, self.size = 0, generation, 0, 0
        found = next((place for place, (groups, _) in enumerate(sections) if _begins(groups, generation)), None)
        while found is not None:
            groups, self.size = sections[found]
            self._current, self._generation, self._before = found, groups[0].generation, groups[0].before
            for group in groups:
                yield group.now, group.transactions
            other, _ = sections[1 - found]
            found = 1 - found if other and other[0].before == self._generation else None

    def begin(self, generation: int) -> None:
        """The database has what the section holds, and is of this generation; the section before is given up."""
        self._before, self._generation = self._generation, generation
        self._current, self.size = 1 - self._current, 0

    def close(self) -> None:
        """Let go of the files; closing twice is fine."""
        for place, file in enumerate(self._files):
            if file >= 0:
                os.close(file)
                self._files[place] = -1

    def remove(self) -> None:
        """Close and remove the files; the disk has all that they hold in the database.

        Raises:
            OSError: they cannot be removed.
        """
        self.close()
        for path in self._paths:
            path.unlink(missing_ok=True)

    def _end_here(self, file: int) -> None:
        """Take back a record of which nobody knows how much was written."""
        try:
            os.pwrite(file, bytes(_HEADER.size), self.size)
        except OSError:
            return  # the next generation makes it void


def _open(path: Path) -> int:
    is_new = not path.exists()
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | _SYNCHRONOUS, 0o600)
    if is_new:  # its name must survive, too
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    return file


def _begins(groups: Sequence[_Group], generation: int) -> bool:
    return bool(groups) and groups[0].generation == generation


def _groups_of(path: Path) -> tuple[list[_Group], int]:
    """The section in a file, and how many bytes it has."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        content = b""
    groups: list[_Group] = []
    size = 0
    while (body := _body_at(content, size)) is not None:
        try:
            group = _decode(body)
        except msgspec.DecodeError:
            break
        if groups and group.generation != groups[0].generation:
            break
        groups.append(group)
        size += _HEADER.size + len(body)
    return groups, size


def _body_at(content: bytes, start: int) -> bytes | None:
    """The body of the record at `start`, if there is a whole one."""
    if start + _HEADER.size > len(content):
        return None
    length, checksum = _HEADER.unpack_from(content, start)
    body = content[start + _HEADER.size : start + _HEADER.size + length]
    return body if 0 < length == len(body) and zlib.crc32(body) == checksum else None
