"""What a card sees of the agents and terminals of its workspace, and which of them its arrows join (cards.md 72)."""

from collections.abc import Callable
from typing import Literal, TypeAlias

from toolwire.canvas.identity import Directory
from toolwire.canvas.workspaces import Workspace
from toolwire.core.board import Card, arrows_of
from toolwire.core.errors import AgentNotFound
from toolwire.wire.card_messages import Peer

Status: TypeAlias = Literal["working", "needs-input", "finished", "idle", "exited"]
StatusOf: TypeAlias = Callable[[Card], Status]
"""How a terminal does."""


class Peers:
    """Lists peers.

    Args:
        directory: the agents.
        terminal_status: how a terminal does.
    """

    def __init__(self, directory: Directory, terminal_status: StatusOf) -> None:
        self._directory = directory
        self._terminal_status = terminal_status

    def of(self, workspace: Workspace, card: Card) -> tuple[Peer, ...]:
        """All agents and terminals of a card's workspace, in the order in which they were placed."""
        found: list[Peer] = []
        for other in workspace.board.cards.values():
            connected = is_joined(workspace, card.id, other.id)
            if other.kind == "terminal":
                found.append(Peer(other.id, other.title, "shell", self._terminal_status(other), connected))
            elif other.kind == "agent":
                found.append(Peer(other.id, other.title, "ai", self._agent_status(workspace, other), connected))
        return tuple(found)

    def _agent_status(self, workspace: Workspace, card: Card) -> Status:
        if self._terminal_status(card) == "working":  # its own program runs
            return "working"
        try:
            online = self._directory.agent(workspace.owner, card.agent_id or "").online
        except AgentNotFound:
            return "exited"
        return "idle" if online else "exited"


def is_joined(workspace: Workspace, one: str, other: str) -> bool:
    """Whether an arrow joins two cards, in either direction (decision 17)."""
    return any(arrow.other_end(one) == other for arrow in arrows_of(workspace.board, one))
