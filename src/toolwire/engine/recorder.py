"""Writes behind what need not be committed before it is answered; it does not decide what that is."""

import logging
from collections.abc import Callable, Sequence

import anyio

from toolwire.core.errors import StoreConflict, StoreUnavailable
from toolwire.core.ports import Op, Store

logger = logging.getLogger("toolwire.engine")

MAX_PENDING = 20_000
"""Pending entries before callers wait for the store (`room`)."""
RETRY_S = 1.0
LINGER_S = 0.05
"""How long entries gather before they are written: nobody waits for them, and one commit of many costs little more
than one of one."""

Pending = Callable[[], Sequence[Op]]
"""Encodes the operations of one entry, when its batch is written rather than when it is added."""


class Recorder:
    """An ordered, bounded buffer in front of the store.

    When the store cannot be written, entries are kept and tried again; once the buffer is full the oldest are given
    up, with a log line that says how many: a plain call's audit may lose moments, an answer is never held up for it.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._pending: list[Pending] = []
        self._wake: anyio.Event | None = None
        self._written = anyio.Event()
        self.failing = False

    def add(self, pending: Pending) -> None:
        """Write these operations soon, in the order of the calls to `add`."""
        self._pending.append(pending)
        if self._wake is not None:
            self._wake.set()
        if len(self._pending) > MAX_PENDING and self.failing:
            given_up = len(self._pending) - MAX_PENDING
            del self._pending[:given_up]
            logger.warning("gave up %d records of plain calls: the store cannot be written", given_up)

    @property
    def full(self) -> bool:
        """Whether the next caller should wait in `room` first."""
        return len(self._pending) > MAX_PENDING and not self.failing

    async def room(self) -> None:
        """Wait until the store has caught up; the one who submits a call waits here."""
        while self.full:
            await self._written.wait()

    async def write(self) -> None:
        """Write until cancelled."""
        while True:
            if not self._pending:
                self._wake = anyio.Event()
                await self._wake.wait()
                self._wake = None
            await anyio.sleep(RETRY_S if self.failing else LINGER_S)
            await self.flush()

    async def flush(self) -> None:
        """Write what is pending now; on failure it stays pending, or is split to find the entry that conflicts."""
        batch, self._pending = self._pending, []
        if not batch:
            return
        ops = [op for pending in batch for op in _ops_of(pending)]
        try:
            await self._store.tx(ops)
        except StoreUnavailable as error:
            if not self.failing:
                logger.error("cannot write records: %s", error.message)
            self.failing = True
            self._pending[:0] = batch
            return
        except StoreConflict:
            await self._one_by_one(batch)
        self.failing = False
        self._written.set()
        self._written = anyio.Event()

    async def _one_by_one(self, batch: Sequence[Pending]) -> None:
        for pending in batch:
            try:
                await self._store.tx(_ops_of(pending))
            except StoreConflict as error:
                logger.warning("dropped a record that conflicts: %s", error.message)
            except StoreUnavailable as error:
                logger.error("cannot write a record: %s", error.message)


def _ops_of(pending: Pending) -> Sequence[Op]:
    """The operations of an entry; one that cannot be encoded is given up, because the others must not wait for it."""
    try:
        return tuple(pending())
    except (TypeError, ValueError, OverflowError, RecursionError):
        logger.exception("dropped a record that cannot be encoded")
        return ()
