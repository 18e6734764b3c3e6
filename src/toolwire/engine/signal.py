"""Events that happen once, for what every call waits for; it does not time anything or carry values.

An `anyio.Event` does the same and costs twenty Python calls to make and wait for, which of a call that waits five times
is a fifth of all its work. On asyncio a `Signal` waits with one future of the loop; on trio it is an `anyio.Event`.
"""

from asyncio import (
    Future,
    _get_running_loop,  # pyright: ignore[reportPrivateUsage] - as `get_running_loop`, but says `None` under trio
)
from collections.abc import Awaitable, Generator
from typing import Any

import anyio


class _AtOnce:
    """Nothing to wait for."""

    def __await__(self) -> Generator[Any, None, None]:
        return
        yield


_AT_ONCE = _AtOnce()


class Signal:
    """Set once; whoever waits, or comes later, goes on."""

    __slots__ = ("_events", "_futures", "is_set")

    def __init__(self) -> None:
        self.is_set = False
        self._futures: list[Future[None]] | None = None
        self._events: list[anyio.Event] | None = None

    def set(self) -> None:
        """Let everybody go on; setting it twice is fine. Called on the loop of those who wait."""
        self.is_set = True
        futures, self._futures = self._futures, None
        for future in futures or ():
            if not future.done():
                future.set_result(None)
        for event in self._events or ():
            event.set()

    def wait(self) -> Awaitable[None]:
        """Wait until it is set; when it is, this is no checkpoint. To be awaited at once."""
        if self.is_set:
            return _AT_ONCE
        loop = _get_running_loop()
        if loop is None:
            event = anyio.Event()
            self._events = [*(self._events or ()), event]
            return event.wait()
        future: Future[None] = loop.create_future()
        if self._futures is None:
            self._futures = [future]
        else:
            self._futures.append(future)
        return future
