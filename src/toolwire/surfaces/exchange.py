"""One HTTP answer that starts as JSON and becomes a stream only when it must; it knows no method.

SSE begins where the client accepts it: at once if it takes nothing else, with the first notification, or after a
silence that proxies would not survive (gateway.md D20; mcp.md 1.3). Until then an error keeps its own HTTP status.
"""

import logging
from collections import deque
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from typing import Any, Final, Protocol, TypeAlias

import anyio
from anyio.abc import TaskGroup

from toolwire.engine.deadline import Timekeeper, Timer
from toolwire.wire.sse import KEEPALIVE, event

logger = logging.getLogger("toolwire.surfaces")

Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]
RawHeader: TypeAlias = tuple[bytes, bytes]

WHOLE: Final = "toolwire.whole"
"""The ASGI extension of servers that hand over a request that is there as a whole: a `Whole`."""

BUFFERED_FRAMES = 256
"""Notifications that wait for a slow reader; the oldest give way, because only the result is owed."""

_STREAM_HEADERS = [
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"x-accel-buffering", b"no"),
]
_JSON = (b"content-type", b"application/json")


class Whole(Protocol):
    """A request whose body is there, and a short way for its answer.

    Attributes:
        content: all of the body.
        headers: as `limits.map_headers` gives them, without `content-length`.
        memo: for whoever reads the headers: what it made of them, for the next request that has the same.
    """

    content: bytes
    headers: dict[bytes, bytes]
    memo: dict[Any, Any]

    def answer(self, status: int, body: bytes) -> bool:
        """Send a whole JSON answer; `False` says that it has to go through `send`, as if this had not been asked."""
        ...


async def send_plain(send: Send, status: int, body: bytes | None, headers: Sequence[RawHeader] = ()) -> None:
    """A whole answer: JSON with its status, or none (`None`). That the client is gone is no error."""
    sent = body or b""
    head = [(b"content-length", b"%d" % len(sent)), *headers]
    if body is not None:
        head.append(_JSON)
    elif status == 204:
        head.pop(0)  # RFC 9110, 8.6: a 204 has no Content-Length
    try:
        await send({"type": "http.response.start", "status": status, "headers": head})
        await send({"type": "http.response.body", "body": sent})
    except OSError:
        return


class _Stream:
    """Frames on their way to the client, sent by a task of their own."""

    __slots__ = ("_buffer", "_closing", "_wake", "sent")

    def __init__(self) -> None:
        self._buffer: deque[bytes] = deque(maxlen=BUFFERED_FRAMES)
        self._closing = False
        self._wake = anyio.Event()
        self.sent = anyio.Event()

    def push(self, frame: bytes) -> None:
        self._buffer.append(frame)
        self._wake.set()

    def close(self) -> None:
        self._closing = True
        self._wake.set()

    async def pump(self, send: Send, headers: Sequence[RawHeader]) -> None:
        try:
            await send({"type": "http.response.start", "status": 200, "headers": [*_STREAM_HEADERS, *headers]})
            while self._buffer or not self._closing:
                if self._buffer:
                    frames = b"".join(self._buffer)
                    self._buffer.clear()
                    await send({"type": "http.response.body", "body": frames, "more_body": True})
                else:
                    self._wake = anyio.Event()
                    await self._wake.wait()
            await send({"type": "http.response.body", "body": b""})
        except OSError:
            self._buffer.clear()  # the reader is gone; what it misses is in the record
        except Exception:  # this task's outermost frame: one answer's failure must not end the group of all of them
            logger.exception("an event stream could not be sent")
        finally:
            self.sent.set()


class Exchange:
    """The answer to one POST. `notify` may be called at any time; `finish` ends it, once."""

    __slots__ = ("_closed", "_send", "_stream", "_tasks", "_timer", "_whole", "streams")

    def __init__(self, send: Send, tasks: TaskGroup, streams: bool, whole: Whole | None = None) -> None:
        self._send = send
        self._tasks = tasks
        self._stream: _Stream | None = None
        self._timer: Timer | None = None
        self._whole = whole
        self._closed = False
        self.streams = streams

    def notify(self, body: bytes) -> None:
        """Send a notification ahead of the result, where the client accepts a stream."""
        self._push(event(body))

    def keep_alive(self, timekeeper: Timekeeper, every_s: float) -> None:
        """Send a comment whenever `every_s` seconds pass without an end."""
        if not self.streams or self._closed:
            return

        def ping() -> None:
            self._push(KEEPALIVE)
            self.keep_alive(timekeeper, every_s)

        self._timer = timekeeper.after(every_s, ping)

    def open_stream(self, headers: Sequence[RawHeader] = ()) -> None:
        """Begin the stream now, if it has not begun; not any more when the server stops."""
        if self._stream is None and not self._tasks.cancel_scope.cancel_called:
            self._stream = _Stream()
            self._tasks.start_soon(self._stream.pump, self._send, headers)

    async def finish(self, status: int, body: bytes | None, headers: Sequence[RawHeader] = ()) -> None:
        """Send the end: a JSON body with its status, or the last event. `None` ends without a message."""
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()
        if self._stream is None:
            whole = self._whole
            if whole is None or headers or body is None or not whole.answer(status, body):
                await send_plain(self._send, status, body, headers)
            return
        if body is not None:
            self._stream.push(event(body))
        self._stream.close()
        await self._stream.sent.wait()

    def _push(self, frame: bytes) -> None:
        if self.streams and not self._closed:
            self.open_stream()
            if self._stream is not None:
                self._stream.push(frame)
