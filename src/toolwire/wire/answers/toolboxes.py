"""Answers on what agents have on boards, and how clients come by it; they change nothing.

Spec: cards.md, section 7.
"""

from msgspec import Struct

from toolwire.core.board import CardKind
from toolwire.wire.answers.times import Time


class ToolboxState(Struct, frozen=True, kw_only=True):
    """What an agent knows of its tools.

    `listed_at` is when it read their list last, since the host was started; `is_known` says that it is the list as it
    is now; `unseen` are the arrows that were drawn or changed since.
    """

    card: str
    agent_id: str
    tool_count: int
    listed_at: Time | None
    is_known: bool
    unseen: list[str]


class ToolboxList(Struct, frozen=True):
    """Those of the agents of a workspace."""

    toolboxes: list[ToolboxState]


class ToolboxTool(Struct, frozen=True, kw_only=True):
    """A tool that an agent has."""

    name: str
    title: str | None
    description: str
    read_only: bool


class ToolboxGrant(Struct, frozen=True, kw_only=True):
    """A card that an arrow joins to an agent, and the names of the tools that come by that arrow."""

    arrow: str
    card: str
    title: str
    kind: CardKind
    workspace: str
    workspace_name: str
    tools: list[str]


class Toolbox(ToolboxState, frozen=True, kw_only=True):
    """An agent's toolbox: its address, its tools, and where they come from."""

    toolbox_url: str
    tools: list[ToolboxTool]
    grants: list[ToolboxGrant]


class ClientSetup(Struct, frozen=True):
    """What belongs into the file of an MCP client, so that it has an agent's tools."""

    client: str
    title: str
    file: str
    text: str


class ClientSetups(Struct, frozen=True):
    """Those of the clients that are known; the agent's key belongs where `key_place` stands."""

    key_place: str
    clients: list[ClientSetup]
