"""What cards may ask of their host: one table of methods, each with who may use it; it carries no bytes.

A card reaches what an arrow joins it to, with the permissions that its owner has accepted (cards.md 72-75, §4).
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias

from msgspec import Struct

from toolwire.canvas.card_calls import CardCalls
from toolwire.canvas.card_connections import CardConnection
from toolwire.canvas.card_log import CardLog
from toolwire.canvas.packages import Package, Packages
from toolwire.canvas.workspaces import Workspace, Workspaces
from toolwire.core.board import Card
from toolwire.core.errors import Conflict, InvalidParam
from toolwire.wire.card import Request, read_params
from toolwire.wire.card_messages import (
    PROTOCOL,
    CardRef,
    Done,
    Fault,
    LogParams,
    ProgressParams,
    Ready,
    ReadyParams,
    RespondParams,
    SetEnabledParams,
    SettingsData,
)

QUICK = frozenset(("tools.respond", "tools.progress", "log.write"))
"""Methods that wait for nothing."""
OWED = frozenset(("tools.respond",))
"""Methods that a card cannot put off: what it owes for the calls that it has taken."""

Answer: TypeAlias = Callable[[CardConnection, Any], Awaitable[Struct]]
SettingsOf: TypeAlias = Callable[[Package, CardConnection], tuple[SettingsData, ...]]
"""The settings of the copies that a connection is for."""


class CardFault(Exception):
    """A refusal in words that cards alone are told, with a code of `card_messages.FAULT_CODES`."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.fault = Fault(code, message)


class CardRequests:
    """Answers cards.

    Args:
        workspaces: where cards stand.
        packages: what they are.
        calls: the calls that they answer.
        log: their lines.
        more: the methods of other parts, by name.
        settings_of: what cards are set to.
    """

    def __init__(
        self,
        workspaces: Workspaces,
        packages: Packages,
        calls: CardCalls,
        log: CardLog,
        more: Mapping[str, Answer],
        settings_of: SettingsOf,
    ) -> None:
        self._workspaces = workspaces
        self._packages = packages
        self._calls = calls
        self._log = log
        self._settings_of = settings_of
        self._answers: dict[str, Answer] = {
            "tools.respond": self._respond,
            "tools.progress": self._progress,
            "tools.setEnabled": self._set_enabled,
            "log.write": self._write_log,
            **more,
        }

    def is_quick(self, method: str) -> bool:
        """Whether a method waits for nothing, so that it can be answered before the next request is read."""
        return method in QUICK

    def is_owed(self, method: str) -> bool:
        """Whether a method is let through however often a card asks."""
        return method in OWED

    def ready(self, connection: CardConnection, params: ReadyParams) -> Ready:
        """The context of a card that has just connected.

        Raises:
            InvalidParam: it speaks another protocol, or is for a copy that is not on any board.
        """
        if params.protocol != PROTOCOL:
            words = (
                f"this host speaks protocol {PROTOCOL}, not {params.protocol}; update the card's library, or the host"
            )
            raise InvalidParam(words, param="protocol")
        cards = self.copies(connection)
        if connection.instance is not None and not cards:
            raise InvalidParam(f"there is no copy {connection.instance!r} of this card on any board", param="instance")
        package = self._packages.get(connection.package.owner, connection.package.id)
        version = package.accepted
        assert version is not None
        return Ready(
            PROTOCOL,
            version.manifest.name,
            version.manifest.version,
            cards,
            tuple(sorted(package.disabled)),
            tuple(sorted(version.manifest.permitted())),
            settings=self._settings_of(package, connection),
        )

    def copies(self, connection: CardConnection) -> tuple[CardRef, ...]:
        """The copies that a connection is for."""
        package = connection.package
        return tuple(
            CardRef(card.id, card.title)
            for _, card in self._workspaces.copies(package.owner, package.id)
            if connection.serves(card.id)
        )

    async def answer(self, connection: CardConnection, request: Request) -> Struct:
        """The result of one request.

        Raises:
            CardFault, ToolwireError: why there is none.
        """
        params = read_params(request)
        method = self._answers.get(request.method)
        if method is None:
            raise Conflict(f"{request.method!r} may be sent once, as the first request")
        return await method(connection, params)

    async def _respond(self, connection: CardConnection, params: RespondParams) -> Struct:
        asking = self._calls.asking(params.call_id)
        if self._calls.respond(connection, params) and asking is not None and isinstance(params.error, str):
            self._log.write(asking.copy.card.id, "warn", params.error, asking.copy.workspace.id)  # cards.md 51
        return Done()

    async def _progress(self, connection: CardConnection, params: ProgressParams) -> Struct:
        self._calls.progress(connection, params)
        return Done()

    async def _set_enabled(self, connection: CardConnection, params: SetEnabledParams) -> Struct:
        package = self._packages.get(connection.package.owner, connection.package.id)
        await self._packages.set_enabled(package, params.tool, params.enabled)
        state = "on" if params.enabled else "off"
        self._log.write(
            package.id, "info", f"tool {params.tool!r} was turned {state} by {connection.instance or 'the card'}"
        )
        return Done()

    async def _write_log(self, connection: CardConnection, params: LogParams) -> Struct:
        if params.card is None and connection.instance is None:
            self._log.write(connection.package.id, params.level, params.text)
            return Done()
        workspace, card = own_card(self._workspaces, connection, params.card)
        self._log.write(card.id, params.level, params.text, workspace.id)
        return Done()


def own_card(workspaces: Workspaces, connection: CardConnection, named: str | None) -> tuple[Workspace, Card]:
    """The copy that a request is about, and where it stands.

    Raises:
        InvalidParam: it names none, or one that the connection does not speak for.
    """
    package = connection.package
    copies = workspaces.copies(package.owner, package.id)
    wanted = named or connection.instance
    if wanted is None:
        if len(copies) == 1:
            return copies[0]
        raise InvalidParam("say in `card` which copy this is about", param="card")
    for workspace, card in copies:
        if card.id == wanted and connection.serves(card.id):
            return workspace, card
    raise InvalidParam(f"{wanted!r} is no copy that this connection speaks for", param="card")


def need_permission(connection: CardConnection, permission: str) -> None:
    """Refuse unless the package has a permission that its owner accepted.

    Raises:
        CardFault: it has not.
    """
    version = connection.package.accepted
    if version is None or permission not in version.manifest.permitted():
        raise CardFault("permission_denied", f"the manifest does not ask for {permission!r}; add it to permissions")
