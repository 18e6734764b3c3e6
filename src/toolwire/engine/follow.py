"""Reads a call's record as it grows; every reader of a call reads this way. It does not write."""

from collections import deque
from collections.abc import AsyncGenerator

from toolwire.core.errors import CallNotFound
from toolwire.core.event import Finished, Stamped
from toolwire.engine.engine import Engine
from toolwire.engine.record import Record


async def follow(engine: Engine, owner: str, call_id: str, after: int = 0) -> AsyncGenerator[Stamped]:
    """The events of a call with `seq > after`, those still kept and then those to come, up to `Finished`.

    The call never waits for its readers: one who is slow misses events (`record.KEPT_EVENTS`), but never the end.
    A call that was claimed and runs nowhere, because it waits for `recover`, has no events and no end yet.

    Raises:
        CallNotFound: this owner has no such call.

    Cancellation: leaves the call alone, as does closing the generator.
    """
    follower = Follower(engine, owner, call_id, after)
    while (stamped := await follower.next()) is not None:
        yield stamped


class Follower:
    """One reader of a call, who may stop waiting and wait again; see `follow`.

    Args:
        engine: runs the call, or has run it.
        owner: whose call it is.
        call_id: which.
        after: the number of the last event that the reader has.
        recalls: of a call that is over, the lines that its record has kept are told, too, and not its end alone.
    """

    def __init__(self, engine: Engine, owner: str, call_id: str, after: int = 0, *, recalls: bool = False) -> None:
        self._recalls = recalls
        self._engine = engine
        self._owner = owner
        self._call_id = call_id
        self._after = after
        self._record: Record | None = None
        self._fresh: deque[Stamped] = deque()
        self._is_open = self._is_over = False

    async def next(self) -> Stamped | None:
        """The next event, when it comes; `None` after the end.

        Raises:
            CallNotFound: this owner has no such call.

        Cancellation: nothing is missed.
        """
        if not self._is_open:
            await self._open()
        while not self._fresh:
            record = self._record
            if record is None or self._is_over:
                return None
            self._fresh.extend(record.since(self._after))
            if not self._fresh and record.result is not None:
                ended_at = record.completed_at or record.created_at
                self._fresh.append(Stamped(self._call_id, self._after + 1, ended_at, Finished(record.result)))
            if not self._fresh:
                await record.news()
        stamped = self._fresh.popleft()
        self._after = stamped.seq
        if isinstance(stamped.event, Finished):
            self._is_over = True
            self._fresh.clear()
        return stamped

    async def _open(self) -> None:
        engine, call_id, stored = self._engine, self._call_id, None
        record = engine.find(call_id)
        if record is None:
            stored = await engine.load(self._owner, call_id)
            record = engine.find(call_id)  # it may have been claimed while we looked
        self._is_open = True
        if record is not None and record.call.caller.owner == self._owner:
            self._record = record
        elif stored is None:
            raise CallNotFound(f"no call {call_id!r} here; it may have been forgotten after its retention time")
        elif stored.result is not None:
            for told in stored.told if self._recalls else ():
                if told.seq > self._after:
                    self._fresh.append(Stamped(call_id, told.seq, told.at, told.event))
            last = self._fresh[-1].seq if self._fresh else self._after
            ended_at = stored.completed_at or stored.created_at
            self._fresh.append(Stamped(call_id, last + 1, ended_at, Finished(stored.result)))
