"""The `Blobs` port in this process's memory; nothing survives the process."""

from collections.abc import AsyncGenerator, AsyncIterable

from anyio.lowlevel import checkpoint

from toolwire.adapters.blob_key import check_blob_key
from toolwire.core.errors import BlobNotFound

PIECE_BYTES = 256 * 1024


class MemoryBlobs:
    """The `Blobs` port for tests and for processes that need not remember."""

    def __init__(self) -> None:
        self._content: dict[str, bytes] = {}

    async def put(self, key: str, data: bytes) -> None:
        """Store `data`; see `Blobs.put`."""
        check_blob_key(key)
        self._content[key] = bytes(data)
        await checkpoint()

    async def write(self, key: str, pieces: AsyncIterable[bytes]) -> None:
        """Store what `pieces` hold; see `Blobs.write`."""
        check_blob_key(key)
        await self.put(key, b"".join([bytes(piece) async for piece in pieces]))

    async def open(self, key: str, start: int = 0, end: int | None = None) -> AsyncGenerator[bytes]:
        """The content, or a part of it, in pieces of at most `PIECE_BYTES`; see `Blobs.open`."""
        check_blob_key(key)
        await checkpoint()
        content = self._content.get(key)
        if content is None:
            raise BlobNotFound(f"nothing is stored under {key!r}")
        content = content[start:end]
        for place in range(0, len(content), PIECE_BYTES):
            yield content[place : place + PIECE_BYTES]

    async def delete(self, key: str) -> None:
        """Remove the content; see `Blobs.delete`."""
        check_blob_key(key)
        self._content.pop(key, None)
        await checkpoint()
