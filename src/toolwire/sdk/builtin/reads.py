"""What a task has seen of the files it may change, so that nothing unseen is overwritten; it reads no files."""

import hashlib
import threading
from collections import OrderedDict

MAX_FILES = 10_000
"""Files that are remembered; the one read longest ago goes first."""


class FileReads:
    """By real path, the digest of the content that was read last. Safe to use from several threads."""

    def __init__(self) -> None:
        self._seen: OrderedDict[str, bytes] = OrderedDict()
        self._lock = threading.Lock()

    def note(self, path: str, body: bytes) -> None:
        """Remember that `body` is known to be what `path` contains."""
        digest = hashlib.sha256(body).digest()
        with self._lock:
            self._seen[path] = digest
            self._seen.move_to_end(path)
            while len(self._seen) > MAX_FILES:
                self._seen.popitem(last=False)

    def knows(self, path: str) -> bool:
        """Whether the file was read at all."""
        return path in self._seen

    def is_current(self, path: str, body: bytes) -> bool:
        """Whether `body` is what was read."""
        return self._seen.get(path) == hashlib.sha256(body).digest()
