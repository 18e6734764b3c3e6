"""What a client asks about agents and keys; it sends nothing.

Spec: gateway.md §6, REST (Agents, Keys).
"""

from typing import Literal, TypeAlias

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from toolwire.client.asks import Ask, delete, get, given, part, patch, post, present
from toolwire.client.doors import D, Group, Method
from toolwire.wire.answers.agents import Agent, CreatedAgent, CreatedKey, CreatedOwner, Key, Owner, Synced
from toolwire.wire.link import Registration

KeyKind: TypeAlias = Literal["oag", "bak", "agk"]


class AgentCalls(Group[D]):
    """Agents, by an owner's key. An agent is named by its id or, by its owner, by its name."""

    @Method
    def create(self, name: str, description: str | None = None) -> Ask[CreatedAgent]:
        """Make an agent and its `agk_` key, which is shown this once."""
        return post("/agents", CreatedAgent, present(name=name, description=description))

    @Method
    def list(self) -> Ask["list[Agent]"]:
        """The owner's agents."""
        return get("/agents", list[Agent])

    @Method
    def get(self, agent: str) -> Ask[Agent]:
        """One agent, for all who may see it."""
        return get(f"/agents/{part(agent)}", Agent)

    @Method
    def change(
        self,
        agent: str,
        *,
        mcp_enabled: bool | UnsetType = UNSET,
        visibility: Literal["private", "public"] | UnsetType = UNSET,
        description: str | UnsetType | None = UNSET,
        pinned: bool | UnsetType = UNSET,
        advertise_gateway_args: bool | UnsetType = UNSET,
        idempotency_ttl_s: float | UnsetType | None = UNSET,
    ) -> Ask[Agent]:
        """Change what is given.

        A `description` of `None` gives the word back to the agent, an `idempotency_ttl_s` of `None` to the gateway.
        """
        body = given(
            mcp_enabled=mcp_enabled,
            visibility=visibility,
            description=description,
            pinned=pinned,
            advertise_gateway_args=advertise_gateway_args,
            idempotency_ttl_s=idempotency_ttl_s,
        )
        return patch(f"/agents/{part(agent)}", Agent, body)

    @Method
    def sync(self, registration: Registration) -> Ask[Synced]:
        """Say what an agent is, by its own key; a skill that is not there any more is deactivated."""
        return replace(post("/agents/sync", Synced, {"agents": [registration]}), idempotent=True)

    @Method
    def remove(self, agent: str) -> Ask[None]:
        """Forget an agent and revoke its keys."""
        return delete(f"/agents/{part(agent)}")


class KeyCalls(Group[D]):
    """Keys and owners, by an owner's key."""

    @Method
    def create(self, kind: KeyKind = "bak", agent: str | None = None, name: str = "") -> Ask[CreatedKey]:
        """Make a key, whose secret is shown this once; `bak` and `agk` are for one agent."""
        return post("/keys", CreatedKey, present(kind=kind, agent_id=agent, name=name))

    @Method
    def list(self, agent: str | None = None) -> Ask["list[Key]"]:
        """The owner's keys, revoked ones too, or those of one agent."""
        return get("/keys", list[Key], {"agent_id": agent})

    @Method
    def revoke(self, key_id: str) -> Ask[None]:
        """Make a key open nothing any more."""
        return delete(f"/keys/{part(key_id)}")

    @Method
    def create_owner(self, name: str) -> Ask[CreatedOwner]:
        """Make another owner and its `oag_` key, which is shown this once; the first owner may."""
        return post("/owners", CreatedOwner, {"name": name})

    @Method
    def owners(self) -> Ask["list[Owner]"]:
        """All owners; the first owner may."""
        return get("/owners", list[Owner])
