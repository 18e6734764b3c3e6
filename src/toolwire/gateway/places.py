"""Addresses of the gateway and of the agents' endpoints as text; it looks up neither."""

import ipaddress
from urllib.parse import SplitResult, urlsplit


def agent_in(path: str) -> str | None:
    """The agent that an MCP path names: `/{agent_id}/mcp` or `/agents/{agent_id}/mcp`."""
    if not path.endswith("/mcp"):
        return None
    agent_id = path[1:-4]
    if "/" in agent_id:
        agent_id = agent_id.removeprefix("agents/")
    return agent_id if agent_id and "/" not in agent_id else None


def base_for(public_url: str, host: bytes | None) -> str:
    """The address of the gateway for one who has sent this `Host`, without a slash at the end.

    That is `public_url`. A gateway on this machine is the same one as 127.0.0.1 and as localhost, and clients compare
    addresses as text: so there the name that was asked is the one that is told.
    """
    if host is None:
        return public_url
    asked = host.decode("latin-1").lower()
    known, named = _split(public_url), _split(f"//{asked}")
    if known is None or named is None:
        return public_url
    if known.port == named.port and is_loopback(known.hostname or "") and is_loopback(named.hostname or ""):
        return f"{known.scheme}://{asked}"
    return public_url


def is_loopback(host: str) -> bool:
    """Whether a host's name or address is this machine's."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _split(url: str) -> SplitResult | None:
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return None
    plain = not parts.path.strip("/") and not parts.query and not parts.fragment and "@" not in parts.netloc
    return parts if plain else None
