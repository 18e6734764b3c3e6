"""What every HTTP surface checks before it looks at a request: headers, Host and Origin, media type, size of the body.

It does not authenticate, parse JSON, or answer: each check raises and the surface puts the error into its own envelope.
"""

import ipaddress
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from toolwire.core.errors import HostNotAllowed, OriginNotAllowed, PayloadTooLarge, UnsupportedMediaType
from toolwire.surfaces.endpoint import Headers

Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]
RawHeaders: TypeAlias = Iterable[tuple[bytes, bytes]]

CREDENTIAL_HEADERS = (b"authorization", b"x-agent-api-key")
"""Every header that can carry a key (gateway.md 3, 45)."""

REQUEST_LIMIT_BYTES = 1024 * 1024
"""The largest request body unless configured otherwise (gateway.md 1J, 52)."""

MAX_REMEMBERED = 1024
"""Host and Origin values that were found good and are not examined again."""


class Disconnected(Exception):
    """The client went away before its request was complete; there is nobody to answer."""


def map_headers(raw: RawHeaders) -> dict[bytes, bytes]:
    """Headers by name, which ASGI gives in lower case; the values of a repeated name are joined by ', '."""
    headers: dict[bytes, bytes] = {}
    for name, value in raw:
        known = headers.get(name)
        headers[name] = value if known is None else known + b", " + value
    return headers


def credentials_in(raw: RawHeaders) -> list[bytes]:
    """The values of all headers that can carry a key, as sent; a repeated header counts each time."""
    return [value for name, value in raw if name in CREDENTIAL_HEADERS]


def check_json(headers: Headers) -> None:
    """Demand a plain JSON body.

    Raises:
        UnsupportedMediaType: the body is not declared as `application/json` in UTF-8, or it is compressed.
    """
    media_type = headers.get(b"content-type", b"")
    if media_type != b"application/json":
        name, _, parameters = media_type.lower().partition(b";")
        charset = parameters.replace(b" ", b"").replace(b'"', b"")
        if name.strip() != b"application/json" or (b"charset=" in charset and b"charset=utf-8" not in charset):
            shown = media_type.decode("latin-1")
            raise UnsupportedMediaType(f"Content-Type is {shown!r}; send application/json in UTF-8")
    if headers.get(b"content-encoding", b"identity").strip().lower() not in (b"identity", b""):
        raise UnsupportedMediaType("compressed bodies are not taken; send it without Content-Encoding")


async def read_body(receive: Receive, headers: Headers, max_bytes: int = REQUEST_LIMIT_BYTES) -> bytes:
    """The request's body.

    Args:
        receive: the ASGI function.
        headers: the request's headers; a declared length over the limit is refused before anything is read.
        max_bytes: the largest body to take.

    Raises:
        PayloadTooLarge: it is larger than `max_bytes`.
        Disconnected: the client went away.
    """
    declared = headers.get(b"content-length")
    if declared is not None and declared.isdigit() and (len(declared) > 18 or int(declared) > max_bytes):
        raise _too_large(max_bytes)
    message = await receive()
    if message["type"] == "http.request" and not message.get("more_body", False):
        return check_size(message.get("body", b""), max_bytes)
    pieces: list[bytes] = []
    size = 0
    while message["type"] == "http.request":
        piece: bytes = message.get("body", b"")
        size += len(piece)
        if size > max_bytes:
            raise _too_large(max_bytes)
        pieces.append(piece)
        if not message.get("more_body", False):
            return b"".join(pieces)
        message = await receive()
    raise Disconnected


def check_size(body: bytes, max_bytes: int) -> bytes:
    """A body that is there as a whole, if it may be so large.

    Raises:
        PayloadTooLarge: it is larger than `max_bytes`.
    """
    if len(body) > max_bytes:
        raise _too_large(max_bytes)
    return body


def _too_large(max_bytes: int) -> PayloadTooLarge:
    return PayloadTooLarge(f"the body is larger than {max_bytes} bytes", max_bytes=max_bytes)


class Guard:
    """Tells our own names and pages from others', against DNS rebinding and pages of other sites.

    A Host is ours when it is an address or `localhost` (a rebound name is neither) or one of `hosts`. An Origin is
    ours when it is the very place that the request was sent to, one of `origins`, or a page on this machine that asks
    this machine. Programs send no Origin, and that is fine.

    Args:
        hosts: names that the server is known by; with a port they hold for that port only, "*" lets every name in.
        origins: pages of other places that may ask, as scheme://host[:port]; "*" lets every page in.
        public_url: where the server is reached from outside; its host and origin are ours.

    Spec: MCP 2025-11-25, basic/transports#security-warning; gateway.md D22.
    """

    def __init__(self, hosts: Iterable[str] = (), origins: Iterable[str] = (), public_url: str | None = None) -> None:
        self._hosts = {host.lower() for host in hosts}
        self._origins = {origin.lower().rstrip("/") for origin in origins}
        self._pages = frozenset(self._origins)
        self._known: set[tuple[bytes | None, bytes | None]] = set()
        if public_url is not None:
            self.add_url(public_url)

    def add_url(self, url: str) -> None:
        """Count `url`'s host and origin as ours too: the server's own address, once its port is known."""
        parts = urlsplit(url)
        self._hosts.add(parts.netloc.lower())
        self._origins.add(f"{parts.scheme}://{parts.netloc}".lower())

    @property
    def names_pages(self) -> bool:
        """Whether there are `origins`: pages of other places that may ask."""
        return bool(self._pages)

    def is_named_page(self, origin: bytes) -> bool:
        """Whether an Origin is one of `origins`, as against our own place or this machine."""
        return "*" in self._pages or origin.decode("latin-1").strip().lower() in self._pages

    def check(self, headers: Headers) -> None:
        """Refuse what is addressed to a name that is not ours or comes from a page that is not ours.

        Raises:
            HostNotAllowed: the Host header is missing or names something we are not.
            OriginNotAllowed: the Origin header names a page that may not ask.
        """
        pair = (headers.get(b"host"), headers.get(b"origin"))
        if pair in self._known:
            return
        host = (pair[0] or b"").decode("latin-1").strip().lower()
        if not self._is_our_host(host):
            raise HostNotAllowed(
                f"Host is {host!r}, which is not a name of this server; add it to allowed_hosts if it is"
            )
        if pair[1] is not None:
            origin = pair[1].decode("latin-1").strip().lower()
            if not self._is_our_origin(origin, host):
                raise OriginNotAllowed(f"pages of {origin!r} may not ask here")
        if len(self._known) < MAX_REMEMBERED:
            self._known.add(pair)

    def _is_our_host(self, host: str) -> bool:
        name = _host_name(host)
        if name is None:
            return False
        return "*" in self._hosts or host in self._hosts or name in self._hosts or _is_local(name) or _is_address(name)

    def _is_our_origin(self, origin: str, host: str) -> bool:
        if "*" in self._origins or origin in self._origins:
            return True
        scheme, _, place = origin.partition("://")
        if scheme not in ("http", "https") or not place:
            return False
        name, asked = _host_name(place), _host_name(host)
        if name is None or asked is None:
            return False
        return place == host or (_is_local(name) and _is_local(asked))


def _host_name(host: str) -> str | None:
    """The name or address of `host[:port]`, without brackets; `None` when it is neither."""
    if host.startswith("["):
        name, bracket, port = host[1:].partition("]")
        if not bracket or (port and not port.startswith(":")):
            return None
        port = port[1:]
    else:
        name, _, port = host.partition(":")
    if not name or (port and not port.isdigit()) or any(c in name for c in "/\\@, "):
        return None
    return name


def _is_local(name: str) -> bool:
    if name == "localhost" or name.endswith(".localhost"):
        return True
    return _is_address(name) and ipaddress.ip_address(name).is_loopback


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
