"""The one thread that writes, and how callers on an event loop wait for it; it does not know what is written.

Whatever is handed in while the writer is busy becomes one group and one commit. A caller joins the open group before
it first suspends, which makes the order of transactions the order of the calls; when the group has been committed,
the loop is woken once for all who wait for it.
"""

import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import anyio
from anyio import CancelScope, to_thread
from anyio.lowlevel import EventLoopToken, current_token

from toolwire.adapters.group import Ticket, Work, settle
from toolwire.core.errors import StoreUnavailable
from toolwire.core.ports import Append, Clock, Enqueue, Op, Put
from toolwire.engine.signal import Signal

MAX_WAITING_BYTES = 32 * 2**20
"""Bytes handed in and not committed yet, beyond which the next caller waits before it hands in its own."""
OP_BYTES = 256
"""What an operation counts for, beside its value."""
CLOSE_TIMEOUT_S = 30.0
GATHER_S = 0.0005
"""How long a group stays open for more, after one that had more than one transaction: then many callers are at work,
and a commit of all of them costs little more than a commit of one. Who is alone never waits for company."""
PATIENCE_S = 0.001
YIELD_S = 50e-6
"""After each `PATIENCE_S` that a commit takes, the loop stands still for this long; see `_WayMaker`."""


class _Group:
    __slots__ = ("committed", "size", "tickets")

    def __init__(self) -> None:
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


def _call_soon(loop: EventLoopToken) -> Callable[..., object]:
    """How another thread has the loop call something, without waiting for it: the loops' own words for that."""
    native: Any = loop.native_token  # of asyncio a loop, of trio a TrioToken
    return native.call_soon_threadsafe if hasattr(native, "call_soon_threadsafe") else native.run_sync_soon


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
    """Owns the writing connection. Made, used and closed on one event loop.

    Callers wait for their own commit. Beyond `max_waiting_bytes` (left behind by callers that were cancelled, or of
    very many at once) they wait in line before they hand anything in.
    """

    def __init__(self, connection: sqlite3.Connection, path: Path, clock: Clock, max_waiting_bytes: int) -> None:
        self._connection = connection
        self._path = path
        self._clock = clock
        loop = current_token()
        self._call_soon = _call_soon(loop)
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
            if not self._closed:
                self._closed = True
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
                self._groups.put(group)
            group.tickets.append(ticket)
            group.size += size
        self._waiting_bytes += size
        return ticket, group

    def _write(self) -> None:
        """The thread: commit group after group, until it is told to end."""
        in_company = False
        while (group := self._groups.get()) is not None:
            if in_company:
                time.sleep(GATHER_S)
            with self._lock:
                self._open = None
            in_company = len(group.tickets) > 1
            settle(self._connection, group.tickets, self._clock, self._path)
            try:
                self._call_soon(self._wake, group)
            except RuntimeError:
                continue  # the loop is closed, and with it everybody who waited
        self._connection.close()

    def _wake(self, group: _Group) -> None:
        """On the loop: tell everybody who waits for the group."""
        self._waiting_bytes -= group.size
        group.committed.set()
        if self._room is not None:
            self._room.set()
