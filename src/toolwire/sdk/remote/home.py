"""Where a client's remote connections live: on the loop that uses them, or on the loop thread; it opens none.

A connection needs a task that outlives every turn. A client that was not entered has none, and its verbs may come from
one loop today and from another tomorrow; so its connections live on the loop thread, and calls go over to there.
"""

from collections.abc import Callable, Coroutine
from typing import Any, Generic, Protocol, TypeVar, cast

import anyio

from toolwire.core.event import Event
from toolwire.core.handler import Emit
from toolwire.sdk.loop_thread import LOOP_THREAD

T = TypeVar("T")

STOP_S = 10.0
"""How long a cancelled caller waits for what it asked for to stop."""


class Home(Protocol):
    """The loop on which the connections are."""

    def begin(self, serve: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Have `serve` going there, once."""
        ...

    async def run(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Do `work` there. What it raises is raised; being cancelled cancels it."""
        ...

    def relayed(self, emit: Emit) -> Emit:
        """`emit` of this loop, to be called there."""
        ...


class SameLoop:
    """The connections are on the loop that uses them; somebody else keeps `serve` going."""

    def begin(self, serve: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """See `Home.begin`: nothing to do."""

    async def run(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Do `work`."""
        return await work()

    def relayed(self, emit: Emit) -> Emit:
        """`emit` itself."""
        return emit


class OnLoopThread:
    """The connections are on the loop thread of `toolwire.sdk.loop_thread`."""

    def __init__(self) -> None:
        self._begun = False

    def begin(self, serve: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """See `Home.begin`."""
        if not self._begun:
            self._begun = True
            LOOP_THREAD.start(serve)

    async def run(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Do `work` on the loop thread, from whichever loop."""
        errand = _Errand(work)
        LOOP_THREAD.start(errand.run)
        try:
            await errand.done.wait()
        except BaseException:
            LOOP_THREAD.start(errand.stop)
            with anyio.move_on_after(STOP_S, shield=True):
                await errand.done.wait()
            raise
        if errand.error is not None:
            raise errand.error
        return cast("T", errand.result)

    def relayed(self, emit: Emit) -> Emit:
        """`emit`, brought back to this loop without waiting for it."""
        soon = _soon()

        def emit_there(event: Event) -> None:
            soon(emit, event)

        return emit_there


class _Errand(Generic[T]):
    """Work on the loop thread, and the loop that waits for it."""

    def __init__(self, work: Callable[[], Coroutine[Any, Any, T]]) -> None:
        self.done = anyio.Event()
        self.result: T | None = None
        self.error: Exception | None = None
        self._work = work
        self._soon = _soon()
        self._scope: anyio.CancelScope | None = None

    async def run(self) -> None:
        """There: do it."""
        try:
            with anyio.CancelScope() as self._scope:
                self.result = await self._work()
        except Exception as error:  # noqa: BLE001 -- raised where it is waited for
            self.error = error
        finally:
            self._soon(self.done.set)

    async def stop(self) -> None:
        """There: nobody wants it any more. `run` was asked for before, so it has begun."""
        if self._scope is not None:
            self._scope.cancel()


def _soon() -> Callable[..., None]:
    """A function that calls a function soon, on the loop that is running here, from any thread."""
    native: Any = anyio.lowlevel.current_token().native_token  # of asyncio a loop, of trio a TrioToken
    call_soon = native.call_soon_threadsafe if hasattr(native, "call_soon_threadsafe") else native.run_sync_soon

    def soon(function: Callable[..., object], *args: object) -> None:
        try:
            call_soon(function, *args)
        except RuntimeError:  # that loop has ended, and nobody waits there any more
            return

    return soon
