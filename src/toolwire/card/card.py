"""`Card`: what the author of a Python card writes with; what goes over the wire is `session`'s business.

    card = Card()

    @card.tools.handle("run_tests")
    async def run_tests(arguments, call):
        call.progress("running the tests")
        ...

    card.run()

Contract: cards.md 28-39, 66-76, §7.
"""

import logging
import os
import sys
import threading
import time
from collections.abc import Sequence
from typing import Final, TypeVar, cast

import anyio
from msgspec import Struct

from toolwire.card.abilities import Agents, Log, Storage, Terminals, Tools, Ui
from toolwire.card.errors import CardError, WireLost
from toolwire.card.handlers import Handlers
from toolwire.card.own_settings import Settings
from toolwire.card.running import current_call
from toolwire.card.session import OpenWire, Session
from toolwire.wire.card_messages import CardRef, CardsData, Ready

logger = logging.getLogger("toolwire.card")

S = TypeVar("S", bound=Struct)

URL_VARIABLE: Final = "TOOLWIRE_CARD_URL"
TOKEN_VARIABLE: Final = "TOOLWIRE_CARD_TOKEN"
PACKAGE_VARIABLE: Final = "TOOLWIRE_CARD_PACKAGE"
"""Where a card finds its host, with what it comes in, and what it speaks for, unless it is told otherwise. The token is
one of a host's own child process, which opens one connection, or an owner's key with a package."""
TOKEN_PREFIX: Final = "crd_"
SDK: Final = "toolwire-python"
RETRY_FIRST_S: Final = 0.2
RETRY_MOST_S: Final = 10.0
LAST_S: Final = 3.0
"""How long the handlers of a host's child process may go on in their threads, once that has ended."""


class Card:
    """A card of one package, with all its copies.

    Args:
        url: the host's address; a card that the host has started finds it by itself.
        key: the owner's `oag_` key, for a card that its author runs.
        package: the id of the package (`pkg_…`) that it speaks for, with `key`.

    Attributes:
        tools: what agents may call.
        agents: the agents and terminals of the card's workspace.
        terminals: runs commands in connected terminals.
        ui: asks the user.
        storage: what is kept for one copy; `storage.package` for all.
        settings: what the user has set for it.
        log: the card's log, which its user can read.
    """

    def __init__(self, url: str | None = None, key: str | None = None, package: str | None = None) -> None:
        self._url = url or os.environ.get(URL_VARIABLE)
        self._key = key or os.environ.get(TOKEN_VARIABLE)
        self._package = package or os.environ.get(PACKAGE_VARIABLE)
        self._handlers = Handlers()
        self._session: Session | None = None
        self._ready = anyio.Event()
        self._cards: tuple[CardRef, ...] = ()
        self._context: Ready | None = None
        self.tools = Tools(self, self._handlers)
        self.agents = Agents(self)
        self.terminals = Terminals(self)
        self.ui = Ui(self)
        self.storage = Storage(self, "instance")
        self.settings = Settings(self)
        self.log = Log(self)

    @property
    def copies(self) -> Sequence[CardRef]:
        """The copies on boards now: `id` and `name` of each."""
        return self._cards

    @property
    def context(self) -> Ready | None:
        """What the host has told of the package; `None` before the first connection."""
        return self._context

    def run(self) -> None:
        """Serve until the host ends the connection, or Ctrl-C.

        Raises:
            CardError, ValueError: as `serve`.
            SystemExit: another process speaks for the card now.
        """
        try:
            anyio.run(self.serve)
        except KeyboardInterrupt:
            return
        except CardError as error:
            if error.code != "replaced":
                raise
            sys.exit(f"the card ends: {error}")
        if self._is_child:
            _leave_hanging_threads()

    async def serve(self, open_wire: OpenWire | None = None) -> None:
        """Serve; a card that the host has started ends with its connection, another one tries again, for ever.

        Args:
            open_wire: opens connections in another way, for tests.

        Raises:
            CardError: the host refuses this card, or another process speaks for it now; trying again would not help.
            ValueError: nobody said where the host is.
        """
        chosen = open_wire or self._opener()
        pause_s = RETRY_FIRST_S
        while True:
            was_ready = await self._attach_once(chosen)
            if self._is_child:
                return
            pause_s = RETRY_FIRST_S if was_ready else min(2 * pause_s, RETRY_MOST_S)
            await anyio.sleep(pause_s)

    async def ready(self) -> None:
        """Wait until the host knows the card."""
        await self._ready.wait()

    async def request(self, method: str, params: Struct, type_: type[S]) -> S:
        """Ask the host, once connected.

        Raises:
            CardError: it refuses, or the connection is lost; `code` says why.
        """
        await self._ready.wait()
        while (session := self._session) is None:  # it was lost at this very moment
            await self._ready.wait()
        try:
            return cast("S", await session.request(method, params))
        except WireLost as lost:
            raise CardError("unavailable", f"the connection to the host was lost: {lost}") from None

    def copy_of(self, named: str | None) -> str | None:
        """The copy that a request is about: the one named, else that of the call under way, else the only one."""
        if named is not None:
            return named
        call = current_call.get()
        if call is not None:
            return call.card.id
        return self._cards[0].id if len(self._cards) == 1 else None

    @property
    def _is_child(self) -> bool:
        """Whether a host has started this process; it ends with its one connection."""
        return (self._key or "").startswith(TOKEN_PREFIX)

    async def _attach_once(self, open_wire: OpenWire) -> bool:
        """Serve until the connection is lost, or cannot be opened; says whether there was one."""
        lost: BaseException | None = None
        try:
            async with open_wire() as wire:
                self._session = Session(wire, self._handlers, self._on_ready, self._on_cards, self.settings.change)
                await self._session.run(SDK)
        except (WireLost, ExceptionGroup) as error:
            lost = _only_lost(error)
        finally:
            self._session, was_ready = None, self._ready.is_set()
            if was_ready:  # who waits for the first connection waits for any
                self._ready = anyio.Event()
        logger.log(logging.INFO if was_ready else logging.WARNING, "not connected to the host: %s", lost)
        return was_ready

    def _opener(self) -> OpenWire:
        from toolwire.card.websocket import wire_opener  # noqa: PLC0415 -- so that a card's test needs no WebSocket

        if not self._url or not self._key:
            raise ValueError(
                "say where the host is: Card(url=…, key=…, package=…), or let the host start this file as a card"
            )
        return wire_opener(self._url, self._key, self._package)

    def _on_ready(self, ready: Ready) -> None:
        self._context, self._cards = ready, ready.cards
        self.settings.begin(ready.settings)
        self._ready.set()

    def _on_cards(self, data: CardsData) -> None:
        self._cards = data.cards
        self.settings.keep([copy.id for copy in data.cards])


def _leave_hanging_threads() -> None:
    """End the process even where a handler's thread goes on for ever: the host that would end it may be gone itself."""
    until = time.monotonic() + LAST_S
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join(max(0.0, until - time.monotonic()))
            if thread.is_alive():
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(0)


def _only_lost(error: WireLost | ExceptionGroup) -> BaseException:
    """How the connection was lost.

    Raises:
        CardError: the host refuses the card.
        ExceptionGroup: something else went wrong.
    """
    leaves = _leaves(error)
    for leaf in leaves:
        if isinstance(leaf, CardError):
            raise leaf from None
    if not all(isinstance(leaf, WireLost) for leaf in leaves):
        raise error
    return leaves[0]


def _leaves(error: BaseException) -> list[BaseException]:
    if not isinstance(error, BaseExceptionGroup):
        return [error]
    group = cast("BaseExceptionGroup[BaseException]", error)
    return [leaf for inner in group.exceptions for leaf in _leaves(inner)]
