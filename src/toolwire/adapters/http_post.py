"""Posts to receivers that others have named, and to no address that is not theirs to name; it retries nothing.

A host's name is resolved here for each attempt, all of its addresses are checked, and the connection goes to one that
was: a name that means another address a moment later leads nowhere (gateway.md D26). Redirects are answers like others,
proxies of the environment are not asked, and of an answer's body little is read.
"""

import re
import socket
import ssl
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from email.utils import parsedate_to_datetime
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import TypeAlias

import anyio
import httpx2

from toolwire.core.addresses import is_public
from toolwire.core.ports import Clock
from toolwire.core.posting import Posted

MAX_URL = 2048
MAX_ANSWER_BYTES = 64 * 1024
DRAIN_S = 1.0
"""For how long an answer's body is read, so that its receiver sees it taken."""
MAX_ADDRESSES = 4
"""Of a host with more, the others are not tried."""
PORTS = (443, 8443)
MAX_ERROR_CHARS = 300
_HOST = re.compile(rb"[A-Za-z0-9_.:-]+")

Network: TypeAlias = IPv4Network | IPv6Network
Resolve: TypeAlias = Callable[[str, int], Awaitable[Sequence[str]]]


class Blocked(Exception):
    """The address may not be asked; the text says why."""


class PinnedTransport(httpx2.AsyncBaseTransport):
    """An httpx2 transport that asks checked addresses alone.

    Every request opens a connection of its own, to an address, with the Host header and the TLS name of the URL: one
    that is kept open would go on under another name that has the same address.

    Args:
        allowed: networks that need not be public; to these plain http and any port is allowed, too.
        context: for TLS; the default trusts what the system's Python trusts.
        resolve: the addresses of a host (first) for a port (second); `OSError` when it has none.
    """

    def __init__(
        self,
        allowed: Sequence[Network] = (),
        context: ssl.SSLContext | None = None,
        resolve: Resolve | None = None,
    ) -> None:
        self._allowed = tuple(allowed)
        self._resolve = resolve or resolved
        limits = httpx2.Limits(max_connections=None, max_keepalive_connections=0)
        verify = True if context is None else context
        self._inner = httpx2.AsyncHTTPTransport(verify=verify, trust_env=False, limits=limits)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Ask one checked address after the other until one can be connected to.

        Raises:
            Blocked: the URL, or one of its host's addresses, may not be asked.
            httpx2.TransportError: none can be connected to, or the receiver breaks off.
        """
        url = request.url
        lost: httpx2.ConnectError | httpx2.ConnectTimeout | None = None
        for address in (await self.addresses(url))[:MAX_ADDRESSES]:
            pinned = httpx2.Request(
                request.method,
                url if address == url.host else url.copy_with(host=address),
                headers=[(b"host", url.netloc), *((k, v) for k, v in request.headers.raw if k.lower() != b"host")],
                stream=request.stream,
                extensions={**request.extensions, "sni_hostname": url.raw_host.decode("ascii")},
            )
            try:
                return await self._inner.handle_async_request(pinned)
            except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
                lost = error
        raise lost or httpx2.ConnectError(f"the host {url.host!r} has no address")

    async def addresses(self, url: httpx2.URL) -> Sequence[str]:
        """The addresses of a URL's host, each of which may be asked.

        Raises:
            Blocked: one of them may not.
            httpx2.ConnectError: the name cannot be resolved.
        """
        port = url.port or (443 if url.scheme == "https" else 80)
        try:
            addresses = [url.host] if _is_address(url.host) else await self._resolve(url.host, port)
        except (OSError, UnicodeError):
            raise httpx2.ConnectError(f"the host {url.host!r} cannot be resolved") from None
        for address in addresses:
            if self._is_allowed(address):
                continue
            if not is_public(address):
                raise Blocked(f"{url.host!r} is an address of a private network, which is not asked")
            if url.scheme != "https" or port not in PORTS:
                raise Blocked(f"a receiver is asked by https at port {' or '.join(map(str, PORTS))}")
        return addresses

    async def aclose(self) -> None:
        """Close what is open."""
        await self._inner.aclose()

    def _is_allowed(self, address: str) -> bool:
        found: IPv4Address | IPv6Address = ip_address(address.partition("%")[0])
        plain = getattr(found, "ipv4_mapped", None) or found
        return any(plain in network for network in self._allowed if network.version == plain.version)


class HttpPoster:
    """The `core.posting.Poster` over HTTP/1.1.

    Args:
        clock: wall time, against which a `Retry-After` that is a date is read.
        timeout_s: of one attempt, all in all.
        allow_cidrs: networks such as `10.0.0.0/8` that may be asked although they are not public.
        context: for TLS, see `PinnedTransport`.
        resolve: for names, see `PinnedTransport`.

    Raises:
        ValueError: one of `allow_cidrs` is no network.
    """

    def __init__(
        self,
        clock: Clock,
        timeout_s: float = 10.0,
        allow_cidrs: Sequence[str] = (),
        context: ssl.SSLContext | None = None,
        resolve: Resolve | None = None,
    ) -> None:
        self._clock = clock
        self._timeout_s = timeout_s
        self._allowed = [ip_network(cidr, strict=False) for cidr in allow_cidrs]
        self._context = context
        self._resolve = resolve
        self._opened: PinnedTransport | None = None

    async def check(self, url: str) -> str | None:
        """See `core.posting.Poster.check`. A name that cannot be resolved now may be another time."""
        try:
            parsed = parsed_url(url)
            with anyio.move_on_after(self._timeout_s):
                await self._transport.addresses(parsed)
        except Blocked as error:
            return str(error)
        except httpx2.ConnectError as error:
            parsed = parsed_url(url)
            return None if parsed.scheme == "https" and (parsed.port or 443) in PORTS else str(error)
        return None

    async def post(self, url: str, headers: Mapping[str, str], body: bytes) -> Posted:
        """See `core.posting.Poster.post`."""
        try:
            with anyio.fail_after(self._timeout_s):
                return await self._post(parsed_url(url), headers, body)
        except Blocked as error:
            return Posted(error=f"blocked_address: {error}", blocked=True)
        except (TimeoutError, httpx2.TimeoutException):
            return Posted(error=f"no answer within {self._timeout_s:g} s")
        except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError, OSError) as error:
            return Posted(error=(str(error) or type(error).__name__)[:MAX_ERROR_CHARS])

    async def aclose(self) -> None:
        """Close what is open."""
        if self._opened is not None:
            await self._opened.aclose()

    @property
    def _transport(self) -> PinnedTransport:
        if self._opened is None:  # reading the machine's certificates takes 20 ms, and most gateways tell nobody
            self._opened = PinnedTransport(self._allowed, self._context, self._resolve)
        return self._opened

    async def _post(self, url: httpx2.URL, headers: Mapping[str, str], body: bytes) -> Posted:
        timeout = {"connect": self._timeout_s / 2}  # so that another address has its turn; all else is timed as a whole
        request = httpx2.Request("POST", url, headers=dict(headers), content=body, extensions={"timeout": timeout})
        response = await self._transport.handle_async_request(request)
        try:
            with anyio.move_on_after(DRAIN_S), suppress(httpx2.HTTPError, httpx2.StreamError, OSError):
                await _drain(response)  # what came of it is known: the rest is politeness
            return Posted(response.status_code, retry_after_s=self._retry_after(response.headers.get("retry-after")))
        finally:
            with anyio.CancelScope(shield=True), anyio.move_on_after(1):
                await response.aclose()

    def _retry_after(self, value: str | None) -> float | None:
        if value is None:
            return None
        if value.isascii() and value.isdigit() and len(value) < 10:
            return float(value)
        try:
            return max(0.0, parsedate_to_datetime(value).timestamp() - self._clock.now())
        except (ValueError, OverflowError):
            return None


async def resolved(host: str, port: int) -> Sequence[str]:
    """The addresses of a host, as the machine resolves it.

    Raises:
        OSError: it has none.
        UnicodeError: it is no name.
    """
    found = await anyio.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def _is_address(host: str) -> bool:
    """Whether a host is an address in its one plain form; others, such as 0x7f.1, go through the resolver."""
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


async def _drain(response: httpx2.Response) -> None:
    read = 0
    async for piece in response.aiter_raw():
        read += len(piece)
        if read > MAX_ANSWER_BYTES:
            return


@lru_cache(maxsize=1024)  # one receiver is told many things
def parsed_url(url: str) -> httpx2.URL:
    """A receiver's URL.

    Raises:
        Blocked: it is none, or one that is never asked.
    """
    if len(url) > MAX_URL:
        raise Blocked(f"the URL has {len(url)} characters and the limit is {MAX_URL}")
    try:
        parsed = httpx2.URL(url)
        host = parsed.raw_host
    except (httpx2.InvalidURL, UnicodeError, ValueError, TypeError):
        raise Blocked(f"{url[:200]!r} is not a URL; it looks like https://example.com/hook") from None
    if parsed.scheme not in ("http", "https") or not _HOST.fullmatch(host) or parsed.port == 0:
        raise Blocked(f"{url[:200]!r} is not a URL of a receiver; it begins with https:// and names a host")
    if parsed.userinfo:
        raise Blocked("the URL has a user name or password in it; send a token instead")
    return parsed.copy_with(fragment=None)
