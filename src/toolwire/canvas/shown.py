"""Workspaces, cards and arrows as the REST surface shows them (cards.md, section 7); it decides nothing."""

from collections.abc import Callable

from toolwire.canvas.workspaces import Workspace, Workspaces
from toolwire.core.board import Arrow, Card
from toolwire.core.jsontypes import JsonObject
from toolwire.wire.rest import rfc3339

StateOf = Callable[[Workspace, Card], str]
"""In a word, how a card does."""


class Shown:
    """Shows workspaces.

    Args:
        workspaces: all workspaces.
        state_of: how a card does.
    """

    def __init__(self, workspaces: Workspaces, state_of: StateOf) -> None:
        self._workspaces = workspaces
        self._state_of = state_of

    def summary(self, workspace: Workspace) -> JsonObject:
        """A workspace without its board."""
        return {
            "id": workspace.id,
            "name": workspace.name,
            "version": workspace.version,
            "open": workspace.is_open,
            "created_at": rfc3339(workspace.created_at),
        }

    def workspace(self, workspace: Workspace) -> JsonObject:
        """A workspace with its board."""
        can_undo, can_redo = self.depth(workspace)
        return {
            **self.summary(workspace),
            "cards": [self.card(workspace, card) for card in workspace.board.cards.values()],
            "arrows": [shown_arrow(arrow) for arrow in workspace.board.arrows.values()],
            "can_undo": can_undo,
            "can_redo": can_redo,
        }

    def depth(self, workspace: Workspace) -> tuple[bool, bool]:
        """Whether there is something to undo and to redo."""
        undo, redo = self._workspaces.depth(workspace)
        return undo > 0, redo > 0

    def card(self, workspace: Workspace, card: Card) -> JsonObject:
        """A card of a workspace."""
        shown: JsonObject = {"id": card.id, "kind": card.kind, "title": card.title}
        if card.package is not None:
            shown["package"] = card.package
        if card.agent_id is not None:
            shown["agent_id"] = card.agent_id
        place: JsonObject = {"x": card.x, "y": card.y, "width": card.width, "height": card.height}
        return {**shown, **place, "content": card.content, "state": self._state_of(workspace, card)}


def shown_arrow(arrow: Arrow) -> JsonObject:
    """An arrow."""
    tools = None if arrow.tools is None else list(arrow.tools)
    return {
        "id": arrow.id,
        "source": arrow.source,
        "target": arrow.target,
        "tools": tools,
        "recorded": arrow.recorded,
    }
