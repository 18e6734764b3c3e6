"""Threads for synchronous tool bodies; they know nothing of tools and results.

`anyio.to_thread` is not used here for two reasons. Its threads on asyncio are not daemons, so one stuck body would keep
the process from ending; and it counts a thread that was left behind as free, so a body that hangs at each call would
have a new thread each time. Here a thread counts until its body has really ended.
"""

import contextvars
import os
import sys
import threading
from collections import deque
from collections.abc import Callable
from typing import Any, TypeAlias

import anyio

IDLE_S = 30.0
"""How long a thread waits for more work before it ends."""

Outcome: TypeAlias = tuple[Any, BaseException | None]
_Work: TypeAlias = Callable[[], None]


class BodyThreads:
    """The threads of one tool: at most `limit` bodies at once on one event loop, the ones left behind included."""

    def __init__(self, name: str, limit: int) -> None:
        self._name = name
        self._limit = limit
        self._limiters: Any = None

    async def run(self, body: Callable[[], Any]) -> Outcome:
        """Run `body` on a thread, in a copy of this task's context variables.

        Returns:
            What it returned and `None`, or `None` and what it raised.

        Raises:
            RuntimeError: the system gives us no thread.

        Cancellation: before the body has begun it never will; afterwards it goes on, and nobody learns how it ends.
        """
        limiter = self._limiter()
        task = _Task(body, limiter)
        await limiter.acquire_on_behalf_of(task)
        try:
            _give(task.work, self._name)
        except RuntimeError:
            limiter.release_on_behalf_of(task)
            raise
        await task.ended.wait()
        return task.outcome

    def _limiter(self) -> "anyio.CapacityLimiter":
        if self._limiters is None:
            self._limiters = anyio.lowlevel.RunVar[anyio.CapacityLimiter](f"toolwire.sdk threads of {self._name}")
        limiter: anyio.CapacityLimiter | None = self._limiters.get(None)
        if limiter is None:
            limiter = anyio.CapacityLimiter(self._limit)
            self._limiters.set(limiter)
        return limiter


class _Task:
    """One body on its way: begun on the loop, run on a thread, ended on the loop."""

    def __init__(self, body: Callable[[], Any], limiter: "anyio.CapacityLimiter") -> None:
        self.ended = anyio.Event()
        self.outcome: Outcome = (None, None)
        self._body = body
        self._limiter = limiter
        self._loop = anyio.lowlevel.current_token()
        self._context = contextvars.copy_context()

    def work(self) -> None:
        """Run the body; for the thread."""
        try:
            self.outcome = self._context.run(_outside_the_loop, self._body), None
        except BaseException as error:  # noqa: BLE001 -- handed to the loop as a value
            self.outcome = None, error
        try:
            anyio.from_thread.run_sync(self._end, token=self._loop)
        except anyio.RunFinishedError:
            return  # nobody is left to be told

    def _end(self) -> None:
        self._limiter.release_on_behalf_of(self)
        self.ended.set()


def _outside_the_loop(body: Callable[[], Any]) -> Any:
    """Run `body` where no event loop runs: the copied context says that one does, and the body may start its own."""
    sniffio = sys.modules.get("sniffio")
    if sniffio is not None:
        sniffio.current_async_library_cvar.set(None)
    return body()


class _Thread(threading.Thread):
    """A thread that does one piece of work after the other."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self._given = threading.Lock()
        self._given.acquire()
        self._work: _Work = _nothing

    def give(self, work: _Work, name: str) -> None:
        """Do `work`; the thread must be idle, and be called `name` meanwhile."""
        self.name = name
        self._work = work
        self._given.release()

    def run(self) -> None:
        """Do what is given until nothing was for a while."""
        while self._wait():
            self._work()
            self._work = _nothing
            _IDLE.append(self)

    def _wait(self) -> bool:
        if self._given.acquire(timeout=IDLE_S):
            return True
        try:
            _IDLE.remove(self)
        except ValueError:  # taken at this very moment: the work is on its way
            return self._given.acquire()
        return False


def _nothing() -> None:
    pass


_IDLE: deque[_Thread] = deque()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_IDLE.clear)  # a child has none of its parent's threads


def _give(work: _Work, name: str) -> None:
    try:
        thread = _IDLE.pop()
    except IndexError:
        thread = _Thread()
        thread.start()
    thread.give(work, f"tool {name}")
