"""Lets callers in to the agents' MCP endpoints; it does not read requests or answer them.

Who gets in where (gateway.md 45, D22, X20): a `bak_` to its own agent; an `oag_` to every agent it may see, which are
its own and the public ones; an access token of OAuth to the agents it was given for; an `agk_` nowhere. An agent that
may not be seen or is not published over MCP is answered like one that does not exist. A `bak_` or a token of another
agent learns by 403 that an agent exists only if it may see it.
"""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial

from msgspec import Struct

from toolwire.core.call import Caller
from toolwire.core.errors import AgentNotFound, Forbidden
from toolwire.core.names import valid_tool_name
from toolwire.gateway.agent_record import AgentRecord
from toolwire.gateway.agents import Agents
from toolwire.gateway.auth import Auth, Identity, identity_of
from toolwire.gateway.library import Libraries
from toolwire.gateway.places import agent_in, base_for
from toolwire.gateway.rates import Pace, Rates
from toolwire.surfaces.endpoint import TOOLS_ALONE, Admission, Endpoint, Headers, Library, Watch
from toolwire.surfaces.parking import Parking

MAX_ADMITTED = 16_384
"""(key, agent) pairs whose admission is remembered; beyond that all are forgotten and worked out anew."""


class _Admitted(Struct, frozen=True):
    record: AgentRecord
    admission: Admission
    pace: Pace | None


class _Place(Struct):
    endpoint: Endpoint
    record: AgentRecord


class Behind(Struct, frozen=True):
    """What a door leads to besides tools.

    `libraries` are what agents offer beside tools, `parking` is where calls wait that ask a client of 2026-07-28,
    `watch` wants to be told of calls besides those who make them; without them there is none of that. `rates` says how
    often a credential may call.
    """

    libraries: Libraries | None = None
    parking: Parking | None = None
    watch: Watch | None = None
    rates: Rates = Rates(0, 0)


class GatewayDoor:
    """The door of `/{agent_id}/mcp` and its alias `/agents/{agent_id}/mcp`.

    Letting in a caller who was let in before costs one hash and two look-ups: what was worked out holds for as long as
    the key is active and the agent's record is the same object.

    Args:
        auth: finds out who is asking.
        agents: all agents.
        public_url: where the gateway is reached from outside, without a slash at the end; may be set later.
        call_timeout_s: the time-out of a call whose tool has none of its own.
        owns_context: whether a caller (second) may go on in a channel (third) with an agent (first).
        behind: what else lies behind the door.
    """

    def __init__(
        self,
        auth: Auth,
        agents: Agents,
        public_url: str = "",
        call_timeout_s: float = 60.0,
        owns_context: Callable[[str, Caller, str], Awaitable[bool]] | None = None,
        behind: Behind | None = None,
    ) -> None:
        self.public_url = public_url
        self._auth = auth
        self._agents = agents
        self._call_timeout_s = call_timeout_s
        self._owns_context = owns_context
        self._behind = behind or Behind()
        self._places: dict[str, _Place] = {}
        self._admitted: dict[tuple[str, str], _Admitted] = {}
        agents.on_removed(self._forget)

    def serves(self, path: str) -> bool:
        """Whether `path` has the form of an agent's MCP endpoint, whether or not there is such an agent."""
        return agent_in(path) is not None

    async def admit(self, path: str, headers: Headers, credentials: Sequence[bytes]) -> Admission:
        """Let a caller in; see `surfaces.endpoint.Door.admit`."""
        key = self._auth.find_caller(credentials)
        agent_id = agent_in(path) or ""
        known = self._admitted.get((key.key_id, agent_id))
        if known is not None and known.record is self._agents.known(agent_id):
            if known.pace is not None:
                known.pace.take()
            return known.admission
        return self._admit(identity_of(key), agent_id)

    def challenge(self, path: str = "", headers: Headers | None = None) -> str:
        """The value of `WWW-Authenticate` on a 401 (gateway.md 47, D23).

        The address is absolute and leads to metadata on the very endpoint that was asked, because clients compare the
        two (RFC 9728, 3.3). A path goes into it only where it is an agent's: it is the asker's own text.
        """
        agent_id = agent_in(path)
        below = path if agent_id is not None and valid_tool_name(agent_id) else ""
        base = base_for(self.public_url, None if headers is None else headers.get(b"host"))
        return f'Bearer realm="MCP", resource_metadata="{base}/.well-known/oauth-protected-resource{below}"'

    def _admit(self, identity: Identity, agent_id: str) -> Admission:
        record = self._agents.known(agent_id)
        check_may_call(identity, record, agent_id)
        assert record is not None
        if len(self._admitted) >= MAX_ADMITTED:
            self._admitted.clear()
        pace = self._behind.rates.of(identity.key_id, identity.kind, agent_id)
        again = None if identity.kind == "oat" else partial(self._again, identity.key_id, record, pace)
        admission = Admission(identity.caller("gateway"), self._endpoint(record), identity.key_id, again)
        self._admitted[identity.key_id, agent_id] = _Admitted(record, admission, pace)
        if pace is not None:
            pace.take()
        return admission

    def _again(self, key_id: str, record: AgentRecord, pace: Pace | None) -> bool:
        """See `Admission.again`; a token is looked up each time, because it has an end."""
        if not self._auth.is_active(key_id) or self._agents.known(record.agent_id) is not record:
            return False
        return pace is None or pace.may_take()

    def _endpoint(self, record: AgentRecord) -> Endpoint:
        """The agent's endpoint: one object while the agent exists, brought up to date when its record has changed."""
        place = self._places.get(record.agent_id)
        if place is None:
            place = self._places[record.agent_id] = _Place(self._new_endpoint(record), record)
        elif place.record is not record:
            place.record = record
            endpoint = place.endpoint
            endpoint.name, endpoint.version = record.name, record.version or "0"
            endpoint.title, endpoint.instructions = record.display_name or None, record.shown_description or None
            endpoint.library = self._library(record)
            endpoint.stamp_cache = None
        return place.endpoint

    def _new_endpoint(self, record: AgentRecord) -> Endpoint:
        return Endpoint(
            agent_id=record.agent_id,
            name=record.name,
            version=record.version or "0",
            catalog=self._agents.catalog(record.agent_id),
            plane="gateway",
            title=record.display_name or None,
            instructions=record.shown_description or None,
            call_timeout_s=self._call_timeout_s,
            take_extras=partial(self._agents.take_extras, record.agent_id),
            owns_context=None if self._owns_context is None else partial(self._owns_context, record.agent_id),
            library=self._library(record),
            logs=True,
            parking=self._behind.parking,
            watch=self._behind.watch,
        )

    def _library(self, record: AgentRecord) -> Library:
        return TOOLS_ALONE if self._behind.libraries is None else self._behind.libraries.of(record)

    def _forget(self, record: AgentRecord) -> None:
        self._places.pop(record.agent_id, None)
        self._admitted = {pair: known for pair, known in self._admitted.items() if pair[1] != record.agent_id}


def check_may_call(identity: Identity, record: AgentRecord | None, agent_id: str) -> None:
    """Whether a caller may call an agent, over MCP or REST.

    Raises:
        Forbidden: the key is an agent's own, or it is bound to another agent.
        AgentNotFound: there is no such agent for this caller, or it is not published.
    """
    if identity.kind == "agk":
        raise Forbidden("an agk_ key attaches an agent and calls none; use a bak_ or oag_ key")
    if record is None or not record.mcp_enabled or not record.visible_to(identity.owner):
        raise AgentNotFound(f"no agent {agent_id!r} is published here")
    if identity.kind == "bak" and identity.agent_id != agent_id:
        raise Forbidden(f"this bak_ key is bound to another agent than {agent_id!r}; use one of its own")
    if identity.kind == "oat" and agent_id not in identity.agents:
        raise Forbidden(f"this access token was not given for agent {agent_id!r}; let its owner pick that, too")
