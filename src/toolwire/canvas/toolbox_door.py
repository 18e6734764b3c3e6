"""The door of `/{agent_id}/toolbox/mcp`: an agent with its own `agk_` key comes in, to its own toolbox alone."""

from collections.abc import Sequence

from toolwire.canvas.identity import Directory
from toolwire.canvas.toolbox import Toolboxes
from toolwire.core.call import Caller
from toolwire.core.errors import AgentNotFound, Forbidden
from toolwire.surfaces.endpoint import Admission, Headers

TAIL = "/toolbox/mcp"


class ToolboxDoor:
    """Lets agents in; see `surfaces.endpoint.Door`.

    Args:
        directory: knows keys and agents.
        toolboxes: what lies behind the door.
    """

    def __init__(self, directory: Directory, toolboxes: Toolboxes) -> None:
        self._directory = directory
        self._toolboxes = toolboxes

    def serves(self, path: str) -> bool:
        """Whether `path` has the form of an agent's toolbox."""
        return agent_in(path) is not None

    async def admit(self, path: str, headers: Headers, credentials: Sequence[bytes]) -> Admission:
        """Let a caller in."""
        agent_id = agent_in(path)
        visitor = self._directory.visitor(credentials)
        if visitor.agent_id is None:
            raise Forbidden("a toolbox opens to its agent's agk_ key alone; put the agent on a board to get one")
        if agent_id is None or visitor.agent_id != agent_id:
            raise AgentNotFound(f"there is no toolbox of agent {agent_id!r} for this key; use the agent's own address")
        toolbox = self._toolboxes.of(self._directory.agent(visitor.owner, agent_id))
        return Admission(Caller(visitor.principal, visitor.owner, "toolbox"), toolbox.endpoint, visitor.key_id)

    def challenge(self, path: str = "", headers: Headers | None = None) -> str:
        """The value of `WWW-Authenticate` on a 401."""
        return 'Bearer realm="toolbox"'


def agent_in(path: str) -> str | None:
    """The agent whose toolbox a path names."""
    if not path.endswith(TAIL):
        return None
    agent_id = path[1 : -len(TAIL)]
    return agent_id if agent_id and "/" not in agent_id else None
