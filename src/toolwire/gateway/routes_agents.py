"""REST: the agents themselves, by their owners, and their registration, by themselves; it keeps nothing.

Spec: gateway.md 4, §6 (REST, Agents).
"""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from toolwire.core.errors import InvalidParam
from toolwire.core.jsontypes import JsonObject
from toolwire.gateway.agent_record import AgentPatch, AgentRecord
from toolwire.gateway.agents import Agents
from toolwire.gateway.keys import Keys
from toolwire.gateway.rest import Reader
from toolwire.surfaces.described import described
from toolwire.surfaces.rest import answer, done
from toolwire.wire.answers.agents import Agent, CreatedAgent, Synced
from toolwire.wire.link import Registration
from toolwire.wire.rest import rfc3339


class NewAgent(Struct, frozen=True, forbid_unknown_fields=True):
    """The body of `POST /api/v1/agents`."""

    name: str
    description: str | None = None


class Sync(Struct, frozen=True):
    """The body of `POST /api/v1/agents/sync`: one entry, the key's own agent."""

    agents: list[Registration]


class AgentRoutes:
    """The routes of agents.

    Args:
        reader: reads requests.
        agents: all agents.
        keys: makes a new agent's key.
        attached: whether an agent is attached now; by its id.
        mcp_url: the address of an agent's MCP endpoint; by its id.
    """

    def __init__(
        self,
        reader: Reader,
        agents: Agents,
        keys: Keys,
        attached: Callable[[str], bool],
        mcp_url: Callable[[str], str],
    ) -> None:
        self._reader = reader
        self._agents = agents
        self._keys = keys
        self._attached = attached
        self._mcp_url = mcp_url

    def routes(self) -> Sequence[Route]:
        """What to mount."""
        return (
            Route("/api/v1/agents", self.create, methods=["POST"]),
            Route("/api/v1/agents", self.list, methods=["GET"]),
            Route("/api/v1/agents/sync", self.sync, methods=["POST"]),
            Route("/api/v1/agents/{agent}", self.get, methods=["GET"]),
            Route("/api/v1/agents/{agent}", self.patch, methods=["PATCH"]),
            Route("/api/v1/agents/{agent}", self.remove, methods=["DELETE"]),
        )

    @described("oag", CreatedAgent, 201, body=NewAgent, errors="conflict")
    async def create(self, request: Request) -> Response:
        """Make an agent and its `agk_` key, which is shown this once."""
        identity = self._reader.identify(request, "oag")
        body = await self._reader.body(request, NewAgent)
        record = await self._agents.create(identity.owner, body.name, body.description)
        _, secret = await self._keys.create("agk", record.owner, record.agent_id)
        return answer({**self._shown(record, own=True), "agent_key": secret}, 201)

    @described("oag", list[Agent])
    async def list(self, request: Request) -> Response:
        """The owner's agents."""
        identity = self._reader.identify(request, "oag")
        return answer([self._shown(record, own=True) for record in self._agents.list(identity.owner)])

    @described("oag agk bak", Agent)
    async def get(self, request: Request) -> Response:
        """One agent, for all who may see it."""
        identity = self._reader.identify(request, "oag", "agk", "bak")
        record = self._reader.agent(request, identity)
        return answer(self._shown(record, own=record.owner == identity.owner and identity.kind != "bak"))

    @described("oag", Agent, body=AgentPatch, errors="conflict")
    async def patch(self, request: Request) -> Response:
        """Change what the owner decides; what is left out stays as it is."""
        identity = self._reader.identify(request, "oag")
        record = self._reader.own_agent(request, identity)
        body = await self._reader.body(request, AgentPatch)
        return answer(self._shown(await self._agents.patch(record.agent_id, body), own=True))

    @described("oag")
    async def remove(self, request: Request) -> Response:
        """Forget an agent and revoke its keys."""
        identity = self._reader.identify(request, "oag")
        record = self._reader.own_agent(request, identity)
        await self._agents.remove(record.agent_id)
        await self._keys.revoke_all(record.owner, record.agent_id)
        return done()

    @described("agk", Synced, body=Sync, errors="conflict agent_not_found")
    async def sync(self, request: Request) -> Response:
        """Take an agent's registration; counts its skills."""
        identity = self._reader.identify(request, "agk")
        body = await self._reader.body(request, Sync)
        if len(body.agents) != 1:
            raise InvalidParam(
                f"agents must have one entry, the key's own agent, not {len(body.agents)}", param="agents"
            )
        try:
            return answer(await self._agents.sync(identity.agent_id or "", body.agents[0]))
        except InvalidParam as error:
            where = f"agents[0].{error.data.get('param', '')}"
            raise InvalidParam(error.message, **{**error.data, "param": where}) from None

    def _shown(self, record: AgentRecord, own: bool) -> JsonObject:
        """An agent as its readers see it; what is not published is for its owner and itself."""
        shown: dict[str, Any] = {
            "agent_id": record.agent_id,
            "name": record.name,
            "display_name": record.display_name,
            "description": record.shown_description,
            "version": record.version,
            "visibility": record.visibility,
            "mcp_enabled": record.mcp_enabled,
            "pinned": record.pinned,
            "advertise_gateway_args": record.advertise_gateway_args,
            "idempotency_ttl_s": record.idempotency_ttl_s,
            "mcp_url": self._mcp_url(record.agent_id),
            "delivery_mode": record.mode,
            "attached": self._attached(record.agent_id),
            "skills": [msgspec.to_builtins(skill) for skill in record.skills if own or skill.expose_as_tool],
        }
        if own:
            shown["created_at"] = rfc3339(record.created_at)
            shown["updated_at"] = rfc3339(record.updated_at)
            shown["synced_at"] = None if record.synced_at is None else rfc3339(record.synced_at)
        return shown
