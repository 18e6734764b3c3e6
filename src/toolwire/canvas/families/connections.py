"""`toolwire_connections` and `ports_list`: what an agent is joined to; they reach nothing."""

from collections.abc import Callable, Sequence
from typing import Any, Final

import msgspec

from toolwire.canvas.copies import Copy, reached
from toolwire.canvas.families.arrows import SOURCE, ArrowCalls, BuiltIn, Offer, Passage, card_tool
from toolwire.canvas.identity import AgentInfo
from toolwire.canvas.packages import Packages
from toolwire.canvas.workspaces import Workspace, Workspaces
from toolwire.core.board import Card
from toolwire.core.call import Call
from toolwire.core.errors import PackageNotFound
from toolwire.core.handler import Emit
from toolwire.core.jsontypes import JsonObject, as_object
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

    def _ports_of(self, copy: Copy) -> JsonObject:
        if copy.card.package is None:
            return {}
        try:
            package = self._packages.get(copy.workspace.owner, copy.card.package)
        except PackageNotFound:
            return {}
        return as_object(package.accepted.manifest.raw.get("ports") if package.accepted else None) or {}

    def _has_ports(self, copy: Copy) -> bool:
        return bool(self._ports_of(copy))

    async def _list_ports(self, passage: Passage) -> Result:
        ports = self._ports_of(passage.copy)
        shown = {"inputs": ports.get("inputs", []), "outputs": ports.get("outputs", [])}
        return Result((Text(_json(shown)),), shown)


def _json(value: Any) -> str:
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
