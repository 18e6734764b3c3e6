"""Gets small documents from addresses that strangers have named, over `http_post.PinnedTransport`; it keeps nothing.

The rules are those of webhooks (gateway.md D26): https, public addresses alone, the address that was checked is the one
that is asked, and a redirect is no answer. So whoever names an address learns nothing of the network this runs in.
"""

import ssl
from collections.abc import Sequence
from ipaddress import ip_network

import anyio
import httpx2

from toolwire.adapters.http_post import Blocked, PinnedTransport, parsed_url
from toolwire.core.errors import ServiceUnavailable

TIMEOUT_S = 5.0


class HttpDocuments:
    """The `gateway.oauth.documents.Fetch` over HTTP/1.1.

    Args:
        timeout_s: of one document, all in all.
        allow_cidrs: networks such as `10.0.0.0/8` that may be asked although they are not public.
        context: for TLS; the default trusts what the system's Python trusts.

    Raises:
        ValueError: one of `allow_cidrs` is no network.
    """

    def __init__(
        self, timeout_s: float = TIMEOUT_S, allow_cidrs: Sequence[str] = (), context: ssl.SSLContext | None = None
    ) -> None:
        self._timeout_s = timeout_s
        self._allowed = [ip_network(cidr, strict=False) for cidr in allow_cidrs]
        self._context = context
        self._opened: PinnedTransport | None = None

    async def __call__(self, url: str, max_bytes: int) -> bytes:
        """The document at `url`.

        Raises:
            ServiceUnavailable: it may not be asked for, is not there, is larger than `max_bytes`, or takes too long.
        """
        try:
            with anyio.fail_after(self._timeout_s):
                return await self._get(parsed_url(url), max_bytes)
        except Blocked as error:
            raise ServiceUnavailable(str(error)) from None
        except (TimeoutError, httpx2.TimeoutException):
            raise ServiceUnavailable(f"no answer within {self._timeout_s:g} s") from None
        except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError, OSError) as error:
            raise ServiceUnavailable(f"no answer: {type(error).__name__}") from None

    async def _get(self, url: httpx2.URL, max_bytes: int) -> bytes:
        if self._opened is None:  # reading the machine's certificates takes 20 ms
            self._opened = PinnedTransport(self._allowed, self._context)
        timeout = dict.fromkeys(("connect", "read", "write", "pool"), self._timeout_s)
        headers = {"accept": "application/json", "accept-encoding": "identity", "user-agent": "toolwire"}
        request = httpx2.Request("GET", url, headers=headers, extensions={"timeout": timeout})
        response = await self._opened.handle_async_request(request)
        try:
            if response.status_code != 200:
                raise ServiceUnavailable(f"the answer is HTTP {response.status_code}, not 200")
            if response.headers.get("content-encoding", "identity").lower() != "identity":
                raise ServiceUnavailable("the answer is compressed, which was not asked for")
            return await _read(response, max_bytes)
        finally:
            with anyio.CancelScope(shield=True), anyio.move_on_after(1):
                await response.aclose()


async def _read(response: httpx2.Response, max_bytes: int) -> bytes:
    body = bytearray()
    async for piece in response.aiter_raw():
        body += piece
        if len(body) > max_bytes:
            raise ServiceUnavailable(f"the answer is larger than {max_bytes} bytes")
    return bytes(body)
