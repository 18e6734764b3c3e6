"""One HTTP answer that starts as JSON and becomes a stream only when it must; it knows no method.

SSE begins where the client accepts it: at once if it takes nothing else, with the first notification, or after a
silence that proxies would not survive (gateway.md D20; mcp.md 1.3). Until then an error keeps its own HTTP status.
"""

from collections import deque
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, TypeAlias

import anyio
from anyio.abc import TaskGroup

from toolwire.engine.deadline import Timekeeper, Timer
from toolwire.wire.sse import KEEPALIVE, event

Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]

BUFFERED_FRAMES = 256
"""Notifications that wait for a slow reader; the oldest give way, because only the result is owed."""

_STREAM_HEADERS = [
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"x-accel-buffering", b"no"),
]
_JSON = (b"content-type", b"application/json")


class Exchange:
    """The answer to one POST. `notify` may be called at any time; `finish` ends it, once."""

    __slots__ = ("_buffer", "_closing", "_headers", "_send", "_sent", "_tasks", "_timer", "_wake", "streams")

    def __init__(self, send: Send, tasks: TaskGroup, headers: list[tuple[bytes, bytes]], streams: bool) -> None:
        self._send = send
        self._tasks = tasks
        self._headers = headers
        self._buffer: deque[bytes] | None = None
        self._wake: anyio.Event | None = None
        self._sent: anyio.Event | None = None
        self._timer: Timer | None = None
        self._closing = False
        self.streams = streams

    @property
    def streaming(self) -> bool:
        """Whether the status line has gone out and the answer is a stream."""
        return self._buffer is not None

    def notify(self, body: bytes) -> None:
        """Send a notification ahead of the result, where the client accepts a stream."""
        self._push(event(body))

    def keep_alive(self, timekeeper: Timekeeper, every_s: float) -> None:
        """Send a comment whenever `every_s` seconds pass without an end."""
        if not self.streams or self._closing:
            return

        def ping() -> None:
            self._push(KEEPALIVE)
            self.keep_alive(timekeeper, every_s)

        self._timer = timekeeper.after(every_s, ping)

    def open_stream(self) -> None:
        """Begin the stream now."""
        if self._buffer is None:
            self._buffer = deque(maxlen=BUFFERED_FRAMES)
            self._wake = anyio.Event()
            self._sent = anyio.Event()
            self._tasks.start_soon(self._pump)

    async def finish(self, status: int, body: bytes | None, headers: tuple[tuple[bytes, bytes], ...] = ()) -> None:
        """Send the end: a JSON body with its status, or the last event. `None` ends without a message."""
        self._closing = True
        if self._timer is not None:
            self._timer.cancel()
        if self._buffer is None:
            await self._finish_plain(status, body, headers)
            return
        assert self._wake is not None and self._sent is not None
        if body is not None:
            self._buffer.append(event(body))
        self._wake.set()
        await self._sent.wait()

    async def _finish_plain(self, status: int, body: bytes | None, headers: tuple[tuple[bytes, bytes], ...]) -> None:
        out = body or b""
        head = [(b"content-length", b"%d" % len(out)), *self._headers, *headers]
        if body is not None:
            head.append(_JSON)
        await self._send({"type": "http.response.start", "status": status, "headers": head})
        await self._send({"type": "http.response.body", "body": out})

    def _push(self, frame: bytes) -> None:
        if not self.streams or self._closing:
            return
        self.open_stream()
        assert self._buffer is not None and self._wake is not None
        self._buffer.append(frame)
        self._wake.set()

    async def _pump(self) -> None:
        assert self._buffer is not None and self._sent is not None
        try:
            await self._send(
                {"type": "http.response.start", "status": 200, "headers": [*_STREAM_HEADERS, *self._headers]}
            )
            while True:
                if self._buffer:
                    frames = b"".join(self._buffer)
                    self._buffer.clear()
                    await self._send({"type": "http.response.body", "body": frames, "more_body": True})
                elif self._closing:
                    break
                else:
                    self._wake = anyio.Event()
                    await self._wake.wait()
            await self._send({"type": "http.response.body", "body": b""})
        except OSError:
            self._buffer.clear()  # the reader is gone; what it misses is in the record
        finally:
            self._sent.set()
