"""Clients that are known by the URL of a document on them (Client ID Metadata Documents); it opens no connection.

A document is fetched only once an owner has signed in, so nobody else can make this gateway ask anybody anything.
Spec: MCP 2025-11-25 basic/authorization#client-id-metadata-documents; contract gateway.md D23.
"""

import ipaddress
from collections.abc import Awaitable, Callable
from typing import TypeAlias
from urllib.parse import urlsplit

import msgspec

from toolwire.core.errors import ToolwireError
from toolwire.core.jsontypes import as_object, may_be_deep
from toolwire.core.ports import Clock
from toolwire.gateway.oauth.clients import Client, read_metadata
from toolwire.gateway.oauth.refused import Refused
from toolwire.gateway.places import is_loopback

MAX_DOCUMENT_BYTES = 16 * 1024
MAX_URL_LEN = 512
KEPT_S = 300.0
"""How long a document is good for without a look at the original."""
MAX_KEPT = 256


Fetch: TypeAlias = Callable[[str, int], Awaitable[bytes]]
"""Gets the document at a URL (first) of at most so many bytes (second), without redirects, and never from inside a
network; it raises `ToolwireError` where there is none."""


class Documents:
    """Documents on clients; no more than `MAX_KEPT` are remembered, each for `KEPT_S`."""

    def __init__(self, fetch: Fetch, clock: Clock) -> None:
        self._fetch = fetch
        self._clock = clock
        self._kept: dict[str, tuple[float, Client]] = {}

    async def read(self, url: str) -> Client:
        """The client that a document describes.

        Raises:
            Refused: `invalid_client`: there is no document, or it describes no client that may come in here.
        """
        check_document_url(url)
        now = self._clock.now()
        known = self._kept.get(url)
        if known is not None and known[0] > now:
            return known[1]
        client = _described(url, await self._body(url))
        if len(self._kept) >= MAX_KEPT:
            self._kept.clear()
        self._kept[url] = (now + KEPT_S, client)
        return client

    async def _body(self, url: str) -> bytes:
        try:
            return await self._fetch(url, MAX_DOCUMENT_BYTES)
        except ToolwireError as error:
            raise _refused(f"its document cannot be had: {error.told}") from None


def names_document(client_id: str) -> bool:
    """Whether a client's id is the URL of a document."""
    return client_id.startswith("https://")


def check_document_url(url: str) -> None:
    """Refuse what is no address of a document: https with a path, and none of `..`, user, query or fragment.

    Raises:
        Refused: `invalid_client`.
    """
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        raise _refused("it is no URL") from None
    odd = not url.isascii() or not url.isprintable() or any(char in url for char in " \\\"'<>#?@")
    steps = parts.path.split("/")
    if odd or len(url) > MAX_URL_LEN or parts.scheme != "https" or parts.path in ("", "/"):
        raise _refused("it must be a plain https URL with a path")
    if "." in steps or ".." in steps or is_loopback(host) or _is_address(host) or "." not in host:
        raise _refused("it must be a public https URL")


def _described(url: str, body: bytes) -> Client:
    try:
        if may_be_deep(body):
            raise _refused("its document is nested too deep")
        described = as_object(msgspec.json.decode(body))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise _refused("its document is not JSON") from None
    if described is None:
        raise _refused("its document is no JSON object")
    if described.get("client_id") != url:
        raise _refused("its document is not on this client_id")
    if described.get("token_endpoint_auth_method", "none") != "none" or "client_secret" in described:
        raise _refused("its document asks for a client secret; only public clients may come in")
    try:
        return read_metadata(described, url, document=True)
    except Refused as error:
        raise _refused(error.description) from None


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _refused(why: str) -> Refused:
    return Refused("invalid_client", f"the client_id is not good: {why}", 401)
