"""Time-outs that stand still while a person is waited for; it waits for nobody itself."""

import math
from collections.abc import Generator
from contextlib import contextmanager

import anyio


class Clocks:
    """The time-outs of what may have to wait until somebody has signed in.

    A person takes minutes where a server takes seconds; so a server's time-out stops for as long.
    """

    def __init__(self) -> None:
        self._running: dict[anyio.CancelScope, float] = {}
        self._waits = 0

    @contextmanager
    def limit(self, seconds: float) -> Generator[anyio.CancelScope]:
        """A scope that is cancelled after `seconds` in which no person was waited for."""
        with anyio.CancelScope(deadline=anyio.current_time() + seconds) as scope:
            if self._waits:
                self._stop(scope)
            else:
                self._running[scope] = math.inf
            try:
                yield scope
            finally:
                self._running.pop(scope, None)

    @contextmanager
    def fail_after(self, seconds: float) -> Generator[None]:
        """A block that may last `seconds` in which no person was waited for.

        Raises:
            TimeoutError: it lasted longer.
        """
        with self.limit(seconds) as scope:
            yield
        if scope.cancelled_caught:
            raise TimeoutError

    @contextmanager
    def stopped(self) -> Generator[None]:
        """A person is waited for in this block."""
        if not self._waits:
            for scope in self._running:
                self._stop(scope)
        self._waits += 1
        try:
            yield
        finally:
            self._waits -= 1
            if not self._waits:
                for scope, left in self._running.items():
                    if scope.deadline == math.inf and left < math.inf:
                        scope.deadline = anyio.current_time() + left

    def _stop(self, scope: anyio.CancelScope) -> None:
        self._running[scope] = scope.deadline - anyio.current_time()
        scope.deadline = math.inf


def clocks_of(owner: object) -> Clocks:
    """The `clocks` of what may wait for a person, or new ones, which never stop."""
    clocks: object = getattr(owner, "clocks", None)
    return clocks if isinstance(clocks, Clocks) else Clocks()
