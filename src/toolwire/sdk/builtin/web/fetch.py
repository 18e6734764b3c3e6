"""Fetches one page of the public web as text, whatever its server does; it converts and keeps nothing.

The name of the host is resolved here, every address is checked, and the connection goes to a checked address, so that a
name that means something else a moment later leads nowhere. Each redirect is checked in the same way.
"""

import re
import socket
import zlib
from collections.abc import AsyncIterator, Collection
from typing import NamedTuple

import anyio
import httpx2

from toolwire.core.addresses import is_public

MAX_BYTES = 5 * 1024 * 1024
"""Of a page, before and after decompression."""

MAX_REDIRECTS = 10
MAX_URL = 4096
TOTAL_S = 45.0
CONNECT_S = 10.0
SILENCE_S = 20.0
MAX_ADDRESSES = 4
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_HEADERS = {
    "User-Agent": "toolwire-webfetch/1",
    "Accept": "text/markdown, text/html;q=0.9, text/plain;q=0.8, */*;q=0.5",
    "Accept-Encoding": "gzip, deflate",
    "Accept-Language": "en, *;q=0.5",
}
_HOST = re.compile(rb"[\w.:-]+")
_STATUS = {
    401: "it needs a login; do not try it again",
    403: "it is not allowed to be read; do not try it again",
    404: "there is no such page; look for its new address with WebSearch",
    410: "the page is gone",
    429: "the server has had too many requests; try later",
}


class FetchFailed(Exception):
    """There is no page; the text says why, and what to do."""


class Document(NamedTuple):
    """What a server sent: its final URL, media type ("" when it does not say), the charset it names, and the body.

    `cut` says that there was more.
    """

    url: str
    media_type: str
    charset: str | None
    body: bytes
    cut: bool


class Redirected(NamedTuple):
    """A page that has moved to another host, which is for the model to decide on."""

    target: str
    status: int


async def fetch(url: str, private_hosts: Collection[str] = ()) -> Document | Redirected:
    """Fetch a page.

    Args:
        url: where it is.
        private_hosts: hosts, or `host:port`, that need not have public addresses; they are asked over http if `url`
            says so, while for any other host http becomes https.

    Raises:
        FetchFailed: for whatever reason.
    """
    with anyio.move_on_after(TOTAL_S):
        try:
            return await _follow(checked_url(url, private_hosts), private_hosts)
        except httpx2.TimeoutException:
            raise FetchFailed("the server does not answer in time; try later") from None
        except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError, OSError, zlib.error) as error:
            raise FetchFailed(f"the page cannot be fetched: {_reason(error)}") from None
    raise FetchFailed(f"the page did not come within {TOTAL_S:g} s; try later, or another page")


def checked_url(url: str, private_hosts: Collection[str] = ()) -> httpx2.URL:
    """The URL that is asked for `url`.

    Raises:
        FetchFailed: it is none, or not one of the web.
    """
    if len(url) > MAX_URL:
        raise FetchFailed(f"the URL has {len(url)} characters and the limit is {MAX_URL}")
    try:
        parsed = httpx2.URL(url.strip())
    except (httpx2.InvalidURL, UnicodeError, ValueError, TypeError):
        raise FetchFailed(f"{url[:200]!r} is not a URL; it looks like https://example.com/page") from None
    if parsed.scheme not in ("http", "https") or not _HOST.fullmatch(parsed.raw_host) or not 0 < (parsed.port or 1) < 65536:
        raise FetchFailed(f"{url[:200]!r} is not a URL of the web; it begins with https:// and names a host")
    if parsed.userinfo:
        raise FetchFailed("the URL has a user name or password in it; leave them out")
    if parsed.scheme == "http" and not _is_allowed(parsed, private_hosts):
        parsed = parsed.copy_with(scheme="https", port=None if parsed.port in (None, 80) else parsed.port)
    return parsed.copy_with(fragment=None)


async def _follow(url: httpx2.URL, private_hosts: Collection[str]) -> Document | Redirected:
    for _ in range(MAX_REDIRECTS):
        answer = await _ask(url, private_hosts)
        if isinstance(answer, Document):
            return answer
        target = checked_url(answer.target, private_hosts)
        if not _same_site(url, target):
            return Redirected(str(target), answer.status)
        url = target
    raise FetchFailed(f"the page redirects more than {MAX_REDIRECTS} times")


async def _ask(url: httpx2.URL, private_hosts: Collection[str]) -> Document | Redirected:
    """One request; a redirect is not followed, wherever it leads."""
    port = url.port or (443 if url.scheme == "https" else 80)
    addresses = await _addresses(url.host, port, _is_allowed(url, private_hosts))
    timeout = httpx2.Timeout(SILENCE_S, connect=CONNECT_S)
    lost: httpx2.ConnectError | httpx2.ConnectTimeout | None = None
    async with httpx2.AsyncClient(trust_env=False, follow_redirects=False, timeout=timeout) as client:
        for address in addresses[:MAX_ADDRESSES]:
            request = client.build_request(
                "GET",
                url.copy_with(host=address),
                headers={**_HEADERS, "Host": url.netloc.decode("ascii")},
                extensions={"sni_hostname": url.raw_host.decode("ascii")},
            )
            try:
                response = await client.send(request, stream=True)
            except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
                lost = error
                continue
            try:
                return await _answer(url, response)
            finally:
                await response.aclose()
    raise lost or FetchFailed(f"the host {url.host!r} has no address")


async def _answer(url: httpx2.URL, response: httpx2.Response) -> Document | Redirected:
    location = response.headers.get("location")
    if response.status_code in _REDIRECTS and location:
        return Redirected(str(url.join(location)), response.status_code)
    if not response.is_success:
        known = _STATUS.get(response.status_code, "the server has a problem; try later")
        if response.status_code not in _STATUS and response.status_code < 500:
            known = "the server does not want to show the page"
        raise FetchFailed(f"the server answers with status {response.status_code}: {known}")
    body = bytearray()
    async for data in _decoded(response):
        body += data
        if len(body) > MAX_BYTES:
            break
    media_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    return Document(str(url), media_type, response.charset_encoding, bytes(body[:MAX_BYTES]), len(body) > MAX_BYTES)


async def _decoded(response: httpx2.Response) -> AsyncIterator[bytes]:
    """The body, decompressed in pieces no larger than needed: a few bytes may stand for gigabytes."""
    encoding = response.headers.get("content-encoding", "identity").strip().lower()
    if encoding in ("identity", ""):
        async for data in response.aiter_raw():
            yield data
        return
    if encoding not in ("gzip", "x-gzip", "deflate"):
        raise FetchFailed(f"the server compresses the page as {encoding[:50]!r}, which was not asked for")
    decoder = zlib.decompressobj(zlib.MAX_WBITS | 32)
    async for data in response.aiter_raw():
        while data and not decoder.eof:
            yield decoder.decompress(data, MAX_BYTES + 1)
            data = decoder.unconsumed_tail


async def _addresses(host: str, port: int, allowed: bool) -> list[str]:
    try:
        found = await anyio.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise FetchFailed(f"there is no host {host!r}; check the URL, or search with WebSearch") from None
    addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
    for address in addresses:
        if not allowed and not is_public(address):
            raise FetchFailed(f"{host!r} is an address of this machine or a private network, which is not fetched")
    return addresses


def _is_allowed(url: httpx2.URL, private_hosts: Collection[str]) -> bool:
    return url.host.lower() in private_hosts or f"{url.host.lower()}:{url.port}" in private_hosts


def _same_site(url: httpx2.URL, target: httpx2.URL) -> bool:
    """Whether a redirect stays where it was, apart from a `www.` in front."""
    return (_bare(url.host), url.port) == (_bare(target.host), target.port)


def _bare(host: str) -> str:
    return host.lower().removesuffix(".").removeprefix("www.")


def _reason(error: Exception) -> str:
    return str(error) or type(error).__name__


