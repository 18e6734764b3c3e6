"""Cards and their settings: what they are told of them, and what they set themselves; it keeps nothing.

Contract: cards.md §3 (`card.settings`).
"""

from collections.abc import Iterator, Mapping

from msgspec import Struct

from toolwire.canvas.card_connections import CardConnection, CardConnections
from toolwire.canvas.card_requests import Answer, CardFault, own_card
from toolwire.canvas.card_settings import CardSettings, declared_by
from toolwire.canvas.packages import Package, Packages
from toolwire.canvas.workspaces import Workspace, Workspaces
from toolwire.surfaces.feed import Feed
from toolwire.wire.card_messages import Done, SettingParams, SettingsData


class CardSettingMethods:
    """Answers cards; see `card_requests.CardRequests`.

    Args:
        workspaces: where cards stand.
        packages: what they declare.
        settings: keeps what they are set to.
    """

    def __init__(self, workspaces: Workspaces, packages: Packages, settings: CardSettings) -> None:
        self._workspaces = workspaces
        self._packages = packages
        self._settings = settings

    def table(self) -> Mapping[str, Answer]:
        """The methods by name."""
        return {"settings.set": self.set}

    async def set(self, connection: CardConnection, params: SettingParams) -> Struct:
        """Set what is no secret."""
        workspace, card = own_card(self._workspaces, connection, params.card)
        package = self._packages.get(connection.package.owner, connection.package.id)
        if any(one.is_secret and one.key == params.key for one in declared_by(package)):
            raise CardFault("permission_denied", f"{params.key!r} is a secret, which the user alone sets")
        await self._settings.change(package, workspace.id, card.id, {params.key: params.value})
        return Done()


def settings_data(
    settings: CardSettings, workspaces: Workspaces, package: Package, connection: CardConnection
) -> tuple[SettingsData, ...]:
    """The settings of all copies that a connection is for; none where the package declares none."""
    if not declared_by(package):
        return ()
    return tuple(
        _data(settings, package, workspace.id, card.id)
        for workspace, card in workspaces.copies(package.owner, package.id)
        if connection.serves(card.id)
    )


def tell_of_settings(
    workspaces: Workspaces, packages: Packages, connections: CardConnections, settings: CardSettings, feed: Feed
) -> None:
    """Tell live cards, and `feed`, of settings that change from now on; and cards of those of new copies.

    A moment `settings` has the `card`'s id.
    """

    def tell(package: Package, workspace: Workspace, card_id: str) -> None:
        _send(connections, _data(settings, package, workspace.id, card_id), package)

    def on_settings(package: Package, card_id: str | None) -> None:
        for workspace, card in workspaces.copies(package.owner, package.id):
            if card_id in (None, card.id):
                feed.tell(workspace.id, "settings", {"card": card.id})
                tell(package, workspace, card.id)

    def on_board(before: Workspace | None, after: Workspace | None) -> None:
        for workspace, package_id, card_id in _new_copies(before, after):
            if connections.of_package(package_id):
                package = packages.get(workspace.owner, package_id)
                if declared_by(package):
                    tell(package, workspace, card_id)

    settings.on_changed(on_settings)
    workspaces.on_changed(on_board)


def _send(connections: CardConnections, data: SettingsData, package: Package) -> None:
    for connection in connections.of_package(package.id):
        if connection.serves(data.card):
            connection.send("settings.changed", data)


def _new_copies(before: Workspace | None, after: Workspace | None) -> Iterator[tuple[Workspace, str, str]]:
    """Where each copy stands that was not there before, its package, and its id."""
    if after is None:
        return
    for card in after.board.cards.values():
        if card.package is not None and (before is None or card.id not in before.board.cards):
            yield after, card.package, card.id


def _data(settings: CardSettings, package: Package, workspace_id: str, card_id: str) -> SettingsData:
    found = settings.read(package, workspace_id, card_id)
    return SettingsData(card_id, found.values, found.secrets)
