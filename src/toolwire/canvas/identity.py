"""Who stands before the canvas, and the agents it may put on a board: ports, because keys and agents lie elsewhere."""

from collections.abc import Callable, Sequence
from typing import Protocol

from msgspec import Struct

from toolwire.core.errors import Forbidden
from toolwire.surfaces.held_open import HeldOpen


class Visitor(Struct, frozen=True):
    """Who asks. `agent_id` is set for an agent that shows its own key; an owner has none.

    `principal` is what idempotency and sessions are bound to (gateway.md D1). `trusted` says whether it may run
    programs of its choice on this machine and read its files: the owner who has set up the host may, others may not.
    `key_id` names the key that was shown; see `Directory.held_open`.
    """

    owner: str
    principal: str
    agent_id: str | None = None
    trusted: bool = False
    key_id: str = ""


class AgentInfo(Struct, frozen=True):
    """An agent as the canvas knows it."""

    agent_id: str
    owner: str
    name: str
    online: bool = False


class Directory(Protocol):
    """Keys and agents."""

    @property
    def held_open(self) -> HeldOpen:
        """What keys hold open ends with them."""
        ...

    def visitor(self, credentials: Sequence[bytes]) -> Visitor:
        """Who carries these credentials, an owner or an agent.

        Args:
            credentials: the values of the headers that can carry a key, as `surfaces.limits.credentials_in` gives them.

        Raises:
            Unauthorized: no key, an unknown or revoked one, or two that differ.
            Forbidden: a key that opens nothing here.
        """
        ...

    def agent(self, owner: str, id_or_name: str) -> AgentInfo:
        """An agent of this owner.

        Raises:
            AgentNotFound: the owner has none of that id or name.
        """
        ...

    def trusts(self, owner: str) -> bool:
        """Whether an owner may run programs of its choice on this machine; see `Visitor.trusted`."""
        ...

    def on_presence(self, listener: Callable[[str], None]) -> None:
        """Tell `listener` the id of every agent that may have come or gone; how it is shows a moment later."""
        ...

    async def new_agent(self, owner: str, name: str) -> AgentInfo:
        """Make an agent; a taken name gets `-2`, `-3` and so on.

        Raises:
            InvalidParam: the name cannot be used.
        """
        ...

    async def new_agent_key(self, owner: str, agent_id: str, label: str = "toolbox") -> str:
        """An `agk_` key for an agent; it is shown this once. `label` is for people, and to revoke it by.

        Raises:
            Conflict: the agent has as many keys as it may have.
        """
        ...

    async def revoke_agent_keys(self, owner: str, agent_id: str, label: str) -> None:
        """The keys of an agent that were made with this label open nothing any more."""
        ...


def check_trust(directory: Directory, owner: str) -> None:
    """Refuse an owner whom the host does not trust with running programs.

    Raises:
        Forbidden: it is one.
    """
    if not directory.trusts(owner):
        raise Forbidden("terminals run programs on the host's machine, which only the owner who has set it up may do")
