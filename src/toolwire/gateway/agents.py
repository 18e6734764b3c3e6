"""The agents of this gateway and what they offer; it does not know which of them are attached.

All agents are held in memory, so that a call's tool is found without the store; the store is written before a change
counts. Other parts use: `get` and `known` (the record), `catalog` (the tools), `offered` (the rest), `sync` (a
registration), `on_changed` and `on_removed`.
"""

import logging
from collections.abc import Callable
from functools import partial

import anyio
import msgspec
from msgspec.structs import replace

from toolwire.core.change import Change, ListChanged, ResourceUpdated
from toolwire.core.errors import AgentNotFound, Conflict, InvalidParam, PayloadTooLarge, StoreConflict
from toolwire.core.handler import Delegate, mark_asking
from toolwire.core.ids import new_id
from toolwire.core.jsontypes import JsonObject
from toolwire.core.names import valid_tool_name
from toolwire.core.ports import Clock, Del, Op, Put, Store
from toolwire.engine.catalog import Catalog, CompileSchema
from toolwire.gateway.about import CONFIG_URIS, SKILLS_URIS
from toolwire.gateway.agent_record import AgentPatch, AgentRecord
from toolwire.gateway.extras import AgentExtras, advertised, declared_extras
from toolwire.gateway.held_skills import Holding, released, sort_out, with_accepted
from toolwire.gateway.keys import scan_all
from toolwire.gateway.offered import Offered, changes_between, offered_of
from toolwire.gateway.registration import MESSAGE_TOOL, check_skills, count_changes, message_tool, tools_of
from toolwire.surfaces.endpoint import Extras
from toolwire.wire.link import DeliveryMode, Registration

logger = logging.getLogger("toolwire.gateway")

MAX_NAME_LEN = 128
MAX_REGISTRATION_BYTES = 1024 * 1024


class _Agent:
    """An agent in memory. `version` is the version of its row in the store."""

    __slots__ = ("asking", "catalog", "delegate", "extras", "offered", "record", "version")

    def __init__(self, record: AgentRecord, version: int, catalog: Catalog, delegate: Delegate) -> None:
        self.record = record
        self.version = version
        self.catalog = catalog
        self.delegate = delegate
        self.asking = mark_asking(partial(delegate.call))
        self.extras = AgentExtras({})
        self.offered = Offered()


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(AgentRecord).decode


class Agents:
    """All agents of this gateway. Call `load` before anything else.

    Args:
        store: where they are kept.
        clock: wall time.
        compile_schema: builds a validator of a tool's schema.
        provider_for: makes what runs an agent's calls; asked once for each agent.
        fallback_tool: offer the tool `message` for an agent without tools (gateway.md X1).
    """

    def __init__(
        self,
        store: Store,
        clock: Clock,
        compile_schema: CompileSchema,
        provider_for: Callable[[AgentRecord], Delegate],
        fallback_tool: bool = True,
    ) -> None:
        self._store = store
        self._clock = clock
        self._compile = compile_schema
        self._provider_for = provider_for
        self._fallback_tool = fallback_tool
        self._agents: dict[str, _Agent] = {}
        self._names: dict[tuple[str, str], str] = {}
        self._removed: list[Callable[[AgentRecord], None]] = []
        self._changed: list[Callable[[str, Change], None]] = []
        self._writing = anyio.Lock()

    async def load(self) -> None:
        """Read all agents from the store.

        Raises:
            StoreUnavailable: the store cannot be read.
        """
        for row in await scan_all(self._store, "agent"):
            record = _decode(row.value)
            try:
                self._keep(record, row.version)
            except InvalidParam as error:  # taken once, refused by the validator of today
                logger.error("agent %s offers nothing until it registers anew: %s", record.agent_id, error.message)

    async def create(
        self,
        owner: str,
        name: str,
        description: str | None = None,
        agent_id: str | None = None,
        *,
        remote: bool = False,
    ) -> AgentRecord:
        """Make an agent; nothing is attached to it yet.

        Args:
            owner: its owner's id.
            name: what its owner calls it, unique with that owner.
            description: the owner's word on it; `None` leaves that to the agent.
            agent_id: its id, for one that must have a known one; `None` mints one.
            remote: a remote MCP server is behind it, and nobody attaches.

        Raises:
            InvalidParam: the name is empty, longer than 128, not printable, or name or id cannot stand in a path.
            Conflict: the owner has an agent of that name, or the id is taken.
            StoreUnavailable: the store cannot be written; there is no such agent.
        """
        name = _checked_name(name)
        now = self._clock.now()
        agent_id = agent_id or new_id("agent")
        record = AgentRecord(agent_id, owner, name, now, now, set_description=description, remote=remote)
        if not valid_tool_name(record.agent_id):
            raise InvalidParam(f"an agent's id has 1 to 64 of A-Z a-z 0-9 _ -, not {agent_id!r}", param="agent_id")
        async with self._writing:
            if record.agent_id in self._agents:
                raise Conflict(f"there is an agent {record.agent_id!r} already; take another id")
            try:
                named = Put("agent_name", owner, name, record.agent_id.encode(), expect=0)
                await self._store.tx([_put(record, 0), named])
            except StoreConflict:
                raise Conflict(f"there is an agent named {name!r} already; take another name") from None
            self._keep(record, 1)
        return record

    def known(self, agent_id: str) -> AgentRecord | None:
        """The agent's record as it stands now, or `None`; a changed agent has another record object."""
        agent = self._agents.get(agent_id)
        return None if agent is None else agent.record

    def get(self, agent_id: str) -> AgentRecord:
        """The agent's record as it stands now.

        Raises:
            AgentNotFound: there is no such agent.
        """
        return self._agent(agent_id).record

    def mode_of(self, agent_id: str) -> DeliveryMode:
        """How many calls an agent takes at once.

        Raises:
            AgentNotFound: there is no such agent.
        """
        agent = self._agents.get(agent_id)
        if agent is None:
            raise _not_found(agent_id)
        return agent.record.delivery_mode or "push"

    def find(self, owner: str, id_or_name: str) -> AgentRecord:
        """The agent that `owner` means: any that is visible to it by its id, or one of its own by its name.

        Raises:
            AgentNotFound: there is none.
        """
        by_id, by_name = self.known(id_or_name), self.known(self._names.get((owner, id_or_name), ""))
        if by_id is not None and (by_id.owner == owner or (by_name is None and by_id.visible_to(owner))):
            return by_id
        if by_name is None:
            raise _not_found(id_or_name)
        return by_name

    def list(self, owner: str) -> list[AgentRecord]:
        """An owner's agents, oldest first."""
        found = (agent.record for agent in self._agents.values() if agent.record.owner == owner)
        return sorted(found, key=lambda record: record.created_at)

    def catalog(self, agent_id: str) -> Catalog:
        """The agent's tools; the same object for as long as the agent exists, replaced inside by each registration.

        Raises:
            AgentNotFound: there is no such agent.
        """
        return self._agent(agent_id).catalog

    def offered(self, agent_id: str) -> Offered:
        """What the agent offers beside tools, as it stands now.

        Raises:
            AgentNotFound: there is no such agent.
        """
        return self._agent(agent_id).offered

    def take_extras(self, agent_id: str, tool: str, arguments: JsonObject) -> Extras:
        """Split arguments as sent to an agent's tool; see `surfaces.endpoint.TakeExtras`.

        Raises:
            AgentNotFound: there is no such agent.
            InvalidParam: one of the gateway's arguments is malformed; `param` names it.
        """
        return self._agent(agent_id).extras(tool, arguments)

    async def patch(self, agent_id: str, patch: AgentPatch) -> AgentRecord:
        """Change what the owner decides.

        Raises:
            AgentNotFound: there is no such agent.
            Conflict: it was changed elsewhere at the same time.
            StoreUnavailable: the store cannot be written; nothing has changed.
        """
        async with self._writing:
            agent = self._agent(agent_id)
            changed = msgspec.structs.replace(patch.applied_to(agent.record), updated_at=self._clock.now())
            if changed.held and not changed.pinned:
                changed = released(changed)
            await self._commit(agent, changed)
            return changed

    async def accept_held(self, agent_id: str, tool: str, digest: str) -> None:
        """Accept a tool of a pinned agent that is held, in the form of this digest.

        Raises:
            ConsentNotFound: no such form is held.
            AgentNotFound, Conflict, StoreUnavailable: as `patch`.
        """
        async with self._writing:
            agent = self._agent(agent_id)
            changed = with_accepted(agent.record, tool, digest)
            await self._commit(agent, msgspec.structs.replace(changed, updated_at=self._clock.now()))

    async def sync(self, agent_id: str, registration: Registration, *, by_gateway: bool = False) -> dict[str, int]:
        """Take what an agent says of itself in place of what it said before (gateway.md 4, §6).

        Of an agent that is a remote server the gateway says it, `by_gateway`.

        Returns:
            How many skills were created, updated and deactivated, under these words.

        Raises:
            AgentNotFound: there is no such agent.
            InvalidParam: a skill, resource or prompt cannot be taken; nothing has changed. `param` says which.
            PayloadTooLarge: all of it together is larger than `MAX_REGISTRATION_BYTES`.
            Conflict: another delivery mode than the registered one, a change elsewhere at the same time, or the agent
                is a remote server.
            StoreUnavailable: the store cannot be written; nothing has changed.
        """
        async with self._writing:
            agent = self._agent(agent_id)
            record = agent.record
            if record.remote and not by_gateway:
                raise Conflict(f"agent {record.name!r} is a remote server; create another agent to attach to")
            mode = registration.delivery_mode
            if mode is not None and record.delivery_mode not in (None, mode):
                raise Conflict(
                    f"delivery_mode is {record.delivery_mode!r} since the first registration, not {mode!r}; "
                    "keep it, or create another agent",
                    param="delivery_mode",
                )
            check_skills(registration.skills, self._compile, record.skills)
            offered_of(registration.resources, registration.prompts)
            skills, held = sort_out(record, registration.skills)
            counts = count_changes(record.skills, skills)
            changed = msgspec.structs.replace(
                record,
                display_name=registration.name,
                version=registration.version,
                description=registration.description,
                delivery_mode=mode or record.delivery_mode,
                skills=skills,
                held=held,
                resources=registration.resources,
                prompts=registration.prompts,
                completions=registration.completions,
            )
            if len(_encode(changed)) > MAX_REGISTRATION_BYTES:
                raise PayloadTooLarge(f"a registration has at most {MAX_REGISTRATION_BYTES} bytes; offer less")
            if changed != record or record.synced_at is None:
                now = self._clock.now()
                await self._commit(agent, msgspec.structs.replace(changed, updated_at=now, synced_at=now))
            return counts

    async def remove(self, agent_id: str) -> None:
        """Forget an agent. Its keys are not touched: revoke them too.

        Raises:
            AgentNotFound: there is no such agent.
            Conflict: it was changed elsewhere at the same time.
            StoreUnavailable: the store cannot be written; the agent stays.
        """
        async with self._writing:
            agent = self._agent(agent_id)
            record = agent.record
            ops: list[Op] = [
                Del("agent", record.owner, agent_id, expect=agent.version),
                Del("agent_name", record.owner, record.name),
            ]
            await self._store.tx(ops)
            del self._agents[agent_id]
            self._names.pop((record.owner, record.name), None)
        for listener in self._removed:
            listener(record)

    def on_removed(self, listener: Callable[[AgentRecord], None]) -> None:
        """Tell `listener` of every agent that is removed, so that links are closed; it must not block or raise."""
        self._removed.append(listener)

    def on_changed(self, listener: Callable[[str, Change], None]) -> None:
        """Tell `listener` of every change of what an agent (by its id) offers; it must not block or raise."""
        self._changed.append(listener)

    def tell(self, agent_id: str, change: Change) -> None:
        """Tell of a change that only the agent can know of."""
        for listener in self._changed:
            listener(agent_id, change)

    def _agent(self, agent_id: str) -> _Agent:
        agent = self._agents.get(agent_id)
        if agent is None:
            raise _not_found(agent_id)
        return agent

    async def _commit(self, agent: _Agent, record: AgentRecord) -> None:
        await self._store.tx([_put(record, agent.version)])
        agent.version += 1
        before, offered = agent.record, agent.offered
        agent.record = record
        changes: list[Change] = []
        if self._offer(agent):
            changes += [ListChanged("tools"), *map(ResourceUpdated, SKILLS_URIS)]
        if before.config != record.config:
            changes += map(ResourceUpdated, CONFIG_URIS)
        for change in (*changes, *changes_between(offered, agent.offered)):
            self.tell(record.agent_id, change)

    def _keep(self, record: AgentRecord, version: int) -> None:
        agent = _Agent(record, version, Catalog(self._compile), self._provider_for(record))
        self._agents[record.agent_id] = agent
        self._names[record.owner, record.name] = record.agent_id
        self._offer(agent)

    def _offer(self, agent: _Agent) -> bool:
        """Offer what the record says; whether the list of tools is another one than before."""
        record = agent.record
        tools = tools_of(record.agent_id, record.version, record.skills)
        fallback = not tools and self._fallback_tool and not record.remote
        if fallback:
            tools = [message_tool(record.agent_id, record.display_name or record.name)]
        asking = {skill.name: agent.asking for skill in record.skills if skill.may_ask or skill.task == "later"}
        if fallback:
            asking[MESSAGE_TOOL] = agent.asking  # what answers messages has registered nothing that could say so
        delegate = Holding(agent.delegate, record) if record.held else agent.delegate
        declared = {tool.name: declared_extras(tool.input_schema) for tool in tools}
        if record.advertise_gateway_args:
            tools = [replace(tool, input_schema=advertised(tool.input_schema)) for tool in tools]
        changed = agent.catalog.replace(tools, agent.delegate, delegate, asking)
        agent.extras = AgentExtras(declared, MESSAGE_TOOL if fallback else None)
        agent.offered = offered_of(record.resources, record.prompts)
        agent.catalog.key_ttl_s = record.idempotency_ttl_s
        return changed


def _put(record: AgentRecord, expect: int) -> Put:
    return Put("agent", record.owner, record.agent_id, _encode(record), expect=expect)


def _checked_name(name: str) -> str:
    name = name.strip()
    if not 1 <= len(name) <= MAX_NAME_LEN or not name.isprintable() or "/" in name:
        raise InvalidParam(
            f"an agent's name has 1 to {MAX_NAME_LEN} printable characters and no slash, not {name!r}", param="name"
        )
    return name


def _not_found(agent_id: str) -> AgentNotFound:
    return AgentNotFound(f"no agent {agent_id!r} here; list the agents to find its id")
