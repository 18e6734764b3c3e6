"""Something that happens once, on a thread, and is waited for on event loops and threads alike."""

import threading

import anyio


class Flag:
    """Set once by any thread."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self._lock = threading.Lock()
        self._waiting: list[tuple[anyio.Event, anyio.lowlevel.EventLoopToken]] = []

    def is_set(self) -> bool:
        """Whether it has happened."""
        return self._event.is_set()

    def set(self) -> None:
        """Let everyone know; for threads other than those of event loops."""
        with self._lock:
            self._event.set()
            waiting, self._waiting = self._waiting, []
        for event, loop in waiting:
            try:
                anyio.from_thread.run_sync(event.set, token=loop)
            except anyio.RunFinishedError:
                continue  # nobody is left to be told

    async def wait(self) -> None:
        """Return when it has happened; on an event loop."""
        with self._lock:
            if self._event.is_set():
                return
            event = anyio.Event()
            self._waiting.append((event, anyio.lowlevel.current_token()))
        await event.wait()

    def wait_on_thread(self, timeout_s: float) -> bool:
        """Whether it has happened within that many seconds; for threads without an event loop."""
        return self._event.wait(timeout_s)
