"""The stores that clients of this process have open, one for each file; it does not know what is in them.

One file is open once in a process, however many clients are on it. On the loop of the synchronous doors it stays open
for a moment after the last one has gone, because opening costs more than a whole query.
"""

import os
import threading
from pathlib import Path
from typing import Any

import anyio
from msgspec import Struct

from toolwire.core.errors import StoreUnavailable
from toolwire.core.ports import Store
from toolwire.sdk.hosting.contents import Contents
from toolwire.sdk.loop_thread import LOOP_THREAD, later

LINGER_S = 1.0


class _Open(Struct):
    store: Store
    contents: Contents
    loop: Any
    users: int = 0
    generation: int = 0


class Storage:
    """A store that a client has in use; `release` when it is done."""

    def __init__(self, known: _Open, path: Path) -> None:
        self.store = known.store
        self.contents = known.contents
        self._path = path
        self._released = False

    async def release(self, linger: bool = False) -> None:
        """Let go of it; the last one closes it, at once or after a moment. Releasing twice is fine."""
        if self._released:
            return
        self._released = True
        await _release(self._path, linger)


_open: dict[Path, _Open] = {}
_lock = threading.Lock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_open.clear)


async def use_storage(path: str | Path) -> Storage:
    """The store in the file `path`, which is made if it is not there.

    Raises:
        StoreUnavailable: another process has it open, or another event loop of this one, or it cannot be used.
        ValueError: it is an address and no path.
    """
    if "://" in str(path):
        raise ValueError(f"HostConfig(storage_path) must be the path of a file, got {str(path)!r}")
    where = _absolute(path)
    loop = anyio.lowlevel.current_token()
    with _lock:
        known = _open.get(where)
        if known is not None and known.loop == loop:
            known.users += 1
            known.generation += 1
            return Storage(known, where)
    if known is not None:
        await _taken_from(where, known)
    from toolwire.compose import open_agent_store  # noqa: PLC0415 -- loads SQLite, which memory does without

    store = await open_agent_store(where)
    with _lock:
        raced = _open.get(where)
        if raced is None:
            opened = _open[where] = _Open(store, Contents(store), loop, users=1)
            return Storage(opened, where)
        raced.users += 1
    await store.close()
    return Storage(raced, where)


def _absolute(path: str | Path) -> Path:
    return Path(path).absolute()


async def _release(path: Path, linger: bool) -> None:
    with _lock:
        known = _open[path]
        known.users -= 1
        known.generation += 1
        generation = known.generation
    if known.users:
        return
    if linger and LOOP_THREAD.here():
        later(LINGER_S, lambda: _close_unused(path, known, generation))
        return
    await _close(path, known)


async def _close_unused(path: Path, known: _Open, generation: int) -> None:
    if known.users == 0 and known.generation == generation:
        await _close(path, known)


async def _close(path: Path, known: _Open) -> None:
    with _lock:
        if known.users or _open.get(path) is not known:
            return
        del _open[path]
    with anyio.CancelScope(shield=True):
        await known.store.close()


async def _taken_from(path: Path, known: _Open) -> None:
    """Have a store closed that lingers on another loop."""
    if known.users:
        raise StoreUnavailable(
            f"{str(path)!r} is in use on another event loop of this process: shut that client down first"
        )
    await anyio.to_thread.run_sync(LOOP_THREAD.run, lambda: _close(path, known))
