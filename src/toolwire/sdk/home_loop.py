"""An event loop that others may have something done on; it starts no loop and no thread."""

import threading
from collections.abc import Callable
from contextlib import suppress

import anyio
import anyio.from_thread
import anyio.lowlevel


class HomeLoop:
    """The event loop on which this is made."""

    def __init__(self) -> None:
        self._thread = threading.get_ident()
        self._loop = anyio.lowlevel.current_token()

    def run(self, act: Callable[[], None]) -> None:
        """Do something there, from whatever thread, and wait until it is done; a loop that has ended does nothing."""
        if threading.get_ident() == self._thread:
            act()
        else:
            with suppress(anyio.RunFinishedError):
                anyio.from_thread.run_sync(act, token=self._loop)
