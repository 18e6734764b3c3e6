"""The ports through which the outside is reached: three small Protocols; it does not implement any of them."""

from collections.abc import AsyncGenerator, AsyncIterable, Sequence
from typing import Protocol, TypeAlias

from msgspec import Struct


class Put(Struct, frozen=True, array_like=True, tag="put"):
    """Write a record. Identity is (`kind`, `owner`, `key`).

    `expect` is the version that must be there now: 0 for "absent", `None` for "whatever". `expires_at` (Unix
    seconds) ends the record: from then on it is absent for every reader and may be swept.
    """

    kind: str
    owner: str
    key: str
    value: bytes
    expect: int | None = None
    expires_at: float | None = None


class Del(Struct, frozen=True, array_like=True, tag="del"):
    """Remove a record; removing an absent one is fine unless `expect` (a version) says otherwise."""

    kind: str
    owner: str
    key: str
    expect: int | None = None


class Append(Struct, frozen=True, array_like=True, tag="append"):
    """Add a row to a stream. `seq` must be greater than the last one of the stream; `None` takes the next."""

    stream: str
    value: bytes
    seq: int | None = None


class Drop(Struct, frozen=True, array_like=True, tag="drop"):
    """Remove a whole stream."""

    stream: str


class Enqueue(Struct, frozen=True, array_like=True, tag="enqueue"):
    """Put work on a queue, due at `due` (Unix seconds). The same (`queue`, `id`) again replaces body and due."""

    queue: str
    id: str
    due: float
    body: bytes


class Ack(Struct, frozen=True, array_like=True, tag="ack"):
    """Remove work that is done. Acknowledging what is not there is fine."""

    queue: str
    id: str


class Nack(Struct, frozen=True, array_like=True, tag="nack"):
    """Give leased work back, due again at `due` (Unix seconds)."""

    queue: str
    id: str
    due: float


Op: TypeAlias = Put | Del | Append | Drop | Enqueue | Ack | Nack


class Stored(Struct, frozen=True):
    """A record as read: `version` counts its writes from 1."""

    key: str
    owner: str
    value: bytes
    version: int


class Row(Struct, frozen=True):
    """A row of a stream."""

    seq: int
    value: bytes


class Leased(Struct, frozen=True):
    """Work taken from a queue until `lease_until` (Unix seconds); `attempts` counts this one, from 1."""

    queue: str
    id: str
    body: bytes
    attempts: int
    lease_until: float


class Store(Protocol):
    """Records, streams and queues, behind one atomic write. Contract: tests/contracts/test_store.py."""

    async def tx(self, ops: Sequence[Op]) -> None:
        """Apply all of `ops`, durably, or none of them. Transactions apply in the order in which `tx` was called.

        Raises:
            StoreConflict: an `expect` or a `seq` did not hold; nothing was written.
            StoreUnavailable: the store is full, read-only, closed or broken; nothing was written.

        Cancellation: a cancelled caller does not know the outcome; the batch is still applied whole or not at all.
        """
        ...

    async def get(self, kind: str, owner: str, key: str) -> Stored | None:
        """The record, or `None` when it is absent or expired."""
        ...

    async def scan(self, kind: str, owner: str | None, after: str = "", limit: int = 1000) -> Sequence[Stored]:
        """Records of a kind in key order, from the first key greater than `after`; `owner=None` means all owners."""
        ...

    async def read(self, stream: str, after: int = 0, limit: int = 1000) -> Sequence[Row]:
        """Rows of a stream with `seq > after`, in order."""
        ...

    async def claim(self, queue: str, worker: str, n: int, lease_s: float) -> Sequence[Leased]:
        """Lease up to `n` due entries whose lease, if any, has lapsed; the oldest due first."""
        ...

    async def sweep(self) -> int:
        """Remove expired records for good; says how many."""
        ...

    async def close(self) -> None:
        """Write what is pending and let go of the files. Closing twice is fine."""
        ...


class Blobs(Protocol):
    """Large content by key. Contract: tests/contracts/test_blobs.py."""

    async def put(self, key: str, data: bytes) -> None:
        """Store `data`; the same key again replaces it.

        Raises:
            StoreUnavailable: it cannot be written.
        """
        ...

    async def write(self, key: str, pieces: AsyncIterable[bytes]) -> None:
        """Store what `pieces` hold one after the other, without holding all of it in memory.

        Nothing is stored, and what was there stays, when the iteration raises or is cancelled.

        Raises:
            StoreUnavailable: it cannot be written.
        """
        ...

    def open(self, key: str, start: int = 0, end: int | None = None) -> AsyncGenerator[bytes]:
        """The content from byte `start` up to `end` (not included; `None` for the end), in pieces of bounded size.

        Raises:
            BlobNotFound: nothing is stored under `key` (raised by the first step of the iteration).
            StoreUnavailable: it cannot be read.
        """
        ...

    async def delete(self, key: str) -> None:
        """Remove the content; removing an absent one is fine.

        Raises:
            StoreUnavailable: it cannot be removed.
        """
        ...


class Clock(Protocol):
    """Wall time; what counts durations is the event loop's own monotonic clock."""

    def now(self) -> float:
        """Unix seconds, UTC."""
        ...
