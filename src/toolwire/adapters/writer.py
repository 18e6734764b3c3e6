"""The one thread that writes, and how callers on an event loop wait for it; it does not know what is written, or where.

Whatever is handed in while the writer is busy, or in one turn of the loop, becomes one group, which is made durable at
once. A caller joins the open group before it first suspends, which makes the order of transactions the order of the
calls; when the group has been committed, the loop is woken once for all who wait for it.
"""

import logging
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

import anyio
from anyio import CancelScope, to_thread
from anyio.lowlevel import EventLoopToken, current_token

from toolwire.adapters.committer import Committer
from toolwire.adapters.group import Ticket, Work
from toolwire.core.errors import StoreUnavailable
from toolwire.core.ports import Append, Enqueue, Op, Put
from toolwire.engine.signal import Signal

logger = logging.getLogger("toolwire.store")

MAX_WAITING_BYTES = 32 * 2**20
"""Bytes handed in and not committed yet, beyond which the next caller waits before it hands in its own."""
OP_BYTES = 256
"""What an operation counts for, beside its value."""
CLOSE_TIMEOUT_S = 30.0
APPLY_AFTER_S = 0.05
"""How long nothing is to be done before the database takes what was logged."""
RETRY_S = 1.0
"""When it is tried again, if the database did not."""
PATIENCE_S = 0.001
YIELD_S = 50e-6
"""After each `PATIENCE_S` that a commit takes, the loop stands still for this long; see `_WayMaker`."""


class _Group:
    __slots__ = ("committed", "passed_on", "size", "tickets")

    def __init__(self) -> None:
        self.passed_on = False
        self.tickets: list[Ticket] = []
        self.size = 0
        self.committed = Signal()


async def _make_way(group: _Group) -> None:
    """Wait for the commit, and see to it that a busy loop does not keep the thread from it; see `_WayMaker`."""
    while not group.committed.is_set:
        with anyio.move_on_after(PATIENCE_S):
            await group.committed.wait()
            return
        _stand_still()


class _WayMaker:
    """Has a busy loop make way for the thread, again and again until it has committed.

    The thread needs the interpreter lock for a moment after each statement. A loop that is never idle lets go of the
    lock often, for a microsecond at each system call: too short for another thread to wake up in, yet each time it
    puts off the moment (`sys.getswitchinterval`) at which that thread may insist. Measured on two cores with a
    saturated loop: single commits of 80 ms, some of 2 s; with this pause, 1 to 7 ms, at no visible cost to the loop.

    The loop's own timers do it where it has any (asyncio). A scope with a deadline, as `_make_way` has it for others,
    costs the loop much more each time that it ends by its deadline.
    """

    def __init__(self, loop: EventLoopToken) -> None:
        native: Any = loop.native_token
        self._call_later: Callable[..., object] | None = getattr(native, "call_later", None)

    def look_after(self, group: _Group) -> bool:
        """Make way for a group, in good time; `False` says that whoever waits for it has to see to it."""
        if self._call_later is None:
            return False
        self._call_later(PATIENCE_S, self._look, group)
        return True

    def _look(self, group: _Group) -> None:
        if not group.committed.is_set:
            _stand_still()
            self.look_after(group)


def _stand_still() -> None:
    time.sleep(YIELD_S)


def _ways_to_call(loop: EventLoopToken) -> tuple[Callable[..., object], Callable[..., object]]:
    """How to have the loop call something in its next turn, from there and from another thread: in its own words."""
    native: Any = loop.native_token  # of asyncio a loop, of trio a TrioToken
    if hasattr(native, "call_soon_threadsafe"):
        return native.call_soon, native.call_soon_threadsafe
    return native.run_sync_soon, native.run_sync_soon


def size_of(ops: Sequence[Op]) -> int:
    """About how many bytes wait while these operations wait."""
    size = OP_BYTES * len(ops)
    for op in ops:
        if type(op) is Put or type(op) is Append:
            size += len(op.value)
        elif type(op) is Enqueue:
            size += len(op.body)
    return size


class Writer:
    """Owns the committer. Made, used and closed on one event loop.

    Callers wait for their own commit. Beyond `max_waiting_bytes` (left behind by callers that were cancelled, or of
    very many at once) they wait in line before they hand anything in.
    """

    def __init__(self, committer: Committer, path: Path, max_waiting_bytes: int) -> None:
        self._committer = committer
        self._path = path
        loop = current_token()
        self._call_soon, self._call_soon_from_thread = _ways_to_call(loop)
        self._way_maker = _WayMaker(loop)
        self._lock = threading.Lock()
        self._open: _Group | None = None
        self._groups: SimpleQueue[_Group | None] = SimpleQueue()
        self._closed = False
        self._waiting_bytes = 0
        self._max_waiting_bytes = max_waiting_bytes
        self._line = anyio.Lock()
        self._in_line = 0
        self._room: anyio.Event | None = None
        # A daemon, so that a process that never closes its store can end: what was not committed was not promised.
        self._thread = threading.Thread(target=self._write, name=f"toolwire-writer {path.name}", daemon=True)
        self._thread.start()

    async def do(self, work: Work, size: int = OP_BYTES) -> Any:
        """Have `work` done in its turn; says what came of it, or raises what went wrong.

        Raises:
            StoreUnavailable: see `Store.tx`.
            StoreConflict: see `Store.tx`.
            ValueError: the store cannot hold such values.

        Cancellation: before there is room, nothing is done; after that, all of it is.
        """
        if self._in_line or (self._waiting_bytes and self._waiting_bytes + size > self._max_waiting_bytes):
            ticket, group = await self._hand_in_when_there_is_room(work, size)
        else:
            ticket, group = self._hand_in(work, size)
        if group.tickets[0] is ticket and not self._way_maker.look_after(group):
            await _make_way(group)
        await group.committed.wait()
        try:
            if ticket.error is not None:
                raise ticket.error
            return ticket.result
        finally:
            del ticket, group  # else a failed batch lives in a cycle of its error, the traceback and this frame

    async def close(self) -> None:
        """Write what has been handed in, then let go of the database; closing twice is fine.

        Raises:
            StoreUnavailable: the disk did not answer in time.
        """
        with self._lock:
            closes, self._closed = not self._closed, True
        if closes:
            if self._open is not None:
                self._pass_on(self._open)
            self._groups.put(None)
        with CancelScope(shield=True):  # bounded by the timeout of `join`
            await to_thread.run_sync(self._thread.join, CLOSE_TIMEOUT_S)
        if self._thread.is_alive():
            raise StoreUnavailable(
                f"{str(self._path)!r} is still being written after {CLOSE_TIMEOUT_S} s: check the disk"
            )

    async def _hand_in_when_there_is_room(self, work: Work, size: int) -> tuple[Ticket, _Group]:
        self._in_line += 1
        try:
            async with self._line:
                while self._waiting_bytes and self._waiting_bytes + size > self._max_waiting_bytes:
                    self._room = anyio.Event()
                    await self._room.wait()
                return self._hand_in(work, size)
        finally:
            self._in_line -= 1

    def _hand_in(self, work: Work, size: int) -> tuple[Ticket, _Group]:
        ticket = Ticket(work)
        with self._lock:
            if self._closed:
                raise StoreUnavailable(f"the store {str(self._path)!r} is closed; open it again")
            group = self._open
            if group is None:
                group = self._open = _Group()
                self._call_soon(self._pass_on, group)
            group.tickets.append(ticket)
            group.size += size
        self._waiting_bytes += size
        return ticket, group

    def _pass_on(self, group: _Group) -> None:
        """On the loop, once everybody else who could go on has: now the thread may have the group."""
        with self._lock:
            if not group.passed_on:
                group.passed_on = True
                self._groups.put(group)

    def _write(self) -> None:
        """The thread: make group after group durable, until it is told to end."""
        while (group := self._next()) is not None:
            with self._lock:
                if self._open is group:
                    self._open = None
            self._committer.settle(group.tickets, group.size)
            try:
                self._call_soon_from_thread(self._wake, group)
            except RuntimeError:
                continue  # the loop is closed, and with it everybody who waited
        self._committer.close()

    def _next(self) -> _Group | None:
        """Wait for a group; while there is none, the database takes what was logged."""
        patience_s = APPLY_AFTER_S
        while self._committer.behind:
            try:
                return self._groups.get(timeout=patience_s)
            except Empty:
                patience_s = RETRY_S
                try:
                    self._committer.apply()
                except StoreUnavailable as failure:
                    logger.warning("what was logged is not in the database yet: %s", failure.message)
        return self._groups.get()

    def _wake(self, group: _Group) -> None:
        """On the loop: tell everybody who waits for the group."""
        self._waiting_bytes -= group.size
        group.committed.set()
        if self._room is not None:
            self._room.set()
