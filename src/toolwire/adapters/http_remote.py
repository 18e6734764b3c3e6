"""Carries requests to remote MCP servers that others have named, over `http_post.PinnedTransport`; it reads no answer.

The rules are those of webhooks (gateway.md D26). Who may run programs on this machine may name an address of its own
networks, too, as long as the URL itself says so: a public name that comes to mean such an address still leads nowhere.
"""

from collections.abc import Callable, Sequence
from ipaddress import ip_address, ip_network

import httpx2

from toolwire.adapters.http_post import Blocked, Network, PinnedTransport, parsed_url
from toolwire.core.errors import InvalidParam

_LOOPBACK = (ip_network("127.0.0.0/8"), ip_network("::1/128"))


class CheckedTransport(httpx2.AsyncBaseTransport):
    """`PinnedTransport` in the words of a client of an MCP server."""

    def __init__(self, allowed: Sequence[Network]) -> None:
        self._inner = PinnedTransport(allowed)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request to a checked address.

        Raises:
            httpx2.ConnectError: it may not be sent there; nothing was.
            httpx2.TransportError: as `PinnedTransport`.
        """
        try:
            return await self._inner.handle_async_request(request)
        except Blocked as error:
            raise httpx2.ConnectError(str(error), request=request) from None

    async def aclose(self) -> None:
        """Close what is open."""
        await self._inner.aclose()


class RemoteTransports:
    """Makes the transport of one server.

    Args:
        allow_cidrs: networks whose servers may be asked although they are not public.

    Raises:
        ValueError: one of them is no network.
    """

    def __init__(self, allow_cidrs: Sequence[str] = ()) -> None:
        self._allowed = [ip_network(cidr, strict=False) for cidr in allow_cidrs]

    def __call__(self, url: str, trusted: bool) -> Callable[[], httpx2.AsyncBaseTransport]:
        """What makes the transport to `url`, which somebody `trusted` or another has named.

        Raises:
            InvalidParam: it is no URL that may be asked.
        """
        try:
            host = parsed_url(url).host
        except Blocked as error:
            raise InvalidParam(str(error), param="url") from None
        allowed = [*self._allowed, *(_networks_of(host) if trusted else ())]
        return lambda: CheckedTransport(allowed)


def _networks_of(host: str) -> Sequence[Network]:
    """The networks that a URL's host itself says it is in: that of this machine, or one address."""
    if host == "localhost":
        return _LOOPBACK
    try:
        return (ip_network(ip_address(host)),)
    except ValueError:
        return ()
