"""Tells cards what changes around them, ends those that are not wanted, and lets go of what belonged to them."""

from collections.abc import Iterable

from toolwire.canvas.arrow_log import ArrowLog
from toolwire.canvas.card_connections import CardConnections
from toolwire.canvas.card_log import CardLog
from toolwire.canvas.card_processes import CardProcesses
from toolwire.canvas.card_requests import CardRequests
from toolwire.canvas.confirmations import Confirmations
from toolwire.canvas.packages import Package, Packages
from toolwire.canvas.workspaces import Workspace, Workspaces
from toolwire.core.board import Arrow, Board, Card
from toolwire.wire.card_messages import CardsData, PeersData


def tell_cards(workspaces: Workspaces, connections: CardConnections, requests: CardRequests) -> None:
    """Tell live cards which copies they are for, and when their peers have changed."""

    def on_changed(before: Workspace | None, after: Workspace | None) -> None:
        old = Board() if before is None else before.board
        new = Board() if after is None else after.board
        old_copies, new_copies = _copies(old), _copies(new)
        for package_id in {card.package for card in (*old_copies, *new_copies) if card.package is not None}:
            is_other = _of(old_copies, package_id) != _of(new_copies, package_id)
            for connection in connections.of_package(package_id):
                if is_other:
                    connection.send("cards.changed", CardsData(requests.copies(connection)))
                if connection.instance in old.cards and connection.instance not in new.cards:
                    connection.close("its copy was removed")
        if _peers(old) != _peers(new) or _joins(old.arrows.values()) != _joins(new.arrows.values()):
            for card in new_copies:
                connection = connections.present(card.package or "", card.id)
                if connection is not None:
                    connection.send("agents.changed", PeersData(card.id))

    workspaces.on_changed(on_changed)


def stop_unplaced(workspaces: Workspaces, processes: CardProcesses) -> None:
    """End the process of a package whose last copy was taken off its board."""

    def on_changed(before: Workspace | None, after: Workspace | None) -> None:
        if before is None:
            return
        new = Board() if after is None else after.board
        for package_id in {card.package for card in _copies(before.board) if card.id not in new.cards}:
            if package_id is not None and not workspaces.copies(before.owner, package_id):
                processes.stop(package_id)

    workspaces.on_changed(on_changed)


def close_replaced(packages: Packages, connections: CardConnections) -> None:
    """End the connections of a package that is gone, or of a version that is not the accepted one any more."""

    def on_changed(package: Package) -> None:
        for connection in connections.of_package(package.id):
            if package.removed or connection.package.accepted != package.accepted:
                connection.close("the package was removed" if package.removed else "the package was updated")

    packages.on_changed(on_changed)


def forget_removed(
    workspaces: Workspaces, packages: Packages, log: CardLog, arrows: ArrowLog, confirmations: Confirmations
) -> None:
    """Let go of the lines and questions of cards and packages that are gone."""

    def on_workspace(before: Workspace | None, after: Workspace | None) -> None:
        if before is None:
            return
        kept = Board() if after is None else after.board
        for card_id in before.board.cards.keys() - kept.cards.keys():
            log.forget(card_id)
            confirmations.withdraw_of(card_id)
        if after is None:
            for arrow_id in before.board.arrows:
                arrows.let_go(arrow_id)

    def on_package(package: Package) -> None:
        if package.removed:
            log.forget(package.id)

    workspaces.on_changed(on_workspace)
    packages.on_changed(on_package)


def _copies(board: Board) -> list[Card]:
    return [card for card in board.cards.values() if card.package is not None]


def _of(cards: Iterable[Card], package_id: str) -> list[tuple[str, str]]:
    return [(card.id, card.title) for card in cards if card.package == package_id]


def _peers(board: Board) -> list[tuple[str, str]]:
    return [(card.id, card.title) for card in board.cards.values() if card.kind in ("agent", "terminal")]


def _joins(arrows: Iterable[Arrow]) -> set[tuple[str, str]]:
    return {(arrow.source, arrow.target) for arrow in arrows}
