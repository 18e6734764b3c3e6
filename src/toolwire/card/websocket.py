"""A card's connection to its host over WebSocket; it does not know what the messages say."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final
from urllib.parse import quote, urlsplit, urlunsplit

import anyio
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus, WebSocketException

from toolwire.card.errors import CardError, WireLost
from toolwire.card.session import OpenWire
from toolwire.wire.card import REPLACED
from toolwire.wire.card_messages import MAX_MESSAGE_BYTES

PATH: Final = "/api/v1/cards/link"
OPEN_S: Final = 10.0
_SCHEMES: Final = {"http": "ws", "https": "wss", "ws": "ws", "wss": "wss"}


class _WebSocket:
    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection

    async def send(self, text: bytes) -> None:
        try:
            await self._connection.send(text, text=True)
        except ConnectionClosed as closed:
            raise WireLost(str(closed)) from None

    async def receive(self) -> bytes:
        try:
            return await self._connection.recv(decode=False)
        except ConnectionClosed as closed:
            if closed.rcvd is not None and closed.rcvd.code == REPLACED:
                raise CardError("replaced", closed.rcvd.reason) from None
            raise WireLost(str(closed)) from None


def wire_opener(url: str, key: str, package: str | None) -> OpenWire:
    """What opens connections to the host at `url`.

    Raises:
        ValueError: `url` is no address of a host.
    """
    parts = urlsplit(url.strip())
    scheme = _SCHEMES.get(parts.scheme.lower())
    if scheme is None or not parts.hostname:
        raise ValueError(f"{url!r} is not a host's address; write one like 'http://127.0.0.1:8094'")
    query = "" if package is None else f"package={quote(package)}"
    address = urlunsplit((scheme, parts.netloc, parts.path.rstrip("/") + PATH, query, ""))

    @asynccontextmanager
    async def open_wire() -> AsyncGenerator[_WebSocket]:
        try:
            connection = await connect(
                address,
                additional_headers={"Authorization": f"Bearer {key}"},
                compression=None,
                max_size=MAX_MESSAGE_BYTES,
                open_timeout=OPEN_S,
                proxy=None,
            )
        except InvalidStatus as refused:
            raise _refusal(refused.response.status_code, url) from None
        except (TimeoutError, OSError, WebSocketException) as error:
            raise WireLost(str(error) or type(error).__name__) from None
        try:
            yield _WebSocket(connection)
        finally:
            with anyio.CancelScope(shield=True):
                await connection.close()

    return open_wire


def _refusal(status: int, url: str) -> Exception:
    if status in (401, 403):
        return CardError("unauthorized", f"the host at {url} does not take this key; use the owner's oag_ key")
    if status in (404, 409):
        return CardError("package_not_found", f"the host at {url} has no such package, or it waits for consent")
    return WireLost(f"HTTP {status}")
