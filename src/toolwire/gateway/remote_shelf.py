"""What a remote MCP server offers beside tools, as its agent's endpoint serves it; it connects nothing.

Lists are those that the server had last, and what tells of the agent itself; for the rest the server is asked.
"""

from collections.abc import Callable, Sequence
from typing import TypeAlias

from toolwire.core.call import Call
from toolwire.core.errors import AgentOffline
from toolwire.core.handler import Emit
from toolwire.core.prompt import Completion, Prompt, PromptResult, Reference
from toolwire.core.resource import Resource, ResourceTemplate
from toolwire.core.result import ResourceContents
from toolwire.gateway.about import OWN_RESOURCES, OWN_URIS, about
from toolwire.gateway.agents import Agents
from toolwire.gateway.remote_agent import RemoteAgent

FindRemote: TypeAlias = Callable[[str], RemoteAgent | None]
"""The server behind an agent, if there is one that can be used."""


class RemoteShelf:
    """The `Resources`, `Prompts` and `Completions` of one remote agent.

    Args:
        agent_id: the agent.
        agents: all agents.
        find: finds its server.
    """

    def __init__(self, agent_id: str, agents: Agents, find: FindRemote) -> None:
        self._agent_id = agent_id
        self._agents = agents
        self._find = find

    async def look(self) -> None:
        """See `RemoteAgent.look`."""
        server = self._find(self._agent_id)
        if server is not None:
            await server.look()

    def resources(self) -> Sequence[Resource]:
        """The server's resources in its order, and those that tell of the agent."""
        server = self._find(self._agent_id)
        listed = () if server is None else server.offer.resources()
        return [*(resource for resource in listed if resource.uri not in OWN_URIS), *OWN_RESOURCES]

    def templates(self) -> Sequence[ResourceTemplate]:
        """The server's templates in its order."""
        server = self._find(self._agent_id)
        return [] if server is None else server.offer.templates()

    async def read(self, uri: str, call: Call, emit: Emit) -> Sequence[ResourceContents]:
        """The contents of a resource; see `core.resource.Resources.read`.

        Raises:
            AgentOffline: the server cannot be used.
        """
        if uri in OWN_URIS:
            own = about(uri, self._agents.get(self._agent_id).config, self._agents.catalog(self._agent_id))
            return [] if own is None else [own]
        return await (await self._server()).offer.read(uri, call, emit)

    def prompts(self) -> Sequence[Prompt]:
        """The server's prompts, as far as they were accepted."""
        server = self._find(self._agent_id)
        return [] if server is None else server.offer.prompts()

    async def get(self, name: str, call: Call, emit: Emit) -> PromptResult:
        """The messages of a prompt; see `core.prompt.Prompts.get`.

        Raises:
            AgentOffline: the server cannot be used.
            ConsentRequired: the prompt is another than was accepted.
        """
        return await (await self._server()).offer.get(name, call, emit)

    async def complete(self, ref: Reference, argument: str, value: str, call: Call, emit: Emit) -> Completion:
        """What an argument may be; see `core.prompt.Completions.complete`.

        Raises:
            AgentOffline: the server cannot be used.
        """
        return await (await self._server()).offer.complete(ref, argument, value, call, emit)

    async def _server(self) -> RemoteAgent:
        server = self._find(self._agent_id)
        if server is None:
            raise AgentOffline("the remote server behind this agent cannot be used; its owner can add it anew")
        await server.settle()
        return server
