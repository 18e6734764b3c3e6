"""The cards that are there: one connection a process or frame, found by package and copy, and woken where they sleep.

It carries no bytes (card_link) and starts nothing by itself (`Waker`).
"""

from collections import deque
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Final, Protocol

import anyio
from msgspec import Struct

from toolwire.canvas.card_port import WAKE_S, DidNotStart
from toolwire.canvas.packages import Package
from toolwire.wire.card import REPLACED, event_body
from toolwire.wire.card_messages import CardRef

GONE: Final = 1000
"""Close code: its time is over."""
FINISH_S: Final = 3.0
"""How long a connection may finish the calls it has, once another has taken over from it."""
MAX_BACKLOG_BYTES: Final = 64 * 1024 * 1024
"""What may wait for a card that does not read; beyond that its connection is given up."""


class Waker(Protocol):
    """Brings cards to life."""

    def wake(self, package: Package, card: CardRef) -> None:
        """See to it that the copy connects; nothing happens if that is under way."""
        ...

    def why_not(self, package: Package) -> str | None:
        """Why a card that was woken is not there, as far as that is known."""
        ...


class CardConnection:
    """A live card.

    Args:
        package: what it speaks for.
        instance: the one copy that it is for, or `None` for all of the package.
        is_child: it is a process that the host has started by itself.

    Attributes:
        outgoing: messages that wait to be sent, the oldest first.
        ready: something waits, or the connection is to be closed.
        closing: it is to be closed.
        close_reason: why it is to be closed; `None` while it is not.
        close_code: with what.
        drained: it is to be closed, and nothing waits any more.
        replaced: another connection has taken over from it; it gets no further call.
        finished: that, and it has answered the calls that it had.
    """

    def __init__(self, package: Package, instance: str | None, *, is_child: bool = False) -> None:
        self.package = package
        self.instance = instance
        self.is_child = is_child
        self.outgoing: deque[bytes] = deque()
        self.ready = anyio.Event()
        self.closing = anyio.Event()
        self.close_reason: str | None = None
        self.close_code = GONE
        self.drained = anyio.Event()
        self.replaced = anyio.Event()
        self.finished = anyio.Event()
        self._calls = 0
        self._backlog = 0

    def serves(self, card_id: str) -> bool:
        """Whether it is for a copy."""
        return self.instance is None or self.instance == card_id

    @property
    def takes_calls(self) -> bool:
        """Whether a call may be handed to it."""
        return self.close_reason is None and not self.replaced.is_set()

    @contextmanager
    def calling(self) -> Generator[None]:
        """See `card_port.Connection.calling`."""
        self._calls += 1
        try:
            yield
        finally:
            self._calls -= 1
            self._look_finished()

    def replace(self) -> None:
        """Another connection has taken over from it; doing so twice is fine."""
        self.replaced.set()
        self._look_finished()

    async def serve_out(self) -> None:
        """Close it once another has taken over from it, and its calls are over or have had `FINISH_S`."""
        await self.replaced.wait()
        with anyio.move_on_after(FINISH_S):
            await self.finished.wait()
        self.close("another connection speaks for the card now", REPLACED)

    def send(self, event: str, data: Struct) -> None:
        """See `card_port.Connection.send`."""
        self.post(event_body(event, data))

    def post(self, body: bytes) -> None:
        """Send a message as soon as the card takes it."""
        if self.close_reason is not None:
            return
        self._backlog += len(body)
        if self._backlog > MAX_BACKLOG_BYTES:
            self.close("it does not read what it is sent")
            return
        self.outgoing.append(body)
        self.ready.set()

    def close(self, reason: str, code: int = GONE) -> None:
        """End the connection, once the card has read what waits; only the first reason counts."""
        if self.close_reason is None:
            self.close_reason, self.close_code = reason, code
            self.closing.set()
            self.ready.set()

    def take(self) -> Sequence[bytes]:
        """What waits, to be sent now."""
        taken = tuple(self.outgoing)
        self.outgoing.clear()
        self._backlog = 0
        self.ready = anyio.Event()
        return taken

    def _look_finished(self) -> None:
        if not self._calls and self.replaced.is_set():
            self.finished.set()


class CardConnections:
    """All connections; see `card_port.Connections`.

    Args:
        waker: brings cards to life.
    """

    def __init__(self, waker: Waker) -> None:
        self._waker = waker
        self._open: dict[str, list[CardConnection]] = {}
        self._waiting: dict[tuple[str, str], _Waiting] = {}
        self._lost: list[Callable[[CardConnection, str], None]] = []
        self._attached: list[Callable[[CardConnection], None]] = []

    def on_attached(self, listener: Callable[[CardConnection], None]) -> None:
        """Tell `listener` of every connection that is there."""
        self._attached.append(listener)

    def on_lost(self, listener: Callable[[CardConnection, str], None]) -> None:
        """Tell `listener` of every connection that ends, and why."""
        self._lost.append(listener)

    def attach(self, connection: CardConnection) -> None:
        """A card is there. An older connection for the same copies gives way to it, once its calls are over.

        The host's own child gives way to one that somebody runs, even where it comes later.
        """
        alike = [
            one
            for one in self.of_package(connection.package.id)
            if one.instance == connection.instance and one.takes_calls
        ]
        is_late = connection.is_child and not all(one.is_child for one in alike)
        for gives_way in [connection] if is_late else alike:
            gives_way.replace()
        self._open.setdefault(connection.package.id, []).append(connection)
        for key in tuple(self._waiting):
            if key[0] == connection.package.id and connection.serves(key[1]):
                self._waiting.pop(key).arrived.set()
        for listener in tuple(self._attached):
            listener(connection)

    def detach(self, connection: CardConnection, reason: str) -> None:
        """A card is gone; saying so twice is fine."""
        mine = self._open.get(connection.package.id, [])
        if connection not in mine:
            return
        mine.remove(connection)
        if not mine:
            del self._open[connection.package.id]
        for listener in tuple(self._lost):
            listener(connection, reason)

    def give_up(self, package_id: str) -> None:
        """What was to bring a package's copies to life has failed: nobody need wait for it."""
        for key in tuple(self._waiting):
            if key[0] == package_id:
                self._waiting.pop(key).arrived.set()

    def of_package(self, package_id: str) -> Sequence[CardConnection]:
        """The connections of a package's copies."""
        return tuple(self._open.get(package_id, ()))

    def present(self, package_id: str, card_id: str) -> CardConnection | None:
        """The connection to a copy, if there is one; one that is for it alone comes first."""
        open_ = self._open.get(package_id, ())
        found = [one for one in open_ if one.serves(card_id) and one.takes_calls]
        return next((one for one in found if one.instance == card_id), found[0] if found else None)

    def is_awake(self, package_id: str, card_id: str) -> bool:
        """See `card_port.Connections.is_awake`."""
        return self.present(package_id, card_id) is not None

    async def ready(self, package: Package, card: CardRef) -> CardConnection:
        """See `card_port.Connections.ready`."""
        found = self.present(package.id, card.id)
        if found is not None:
            return found
        key = (package.id, card.id)
        waiting = self._waiting.get(key)
        if waiting is None:
            waiting = self._waiting[key] = _Waiting()
        waiting.users += 1
        try:
            self._waker.wake(package, card)
            with anyio.move_on_after(WAKE_S):
                await waiting.arrived.wait()
        finally:
            waiting.users -= 1
            if not waiting.users and self._waiting.get(key) is waiting:
                del self._waiting[key]
        found = self.present(package.id, card.id)
        if found is None:
            why = self._waker.why_not(package)
            late = "" if waiting.arrived.is_set() else f" within {WAKE_S:g} s"
            words = f"the card {card.name!r} did not start{late}"
            raise DidNotStart(f"{words}: {why}" if why else f"{words}; ask the user to look at its log")
        return found


class _Waiting:
    """Those who wait for one copy."""

    def __init__(self) -> None:
        self.arrived = anyio.Event()
        self.users = 0
