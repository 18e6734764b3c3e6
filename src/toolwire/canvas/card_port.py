"""How calls reach cards: the port between who runs a card's calls and who keeps the connections to cards."""

from contextlib import AbstractContextManager
from typing import Protocol

from msgspec import Struct

from toolwire.canvas.packages import Package
from toolwire.core.errors import AgentOffline
from toolwire.wire.card_messages import CardRef

WAKE_S = 10.0
"""How long a card may take to be there once it is woken (cards.md 60)."""


class DidNotStart(AgentOffline):
    """The card was woken and is not there in time (decision 21)."""


class Connection(Protocol):
    """One live card: a process that serves all copies of a package, or the frame of one copy."""

    def send(self, event: str, data: Struct) -> None:
        """Tell the card of an event of `card_messages.EVENTS`; it never blocks, and does nothing once that is gone."""
        ...

    def calling(self) -> AbstractContextManager[None]:
        """While the block lasts the card has a call, for whose end the connection stays, if it can."""
        ...


class Connections(Protocol):
    """All cards that can be reached."""

    async def ready(self, package: Package, card: CardRef) -> Connection:
        """The connection to a copy, which is woken first if it has to be; several who wait share one waking.

        Raises:
            DidNotStart: it is not there within `WAKE_S`; the message says why, if that is known.
        """
        ...

    def is_awake(self, package_id: str, card_id: str) -> bool:
        """Whether a copy could be called without waking it."""
        ...
