"""What carries an MCP client's HTTP requests so that one which fails harms no other; it does not read their answers.

The official client gives up a whole connection, with every call on it, when one request cannot be delivered. This
transport answers such a request itself, with a JSON-RPC error whose data says what happened.
"""

from typing import Any

import httpx2
import msgspec

from toolwire.core.jsontypes import JsonObject

CONNECT_S = 10.0
MAX_BODY_BYTES = 64 * 2**20
"""A longer answer is refused before it fills the memory."""
MARK = "toolwire.remote"
"""The key in an error's data under which one of the next four stands."""
UNREACHABLE = "unreachable"
"""The request was not sent."""
LOST = "lost"
"""The request was sent, and no answer came."""
NO_SESSION = "no_session"
"""The server does not know the session; it has not looked at the request."""
REFUSED = "refused"
"""The server answered with an HTTP error and nothing that MCP knows."""

ERROR_CODE = -32000
_NOT_SENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout, httpx2.UnsupportedProtocol)


def shown_url(url: str) -> str:
    """`url` without what may be secret: credentials and the query."""
    try:
        parsed = httpx2.URL(url)
    except httpx2.InvalidURL:
        return "the server's URL"
    return str(parsed.copy_with(username=None, password=None, query=None, fragment=None))


class SteadyTransport(httpx2.AsyncBaseTransport):
    """Sends requests through `client`, and answers itself those that fail.

    Args:
        client: does the sending, with its proxies and connections; closed together with this.
        shown: the server's URL as messages may show it.
        max_body_bytes: the longest answer that is read, events aside.
    """

    def __init__(self, client: httpx2.AsyncClient, shown: str, max_body_bytes: int = MAX_BODY_BYTES) -> None:
        self._client = client
        self._shown = shown
        self._max_body_bytes = max_body_bytes

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send `request`.

        Raises:
            httpx2.TransportError: for a GET or a DELETE, whose failure the official client takes.
        """
        if request.method != "POST":
            return await self._client.send(request, stream=True, follow_redirects=False)
        try:
            response = await self._client.send(request, stream=True, follow_redirects=False)
            if response.headers.get("content-type", "").lower().startswith("text/event-stream"):
                return response
            return await self._whole(request, response)
        except _NOT_SENT as error:
            return self._answer(request, UNREACHABLE, f"cannot reach {self._shown}: {_reason(error)}")
        except httpx2.TransportError as error:
            return self._answer(request, LOST, f"{self._shown} gave no answer: {_reason(error)}")
        except Exception as error:  # noqa: BLE001 -- whatever an `auth` raises, this request alone has failed
            return self._answer(request, REFUSED, f"cannot sign in at {self._shown}: {_reason(error)}")

    async def aclose(self) -> None:
        """Close all connections."""
        await self._client.aclose()

    async def _whole(self, request: httpx2.Request, response: httpx2.Response) -> httpx2.Response:
        body = bytearray()
        try:
            async for chunk in response.aiter_bytes():
                body += chunk
                if len(body) > self._max_body_bytes:
                    return self._answer(
                        request, LOST, f"{self._shown} answered with more than {self._max_body_bytes} bytes"
                    )
        finally:
            await response.aclose()
        status = response.status_code
        if status == 404 and "mcp-session-id" in request.headers:
            return self._answer(request, NO_SESSION, f"{self._shown} does not know the session any more")
        if status >= 400 and not _is_jsonrpc_error(body):
            return self._answer(request, REFUSED, f"{self._shown} answered HTTP {status}{_advice(status)}")
        headers = [(key, value) for key, value in response.headers.raw if key.lower() not in _OF_THE_TRANSFER]
        return httpx2.Response(status, headers=headers, content=bytes(body), request=request)

    def _answer(self, request: httpx2.Request, mark: str, message: str) -> httpx2.Response:
        error: JsonObject = {"code": ERROR_CODE, "message": message, "data": {MARK: mark}}
        return httpx2.Response(503, json={"jsonrpc": "2.0", "id": None, "error": error}, request=request)


_OF_THE_TRANSFER = (b"content-encoding", b"content-length", b"transfer-encoding")


def http_client(
    headers: dict[str, str],
    shown: str,
    auth: httpx2.Auth | None = None,
    transport: httpx2.AsyncBaseTransport | None = None,
) -> httpx2.AsyncClient:
    """A client that sends `headers` with every request and waits for answers as long as its caller does.

    `auth` signs what is sent and sees what is answered, before this transport does. `transport` carries the requests;
    with one, the proxies of the environment are not asked.
    """
    timeout = httpx2.Timeout(CONNECT_S, read=None, write=None, pool=None)
    limits = httpx2.Limits(max_connections=None, max_keepalive_connections=20)
    inner = httpx2.AsyncClient(
        timeout=timeout, limits=limits, auth=auth, transport=transport, trust_env=transport is None
    )
    return httpx2.AsyncClient(headers=headers, timeout=timeout, transport=SteadyTransport(inner, shown))


def _is_jsonrpc_error(body: bytes | bytearray) -> bool:
    try:
        decoded: Any = msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError):
        return False
    return isinstance(decoded, dict) and "jsonrpc" in decoded and "error" in decoded


def _advice(status: int) -> str:
    if status in (401, 403):
        return "; check the key or the headers of its spec"
    if status in (404, 405):
        return "; check the address"
    return ""


def _reason(error: Exception) -> str:
    words = str(error) or type(error).__name__
    return words[:1].lower() + words[1:]
