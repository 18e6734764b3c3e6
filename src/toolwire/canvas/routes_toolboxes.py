"""The routes of toolboxes, for owners: what an agent has, what it knows of it, and how a client comes by it.

They keep nothing. The toolbox itself is an MCP endpoint; see `toolbox_door`.
"""

from collections.abc import Callable, Sequence

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from toolwire.canvas.client_setup import CLIENTS, Entry, fragment
from toolwire.canvas.identity import AgentInfo, Directory, Visitor
from toolwire.canvas.rest import OwnerReader, path_param
from toolwire.canvas.told_toolboxes import granted_tools, shown_toolbox
from toolwire.canvas.toolbox import Toolboxes
from toolwire.canvas.workspaces import Workspaces
from toolwire.core.errors import AgentNotFound, Conflict
from toolwire.core.jsontypes import JsonObject
from toolwire.surfaces.described import described
from toolwire.surfaces.rest import answer
from toolwire.wire.answers.toolboxes import ClientSetups, Toolbox, ToolboxList

KEY_PLACE = "YOUR_AGENT_KEY"
"""Stands in a configuration where the agent's key belongs, which is shown once and not known here."""
SERVER_NAME = "toolwire"


class ToolboxRoutes:
    """The routes of toolboxes.

    Args:
        reader: reads requests.
        workspaces: where agents stand.
        directory: the agents.
        toolboxes: what they have.
        toolbox_url: the address of an agent's toolbox.
    """

    def __init__(
        self,
        reader: OwnerReader,
        workspaces: Workspaces,
        directory: Directory,
        toolboxes: Toolboxes,
        toolbox_url: Callable[[str], str],
    ) -> None:
        self._reader = reader
        self._workspaces = workspaces
        self._directory = directory
        self._toolboxes = toolboxes
        self._toolbox_url = toolbox_url

    def routes(self) -> Sequence[Route]:
        """What to mount."""
        one = "/api/v1/workspaces/{w}"
        return (
            Route(one + "/toolboxes", self.list, methods=["GET"]),
            Route(one + "/cards/{c}/toolbox", self.show, methods=["GET"]),
            Route(one + "/cards/{c}/toolbox/clients", self.clients, methods=["GET"]),
        )

    @described("oag", ToolboxList)
    async def list(self, request: Request) -> Response:
        """What the agents of a workspace know of their tools; those that are gone are left out."""
        visitor = self._reader.owner(request)
        workspace = self._workspaces.get(visitor.owner, path_param(request, "w"))
        shown: list[JsonObject] = []
        for card in workspace.board.cards.values():
            if card.agent_id is not None:
                try:
                    agent = self._directory.agent(visitor.owner, card.agent_id)
                except AgentNotFound:
                    continue
                shown.append(shown_toolbox(card.id, self._toolboxes.of(agent)))
        return answer({"toolboxes": shown})

    @described("oag", Toolbox, errors="conflict agent_not_found")
    async def show(self, request: Request) -> Response:
        """An agent's tools, and which arrow each comes by."""
        card_id, agent = self._agent(request, self._reader.owner(request))
        toolbox = self._toolboxes.of(agent)
        tools = [
            {
                "name": tool.name,
                "title": tool.title,
                "description": tool.description,
                "read_only": (tool.annotations or {}).get("readOnlyHint") is True,
            }
            for tool in granted_tools(toolbox)
        ]
        grants = [
            {
                "arrow": copy.arrow.id,
                "card": copy.card.id,
                "title": copy.card.title,
                "kind": copy.card.kind,
                "workspace": copy.workspace.id,
                "workspace_name": copy.workspace.name,
                "tools": names,
            }
            for copy, names in self._toolboxes.grants(agent)
        ]
        url = self._toolbox_url(agent.agent_id)
        return answer({**shown_toolbox(card_id, toolbox), "toolbox_url": url, "tools": tools, "grants": grants})

    @described("oag", ClientSetups, errors="conflict agent_not_found")
    async def clients(self, request: Request) -> Response:
        """What belongs into the files of other MCP clients for this agent; its key belongs where `key_place` is."""
        _, agent = self._agent(request, self._reader.owner(request))
        entry = Entry(SERVER_NAME, self._toolbox_url(agent.agent_id), KEY_PLACE)
        shown = [
            {"client": name, "title": client.title, "file": client.told_place, "text": fragment(client, entry)}
            for name, client in CLIENTS.items()
        ]
        return answer({"key_place": KEY_PLACE, "clients": shown})

    def _agent(self, request: Request, visitor: Visitor) -> tuple[str, AgentInfo]:
        card = self._workspaces.get(visitor.owner, path_param(request, "w")).card(path_param(request, "c"))
        if card.agent_id is None:
            raise Conflict(f"card {card.id!r} is a {card.kind}, not an agent; only agents have a toolbox")
        return card.id, self._directory.agent(visitor.owner, card.agent_id)
