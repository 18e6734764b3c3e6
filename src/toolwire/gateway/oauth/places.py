"""Where this gateway is, as the asking client sees it, and which of its parts a `resource` names; it looks up no agent.

A gateway on this machine is the same one as 127.0.0.1 and as localhost, and clients compare addresses as text. So there
the address that was asked is the one that is told.
Spec: RFC 8707, 2; RFC 9728, 3; contract gateway.md X18.
"""

from collections.abc import Callable
from urllib.parse import urlsplit

from toolwire.gateway.door import agent_in
from toolwire.gateway.oauth.redirects import is_loopback
from toolwire.gateway.oauth.refused import Refused

AGENT_IS_ABSENT = "resource names nothing of this server; name the MCP endpoint, such as https://host/AGENT/mcp"


class Places:
    """Addresses of one gateway.

    Args:
        public_url: where it is reached from outside, without a slash at the end; "" where that is not known.
    """

    def __init__(self, public_url: Callable[[], str]) -> None:
        self._public_url = public_url

    def base(self, host: bytes | None, scheme: str = "http") -> str:
        """The address of the gateway for one who has sent this `Host`, which is also its issuer's name."""
        public = self._public_url()
        asked = (host or b"").decode("latin-1").lower()
        if not public:
            return f"{scheme}://{asked}"
        known, named = urlsplit(public), urlsplit(f"//{asked}")
        try:
            same_port = known.port == named.port
        except ValueError:
            return public
        if same_port and is_loopback(known.hostname or "") and is_loopback(named.hostname or ""):
            return f"{known.scheme}://{asked}"
        return public

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
