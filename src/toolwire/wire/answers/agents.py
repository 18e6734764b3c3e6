"""Answers on agents, keys, owners, grants and health; they carry no secret but the one that is shown once.

Spec: gateway.md §6, REST (Agents, Keys).
"""

from typing import Literal

from msgspec import Struct

from toolwire.wire.answers.times import Time
from toolwire.wire.link import DeliveryMode, Skill


class Agent(Struct, frozen=True, kw_only=True):
    """An agent. The times are there for its owner and for itself.

    `advertise_gateway_args` says that the list of its tools shows `attachments` and `idempotency_key`, which every tool
    takes, in each schema. `idempotency_ttl_s` is how long a key of a call of it is remembered, `None` for as long as
    the gateway's setting of that name says.
    """

    agent_id: str
    name: str
    display_name: str
    description: str
    version: str
    visibility: Literal["private", "public"]
    mcp_enabled: bool
    pinned: bool
    advertise_gateway_args: bool
    idempotency_ttl_s: float | None
    mcp_url: str
    delivery_mode: DeliveryMode
    attached: bool
    skills: list[Skill]
    created_at: Time | None = None
    updated_at: Time | None = None
    synced_at: Time | None = None


class CreatedAgent(Agent, frozen=True, kw_only=True):
    """A new agent with its `agk_` key, which is shown this once."""

    agent_key: str


class Synced(Struct, frozen=True):
    """How many skills a registration has changed."""

    created: int
    updated: int
    deactivated: int


class Key(Struct, frozen=True, kw_only=True):
    """A key without its secret; `prefix` is how that begins."""

    key_id: str
    kind: Literal["oag", "bak", "agk"]
    prefix: str
    name: str
    agent_id: str | None
    created_at: Time
    revoked_at: Time | None


class CreatedKey(Key, frozen=True, kw_only=True):
    """A new key; `key` is the secret, which is shown this once."""

    key: str


class Owner(Struct, frozen=True, kw_only=True):
    """An owner of agents: a tenant."""

    owner_id: str
    name: str
    created_at: Time


class CreatedOwner(Owner, frozen=True, kw_only=True):
    """A new owner with its `oag_` key, which is shown this once."""

    owner_key: str


class Grant(Struct, frozen=True, kw_only=True):
    """What an owner has let a client of OAuth do."""

    grant_id: str
    client_name: str
    client_url: str | None
    redirect_host: str
    agents: list[str]
    created_at: Time
    renewed_at: Time
    expires_at: Time


class SignInLink(Struct, frozen=True):
    """An address that signs its owner in with a browser, once."""

    url: str
    expires_at: Time


class BrowserSession(Struct, frozen=True, kw_only=True):
    """Who is signed in at the browser that asks. Without a session, as with a key, there is no end either."""

    session_id: str | None
    owner: str
    expires_at: Time | None
    public_url: str
    version: str
    trusted: bool
    language: Literal["en", "zh"]


class Browser(Struct, frozen=True, kw_only=True):
    """A browser in which the owner is signed in; `current` is the one that asks."""

    session_id: str
    label: str
    by_key: str | None
    created_at: Time
    seen_at: Time
    expires_at: Time
    current: bool


class Health(Struct, frozen=True):
    """The process answers."""

    status: Literal["ok"]


class Readiness(Struct, frozen=True):
    """Calls are taken."""

    status: Literal["ready"]
    store: Literal["ok"]
