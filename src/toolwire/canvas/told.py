"""Tells the readers of a workspace what an edit has changed on its board, and when its cards wake up and go to sleep.

Calls, questions, lines and terminals are told of by whoever has them.
"""

from toolwire.canvas.card_connections import CardConnection, CardConnections
from toolwire.canvas.identity import Directory
from toolwire.canvas.packages import Package, Packages
from toolwire.canvas.shown import Shown, StateOf, shown_arrow
from toolwire.canvas.workspaces import Workspace, Workspaces
from toolwire.core.board import PutArrow, PutCard, RemoveArrow, RemoveCard, difference
from toolwire.core.jsontypes import JsonObject
from toolwire.engine.deadline import Timekeeper
from toolwire.surfaces.feed import Feed


def tell_of_boards(workspaces: Workspaces, feed: Feed, shown: Shown) -> None:
    """Tell `feed` of every edit from now on: one moment `board` an edit, with its changes in order.

    Its data is `{"workspace": …, "changes": [{"change": "put_card", "card": …} | {"change": "remove_card", "id"} |
    {"change": "put_arrow", "arrow": …} | {"change": "remove_arrow", "id"}, …], "can_undo": …, "can_redo": …}`.
    """

    def on_changed(before: Workspace | None, after: Workspace | None) -> None:
        if before is None or after is None:
            return  # nobody reads a workspace that is not there yet, and the readers of one that is gone end
        changes: list[JsonObject] = []
        for change in difference(before.board, after.board):
            match change:
                case PutCard(card):
                    changes.append({"change": "put_card", "card": shown.card(after, card)})
                case RemoveCard(card_id):
                    changes.append({"change": "remove_card", "id": card_id})
                case PutArrow(arrow):
                    changes.append({"change": "put_arrow", "arrow": shown_arrow(arrow)})
                case RemoveArrow(arrow_id):
                    changes.append({"change": "remove_arrow", "id": arrow_id})
        can_undo, can_redo = shown.depth(after)
        data: JsonObject = {"workspace": shown.summary(after), "changes": changes}
        feed.tell(after.id, "board", {**data, "can_undo": can_undo, "can_redo": can_redo})

    workspaces.on_changed(on_changed)


def tell_of_states(workspaces: Workspaces, connections: CardConnections, feed: Feed, state_of: StateOf) -> None:
    """Tell `feed` of every copy of a package that is there from now on, or is not there any more.

    A moment `state` has the `card`'s id and its `state`, as the board shows it.
    """

    def on_changed(connection: CardConnection) -> None:
        for workspace, card in workspaces.copies(connection.package.owner, connection.package.id):
            if connection.serves(card.id):
                feed.tell(workspace.id, "state", {"card": card.id, "state": state_of(workspace, card)})

    connections.on_attached(on_changed)
    connections.on_lost(lambda connection, _: on_changed(connection))


def tell_of_packages(packages: Packages, workspaces: Workspaces, feed: Feed) -> None:
    """Tell `feed` of every package that is accepted, switched or removed from now on, on all boards of its owner."""

    def on_changed(package: Package) -> None:
        for workspace in workspaces.all():
            if workspace.owner == package.owner:
                feed.tell(workspace.id, "package", {"package": package.id, "removed": package.removed})

    packages.on_changed(on_changed)


def tell_of_agents(
    directory: Directory, workspaces: Workspaces, feed: Feed, state_of: StateOf, timekeeper: Timekeeper
) -> None:
    """Tell `feed` of every agent on a board that comes or goes from now on, as `tell_of_states` does of copies."""
    told: dict[str, str] = {}

    def tell(agent_id: str) -> None:
        for workspace in workspaces.all():
            for card in workspace.board.cards.values():
                if card.agent_id != agent_id:
                    continue
                state = state_of(workspace, card)
                if told.get(card.id) != state:
                    told[card.id] = state
                    feed.tell(workspace.id, "state", {"card": card.id, "state": state})

    def forget(before: Workspace | None, after: Workspace | None) -> None:
        for card_id in () if before is None else before.board.cards:
            if after is None or card_id not in after.board.cards:
                told.pop(card_id, None)

    def tell_soon(agent_id: str) -> None:
        timekeeper.after(0.0, lambda: tell(agent_id))

    directory.on_presence(tell_soon)
    workspaces.on_changed(forget)
