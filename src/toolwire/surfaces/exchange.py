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
"""Notifications that wait for a slow reader; the oldest give way, because only answers and questions are owed."""
BUFFERED_BYTES = 1024 * 1024
"""As `BUFFERED_FRAMES`, for large ones."""
PIECE_BYTES = 64 * 1024
"""How much is handed to the server at once, so that a slow reader can be told from one that reads nothing."""
WRITE_TIMEOUT_S = 60.0
"""How long a client may take for a piece, unless configured otherwise."""

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
        memo: for whoever reads the headers: what it made of them, for the next request that has the same. What lies
            there under `SERVE` is given that request rather than that the app is called; see `Serve`.
        left_nothing: to be set when what was awaited for the request has left nothing behind in its task (no scope, no
            mark, no callback): the next request may have that task then.
    """

    content: bytes
    headers: dict[bytes, bytes]
    memo: dict[Any, Any]
    left_nothing: bool

    def answer(self, status: int, body: bytes) -> bool:
        """Send a whole JSON answer; `False` says that it has to go through `send`, as if this had not been asked."""
        ...

    def in_asgi(self) -> tuple[Any, Receive, Send]:
        """The request as an ASGI app is given it: scope, receive and send."""
        ...


SERVE: Final = "serve"
Serve: TypeAlias = Callable[[Whole], Awaitable[None] | None]
"""Serves a request: it is answered when this comes back with `None`, else what is left to do is to be awaited."""


class Frames(Protocol):
    """How the frames of a stream that can be resumed begin and end."""

    def first(self) -> bytes:
        """What the stream begins with; nothing if it cannot be resumed after all, and then there are no `Frames`."""
        ...

    def last(self, body: bytes) -> bytes:
        """The event with the answer."""
        ...


async def send_plain(
    send: Send,
    status: int,
    body: bytes | None,
    headers: Sequence[RawHeader] = (),
    write_timeout_s: float = WRITE_TIMEOUT_S,
) -> None:
    """A whole answer: JSON with its status, or none (`None`). That the client is gone or does not read is no error."""
    sent = body or b""
    head = [(b"content-length", b"%d" % len(sent)), *headers]
    if body is not None:
        head.append(_JSON)
    elif status == 204:
        head.pop(0)  # RFC 9110, 8.6: a 204 has no Content-Length
    start: MutableMapping[str, Any] = {"type": "http.response.start", "status": status, "headers": head}
    try:
        with anyio.move_on_after(write_timeout_s) as patience:
            await send(start)
            for message in _body_messages(sent):
                await send(message)
                if "more_body" in message:
                    patience.deadline = anyio.current_time() + write_timeout_s
                    await anyio.lowlevel.checkpoint()  # servers hear of a client that is gone between two pieces
        if patience.cancelled_caught:
            await _drop(send)
    except OSError:
        return


def _body_messages(body: bytes) -> list[MutableMapping[str, Any]]:
    """A body in pieces, the last of which ends the answer."""
    last = max(len(body) - 1, 0) // PIECE_BYTES * PIECE_BYTES
    messages: list[MutableMapping[str, Any]] = [
        {"type": "http.response.body", "body": body[at : at + PIECE_BYTES], "more_body": True}
        for at in range(0, last, PIECE_BYTES)
    ]
    return [*messages, {"type": "http.response.body", "body": body[last:]}]


async def _drop(send: Send) -> None:
    """Give up the connection behind `send` at once, where that can be reached.

    ASGI has no word for it: a server that is left with half an answer closes the connection only once the client has
    taken what was sent before, which this one does not. uvicorn's `send`, and ours, is a method of what has the
    transport.
    """
    give_up = getattr(getattr(getattr(send, "__self__", None), "transport", None), "abort", None)
    if callable(give_up):
        give_up()
        await anyio.lowlevel.checkpoint()  # so that the server knows that there is nobody left to answer


class _Stream:
    """Frames on their way to the client, sent by a task of their own.

    Attributes:
        sent: set when all is sent, or nothing can be sent any more.
        lost: whether the client did not read, so that it was given up.
        on_end: called when `sent` is set.
    """

    __slots__ = ("_buffer", "_closing", "_size", "_wake", "_write_timeout_s", "lost", "on_end", "sent")

    def __init__(self, write_timeout_s: float) -> None:
        self._buffer: deque[tuple[bytes, bool]] = deque()
        self._size = 0
        self._closing = False
        self._wake = anyio.Event()
        self._write_timeout_s = write_timeout_s
        self.sent = anyio.Event()
        self.lost = False
        self.on_end: Callable[[bool], None] | None = None

    def push(self, frame: bytes, *, owed: bool) -> None:
        if self.sent.is_set():
            return
        self._buffer.append((frame, owed))
        self._size += len(frame)
        while (len(self._buffer) > BUFFERED_FRAMES or self._size > BUFFERED_BYTES) and self._gives_way():
            pass
        self._wake.set()

    def close(self) -> None:
        self._closing = True
        self._wake.set()

    async def pump(self, send: Send, headers: Sequence[RawHeader]) -> None:
        try:
            await self._send(
                send, {"type": "http.response.start", "status": 200, "headers": [*_STREAM_HEADERS, *headers]}
            )
            while (self._buffer or not self._closing) and not self.lost:
                if self._buffer:
                    await self._send(send, {"type": "http.response.body", "body": self._piece(), "more_body": True})
                    if self._buffer:
                        await anyio.lowlevel.checkpoint()  # as in `send_plain`
                else:
                    self._wake = anyio.Event()
                    await self._wake.wait()
            await self._send(send, {"type": "http.response.body", "body": b""})
        except OSError:
            pass  # the reader is gone; what it misses is in the record
        except Exception:  # this task's outermost frame: one answer's failure must not end the group of all of them
            logger.exception("an event stream could not be sent")
        finally:
            self._end()

    def _end(self) -> None:
        self._buffer.clear()
        self.sent.set()
        on_end, self.on_end = self.on_end, None
        if on_end is not None:
            on_end(self.lost)

    async def _send(self, send: Send, message: MutableMapping[str, Any]) -> None:
        if self.lost:
            return
        with anyio.move_on_after(self._write_timeout_s) as patience:
            await send(message)
        if patience.cancelled_caught:
            self.lost = True
            await _drop(send)

    def _piece(self) -> bytes:
        """The next frames, about `PIECE_BYTES` of them."""
        frames: list[bytes] = []
        size = 0
        while self._buffer and size < PIECE_BYTES:
            frame, _ = self._buffer.popleft()
            frames.append(frame)
            size += len(frame)
        self._size -= size
        return b"".join(frames)

    def _gives_way(self) -> bool:
        """Drop the oldest frame that is not owed; says whether there was one."""
        for number, (frame, owed) in enumerate(self._buffer):
            if not owed:
                del self._buffer[number]
                self._size -= len(frame)
                return True
        return False


class Exchange:
    """The answer to one request. `notify` may be called at any time; `finish` ends it, once.

    Attributes:
        streams: whether the client accepts a stream.
        frames: how a stream begins and ends, if it can be resumed.
        on_end: told when the stream has ended, and whether because its client does not read.
    """

    __slots__ = (
        "_closed",
        "_send",
        "_stream",
        "_tasks",
        "_timer",
        "_whole",
        "_write_timeout_s",
        "frames",
        "on_end",
        "streams",
    )

    def __init__(
        self,
        send: Send,
        tasks: TaskGroup,
        streams: bool,
        whole: Whole | None = None,
        write_timeout_s: float = WRITE_TIMEOUT_S,
    ) -> None:
        self._send = send
        self._tasks = tasks
        self._stream: _Stream | None = None
        self._timer: Timer | None = None
        self._whole = whole
        self._write_timeout_s = write_timeout_s
        self._closed = False
        self.streams = streams
        self.frames: Frames | None = None
        self.on_end: Callable[[bool], None] | None = None

    def notify(self, body: bytes) -> None:
        """Send a notification ahead of the result, where the client accepts a stream."""
        self.push(event(body))

    def push(self, frame: bytes, *, owed: bool = False) -> None:
        """Send a frame, where the client accepts a stream; what is `owed` does not give way to later ones."""
        if self.streams and not self._closed:
            self.open_stream()
            if self._stream is not None:
                self._stream.push(frame, owed=owed)

    def keep_alive(self, timekeeper: Timekeeper, every_s: float) -> None:
        """Send a comment whenever `every_s` seconds pass without an end."""
        if not self.streams or self._closed:
            return

        def ping() -> None:
            self.push(KEEPALIVE)
            self.keep_alive(timekeeper, every_s)

        self._timer = timekeeper.after(every_s, ping)

    def open_stream(self, headers: Sequence[RawHeader] = ()) -> None:
        """Begin the stream now, if it has not begun; not any more when the server stops."""
        if self._stream is None and not self._closed and not self._tasks.cancel_scope.cancel_called:
            stream = self._stream = _Stream(self._write_timeout_s)
            stream.on_end = self._ended
            if self.frames is not None and (first := self.frames.first()):
                stream.push(first, owed=True)
            self._tasks.start_soon(stream.pump, self._send, headers)

    def end(self) -> None:
        """End the stream after what was pushed; without an answer, which may come on another one."""
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()
        if self._stream is not None:
            self._stream.close()

    def answer(self, status: int, body: bytes) -> bool:
        """Send a JSON body at once, where no stream has begun and the server has a short way; else `finish` has to."""
        whole = self._whole
        if whole is None or self._stream is not None or not whole.answer(status, body):
            return False
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()
        return True

    async def finish(self, status: int, body: bytes | None, headers: Sequence[RawHeader] = ()) -> None:
        """Send the end: a JSON body with its status, or the last event. `None` ends without a message."""
        if self._stream is None:
            if headers or body is None or not self.answer(status, body):
                self.end()
                await send_plain(self._send, status, body, headers, self._write_timeout_s)
            return
        if body is not None and not self._closed:
            self._stream.push(event(body) if self.frames is None else self.frames.last(body), owed=True)
        self.end()
        await self._stream.sent.wait()

    async def hold(self, receive: Receive) -> None:
        """Wait until the stream has ended or its client has gone away."""
        with anyio.CancelScope() as scope:
            self.on_end = lambda _: scope.cancel()
            if self._stream is None or self._stream.sent.is_set():
                return
            while (await receive())["type"] != "http.disconnect":
                pass
        self.on_end = None

    async def ended(self) -> None:
        """Wait until somebody has ended the stream, if there is one, and all is sent."""
        if self._stream is not None:
            await self._stream.sent.wait()

    def _ended(self, lost: bool) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._closed = True
        if self.on_end is not None:
            self.on_end(lost)
