"""The methods of cards that reach beyond themselves: peers, terminals, the user, and what is kept for them.

Each is about one copy, and reaches what an arrow joins that to, with the permissions of its package (cards.md 72-75).
"""

from collections import OrderedDict
from collections.abc import Mapping
from typing import Protocol

import anyio
from msgspec import Struct

from toolwire.canvas.card_calls import REMEMBERED_ENDS, CardCalls
from toolwire.canvas.card_connections import CardConnection
from toolwire.canvas.card_log import CardLog
from toolwire.canvas.card_requests import Answer, CardFault, need_permission, own_card
from toolwire.canvas.card_storage import CardStorage, QuotaExceeded, copy_holder
from toolwire.canvas.confirmations import Confirmations
from toolwire.canvas.peers import Peers, is_joined
from toolwire.canvas.workspaces import Workspace, Workspaces
from toolwire.card.texts import cleaned
from toolwire.core.board import Card
from toolwire.core.errors import Conflict, InvalidParam
from toolwire.wire.card_messages import (
    LEAST_COMMAND_MS,
    MOST_COMMAND_MS,
    CardParams,
    CommandParams,
    CommandResult,
    ConfirmParams,
    ConfirmResult,
    Done,
    KeysResult,
    PeersResult,
    StoreParams,
    StoreScopeParams,
    StoreSetParams,
    ValueResult,
    WriteParams,
)


class CommandTerminals(Protocol):
    """The terminals, as far as cards use them."""

    async def run(self, workspace: Workspace, terminal: Card, command: str, timeout_s: float) -> CommandResult:
        """Run a command to its end, or to its time-out."""
        ...

    async def write(self, workspace: Workspace, terminal: Card, data: str) -> None:
        """Send characters, as if typed."""
        ...


class CardMethods:
    """Answers cards; see `card_requests.CardRequests`.

    Args:
        workspaces: where cards stand.
        peers: what they see of each other.
        terminals: run commands.
        confirmations: ask the user.
        storage: keeps values.
        calls: those on whose behalf commands run.
        log: is told of tools that do more than they say.
    """

    def __init__(
        self,
        workspaces: Workspaces,
        peers: Peers,
        terminals: CommandTerminals,
        confirmations: Confirmations,
        storage: CardStorage,
        calls: CardCalls,
        log: CardLog,
    ) -> None:
        self._workspaces = workspaces
        self._peers = peers
        self._terminals = terminals
        self._confirmations = confirmations
        self._storage = storage
        self._calls = calls
        self._log = log
        self._commands: dict[str, set[anyio.CancelScope]] = {}
        self._given_up: OrderedDict[str, None] = OrderedDict()
        calls.on_ended(self._interrupt)

    def table(self) -> Mapping[str, Answer]:
        """The methods by name."""
        return {
            "agents.list": self.list_peers,
            "terminals.run": self.run_command,
            "terminals.write": self.write,
            "ui.confirm": self.confirm,
            "storage.get": self.get,
            "storage.set": self.set,
            "storage.delete": self.delete,
            "storage.keys": self.keys,
            "storage.clear": self.clear,
        }

    async def list_peers(self, connection: CardConnection, params: CardParams) -> Struct:
        """The agents and terminals of the copy's workspace."""
        need_permission(connection, "agents.read")
        return PeersResult(self._peers.of(*own_card(self._workspaces, connection, params.card)))

    async def run_command(self, connection: CardConnection, params: CommandParams) -> Struct:
        """Run a command in a connected terminal; it is interrupted when the call that it is done for is given up."""
        workspace, terminal = self._terminal(connection, params.card, params.terminal)
        if not LEAST_COMMAND_MS <= params.timeout_ms <= MOST_COMMAND_MS:
            words = f"timeoutMs goes from {LEAST_COMMAND_MS} to {MOST_COMMAND_MS}, not {params.timeout_ms}"
            raise InvalidParam(words, param="timeoutMs")
        scope, call_id = anyio.CancelScope(), params.call_id or ""
        if call_id in self._given_up:
            raise Conflict(f"call {call_id!r} was given up; nobody waits for what its commands find")
        self._check_claim(connection, call_id)
        of_call = self._commands.setdefault(call_id, set())
        of_call.add(scope)
        try:
            with scope:
                return await self._terminals.run(workspace, terminal, params.command, params.timeout_ms / 1000)
        finally:
            of_call.discard(scope)
            if not of_call:
                self._commands.pop(call_id, None)
        raise Conflict(f"call {call_id!r} was given up; the command was interrupted")

    async def write(self, connection: CardConnection, params: WriteParams) -> Struct:
        """Type into a connected terminal."""
        workspace, terminal = self._terminal(connection, params.card, params.terminal)
        await self._terminals.write(workspace, terminal, params.data)
        return Done()

    async def confirm(self, connection: CardConnection, params: ConfirmParams) -> Struct:
        """Ask the user."""
        if not cleaned(params.title, 1):
            raise InvalidParam("a question needs a title", param="title")
        workspace, card = own_card(self._workspaces, connection, params.card)
        return ConfirmResult(await self._confirmations.ask(workspace, card, params))

    async def get(self, connection: CardConnection, params: StoreParams) -> Struct:
        """What is kept under a key."""
        found, value = await self._storage.get(connection.package.owner, self._holder(connection, params), params.key)
        return ValueResult(found, value)

    async def set(self, connection: CardConnection, params: StoreSetParams) -> Struct:
        """Keep a value."""
        holder = self._holder(connection, params)
        try:
            await self._storage.set(connection.package.owner, holder, params.scope, params.key, params.value)
        except QuotaExceeded as error:
            raise CardFault("quota_exceeded", str(error)) from None
        return Done()

    async def delete(self, connection: CardConnection, params: StoreParams) -> Struct:
        """Keep nothing under a key."""
        await self._storage.delete(connection.package.owner, self._holder(connection, params), params.key)
        return Done()

    async def keys(self, connection: CardConnection, params: StoreScopeParams) -> Struct:
        """All keys."""
        holder = self._holder(connection, params)
        return KeysResult(tuple(await self._storage.keys(connection.package.owner, holder)))

    async def clear(self, connection: CardConnection, params: StoreScopeParams) -> Struct:
        """Keep nothing."""
        await self._storage.clear(connection.package.owner, self._holder(connection, params))
        return Done()

    def _check_claim(self, connection: CardConnection, call_id: str) -> None:
        """A tool that says it only reads should not have commands run: whoever trusts it can see that it does."""
        asking, version = self._calls.asking(call_id), connection.package.accepted
        if asking is None or version is None or asking.copy.card.package != connection.package.id:
            return
        tool = version.manifest.tool(asking.tool)
        if tool is not None and tool.read_only:
            words = f"tool {tool.name!r} says that it only reads, but has a command run in a terminal"
            self._log.write(asking.copy.card.id, "warn", words, asking.copy.workspace.id)

    def _interrupt(self, call_id: str, was_answered: bool) -> None:
        """Nobody waits for what a call's commands find; one that goes on after an answer is meant to."""
        if not was_answered:
            self._given_up[call_id] = None
            while len(self._given_up) > REMEMBERED_ENDS:
                self._given_up.popitem(last=False)
            for scope in tuple(self._commands.get(call_id, ())):
                scope.cancel()

    def _holder(self, connection: CardConnection, params: StoreParams | StoreSetParams | StoreScopeParams) -> str:
        if params.scope == "package":
            return connection.package.id
        workspace, card = own_card(self._workspaces, connection, params.card)
        return copy_holder(workspace.id, card.id)

    def _terminal(self, connection: CardConnection, named: str | None, terminal_id: str) -> tuple[Workspace, Card]:
        """A terminal that an arrow joins the copy to.

        Raises:
            CardFault: there is none of that id, it is not joined, or the package may not use terminals.
        """
        need_permission(connection, "terminals.write")
        workspace, card = own_card(self._workspaces, connection, named)
        terminal = workspace.board.cards.get(terminal_id)
        if terminal is None or terminal.kind != "terminal" or not is_joined(workspace, card.id, terminal.id):
            words = f"no terminal {terminal_id!r} is connected to this card; ask the user to draw an arrow to one"
            raise CardFault("not_connected", words)
        return workspace, terminal
