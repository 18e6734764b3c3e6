"""What a client asks about toolboxes: what an agent's card may use, and how programs are connected; it sends nothing.

Spec: cards.md, section 7.
"""

from toolwire.client.asks import Ask, get, part
from toolwire.client.doors import D, Group, Method
from toolwire.wire.answers.toolboxes import ClientSetups, Toolbox, ToolboxList


class ToolboxCalls(Group[D]):
    """Toolboxes of a workspace's agents, by an owner's key. One is named by its agent's card."""

    @Method
    def list(self, workspace: str) -> Ask[ToolboxList]:
        """The toolboxes of a workspace."""
        return get(f"/workspaces/{part(workspace)}/toolboxes", ToolboxList)

    @Method
    def get(self, workspace: str, card: str) -> Ask[Toolbox]:
        """What the agent of a card has."""
        return get(_toolbox(workspace, card), Toolbox)

    @Method
    def clients(self, workspace: str, card: str) -> Ask[ClientSetups]:
        """How each program is connected to a toolbox."""
        return get(_toolbox(workspace, card) + "/clients", ClientSetups)


def _toolbox(workspace: str, card: str) -> str:
    return f"/workspaces/{part(workspace)}/cards/{part(card)}/toolbox"
