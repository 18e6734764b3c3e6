"""One client for each event loop, since a connection belongs to the loop that opened it; it knows no provider."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
from anyio.lowlevel import RunVar

CLOSE_TIMEOUT_S = 2.0
"""How long a cancelled request waits for connections to close."""


class Connections:
    """The clients of one provider, made as they are needed; several runtimes on several threads may share them.

    Args:
        make: makes a client with a coroutine method `close`.
        owned: whether they are ours to close.
    """

    def __init__(self, make: Callable[[], Any], *, owned: bool = True) -> None:
        self._make = make
        self._owned = owned
        self._current = RunVar[_Client | None]("toolwire_model_client", None)

    @asynccontextmanager
    async def client(self) -> AsyncGenerator[Any]:
        """The client of this event loop, which stays open until the last one who uses it is done."""
        held = self._current.get()
        if held is None:
            held = _Client(self._make())
            self._current.set(held)
        held.users += 1
        try:
            yield held.client
        finally:
            held.users -= 1
            if held.retired:
                await self._close_unused(held)

    async def aclose(self) -> None:
        """Close this event loop's client, as soon as nobody uses it; whoever comes later gets a new one."""
        held = self._current.get()
        if held is None:
            return
        self._current.set(None)
        held.retired = True
        await self._close_unused(held)

    async def _close_unused(self, held: "_Client") -> None:
        if held.users == 0 and self._owned:
            with anyio.move_on_after(CLOSE_TIMEOUT_S, shield=True):
                await held.client.close()


class _Client:
    """A client and who uses it; seen by one event loop only, so that no lock is needed."""

    __slots__ = ("client", "retired", "users")

    def __init__(self, client: Any) -> None:
        self.client = client
        self.users = 0
        self.retired = False
