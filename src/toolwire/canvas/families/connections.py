"""`toolwire_connections` and `ports_list`: what an agent is joined to; they reach nothing."""

from collections.abc import Callable, Sequence
from typing import Any, Final

import msgspec

from toolwire.canvas.copies import Copy, reached
from toolwire.canvas.families.arrows import SOURCE, ArrowCalls, BuiltIn, Offer, Passage, card_tool
from toolwire.canvas.identity import AgentInfo
from toolwire.canvas.packages import Packages
from toolwire.canvas.workspaces import Workspace, Workspaces
from toolwire.card.manifest import Manifest
from toolwire.card.names import shown_description
from toolwire.core.board import Card
from toolwire.core.call import Call
from toolwire.core.errors import PackageNotFound
from toolwire.core.handler import Emit
from toolwire.core.jsontypes import as_object
from toolwire.core.result import Result, Text
from toolwire.core.tool import Tool
from toolwire.providers.function import LocalTool

CONNECTIONS: Final = Tool(
    "toolwire_connections",
    "Lists what the user has connected to you on the canvas: cards, terminals, notes and agents, each with its id,"
    " name, kind, state and workspace. Use an id or a name from here as the parameter card of other tools.",
    title="List connections",
    annotations={"readOnlyHint": True},
    source=SOURCE,
)
PORTS: Final = card_tool(
    "ports_list",
    "List a card's ports",
    "Lists the inputs and outputs that a connected card declares: what it takes from other cards and what it gives"
    " them, with their types.",
    read_only=True,
)


class ConnectionFamily:
    """What tells of connections; see `granted.Family`.

    Args:
        workspaces: where cards stand.
        packages: what they are.
        calls: takes calls through arrows.
        state_of: in a word, how a card does.
    """

    def __init__(
        self,
        workspaces: Workspaces,
        packages: Packages,
        calls: ArrowCalls,
        state_of: Callable[[Workspace, Card], str],
    ) -> None:
        self._workspaces = workspaces
        self._packages = packages
        self._calls = calls
        self._state_of = state_of
        self._ports = Offer(PORTS, self._has_ports, self._list_ports, lambda one: state_of(one.workspace, one.card))

    def __call__(self, agent: AgentInfo, found: Sequence[Copy]) -> Sequence[LocalTool]:
        """What the cards that an agent reaches give it."""
        if not found:
            return ()

        async def connections(call: Call, emit: Emit) -> Result:
            return self._list(agent)

        return [BuiltIn(CONNECTIONS, connections), *self._calls.granted(agent, found, [self._ports])]

    def _list(self, agent: AgentInfo) -> Result:
        shown = [
            {
                "card": copy.card.id,
                "name": copy.card.title,
                "kind": copy.card.kind,
                "state": self._state_of(copy.workspace, copy.card),
                "workspace": copy.workspace.name,
                "open": copy.workspace.is_open,
            }
            for copy in reached(self._workspaces, agent.owner, agent.agent_id)
        ]
        return Result((Text(_json(shown)),), {"connections": shown})

    def _manifest_of(self, copy: Copy) -> Manifest | None:
        if copy.card.package is None:
            return None
        try:
            package = self._packages.get(copy.workspace.owner, copy.card.package)
        except PackageNotFound:
            return None
        return None if package.accepted is None else package.accepted.manifest

    def _has_ports(self, copy: Copy) -> bool:
        manifest = self._manifest_of(copy)
        return manifest is not None and bool(as_object(manifest.raw.get("ports")))

    async def _list_ports(self, passage: Passage) -> Result:
        manifest = self._manifest_of(passage.copy)
        assert manifest is not None  # or it would not have been picked
        ports = as_object(manifest.raw.get("ports")) or {}
        shown = {"inputs": ports.get("inputs", []), "outputs": ports.get("outputs", [])}
        whose = shown_description(manifest.display_name, manifest.author, "says of its ports:")
        return Result((Text(f"{whose}\n{_json(shown)}"),), shown)


def _json(value: Any) -> str:
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
