"""What a card does by its host's leave: tools, peers, terminals, questions, storage, log; `card.Card` has one of each.

Contract: cards.md 28, 39, 66-68, 72-75, §7.
"""

from typing import Any, Final, Literal, Protocol, TypeVar

from msgspec import Struct

from toolwire.card.handlers import Handler, Handlers
from toolwire.card.running import current_call
from toolwire.card.texts import cut
from toolwire.wire.card_messages import (
    MAX_LOG_CHARS,
    CardParams,
    CommandParams,
    CommandResult,
    ConfirmParams,
    ConfirmResult,
    KeysResult,
    LogLevel,
    LogParams,
    Peer,
    PeersResult,
    SetEnabledParams,
    StoreParams,
    StoreScopeParams,
    StoreSetParams,
    ValueResult,
    WriteParams,
)

F = TypeVar("F", bound=Handler)
S = TypeVar("S", bound=Struct)

USUAL_COMMAND_MS: Final = 30_000


class Asks(Protocol):
    """A card, as far as its abilities use it."""

    async def request(self, method: str, params: Struct, type_: type[S]) -> S:
        """See `card.Card.request`."""
        ...

    def copy_of(self, named: str | None) -> str | None:
        """See `card.Card.copy_of`."""
        ...


class Tools:
    """What agents may call."""

    def __init__(self, card: Asks, handlers: Handlers) -> None:
        self._card = card
        self._handlers = handlers

    def handle(self, name: str, handler: Handler | None = None) -> Any:
        """Answer the calls of a tool that the manifest declares, as a decorator or with the function.

        The handler takes `(arguments, call)`, arguments that fit the tool's schema and a `card.call.ToolCall`. An async
        function runs on the event loop, any other in a thread. What it returns goes to the agent: text as it is, `None`
        as "OK", `tool_image` and its kind as they are, other values as JSON; what it raises is an error in its words.

        Raises:
            ValueError: the tool has a handler already.
            TypeError: `name` is no name, as in `@card.tools.handle` without brackets.
        """
        if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance] -- not every author has a type checker
            raise TypeError('name the tool that this answers: @card.tools.handle("name")')

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

    def __init__(self, card: Asks) -> None:
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

    def __init__(self, card: Asks) -> None:
        self._card = card

    async def run(
        self, terminal: str, command: str, *, timeout_ms: int = USUAL_COMMAND_MS, card: str | None = None
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

    def __init__(self, card: Asks) -> None:
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

    def __init__(self, card: Asks, scope: Literal["instance", "package"]) -> None:
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

    def __init__(self, card: Asks) -> None:
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
        await self._card.request(
            "log.write", LogParams(level, cut(text, MAX_LOG_CHARS), self._card.copy_of(card)), Struct
        )
