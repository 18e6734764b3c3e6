"""Who is to be told of changes on one endpoint; it knows no wire and no session."""

from collections.abc import Generator
from contextlib import contextmanager

from toolwire.core.change import Change, OnChange


class Changes:
    """Passes changes on to whoever listens, in the order in which they happen. For one event loop."""

    def __init__(self) -> None:
        self._listeners: dict[object, OnChange] = {}

    @contextmanager
    def heard(self, listener: OnChange) -> Generator[None]:
        """Tell `listener` of every change until the block ends."""
        key = object()
        self._listeners[key] = listener
        try:
            yield
        finally:
            del self._listeners[key]

    def tell(self, change: Change) -> None:
        """Tell everybody."""
        for listener in tuple(self._listeners.values()):
            listener(change)
