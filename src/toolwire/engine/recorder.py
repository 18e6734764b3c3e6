"""Writes behind what need not be committed before it is answered; it does not decide what that is."""

import logging
import math
from collections.abc import Callable, Sequence
from typing import TypeAlias

import anyio

from toolwire.core.errors import StoreConflict, StoreUnavailable
from toolwire.core.ports import Op, Put, Store

logger = logging.getLogger("toolwire.engine")

MAX_PENDING = 20_000
"""Pending entries before callers wait for the store (`room`)."""
RETRY_S = 1.0
LINGER_S = 0.05
"""How long entries gather before they are written: nobody waits for them, and one commit of many costs little more
than one of one."""

Pending: TypeAlias = Put | Callable[[], Sequence[Op]]
"""What one entry writes, or what encodes that when its batch is written rather than when it is added; possibly twice.
"""


class Recorder:
    """An ordered, bounded buffer in front of the store.

    When the store cannot be written, entries are kept and tried again; once the buffer is full the oldest are given
    up, with a log line that says how many: a plain call's audit may lose moments, an answer is never held up for it.

    Attributes:
        failing: the store could not be written the last time.
        stopping: the process is about to end. Calls that are cut off now stay open in the store, and so should
            whatever their providers keep there, because `recover` takes them up again.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._pending: list[Pending] = []
        self._writing = anyio.Lock(fast_acquire=True)
        self._wake: anyio.Event | None = None
        self._wanted = anyio.Event()
        self._tried = anyio.Event()
        self._given_up = 0
        self.failing = False
        self.stopping = False

    def add(self, pending: Pending) -> None:
        """Write these operations soon, in the order of the calls to `add`."""
        self._pending.append(pending)
        if self._wake is not None:
            self._wake.set()
        if len(self._pending) > MAX_PENDING and self.failing:
            self._give_up()

    @property
    def full(self) -> bool:
        """Whether the next caller should wait in `room` first."""
        return len(self._pending) > MAX_PENDING and not self.failing

    @property
    def behind(self) -> bool:
        """Whether something was added that is not in the store yet."""
        return bool(self._pending) or self._writing.locked()

    async def room(self, within_s: float = math.inf) -> bool:
        """Wait until the store has caught up, or fails; the one who submits a call waits here. Says whether it has."""
        with anyio.move_on_after(max(0.0, within_s)):
            while self.full:
                self._wanted.set()
                await self._tried.wait()
            return True
        return False

    async def caught_up(self) -> None:
        """Have written without delay what was added before; come back when it is, or cannot be."""
        for _ in range(2):  # for the batch under way, and for the one behind it
            if not self.behind or self.failing or self.stopping:
                return
            self._wanted.set()
            await self._tried.wait()

    async def write(self) -> None:
        """Write until cancelled."""
        while True:
            if not self._pending:
                self._wake = anyio.Event()
                await self._wake.wait()
                self._wake = None
            if self.failing:
                await anyio.sleep(RETRY_S)
            else:
                with anyio.move_on_after(LINGER_S):
                    await self._wanted.wait()
            await self.flush()

    async def flush(self) -> None:
        """Write what is pending now; what the store refuses is dropped, and when it fails all stays pending.

        Cancellation: takes effect when the batch under way is written, so that its outcome is known.
        """
        async with self._writing:
            batch, self._pending = self._pending, []
            self._wanted = anyio.Event()
            with anyio.CancelScope(shield=True):
                self._pending[:0] = await self._write(batch)
            self._give_up()
            if self._given_up:
                logger.warning("gave up %d records of plain calls: the store cannot be written", self._given_up)
                self._given_up = 0
            self._tried.set()
            self._tried = anyio.Event()

    async def _write(self, batch: list[Pending]) -> list[Pending]:
        """Write a batch, halved again and again around an entry that the store refuses; what is left when it fails."""
        ops: list[Op] = []
        for pending in batch:
            if isinstance(pending, Put):  # as most of them are
                ops.append(pending)
            else:
                ops += _encoded(pending)
        try:
            if ops:
                await self._store.tx(ops)
        except StoreUnavailable as error:
            if not self.failing:
                logger.error("cannot write records: %s", error.message)
            self.failing = True
            return batch
        except (StoreConflict, ValueError) as error:
            self.failing = False
            if len(batch) == 1:
                logger.warning("dropped a record that the store refuses: %s", error)
                return []
            middle = len(batch) // 2
            left = await self._write(batch[:middle])
            return left + batch[middle:] if left else await self._write(batch[middle:])
        self.failing = False
        return []

    def _give_up(self) -> None:
        surplus = len(self._pending) - MAX_PENDING
        if surplus > 0 and self.failing:
            del self._pending[:surplus]
            self._given_up += surplus


def _encoded(pending: Callable[[], Sequence[Op]]) -> Sequence[Op]:
    try:
        return pending()
    except Exception:  # arguments or results of an unforeseen kind cost their own record, not everybody's
        logger.exception("dropped a record that cannot be encoded")
        return ()
