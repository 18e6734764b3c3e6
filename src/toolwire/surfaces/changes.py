"""Who is to be told of changes on one endpoint; it knows no wire and no session."""

from collections import deque
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import TypeAlias

from toolwire.core.change import Change, OnChange
from toolwire.core.ids import new_id

KEPT_CHANGES = 256
"""How many of the latest changes are kept for clients that come back."""

OnWant: TypeAlias = Callable[[str], None]
"""Told the URI of a resource that somebody listens to; must neither block nor raise."""


class Changes:
    """Passes changes on to whoever listens, in the order in which they happen. For one event loop.

    Attributes:
        want: told the URI of each resource that somebody listens to, for a source that tells of no others.
        log_id: names the numbering of changes, which begins anew with each process.
        seq: the number of the latest change.
    """

    def __init__(self, want: OnWant = lambda _: None) -> None:
        self.want = want
        self._listeners: dict[object, OnChange] = {}
        self._kept: deque[Change] = deque(maxlen=KEPT_CHANGES)
        self.log_id = new_id("log")
        self.seq = 0

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
        self.seq += 1
        self._kept.append(change)
        for listener in tuple(self._listeners.values()):
            listener(change)

    def since(self, log_id: str, seq: int) -> Sequence[tuple[int, Change]] | None:
        """The changes after a number, with theirs; `None` when they are not all kept, or of another log."""
        missed = self.seq - seq
        if log_id != self.log_id or not 0 <= missed <= len(self._kept):
            return None
        kept = list(self._kept)[len(self._kept) - missed :]
        return list(enumerate(kept, seq + 1))
