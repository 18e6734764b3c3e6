"""Tells the readers of a board what the agents on it know of their tools; it decides nothing."""

from collections.abc import Sequence

from toolwire.canvas.toolbox import ALWAYS, Toolbox, Toolboxes
from toolwire.canvas.workspaces import Workspaces
from toolwire.core.jsontypes import JsonObject
from toolwire.core.tool import Tool
from toolwire.surfaces.feed import Feed
from toolwire.wire.rest import rfc3339


def tell_of_toolboxes(workspaces: Workspaces, toolboxes: Toolboxes, feed: Feed) -> None:
    """Tell `feed` of every toolbox that its agent reads, or that changes, from now on.

    A moment `toolbox` has what `shown_toolbox` gives, once for each card of the agent.
    """

    def on_changed(toolbox: Toolbox) -> None:
        for workspace, card in workspaces.standing(toolbox.agent.owner, toolbox.agent.agent_id):
            feed.tell(workspace.id, "toolbox", shown_toolbox(card.id, toolbox))

    toolboxes.on_changed(on_changed)


def shown_toolbox(card_id: str, toolbox: Toolbox) -> JsonObject:
    """What an agent knows of its tools, as the card of that agent tells it."""
    listed_at = toolbox.catalog.listed_at
    return {
        "card": card_id,
        "agent_id": toolbox.agent.agent_id,
        "tool_count": len(granted_tools(toolbox)),
        "listed_at": None if listed_at is None else rfc3339(listed_at),
        "is_known": toolbox.is_known,
        "unseen": list(toolbox.unseen),
    }


def granted_tools(toolbox: Toolbox) -> Sequence[Tool]:
    """The tools that an agent has of others."""
    return [tool for tool in toolbox.tools() if not tool.name.startswith(ALWAYS)]
