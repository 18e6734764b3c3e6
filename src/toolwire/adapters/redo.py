"""The redo log: a file that holds the transactions which the database does not have yet; it applies none of them.

A commit of SQLite writes each page that it touches, dozens of them for a handful of small rows, and gives up the
interpreter lock many times. A record of this log is one synchronous write, of what was asked for and nothing else. The
database gets it later, together with what came after it (`committer`).

The file is written from its beginning again and again. A *generation*, a random number that the database holds, tells
which records are for the state in which it is; each time that it takes over what the log holds, it gets a new one in
the same commit, and with that the file is as good as empty. A record is

    length   4 bytes, little-endian: of what follows the checksum
    checksum 4 bytes, little-endian: CRC-32 of what follows it
    body     MessagePack: [generation, the time of the group in Unix seconds, [transaction, …]]

where a transaction is an array of the arrays that `core.ports` makes of its operations. The first record that is not
whole, or of another generation, is the end.
"""

import os
import secrets
import struct
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import msgspec

from toolwire.core.ports import Op

SUFFIX: Final = "-redo"
"""What the name of the database is followed by."""
CAPACITY: Final = 2**20
"""Bytes of the file at most, and so what a start after a crash has to do again."""

_HEADER: Final = struct.Struct("<II")
_SYNCHRONOUS: Final = getattr(os, "O_DSYNC", os.O_SYNC)
_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(tuple[int, float, list[list[Op]]]).decode


def new_generation() -> int:
    """A number for the state that the database is in from now on; SQLite's integers have a sign."""
    return secrets.randbits(63)


class RedoLog:
    """The log beside one database, whose lock must be held; `begin` comes first.

    Attributes:
        size: bytes of the records that count.
    """

    def __init__(self, database: Path) -> None:
        self._path = Path(f"{database}{SUFFIX}")
        self._file = -1
        self._generation = 0
        self.size = 0

    def record_of(self, now: float, transactions: Sequence[Sequence[Op]]) -> bytes:
        """A group as it stands in the log.

        Args:
            now: when it is decided, Unix seconds.
            transactions: what it consists of.

        Raises:
            ValueError: it has what cannot be encoded, such as half a character.
        """
        try:
            body = _encode((self._generation, now, transactions))
        except (TypeError, OverflowError) as error:
            raise ValueError(str(error)) from error
        return _HEADER.pack(len(body), zlib.crc32(body)) + body

    def has_room(self, record: bytes) -> bool:
        """Whether a record still fits in."""
        return self.size + len(record) <= CAPACITY

    def append(self, record: bytes) -> None:
        """Add a record of this generation; when this returns, it survives a loss of power.

        Raises:
            OSError: it is not in the log, as far as that can be seen to.
        """
        if self._file < 0:
            self._open()
        try:
            written = os.pwrite(self._file, record, self.size)
            if written < len(record):
                raise OSError(f"{written} of {len(record)} bytes were written")
        except OSError:
            self._end_here()
            raise
        self.size += len(record)

    def read(self) -> Iterator[tuple[float, list[list[Op]]]]:
        """The groups that the database does not have: when each was decided, and what it holds; `append` goes on there.

        Raises:
            OSError: the file cannot be read.
        """
        try:
            content = self._path.read_bytes()
        except FileNotFoundError:
            content = b""
        self.size = 0
        while (body := _body_at(content, self.size)) is not None:
            try:
                generation, now, transactions = _decode(body)
            except msgspec.DecodeError:
                return
            if generation != self._generation:
                return
            yield now, transactions
            self.size += _HEADER.size + len(body)

    def begin(self, generation: int) -> None:
        """The database is of this generation: what was written for others counts no more, as it has that."""
        self._generation = generation
        self.size = 0

    def close(self) -> None:
        """Let go of the file; closing twice is fine."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def remove(self) -> None:
        """Close it and remove the file; the database has all."""
        self.close()
        self._path.unlink(missing_ok=True)

    def _open(self) -> None:
        is_new = not self._path.exists()
        self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | _SYNCHRONOUS, 0o600)
        if is_new:  # its name must survive, too
            folder = os.open(self._path.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)

    def _end_here(self) -> None:
        """Take back a record of which nobody knows how much was written."""
        try:
            os.pwrite(self._file, bytes(_HEADER.size), self.size)
        except OSError:
            return  # the next generation makes it void


def _body_at(content: bytes, start: int) -> bytes | None:
    """The body of the record at `start`, if there is a whole one."""
    if start + _HEADER.size > len(content):
        return None
    length, checksum = _HEADER.unpack_from(content, start)
    body = content[start + _HEADER.size : start + _HEADER.size + length]
    return body if 0 < length == len(body) and zlib.crc32(body) == checksum else None
