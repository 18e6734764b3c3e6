"""Bodies that wait between a request of 2026-07-28 and its repeat; it reads no request and makes no answer.

A body that asks stays where it is, so that what it did before happens once. Where it is not here any more (we were
restarted, another replica got the repeat, it waited too long), it begins anew with the answers from the sealed state.
Spec: MCP 2026-07-28 basic/mrtr; contract mcp.md 1.2, MRTR rules.
"""

from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable, Sequence
from contextlib import AbstractContextManager, asynccontextmanager
from functools import partial
from typing import Any, Protocol

import anyio
from anyio.abc import TaskGroup

from toolwire.core.asking import Question
from toolwire.core.errors import ServiceUnavailable
from toolwire.core.event import Finished, Stamped
from toolwire.engine.asking import Asking
from toolwire.engine.deadline import Timekeeper, Timer
from toolwire.engine.record import Listener
from toolwire.surfaces.sealing import STATE_TTL_S, Seal

MAX_PARKED = 1024
"""Bodies that wait at once; the one that has waited longest gives way."""
MAX_ENDED = 256
"""Bodies that have ended and are still known, for a client that repeats its last request because it lost the answer."""


class Work(Protocol):
    """A body at work. Times are Unix seconds."""

    @property
    def over(self) -> bool:
        """Whether it has ended."""
        ...

    def pause(self) -> None:
        """It waits for an answer: its deadline is off."""
        ...

    def go_on(self, deadline: float) -> None:
        """It goes on until then."""
        ...

    def stop(self, reason: str) -> None:
        """End it."""
        ...

    def heard_by(self, listener: Listener | None) -> AbstractContextManager[None]:
        """Tell a request of the events until the block ends."""
        ...


class Parked:
    """A body, with what it asks. As a `Way` it carries nothing: the request that waits for `turn` is answered."""

    def __init__(self, call_id: str, asking: Asking) -> None:
        self.call_id = call_id
        self.asking = asking
        self.bound: Sequence[str] = ()
        self.work: Work | None = None
        self.waiting = 0
        self.timer: Timer | None = None
        self.is_task = False
        self._news = anyio.Event()
        asking.way = self

    @property
    def over(self) -> bool:
        """Whether the body has ended."""
        return self.work is not None and self.work.over

    async def turn(self) -> None:
        """Wait until the body has ended, asks something or has become a task."""
        self.waiting += 1
        try:
            while not (self.over or self.asking.questions or self.is_task):
                await self._news.wait()
        finally:
            self.waiting -= 1

    def become_task(self) -> None:
        """The body goes on without the request, and asks in another way."""
        self.is_task = True
        self.stir()

    def stir(self) -> None:
        """Something has happened."""
        self._news.set()
        self._news = anyio.Event()

    def hear(self, stamped: Stamped) -> None:
        """The end of a call comes as an event."""
        if isinstance(stamped.event, Finished):
            self.close()

    def close(self) -> None:
        """The body has ended."""
        self.asking.end()
        self.stir()

    def ask(self, questions: Sequence[Question]) -> None:
        """See `engine.asking.Way.ask`."""
        self.stir()

    def withdraw(self, keys: Iterable[str]) -> None:
        """See `engine.asking.Way.withdraw`; the next answer will not have them."""

    def complete(self, key: str) -> None:
        """See `engine.asking.Way.complete`; on this wire nobody is told."""


class Parking:
    """All bodies that wait here. Use `running()` around serving.

    Attributes:
        seal: for the states that clients keep.
    """

    def __init__(self, timekeeper: Timekeeper, seal: Seal) -> None:
        self.seal = seal
        self._timekeeper = timekeeper
        self._parked: OrderedDict[str, Parked] = OrderedDict()
        self._ended: OrderedDict[str, Parked] = OrderedDict()
        self._tasks: TaskGroup | None = None

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Own the tasks of bodies that have no record, until the block ends."""
        async with anyio.create_task_group() as tasks:
            self._tasks = tasks
            try:
                yield
            finally:
                self._tasks = None
                tasks.cancel_scope.cancel()

    def start(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Let a body that has no record work in a task of its own.

        Raises:
            ServiceUnavailable: the server is stopping.
        """
        if self._tasks is None:
            raise ServiceUnavailable("the server is stopping; ask again in a moment")
        self._tasks.start_soon(work)

    def find(self, call_id: str, bound: Sequence[str]) -> Parked | None:
        """A body that is here, or was until just now, for the very request that it was parked by."""
        found = self._parked.get(call_id) or self._ended.get(call_id)
        return found if found is not None and found.bound == bound else None

    def park(self, parked: Parked, bound: Sequence[str]) -> str:
        """Let a body wait for its answers; gives the state that brings the repeat of the same request back to it."""
        assert parked.work is not None
        parked.bound = bound
        parked.work.pause()
        self._parked[parked.call_id] = parked
        self._parked.move_to_end(parked.call_id)
        self._stop_timer(parked)
        parked.timer = self._timekeeper.after(STATE_TTL_S, partial(self._expire, parked))
        if len(self._parked) > MAX_PARKED:
            oldest = next(one for one in self._parked.values() if not one.waiting)  # `parked` itself at the latest
            self._give_up(oldest, "too many calls wait for an answer")
        return self.seal.close(parked.call_id, parked.asking.given, parked.bound)

    def resume(self, parked: Parked, deadline: float) -> None:
        """The repeat is here: the body may go on until then."""
        self._stop_timer(parked)
        parked.asking.deadline = deadline
        if parked.work is not None and not parked.over:
            parked.work.go_on(deadline)

    def end(self, parked: Parked) -> None:
        """The body has ended."""
        self._stop_timer(parked)
        if self._parked.pop(parked.call_id, None) is not None:
            self._ended[parked.call_id] = parked
            parked.timer = self._timekeeper.after(STATE_TTL_S, partial(self._forget, parked.call_id))
            while len(self._ended) > MAX_ENDED:
                self._stop_timer(self._ended.popitem(last=False)[1])

    def __len__(self) -> int:
        return len(self._parked)

    def _expire(self, parked: Parked) -> None:
        if not parked.waiting:
            self._give_up(parked, "nobody has answered what it asked")

    def _forget(self, call_id: str) -> None:
        self._ended.pop(call_id, None)

    def _give_up(self, parked: Parked, reason: str) -> None:
        self._stop_timer(parked)
        self._parked.pop(parked.call_id, None)
        if parked.work is not None:
            parked.work.stop(reason)

    def _stop_timer(self, parked: Parked) -> None:
        if parked.timer is not None:
            parked.timer.cancel()
            parked.timer = None
