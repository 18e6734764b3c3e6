"""The agent link over WebSocket; it does not know what the messages say."""

import ipaddress
import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final
from urllib.parse import SplitResult, urlsplit, urlunsplit

import anyio
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus, WebSocketException
from websockets.protocol import State

from toolwire.agent.link import LinkLost, OpenSocket
from toolwire.core.errors import Forbidden, InvalidParam, Unauthorized
from toolwire.wire.link import MAX_MESSAGE_BYTES

PATH: Final = "/api/v1/agents/link"
OPEN_S: Final = 10.0
CLOSE_S: Final = 2.0
PING_EVERY_S: Final = 20.0
PONG_WITHIN_S: Final = 75.0
"""Longer than a minute, so that a tool that blocks the event loop for one does not cost the link as well."""

_log = logging.getLogger("toolwire.agent")
_SCHEMES: Final = {"http": "ws", "https": "wss", "ws": "ws", "wss": "wss"}


class _WebSocket:
    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection

    @property
    def has_more(self) -> bool:
        waiting = self._connection.recv_messages.frames.queue
        return bool(waiting) and waiting[-1].fin  # of a message in several frames there may be the first ones only

    async def send(self, data: bytes) -> None:
        try:
            await self._connection.send(data, text=True)
        except ConnectionClosed as closed:
            raise _lost(closed) from None

    def send_now(self, data: bytes) -> bool:
        """What `send` does for an open connection with room, without the checks and coroutines around it."""
        connection = self._connection
        if connection.state is not State.OPEN or connection.paused:
            return False
        connection.protocol.send_text(data)
        connection.send_data()
        return True

    async def receive(self) -> bytes:
        try:
            return await self._connection.recv(decode=False)
        except ConnectionClosed as closed:
            raise _lost(closed) from None


def websocket_opener(url: str, key: str) -> OpenSocket:
    """What opens links to the gateway at `url` with an agent's key.

    Raises:
        InvalidParam: `url` is not the address of a gateway.
    """
    address = link_url(url)
    here = is_loopback(address.hostname or "")
    if not here and address.scheme == "ws":
        _log.warning("the agent's key travels unencrypted to %s; use https:// beyond a network that you trust", url)

    @asynccontextmanager
    async def open_socket() -> AsyncGenerator[_WebSocket]:
        try:
            connection = await connect(
                urlunsplit(address),
                additional_headers={"Authorization": f"Bearer {key}"},
                compression=None,
                max_size=MAX_MESSAGE_BYTES,
                open_timeout=OPEN_S,
                close_timeout=CLOSE_S,
                ping_interval=PING_EVERY_S,
                ping_timeout=PONG_WITHIN_S,
                write_limit=256 * 1024,
                proxy=None if here else True,
            )
        except InvalidStatus as refused:
            raise _refusal(refused.response.status_code, url) from None
        except TimeoutError:
            raise LinkLost(f"no answer within {OPEN_S:.0f} s") from None
        except (OSError, WebSocketException, UnicodeError) as error:  # the last one for a host's name that is none
            raise LinkLost(str(error) or type(error).__name__) from None
        try:
            yield _WebSocket(connection)
        finally:
            with anyio.CancelScope(shield=True, deadline=anyio.current_time() + 2 * CLOSE_S):
                await connection.close()

    return open_socket


def link_url(url: str) -> SplitResult:
    """Where the link of the gateway at `url` is opened.

    Raises:
        InvalidParam: `url` is not an address over http, https, ws or wss, or has a password in it.
    """
    if "@" in url:
        raise InvalidParam("a gateway's address holds no user or password; the agent's key says who it is", param="url")
    try:
        parts = urlsplit(url.strip())
        scheme, host, _ = _SCHEMES[parts.scheme.lower()], parts.hostname, parts.port
    except (KeyError, ValueError):
        scheme, host, parts = "", None, SplitResult("", "", "", "", "")
    if not host:
        raise InvalidParam(f"{url!r} is not a gateway's address; write one like 'http://127.0.0.1:8094'", param="url")
    path = parts.path.rstrip("/")
    return SplitResult(scheme, parts.netloc, path if path.endswith(PATH) else path + PATH, "", "")


def _refusal(status: int, url: str) -> Exception:
    if status == 401:
        return Unauthorized(f"the gateway at {url} does not know this agent's key; `toolwire agent create` makes one")
    if status == 403:
        return Forbidden(f"the gateway at {url} refuses this key: an agent attaches with its own key, `agk_…`")
    if status == 404:
        return LinkLost("there is no gateway of ours at this address (HTTP 404)")
    return LinkLost(f"HTTP {status}")


def _lost(closed: ConnectionClosed) -> LinkLost:
    frame = closed.rcvd or closed.sent
    if frame is None:
        return LinkLost("the connection broke")
    return LinkLost(f"closed with {frame.code}" + (f", {frame.reason}" if frame.reason else ""))


def is_loopback(host: str) -> bool:
    """Whether a host is this machine, to which no proxy leads."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
