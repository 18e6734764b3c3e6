"""The `Blobs` port on a directory; it does not know what the content is or how long it is kept.

obstore is asked from worker threads: its own coroutines run on asyncio alone.
"""

import os
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Iterator
from contextlib import suppress
from os import PathLike
from pathlib import Path
from secrets import token_hex
from typing import Self, TypeVar

import anyio
import obstore
from anyio import CapacityLimiter, to_thread
from obstore.exceptions import BaseError
from obstore.store import LocalStore, ObjectStore

from toolwire.adapters.blob_key import check_blob_key
from toolwire.core.errors import BlobNotFound, StoreUnavailable

PIECE_BYTES = 256 * 1024
GATHERED_BYTES = 1024 * 1024
"""Pieces that come in are put together up to here before a thread is asked to write them."""
MAX_THREADS = 8
"""Operations at the same time, each in a thread; the next one waits for one of them."""

_T = TypeVar("_T")


class ObstoreBlobs:
    """What a directory and a bucket have in common: reading and deleting.

    Args:
        store: an object store.
        where: its name, for error messages.
    """

    def __init__(self, store: ObjectStore, where: str) -> None:
        self._store = store
        self._where = where
        self._limiter = CapacityLimiter(MAX_THREADS)

    async def open(self, key: str, start: int = 0, end: int | None = None) -> AsyncGenerator[bytes]:
        """The content, or a part of it, in pieces of at most `PIECE_BYTES`; see `Blobs.open`.

        Raises:
            BlobNotFound: nothing is stored under `key`.
            StoreUnavailable: it cannot be read.
            ValueError: `key` is not one of ours (`check_blob_key`).
        """
        check_blob_key(key)
        stream = await self._in_thread(lambda: self._get(key, start, end))
        if stream is None:
            raise BlobNotFound(f"nothing is stored under {key!r}")
        while (chunk := await self._in_thread(lambda: next(stream, None))) is not None:
            content = memoryview(chunk)
            for place in range(0, len(content), PIECE_BYTES):
                yield bytes(content[place : place + PIECE_BYTES])

    async def delete(self, key: str) -> None:
        """Remove the content; see `Blobs.delete`.

        Raises:
            StoreUnavailable: it cannot be removed.
            ValueError: `key` is not one of ours (`check_blob_key`).
        """
        check_blob_key(key)
        await self._in_thread(lambda: self._delete(key))

    def _get(self, key: str, start: int, end: int | None) -> Iterator[bytes] | None:
        try:
            if end is not None:
                return iter(obstore.get(self._store, key, options={"range": (start, end)}).stream(PIECE_BYTES))
            if start:
                return iter(obstore.get(self._store, key, options={"range": {"offset": start}}).stream(PIECE_BYTES))
            return iter(obstore.get(self._store, key).stream(PIECE_BYTES))
        except FileNotFoundError:
            return None

    def _delete(self, key: str) -> None:
        with suppress(FileNotFoundError):
            obstore.delete(self._store, key)

    async def _in_thread(self, step: Callable[[], _T]) -> _T:
        try:
            return await to_thread.run_sync(step, limiter=self._limiter)
        except (BaseError, OSError) as error:
            reason = str(error).partition("\n")[0]
            raise StoreUnavailable(f"cannot use the files in {self._where!r}: {reason}") from error


class LocalBlobs(ObstoreBlobs):
    """The `Blobs` port on local disk, a file for each key. `open_directory` makes one; nothing needs closing.

    New content is written beside the old and takes its place whole, once it is on the disk: somebody who is reading
    goes on reading the old one.
    """

    def __init__(self, directory: Path, store: LocalStore) -> None:
        super().__init__(store, str(directory))
        self._directory = directory

    @classmethod
    async def open_directory(cls, directory: str | PathLike[str]) -> Self:
        """Keep blobs in `directory`, which is made, for this user alone, if it is not there.

        Raises:
            StoreUnavailable: it cannot be made.
        """
        where, store = await to_thread.run_sync(_open_directory, directory)
        return cls(where, store)

    async def put(self, key: str, data: bytes) -> None:
        """Store `data` durably; see `Blobs.put`.

        Raises:
            StoreUnavailable: the disk is full, read-only or broken; what was there before is still there.
            ValueError: `key` is not one of ours (`check_blob_key`).
        """
        check_blob_key(key)
        await self._in_thread(lambda: self._put(key, data))

    async def write(self, key: str, pieces: AsyncIterable[bytes]) -> None:
        """Store what `pieces` hold durably; see `Blobs.write`.

        Raises:
            StoreUnavailable: as `put`.
            ValueError: `key` is not one of ours (`check_blob_key`).
        """
        check_blob_key(key)
        new = self._directory / f"{key}.{token_hex(8)}.new"
        descriptor = await self._in_thread(lambda: _create(new))
        try:
            try:
                async for part in gathered(pieces):
                    await self._in_thread(lambda data=part: _write_all(descriptor, data))
            finally:
                with anyio.CancelScope(shield=True):
                    await self._in_thread(lambda: _close(descriptor))
            await self._in_thread(lambda: self._take_place(new, key))
        except BaseException:
            with anyio.CancelScope(shield=True), suppress(StoreUnavailable):
                await self._in_thread(lambda: new.unlink(missing_ok=True))
            raise

    def _take_place(self, new: Path, key: str) -> None:
        new.rename(self._directory / key)
        self._sync_directories(key)

    def _put(self, key: str, data: bytes) -> None:
        new = f"{key}.{token_hex(8)}.new"
        try:
            obstore.put(self._store, new, data, use_multipart=False)
            _sync(self._directory / new)
            obstore.rename(self._store, new, key)
        except BaseException:
            with suppress(BaseError, OSError):
                obstore.delete(self._store, new)
            raise
        self._sync_directories(key)

    def _sync_directories(self, key: str) -> None:
        for directory in Path(key).parents:
            _sync(self._directory / directory)


async def gathered(pieces: AsyncIterable[bytes]) -> AsyncGenerator[bytes]:
    """The same bytes in pieces of `GATHERED_BYTES` or a little more, so that small ones do not cost a thread each."""
    held: list[bytes] = []
    size = 0
    async for piece in pieces:
        held.append(piece)
        size += len(piece)
        if size >= GATHERED_BYTES:
            yield b"".join(held)
            held, size = [], 0
    if held:
        yield b"".join(held)


def _create(path: Path) -> int:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)


def _write_all(descriptor: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(descriptor, left) :]


def _close(descriptor: int) -> None:
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _sync(path: Path) -> None:
    """Have the disk keep what is in a file, or which names are in a directory; obstore leaves that to the system."""
    file = os.open(path, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def _open_directory(directory: str | PathLike[str]) -> tuple[Path, LocalStore]:
    where = Path(directory).absolute()
    try:
        where.mkdir(mode=0o700, parents=True, exist_ok=True)
        return where, LocalStore(where)
    except (BaseError, OSError) as error:
        raise StoreUnavailable(f"cannot keep files in {str(where)!r}: {error}") from error
