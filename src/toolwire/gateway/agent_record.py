"""One agent as the gateway keeps it, and what its owner may change; it is kept elsewhere."""

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import asdict, replace

from toolwire.config import MAX_SECONDS
from toolwire.core.jsontypes import JsonObject
from toolwire.wire.link import DeliveryMode, Skill

Visibility = Literal["private", "public"]
"""A private agent is there for its owner alone; a public one may be seen and called by every owner."""


class AgentRecord(Struct, frozen=True, omit_defaults=True):
    """One agent.

    `name` is what its owner calls it and unique with that owner; `display_name`, `version`, `description`, `skills`,
    `resources`, `prompts` and `completions` are what it says of itself when it registers. `set_description` is the
    owner's word and wins over `description`. `delivery_mode` is `None` until a registration sets it. `remote` says that
    a remote MCP server is behind it, for which the gateway itself registers. Of one that is `pinned` a
    tool that is new or has changed is in `held` until the owner accepts it. `advertise_gateway_args` says that the list
    of its tools shows the gateway's own arguments, too. `idempotency_ttl_s` is for how long a key of a call of it is
    remembered, `None` for as long as the gateway's setting says. Times are Unix seconds, UTC.
    """

    agent_id: str
    owner: str
    name: str
    created_at: float
    updated_at: float
    display_name: str = ""
    version: str = ""
    description: str = ""
    set_description: str | None = None
    mcp_enabled: bool = True
    visibility: Visibility = "private"
    delivery_mode: DeliveryMode | None = None
    skills: tuple[Skill, ...] = ()
    resources: tuple[JsonObject, ...] = ()
    prompts: tuple[JsonObject, ...] = ()
    synced_at: float | None = None
    completions: bool = False
    remote: bool = False
    pinned: bool = False
    held: tuple[Skill, ...] = ()
    advertise_gateway_args: bool = False
    idempotency_ttl_s: float | None = None

    @property
    def mode(self) -> DeliveryMode:
        """How many calls it takes at once; `push` until it says otherwise."""
        return self.delivery_mode or "push"

    @property
    def shown_description(self) -> str:
        """What readers are told of it."""
        return self.description if self.set_description is None else self.set_description

    @property
    def config(self) -> JsonObject:
        """What its callers may read of how it is set up."""
        return {
            "agent_id": self.agent_id,
            "name": self.name,
            "display_name": self.display_name,
            "description": self.shown_description,
            "version": self.version,
            "visibility": self.visibility,
            "delivery_mode": self.mode,
        }

    def visible_to(self, owner: str) -> bool:
        """Whether `owner` may know that the agent exists."""
        return self.owner == owner or self.visibility == "public"


class AgentPatch(Struct, frozen=True, forbid_unknown_fields=True):
    """What an owner may change; what is `UNSET` stays.

    A `description` of `None` gives the word back to the agent, an `idempotency_ttl_s` of `None` to the gateway's
    setting; another holds for keys that are first seen from then on.
    """

    mcp_enabled: bool | UnsetType = UNSET
    visibility: Visibility | UnsetType = UNSET
    description: str | UnsetType | None = UNSET
    pinned: bool | UnsetType = UNSET
    advertise_gateway_args: bool | UnsetType = UNSET
    idempotency_ttl_s: Annotated[float, Meta(gt=0, le=MAX_SECONDS)] | UnsetType | None = UNSET

    def applied_to(self, record: AgentRecord) -> AgentRecord:
        """The record as its owner wants it."""
        given: dict[str, Any] = {name: value for name, value in asdict(self).items() if value is not UNSET}
        if "description" in given:
            given["set_description"] = given.pop("description")
        return replace(record, **given)
