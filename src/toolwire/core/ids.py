"""New identifiers and keys, and how keys are kept; it does not look anything up."""

import hashlib
import os
import secrets
import time
from functools import lru_cache

KEY_PREFIXES = ("bak_", "oag_", "agk_")
SHOWN_PREFIX_LEN = 12
"""How much of a key may be shown and stored in clear, to recognise it by (gateway.md 46)."""


ID_RANDOM_BYTES = 10
_HEX = frozenset("0123456789abcdef")


class _RandomPool:
    """Random bytes of the system, fetched many at once: a system call for each id is what an id would cost most."""

    def __init__(self) -> None:
        self._refill()
        os.register_at_fork(after_in_child=self._refill)  # a child must not repeat its parent's ids

    def _refill(self) -> None:
        drawn = os.urandom(ID_RANDOM_BYTES * 256).hex()
        step = 2 * ID_RANDOM_BYTES
        self._left = [drawn[start : start + step] for start in range(0, len(drawn), step)]

    def take(self) -> str:
        while True:
            try:
                return self._left.pop()
            except IndexError:
                self._refill()


_pool = _RandomPool()


@lru_cache(maxsize=1)  # a busy server makes several ids each millisecond, which share this third of the work
def _written(milliseconds: int) -> str:
    return f"{milliseconds:012x}"


def new_id(prefix: str) -> str:
    """A fresh id such as `call_…`: 48 bits of Unix milliseconds and 80 random bits, so that ids sort by age."""
    return f"{prefix}_{_written(int(time.time() * 1000))}{_pool.take()}"


def first_id(prefix: str, at: float) -> str:
    """What sorts before every id that `new_id` makes at `at` (Unix seconds) or later, and after all earlier ones."""
    return f"{prefix}_{max(0, int(at * 1000)):012x}"


def id_time(id_: str) -> float | None:
    """When an id of `new_id` was made, in Unix seconds; `None` for text that is none."""
    digits = id_.rpartition("_")[2][:12]
    return int(digits, 16) / 1000 if len(digits) == 12 and not set(digits) - _HEX else None


def new_key(prefix: str) -> str:
    """A fresh secret key: the prefix and 64 hex digits (gateway.md 46)."""
    return prefix + secrets.token_hex(32)


def key_hash(key: str) -> str:
    """What is stored of a key: SHA-256, hex. The keys are random, so no salt and no slow hash is needed."""
    return hashlib.sha256(key.encode()).hexdigest()
