"""Calls that an owner makes through an arrow, in place of the agent at its end: to try a tool, or a call once more.

They are checked, run, shown and kept as an agent's calls are; only who made them differs. It has no route.
"""

from collections.abc import Iterator, Sequence

from anyio.lowlevel import checkpoint

from toolwire.canvas.copies import Copy, reached
from toolwire.canvas.errands import Errands
from toolwire.canvas.identity import AgentInfo, Directory
from toolwire.canvas.toolbox import Toolboxes
from toolwire.canvas.workspaces import Workspaces
from toolwire.core.call import Call, Caller
from toolwire.core.errors import AgentNotFound, ArrowNotFound
from toolwire.core.event import Finished, Stamped
from toolwire.core.ids import new_id
from toolwire.core.jsontypes import JsonObject
from toolwire.core.tool import Tool
from toolwire.engine.catalog import Catalog
from toolwire.engine.engine import Engine
from toolwire.providers.function import FunctionProvider, LocalTool


class OwnCalls:
    """The calls of owners.

    Args:
        workspaces: where arrows are.
        directory: knows the agents at their ends.
        toolboxes: what arrows let through.
        engine: runs the calls.
        errands: told of each.
        call_timeout_s: the time-out of a tool that has none.
    """

    def __init__(
        self,
        workspaces: Workspaces,
        directory: Directory,
        toolboxes: Toolboxes,
        engine: Engine,
        errands: Errands,
        call_timeout_s: float,
    ) -> None:
        self._workspaces = workspaces
        self._directory = directory
        self._toolboxes = toolboxes
        self._engine = engine
        self._errands = errands
        self._call_timeout_s = call_timeout_s

    def tools(self, owner: str, workspace_id: str, arrow_id: str, agent_id: str | None = None) -> Sequence[Tool]:
        """What an arrow lets through: nothing where no agent is at its end.

        Args:
            owner: whose workspace it is.
            workspace_id: where the arrow is.
            arrow_id: the arrow.
            agent_id: in whose place, where two agents are joined; the one that it was drawn from by default.

        Raises:
            WorkspaceNotFound, ArrowNotFound: the owner has none of that id.
            AgentNotFound: that agent is not at its end.
        """
        return [one.tool for one in self._offers(owner, workspace_id, arrow_id, agent_id).values()]

    async def begin(
        self, owner: str, workspace_id: str, arrow_id: str, tool: str, arguments: JsonObject, agent_id: str | None
    ) -> str:
        """Make a call and say its id; the arrow tells of the rest.

        Raises:
            WorkspaceNotFound, ArrowNotFound, AgentNotFound: as `tools`.
            ToolNotFound: the arrow lets no tool of that name through.
            InvalidArguments: they do not fit the tool.
            ServiceUnavailable: the host is stopping.
        """
        offers = self._offers(owner, workspace_id, arrow_id, agent_id)
        provider, catalog = FunctionProvider(offers.values()), Catalog(self._toolboxes.compile)
        catalog.replace([one.tool for one in offers.values()], provider)
        timeout_s = catalog.find(tool).tool.timeout_s or self._call_timeout_s
        call_id, deadline = new_id("call"), self._engine.clock.now() + timeout_s

        def hear(stamped: Stamped) -> None:
            if isinstance(stamped.event, Finished):
                self._errands.end(call_id)

        self._errands.begin(call_id, arrow_id)
        try:
            await self._engine.begin(
                Call(call_id, Caller(owner, owner, "canvas"), tool, arguments, deadline), catalog, hear
            )
        except BaseException:
            self._errands.end(call_id)
            raise
        await checkpoint()  # it is in the log of its arrow when whoever made it asks for it there
        return call_id

    def _offers(self, owner: str, workspace_id: str, arrow_id: str, agent_id: str | None) -> dict[str, LocalTool]:
        board = self._workspaces.get(owner, workspace_id).board
        arrow = board.arrows.get(arrow_id)
        if arrow is None:
            raise ArrowNotFound(f"there is no arrow {arrow_id!r} in this workspace")
        ends = [board.cards[end].agent_id for end in (arrow.source, arrow.target)]
        agents = [one for one in ends if one is not None and agent_id in (None, one)]
        if agent_id is not None and not agents:
            raise AgentNotFound(f"no agent {agent_id!r} is at an end of this arrow")
        for agent in self._known(owner, agents):
            return self._toolboxes.by_arrow(agent, self._through(agent, arrow_id))
        return {}

    def _known(self, owner: str, agents: Sequence[str]) -> Iterator[AgentInfo]:
        """Those that have not been removed."""
        for agent_id in agents:
            try:
                yield self._directory.agent(owner, agent_id)
            except AgentNotFound:
                continue

    def _through(self, agent: AgentInfo, arrow_id: str) -> list[Copy]:
        return [copy for copy in reached(self._workspaces, agent.owner, agent.agent_id) if copy.arrow.id == arrow_id]
