"""The one event loop on which all synchronous doors run, on a thread of its own; it knows nothing of agents.

One loop for all of them lets clients share an open store, and a new client costs no thread. It starts with its first
use and ends with the process. Waiting for it can be interrupted: Ctrl-C in the main thread cancels what was asked.
"""

import os
import threading
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Generic, TypeVar, cast

import anyio

_T = TypeVar("_T")


class _Asked(Generic[_T]):
    """One coroutine on its way: started on the loop, awaited by a thread."""

    __slots__ = ("_done", "_scope", "_stopped", "_work", "error", "result")

    def __init__(self, work: Callable[[], Awaitable[_T]]) -> None:
        self._work = work
        self._scope: anyio.CancelScope | None = None
        self._stopped = False
        self._done = threading.Lock()
        self._done.acquire()
        self.result: _T | None = None
        self.error: BaseException | None = None

    async def run(self) -> None:
        with anyio.CancelScope() as self._scope:
            try:
                if self._stopped:
                    self._scope.cancel()
                self.result = await self._work()
            except Exception as error:  # noqa: BLE001 -- raised again where it is awaited
                self.error = error
            except BaseException as error:
                self.error = error
                raise
            finally:
                self._done.release()

    def stop(self) -> None:
        """On the loop: nobody wants it any more."""
        self._stopped = True
        if self._scope is not None:
            self._scope.cancel()

    def fail(self, error: BaseException) -> None:
        """On the loop: it could not even be started."""
        self.error = error
        self._done.release()

    def wait(self) -> None:
        """On the asking thread: until it is done."""
        self._done.acquire()


class LoopThread:
    """An event loop on a daemon thread, started when it is first needed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._token: Any = None
        self._group: Any = None

    def run(self, work: Callable[[], Coroutine[Any, Any, _T]]) -> _T:
        """Run a coroutine on the loop and wait for its end.

        Raises:
            RuntimeError: called on the loop itself, as from an observer, where waiting would never end.
            KeyboardInterrupt: of this thread, once what was asked has been cancelled.
        """
        if self.here():
            raise RuntimeError(
                "a synchronous client cannot be called on its own loop, as from an observer or an asynchronous tool: "
                "hand the work to a thread, or use aquery"
            )
        asked = _Asked(work)
        self._hand_in(asked)
        try:
            asked.wait()
        except KeyboardInterrupt:
            self._call_soon(asked.stop)
            asked.wait()
            raise
        if asked.error is not None:
            raise asked.error
        return cast("_T", asked.result)

    def here(self) -> bool:
        """Whether the caller is on the loop."""
        return self._thread is not None and threading.get_ident() == self._thread.ident

    def forget(self) -> None:
        """Start anew: a forked child has none of its parent's threads."""
        self._lock = threading.Lock()
        self._thread = None

    def start(self, work: Callable[[], Coroutine[Any, Any, object]]) -> None:
        """Run a coroutine on the loop without waiting for it."""
        self._hand_in(_Asked(work))

    def _hand_in(self, asked: _Asked[Any]) -> None:
        self._running()
        self._call_soon(lambda: self._begin(asked))

    def _begin(self, asked: _Asked[Any]) -> None:
        """On the loop, in a copy of the asking thread's context."""
        try:
            self._group.start_soon(asked.run)
        except BaseException as error:  # noqa: BLE001 -- raised where it is awaited, which would wait forever
            asked.fail(error)

    def _call_soon(self, what: Callable[[], None]) -> None:
        self._token.backend_class.run_sync_soon(what, (), self._token.native_token)

    def _running(self) -> None:
        if self._thread is not None:
            return
        with self._lock:
            if self._thread is not None:
                return
            ready = threading.Event()
            thread = threading.Thread(target=anyio.run, args=(self._serve, ready), name="toolwire-sdk", daemon=True)
            thread.start()
            ready.wait()
            self._thread = thread

    async def _serve(self, ready: threading.Event) -> None:
        self._token = anyio.lowlevel.current_token()
        async with anyio.create_task_group() as self._group:
            ready.set()
            await anyio.sleep_forever()


LOOP_THREAD = LoopThread()
"""The loop of every synchronous client and query of this process."""
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=LOOP_THREAD.forget)


def later(delay_s: float, work: Callable[[], Coroutine[Any, Any, object]]) -> None:
    """Do something on the loop thread after a while; for what has to outlive the task that asks for it."""

    async def wait() -> None:
        await anyio.sleep(delay_s)
        await work()

    LOOP_THREAD.start(wait)
