"""Large content in memory, for servers that keep nothing and for tests; it is gone with the process."""

from collections.abc import AsyncGenerator

from toolwire.core.errors import BlobNotFound

PIECE_BYTES = 64 * 1024


class MemoryBlobs:
    """The `Blobs` port over a dict."""

    def __init__(self) -> None:
        self._blobs: dict[str, bytes] = {}

    async def put(self, key: str, data: bytes) -> None:
        """Store `data`; see `core.ports.Blobs`."""
        self._blobs[key] = data

    async def open(self, key: str) -> AsyncGenerator[bytes]:
        """The content in pieces; see `core.ports.Blobs`."""
        data = self._blobs.get(key)
        if data is None:
            raise BlobNotFound(f"nothing is stored under {key!r}")
        for start in range(0, len(data), PIECE_BYTES):
            yield data[start : start + PIECE_BYTES]

    async def delete(self, key: str) -> None:
        """Remove the content; see `core.ports.Blobs`."""
        self._blobs.pop(key, None)
