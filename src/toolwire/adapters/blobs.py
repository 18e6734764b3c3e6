"""The `Blobs` port on a directory; it does not know what the content is or how long it is kept.

obstore is asked from worker threads: its own coroutines run on asyncio alone.
"""

import os
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import suppress
from os import PathLike
from pathlib import Path
from secrets import token_hex
from typing import Self, TypeVar

import obstore
from anyio import CapacityLimiter, to_thread
from obstore.exceptions import BaseError
from obstore.store import LocalStore

from toolwire.adapters.blob_key import check_blob_key
from toolwire.core.errors import BlobNotFound, StoreUnavailable

PIECE_BYTES = 256 * 1024
MAX_THREADS = 8
"""Operations at the same time, each in a thread; the next one waits for one of them."""

_T = TypeVar("_T")


class LocalBlobs:
    """The `Blobs` port on local disk, a file for each key. `open_directory` makes one; nothing needs closing.

    New content is written beside the old and takes its place whole, once it is on the disk: somebody who is reading
    goes on reading the old one.
    """

    def __init__(self, directory: Path, store: LocalStore) -> None:
        self._directory = directory
        self._store = store
        self._limiter = CapacityLimiter(MAX_THREADS)

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

    async def open(self, key: str) -> AsyncGenerator[bytes]:
        """The content in pieces of at most `PIECE_BYTES`; see `Blobs.open`.

        Raises:
            BlobNotFound: nothing is stored under `key`.
            StoreUnavailable: the disk cannot be read.
            ValueError: `key` is not one of ours (`check_blob_key`).
        """
        check_blob_key(key)
        stream = await self._in_thread(lambda: self._get(key))
        if stream is None:
            raise BlobNotFound(f"nothing is stored under {key!r}")
        while (chunk := await self._in_thread(lambda: next(stream, None))) is not None:
            content = memoryview(chunk)
            for start in range(0, len(content), PIECE_BYTES):
                yield bytes(content[start : start + PIECE_BYTES])

    async def delete(self, key: str) -> None:
        """Remove the content; see `Blobs.delete`.

        Raises:
            StoreUnavailable: the directory cannot be written.
            ValueError: `key` is not one of ours (`check_blob_key`).
        """
        check_blob_key(key)
        await self._in_thread(lambda: self._delete(key))

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
        for directory in Path(key).parents:
            _sync(self._directory / directory)

    def _get(self, key: str) -> Iterator[bytes] | None:
        try:
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
            raise StoreUnavailable(f"cannot use the files in {str(self._directory)!r}: {reason}") from error


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
