"""Where this gateway is, as the asking client sees it, and which of its parts a `resource` names; it looks up no agent.

Spec: RFC 8707, 2; RFC 9728, 3; contract gateway.md X18.
"""

from collections.abc import Callable

from toolwire.gateway.oauth.refused import Refused
from toolwire.gateway.places import agent_in, base_for

AGENT_IS_ABSENT = "resource names nothing of this server; name the MCP endpoint, such as https://host/AGENT/mcp"


class Places:
    """Addresses of one gateway.

    Args:
        public_url: where it is reached from outside, without a slash at the end; "" where that is not known.
    """

    def __init__(self, public_url: Callable[[], str]) -> None:
        self._public_url = public_url

    def base(self, host: bytes, scheme: str) -> str:
        """The address of the gateway for one who has sent this `Host`, which is also its issuer's name."""
        return base_for(self._public_url() or f"{scheme}://{host.decode('latin-1').lower()}", host)

    def target(self, resource: str, base: str) -> str:
        """The agent that a `resource` names, or "" for the gateway as a whole.

        Raises:
            Refused: `invalid_target`.
        """
        if resource.rstrip("/") == base:
            return ""
        agent_id = agent_in(resource[len(base) :].rstrip("/")) if resource.startswith(f"{base}/") else None
        if agent_id is None:
            raise Refused("invalid_target", AGENT_IS_ABSENT)
        return agent_id
