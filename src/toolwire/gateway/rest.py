"""What every route of the gateway needs: who asks, about which agent, and the body as a value; it has no route.

Errors are raised; `surfaces.rest.RestApp` puts them into the envelope, in one place.
"""

from typing import TypeVar

from starlette.requests import Request

from toolwire.core.errors import Forbidden
from toolwire.gateway.agent_record import AgentRecord
from toolwire.gateway.agents import Agents
from toolwire.gateway.auth import Auth, Identity
from toolwire.gateway.keys import KeyKind
from toolwire.surfaces.held_open import Hold
from toolwire.surfaces.limits import REQUEST_LIMIT_BYTES, credentials_in
from toolwire.surfaces.rest import read_json

T = TypeVar("T")


class Reader:
    """Reads requests for the routes.

    Args:
        auth: finds out who is asking.
        agents: all agents.
        max_bytes: the largest body, unless a route takes larger ones.
    """

    def __init__(self, auth: Auth, agents: Agents, max_bytes: int = REQUEST_LIMIT_BYTES) -> None:
        self._auth = auth
        self._agents = agents
        self._max_bytes = max_bytes

    def identify(self, request: Request, *kinds: KeyKind) -> Identity:
        """Who is asking, by a key of one of `kinds`.

        Raises:
            Unauthorized: no key, an unknown or revoked one, or two that differ.
            Forbidden: a key of another kind.
        """
        return self._auth.identify_as(credentials_in(request.scope["headers"]), *kinds)

    def hold(self, identity: Identity) -> Hold:
        """What the credential of one who is asking holds open."""
        return self._auth.held_open.of(identity.key_id)

    def agent(self, request: Request, identity: Identity) -> AgentRecord:
        """The agent in the path, by its id or, for its owner, by its name.

        Raises:
            AgentNotFound: there is none that this identity may see; for an `agk` or `bak`, none but its own.
        """
        named = str(request.path_params["agent"])
        record = self._agents.find(identity.owner, named)
        if identity.agent_id is not None and record.agent_id != identity.agent_id:
            raise Forbidden(f"this {identity.kind}_ key is bound to another agent than {named!r}")
        return record

    def own_agent(self, request: Request, identity: Identity) -> AgentRecord:
        """The agent in the path, for one who may change it.

        Raises:
            AgentNotFound: there is none that this identity may see.
            Forbidden: it may see it, and it belongs to another owner, or the key to another agent.
        """
        record = self.agent(request, identity)
        if record.owner != identity.owner:
            raise Forbidden(f"agent {record.agent_id!r} belongs to another owner")
        return record

    async def body(self, request: Request, type_: type[T], max_bytes: int | None = None) -> T:
        """The JSON body as a value.

        Args:
            request: the request.
            type_: what it must be.
            max_bytes: the largest body of this route; `None` for the usual limit.

        Raises:
            UnsupportedMediaType: it is not declared as JSON.
            PayloadTooLarge: it is larger than the limit.
            ParseError: it is not JSON.
            InvalidParam: it is JSON of another shape; `param` says where.
        """
        return await read_json(request, type_, self._max_bytes if max_bytes is None else max_bytes)
