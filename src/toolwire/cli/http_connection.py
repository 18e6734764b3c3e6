"""HTTP connections that are given up when their client sends no end of headers, or does not come on; it serves nothing.

uvicorn's own waits for ever for what a client has begun to send or does not read, and keeps a header of any size.
"""

from typing import Any, Final

import anyio
from msgspec import Struct
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

OVERHEAD_BYTES: Final = 64 * 1024
"""Beyond this (and one read more) what is not body counts as an attack; h11 and nginx take 64 and 32 KiB of headers."""

_TOO_LARGE: Final = (431, "Request Header Fields Too Large")
_TOO_SLOW: Final = (408, "Request Timeout")


class Patience(Struct, frozen=True):
    """What a client may take, in seconds.

    Attributes:
        idle_s: until it begins its first request.
        coming_s: until a request has come, and one more for every `min_bytes_per_s` of it.
        stuck_s: without taking any of what it is sent.
        look_every_s: how often we look.
    """

    idle_s: float = 75.0
    coming_s: float = 30.0
    min_bytes_per_s: float = 1000.0
    stuck_s: float = 60.0
    look_every_s: float = 5.0


class HttpConnection(HttpToolsProtocol):
    """uvicorn's connection, which also counts what comes and can be looked at. Times are of the event loop's clock."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._coming = False
        self._since = self.loop.time()
        self._came = 0
        self._body = 0
        self._unsent = 0
        self._unsent_since = 0.0

    def on_message_begin(self) -> None:
        """A request begins to come."""
        super().on_message_begin()
        self._coming = True
        self._since = self.loop.time()
        self._came = self._body = 0

    def on_body(self, body: bytes) -> None:
        """Some of its body has come."""
        self._body += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        """All of it has come."""
        self._coming = False
        super().on_message_complete()

    def data_received(self, data: bytes) -> None:
        """Something has come: a part of a request, one, or more."""
        super().data_received(data)
        if self._coming:
            self._came += len(data)
            if self._came - 2 * self._body > OVERHEAD_BYTES:  # chunks of a body may be small, but not all frame
                self._give_up(*_TOO_LARGE)

    def look(self, patience: Patience) -> None:
        """Give up a client that takes too long."""
        now = self.loop.time()
        if self._is_stuck(now, patience.stuck_s):
            self.transport.abort()
        elif self.transport.is_closing() or self.flow.read_paused:
            return
        elif self._coming:
            if now - self._since > patience.coming_s + self._came / patience.min_bytes_per_s:
                self._give_up(*_TOO_SLOW)
        elif self._is_fresh and now - self._since > patience.idle_s:
            self.transport.close()

    @property
    def _is_fresh(self) -> bool:
        """Whether no request has come yet; between two of them uvicorn keeps the time itself."""
        return self.cycle is None  # pyright: ignore[reportUnnecessaryComparison] -- uvicorn declares otherwise

    def _is_stuck(self, now: float, stuck_s: float) -> bool:
        unsent = self.transport.get_write_buffer_size()
        if unsent == 0 or unsent < self._unsent or self._unsent == 0:
            self._unsent_since = now
        self._unsent = unsent
        return unsent > 0 and now - self._unsent_since > stuck_s

    def _give_up(self, status: int, phrase: str) -> None:
        if self.transport.is_closing():
            return
        if self._is_fresh or self.cycle.response_complete or not self.cycle.response_started:
            head = f"HTTP/1.1 {status} {phrase}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
            self.transport.write(head.encode())
        self.transport.close()


async def look_after(connections: set[Any], patience: Patience) -> None:
    """Look at HTTP connections now and then, until cancelled.

    Args:
        connections: all that there are, those of other kinds among them; it changes meanwhile.
        patience: what their clients may take.
    """
    while True:
        await anyio.sleep(patience.look_every_s)
        for connection in tuple(connections):
            if isinstance(connection, HttpConnection):
                connection.look(patience)
