"""Definitions that are held until their owner accepts them: of remote servers, and of agents that are pinned.

An id stands for exactly one definition of one tool, so nobody accepts another than was shown. It pins nothing itself.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from msgspec import Struct

from toolwire.core.errors import ConsentNotFound
from toolwire.core.ports import Del, Put, Store
from toolwire.gateway.agent_record import AgentRecord
from toolwire.gateway.agents import Agents
from toolwire.gateway.held_skills import held_of
from toolwire.gateway.keys import scan_all
from toolwire.gateway.remote_agent import RemoteAgent
from toolwire.providers.remote_pins import Held

REFUSED_KIND = "consent_refused"


class Consent(Struct, frozen=True):
    """A definition that is held. `consent_id` stands for exactly this definition of this tool."""

    consent_id: str
    agent: AgentRecord
    tool: str
    held: Held
    refused: bool

    @property
    def kind(self) -> Literal["new", "changed"]:
        """Whether the tool was ever accepted."""
        return "new" if self.held.accepted is None else "changed"


class Consents:
    """All that waits for consent. Call `load` before anything else.

    Args:
        agents: all agents.
        store: keeps what was refused.
        find: the remote server behind an agent.
    """

    def __init__(self, agents: Agents, store: Store, find: Callable[[str], RemoteAgent | None]) -> None:
        self._agents = agents
        self._store = store
        self._find = find
        self._refused: set[str] = set()

    async def load(self) -> None:
        """Read what was refused.

        Raises:
            StoreUnavailable: the store cannot be read.
        """
        self._refused = {row.key for row in await scan_all(self._store, REFUSED_KIND)}

    def list(self, owner: str) -> Sequence[Consent]:
        """The definitions of an owner's agents that are held, by agent and tool."""
        found: list[Consent] = []
        for agent in self._agents.list(owner):
            for tool, held in sorted(self._held(agent).items()):
                consent_id = _consent_id(agent.agent_id, tool, held)
                found.append(Consent(consent_id, agent, tool, held, consent_id in self._refused))
        return found

    def get(self, owner: str, consent_id: str) -> Consent:
        """One of them.

        Raises:
            ConsentNotFound: there is none: it was answered, or the tool has changed once more.
        """
        for each in self.list(owner):
            if each.consent_id == consent_id:
                return each
        raise ConsentNotFound(f"nothing waits under {consent_id!r}; list the consents to see what is held now")

    async def accept(self, owner: str, consent_id: str) -> None:
        """Accept exactly the definition that was shown; its tool may be called from now on.

        Raises:
            ConsentNotFound: as `get`.
            StoreUnavailable: that cannot be kept; nothing has changed.
        """
        consent = self.get(owner, consent_id)
        server = self._find(consent.agent.agent_id)
        if server is None:
            await self._agents.accept_held(consent.agent.agent_id, consent.tool, consent.held.now.digest())
        else:
            await server.upstream.accept([consent.tool])  # takes what is held before it first waits: what was shown
            await server.publish()
        await self._store.tx([Del(REFUSED_KIND, owner, consent_id)])
        self._refused.discard(consent_id)

    async def refuse(self, owner: str, consent_id: str) -> None:
        """Leave a definition out for good: it stays held, until it is accepted after all or changes once more.

        Raises:
            ConsentNotFound: as `get`.
            StoreUnavailable: that cannot be kept.
        """
        self.get(owner, consent_id)
        await self._store.tx([Put(REFUSED_KIND, owner, consent_id, b"")])
        self._refused.add(consent_id)

    def _held(self, agent: AgentRecord) -> Mapping[str, Held]:
        if not agent.remote:
            return held_of(agent)
        server = self._find(agent.agent_id)
        return {} if server is None else server.upstream.held


def _consent_id(agent_id: str, tool: str, held: Held) -> str:
    """The same for the same definition."""
    stands_for = "\n".join((agent_id, tool, held.now.digest()))
    return f"cns_{hashlib.sha256(stands_for.encode()).hexdigest()[:24]}"
