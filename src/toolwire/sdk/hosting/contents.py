"""The content of one host: what events refer to by hash, kept once; it does not know what the content means.

Putting is synchronous, from any thread, because tools do it. New content waits in memory and is written with the next
step of whichever task commits first, so that no event refers to what is not there.
"""

import hashlib
import threading
from collections import OrderedDict

import anyio

from toolwire.core.ports import Op, Put, Store
from toolwire.sdk.content import OCTETS, ContentRef

KIND = "agent.content"
CACHE_BYTES = 64 * 2**20
"""Recently used bodies that are kept in memory beside the store."""
KNOWN_HASHES = 50_000
"""Hashes remembered as written, so that their bodies are not written again."""


class Contents:
    """A `ContentStore` over a store, or over memory alone when there is none."""

    def __init__(self, store: Store | None) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._bodies: OrderedDict[str, bytes] = OrderedDict()
        self._cached_bytes = 0
        self._waiting: dict[str, bytes] = {}
        self._known: OrderedDict[str, None] = OrderedDict()
        self._thread = threading.get_ident()
        self._loop = None if store is None else anyio.lowlevel.current_token()

    def put(self, body: bytes, media_type: str = OCTETS) -> ContentRef:
        """Keep `body`; the hash alone identifies it.

        Raises:
            TypeError: `body` is not bytes.
        """
        if type(body) is not bytes:
            if not isinstance(body, (bytes, bytearray, memoryview)):  # pyright: ignore[reportUnnecessaryIsInstance] -- not all check types
                raise TypeError(f"artifact_store.put(body) must be bytes, got {type(body).__name__}; encode text first")
            body = bytes(body)
        digest = hashlib.sha256(body).hexdigest()
        if self._store is None:
            self._bodies.setdefault(digest, body)
        else:
            with self._lock:
                if digest not in self._known and digest not in self._waiting:
                    self._waiting[digest] = body
        return ContentRef(digest, len(body), media_type)

    def get(self, ref: ContentRef) -> bytes:
        """The bytes behind `ref`; on the event loop only what is in memory, elsewhere all there is.

        Raises:
            KeyError: nothing is stored under that hash.
        """
        body = self._at_hand(ref.hash)
        if body is None and self._loop is not None and threading.get_ident() != self._thread:
            body = anyio.from_thread.run(self.load, ref.hash, token=self._loop)
        if body is None:
            raise KeyError(f"no content is stored under {ref.hash!r}; put it into this store first")
        return body

    async def load(self, digest: str) -> bytes | None:
        """The bytes with that hash, or `None`."""
        body = self._at_hand(digest)
        if body is not None or self._store is None:
            return body
        stored = await self._store.get(KIND, "", digest)
        if stored is None:
            return None
        with self._lock:
            self._remember(digest, stored.value)
        return stored.value

    async def fetch(self, ref: ContentRef) -> bytes:
        """The bytes behind `ref`.

        Raises:
            KeyError: nothing is stored under that hash.
        """
        body = await self.load(ref.hash)
        if body is None:
            raise KeyError(f"no content is stored under {ref.hash!r}")
        return body

    def take_waiting(self) -> dict[str, bytes]:
        """The bodies that are not written yet; the caller writes them with its own step, or gives them back."""
        if not self._waiting:
            return {}
        with self._lock:
            taken, self._waiting = self._waiting, {}
            for digest, body in taken.items():
                self._remember(digest, body)
        return taken

    def give_back(self, taken: dict[str, bytes]) -> None:
        """They could not be written: somebody else's step shall try again."""
        with self._lock:
            self._waiting.update(taken)
            for digest in taken:
                self._known.pop(digest, None)

    def _at_hand(self, digest: str) -> bytes | None:
        body = self._bodies.get(digest)
        return body if body is not None else self._waiting.get(digest)

    def _remember(self, digest: str, body: bytes) -> None:
        self._known[digest] = None
        while len(self._known) > KNOWN_HASHES:
            self._known.popitem(last=False)
        if digest in self._bodies or len(body) > CACHE_BYTES:
            return
        self._bodies[digest] = body
        self._cached_bytes += len(body)
        while self._cached_bytes > CACHE_BYTES:
            _, old = self._bodies.popitem(last=False)
            self._cached_bytes -= len(old)


def content_ops(taken: dict[str, bytes]) -> list[Op]:
    """The operations that write these bodies."""
    return [Put(KIND, "", digest, body) for digest, body in taken.items()]
