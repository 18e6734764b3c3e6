"""`Card`: what the author of a Python card writes with; what goes over the wire is `session`'s business.

    card = Card()

    @card.tools.handle("run_tests")
    async def run_tests(arguments, call):
        call.progress("running the tests")
        ...

    card.run()

Contract: cards.md 28-39, 66-76, §7.
"""

import os
from collections.abc import Sequence
from typing import Any, Final, Literal, TypeVar, cast

import anyio
from msgspec import Struct

from toolwire.card.session import CardError, Handler, Handlers, OpenWire, Session, WireLost, current_call
from toolwire.wire.card_messages import (
    CardParams,
    CardRef,
    CardsData,
    CommandParams,
    CommandResult,
    ConfirmParams,
    ConfirmResult,
    KeysResult,
    LogLevel,
    LogParams,
    Peer,
    PeersResult,
    Ready,
    SetEnabledParams,
    StoreParams,
    StoreScopeParams,
    StoreSetParams,
    ValueResult,
    WriteParams,
)

F = TypeVar("F", bound=Handler)
S = TypeVar("S", bound=Struct)

URL_VARIABLE: Final = "TOOLWIRE_CARD_URL"
TOKEN_VARIABLE: Final = "TOOLWIRE_CARD_TOKEN"
"""How the host tells its child processes where it is, and who they are."""
RETRY_FIRST_S: Final = 0.2
RETRY_MOST_S: Final = 10.0
USUAL_COMMAND_S: Final = 30.0


class Card:
    """A card of one package, with all its copies.

    Args:
        url: the host's address; a card that the host has started finds it by itself.
        key: the owner's `oag_` key, for a card that its author runs.
        package: the id of the package (`pkg_…`) that it speaks for, with `key`.
        open_wire: opens the connection in another way; for tests.

    Attributes:
        tools: what agents may call.
        agents: the agents and terminals of the card's workspace.
        terminals: runs commands in connected terminals.
        ui: asks the user.
        storage: what is kept for one copy; `storage.package` for all.
        log: the card's log, which its user can read.
    """

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        package: str | None = None,
        *,
        open_wire: OpenWire | None = None,
    ) -> None:
        self._open_wire = open_wire
        self._address = (url or os.environ.get(URL_VARIABLE), key or os.environ.get(TOKEN_VARIABLE), package)
        self._is_child = key is None and open_wire is None
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
        """Serve until the host ends the connection, or Ctrl-C."""
        try:
            anyio.run(self.serve)
        except KeyboardInterrupt:
            return

    async def serve(self) -> None:
        """Serve; a card that the host has started ends with its connection, another one tries again, for ever.

        Raises:
            CardError: the host refuses this card; trying again would not help.
            ValueError: nobody said where the host is.
        """
        open_wire, pause_s = self._open_wire or self._opener(), RETRY_FIRST_S
        while True:
            was_ready = await self._attach_once(open_wire)
            if self._is_child:
                return
            pause_s = RETRY_FIRST_S if was_ready else min(2 * pause_s, RETRY_MOST_S)
            await anyio.sleep(pause_s)

    async def _attach_once(self, open_wire: OpenWire) -> bool:
        """Serve until the connection is lost, or cannot be opened; says whether there was one."""
        try:
            async with open_wire() as wire:
                session = Session(wire, self._handlers)
                session.cards_changed = self._on_cards
                self._session = session
                await session.run("toolwire-python", None, self._on_ready)
        except WireLost:
            pass
        except ExceptionGroup as group:
            refused = group.subgroup(CardError)
            if refused is not None:
                raise _first(refused) from None
            if group.split(WireLost)[1] is not None:
                raise
        finally:
            was_ready = self._ready.is_set()
            self._session, self._ready = None, anyio.Event()
        return was_ready

    async def request(self, method: str, params: Struct, type_: type[S]) -> S:
        """Ask the host, once connected.

        Raises:
            CardError: it refuses; `code` says why.
        """
        await self._ready.wait()
        session = self._session
        if session is None:
            raise CardError("unavailable", "the host is not connected")
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

    def _opener(self) -> OpenWire:
        from toolwire.card.websocket import wire_opener  # noqa: PLC0415 -- so that a card's test needs no WebSocket

        url, key, package = self._address
        if not url or not key:
            raise ValueError(
                "say where the host is: Card(url=…, key=…, package=…), or let the host start this file as a card"
            )
        return wire_opener(url, key, package)

    def _on_ready(self, ready: Ready) -> None:
        self._context, self._cards = ready, ready.cards
        self._ready.set()

    def _on_cards(self, data: CardsData) -> None:
        self._cards = data.cards


def _first(group: BaseExceptionGroup[CardError]) -> CardError:
    found = group.exceptions[0]
    return _first(found) if isinstance(found, BaseExceptionGroup) else found


class Tools:
    """What agents may call."""

    def __init__(self, card: Card, handlers: Handlers) -> None:
        self._card = card
        self._handlers = handlers

    def handle(self, name: str, handler: Handler | None = None) -> Any:
        """Answer the calls of a tool that the manifest declares, as a decorator or with the function.

        The handler takes `(arguments, call)`, arguments that fit the tool's schema and a `card.call.ToolCall`. An async
        function runs on the event loop, any other in a thread. What it returns goes to the agent: text as it is, `None`
        as "OK", `tool_image` and its kind as they are, other values as JSON; what it raises is an error in its words.

        Raises:
            ValueError: the tool has a handler already.
        """

        def decorate(function: F) -> F:
            self._handlers.put(name, function)
            return function

        return decorate if handler is None else decorate(handler)

    def remove(self, name: str, handler: Handler) -> None:
        """Take a handler away again; calls wait a moment for another one."""
        self._handlers.remove(name, handler)

    async def set_enabled(self, name: str, enabled: bool) -> None:
        """Show a tool to agents or hide it, for all copies of the card.

        Raises:
            CardError: there is no such tool.
        """
        await self._card.request("tools.setEnabled", SetEnabledParams(name, enabled), Struct)


class Agents:
    """The agents and terminals of the card's workspace."""

    def __init__(self, card: Card) -> None:
        self._card = card

    async def list(self, card: str | None = None) -> tuple[Peer, ...]:
        """Each with `id`, `name`, `kind` ("ai" or "shell"), `status` and whether an arrow joins it (`connected`).

        Raises:
            CardError: the manifest has no permission "agents.read".
        """
        found = await self._card.request("agents.list", CardParams(self._card.copy_of(card)), PeersResult)
        return found.agents


class Terminals:
    """Runs commands in connected terminals."""

    def __init__(self, card: Card) -> None:
        self._card = card

    async def run(
        self, terminal: str, command: str, *, timeout_ms: int = round(USUAL_COMMAND_S * 1000), card: str | None = None
    ) -> CommandResult:
        """Run a command to its end.

        Args:
            terminal: the terminal's id, as `agents.list` has it.
            command: a line for its shell.
            timeout_ms: how long to wait, from 1,000 to 120,000; choose less than the tool's own time.
            card: the copy; by default that of the call under way.

        Returns:
            `exit_code` (`None` if it is still running), `output`, `truncated` and `timed_out`.

        Raises:
            CardError: no arrow joins the terminal, or the manifest has no permission "terminals.write".
        """
        call = current_call.get()
        call_id = None if call is None else call.call_id
        params = CommandParams(terminal, command, timeout_ms, self._card.copy_of(card), call_id)
        return await self._card.request("terminals.run", params, CommandResult)

    async def write(self, terminal: str, data: str, *, card: str | None = None) -> None:
        """Send characters, as if typed.

        Raises:
            CardError: as `run`.
        """
        await self._card.request("terminals.write", WriteParams(terminal, data, self._card.copy_of(card)), Struct)


class Ui:
    """Asks the user."""

    def __init__(self, card: Card) -> None:
        self._card = card

    async def confirm(
        self,
        title: str,
        message: str = "",
        *,
        confirm_label: str = "",
        cancel_label: str = "",
        danger: bool = False,
        card: str | None = None,
    ) -> bool:
        """Ask for a yes, before anything that cannot be undone. Nobody there, or no time left, is a no.

        Raises:
            CardError: nobody can be asked now.
        """
        call = current_call.get()
        call_id = None if call is None else call.call_id
        tone: Literal["neutral", "danger"] = "danger" if danger else "neutral"
        copy = self._card.copy_of(card)
        params = ConfirmParams(title, message, confirm_label, cancel_label, tone, copy, call_id)
        return (await self._card.request("ui.confirm", params, ConfirmResult)).confirmed


class Storage:
    """JSON values by key, kept by the host.

    Attributes:
        package: the same, shared by all copies.
    """

    def __init__(self, card: Card, scope: Literal["instance", "package"]) -> None:
        self._card = card
        self._scope: Literal["instance", "package"] = scope
        self.package = self if scope == "package" else Storage(card, "package")

    async def get(self, key: str, default: Any = None, *, card: str | None = None) -> Any:
        """What is kept under a key, or `default`."""
        params = StoreParams(key, self._scope, self._copy(card))
        found = await self._card.request("storage.get", params, ValueResult)
        return found.value if found.found else default

    async def set(self, key: str, value: Any, *, card: str | None = None) -> None:
        """Keep a JSON value.

        Raises:
            CardError: it is too large, or there is no room.
        """
        await self._card.request("storage.set", StoreSetParams(key, value, self._scope, self._copy(card)), Struct)

    async def delete(self, key: str, *, card: str | None = None) -> None:
        """Keep nothing under a key."""
        await self._card.request("storage.delete", StoreParams(key, self._scope, self._copy(card)), Struct)

    async def keys(self, *, card: str | None = None) -> tuple[str, ...]:
        """All keys, in order."""
        params = StoreScopeParams(self._scope, self._copy(card))
        return (await self._card.request("storage.keys", params, KeysResult)).keys

    async def clear(self, *, card: str | None = None) -> None:
        """Keep nothing."""
        await self._card.request("storage.clear", StoreScopeParams(self._scope, self._copy(card)), Struct)

    def _copy(self, named: str | None) -> str | None:
        return self._card.copy_of(named) if self._scope == "instance" else None


class Log:
    """The card's log, which its user can read."""

    def __init__(self, card: Card) -> None:
        self._card = card

    async def debug(self, text: str, *, card: str | None = None) -> None:
        """A line for the author."""
        await self._write("debug", text, card)

    async def info(self, text: str, *, card: str | None = None) -> None:
        """A line for the user."""
        await self._write("info", text, card)

    async def warn(self, text: str, *, card: str | None = None) -> None:
        """Something that the user should look at."""
        await self._write("warn", text, card)

    async def error(self, text: str, *, card: str | None = None) -> None:
        """Something that went wrong."""
        await self._write("error", text, card)

    async def _write(self, level: LogLevel, text: str, card: str | None) -> None:
        await self._card.request("log.write", LogParams(level, text, self._card.copy_of(card)), Struct)
