"""In a word, how each card does, as boards show it; it changes nothing."""

from toolwire.canvas.card_connections import CardConnections
from toolwire.canvas.identity import Directory
from toolwire.canvas.terminals import Terminals
from toolwire.canvas.workspaces import Workspace
from toolwire.core.board import Card
from toolwire.core.errors import AgentNotFound


class CardStates:
    """Says how cards do.

    An agent is "online", "offline" or "running" its own program, a copy of a package "awake" or "paused", a terminal
    "idle", "working" or "exited", and others are "idle".

    Args:
        directory: the agents.
        connections: the cards that are there.
        terminals: the programs that run.
    """

    def __init__(self, directory: Directory, connections: CardConnections, terminals: Terminals) -> None:
        self._directory = directory
        self._connections = connections
        self._terminals = terminals

    def __call__(self, workspace: Workspace, card: Card) -> str:
        """How a card of a workspace does."""
        if card.package is not None:
            return "awake" if self._connections.is_awake(card.package, card.id) else "paused"
        if card.kind == "terminal":
            return self._terminals.status(card)
        if card.agent_id is None:
            return "idle"
        if self._terminals.is_running(card.id):
            return "running"
        try:
            return "online" if self._directory.agent(workspace.owner, card.agent_id).online else "offline"
        except AgentNotFound:
            return "missing"
