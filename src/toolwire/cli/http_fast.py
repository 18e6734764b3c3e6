"""HTTP connections that do less work a request; an ASGI server still, which knows no path, no key and nothing of MCP.

Two things make them cheap (docs/adr/0013). A head that its connection has sent before, but for the length of the body,
is not parsed again: what the parser made of it is remembered. And requests that wait for nothing share one task of the
connection, where they come one after the other anyway, each with context variables of its own.

All else (another head, a large body, chunks, upgrades, pipelining) goes uvicorn's own way. An app may take a short cut
where it is offered one: `scope["extensions"]["toolwire.whole"]`, see `surfaces.exchange.Whole`.
"""

import asyncio
import re
from collections.abc import Awaitable, Coroutine, Generator
from contextvars import Context, copy_context
from functools import partial
from types import coroutine
from typing import Any, Final

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, RequestResponseCycle

from toolwire.cli.http_connection import HttpConnection
from toolwire.surfaces.exchange import SERVE, WHOLE, Receive, Send, Serve
from toolwire.surfaces.limits import map_headers

MAX_HEAD_BYTES: Final = 8 * 1024
"""Heads beyond this are parsed each time."""
MAX_HELD_BYTES: Final = 64 * 1024
"""The largest request that is waited for here until it is whole; uvicorn takes larger ones as they come."""

_LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*([0-9]{1,9})\r\n", re.IGNORECASE)
_UNFIT = frozenset({b"transfer-encoding", b"expect", b"upgrade"})
"""Headers that change how a message is read, or what follows it: a head that has one is parsed each time."""


class Head:
    """What a connection remembers of a head that was parsed.

    Args:
        before: the head up to the digits of its Content-Length.
        after: the rest of it.
        scope: what became of it.
    """

    __slots__ = ("_after", "_before", "_length_at", "_raw_headers", "_scope", "headers", "memo")

    def __init__(self, before: bytes, after: bytes, scope: dict[str, Any]) -> None:
        self._before = before
        self._after = after
        self._raw_headers: list[tuple[bytes, bytes]] = scope["headers"].copy()
        self._length_at = next(n for n, (name, _) in enumerate(self._raw_headers) if name == b"content-length")
        self._scope = scope.copy()
        self.headers = map_headers(header for header in self._raw_headers if header[0] != b"content-length")
        self.memo: dict[Any, Any] = {}

    def find(self, data: bytes) -> tuple[int, bytes] | None:
        """Where the body begins in `data` and the digits of its length; `None` when that has another head."""
        if not data.startswith(self._before):
            return None
        start = len(self._before)
        end = data.find(b"\r", start, start + 10)
        if not data.startswith(self._after, end) or not (digits := data[start:end]).isdigit():
            return None
        return end + len(self._after), digits

    def scope(self, digits: bytes, state: dict[str, Any]) -> dict[str, Any]:
        """The scope of a request with this head and a body of that length."""
        scope = self._scope.copy()
        headers = scope["headers"] = self._raw_headers.copy()
        headers[self._length_at] = (b"content-length", digits)
        scope["state"] = state.copy()
        return scope


class WholeRequest(RequestResponseCycle):
    """A request that is there as a whole, and its answer; a `surfaces.exchange.Whole`."""

    # uvicorn sets these on each request. Most keep their first value, which as the class's costs a request nothing.
    disconnected = False
    keep_alive = True
    waiting_for_100_continue = False
    access_log = False
    more_body = False
    response_started = False
    response_complete = False
    chunked_encoding = None
    expected_content_length = 0
    body = bytearray()
    left_nothing = False
    _event: asyncio.Event | None = None
    _read = False

    def __init__(self, connection: "FastConnection", head: Head, digits: bytes, content: bytes) -> None:
        self.content = content
        self.headers = head.headers
        self.memo = head.memo
        nothing: Any = None
        self.scope = nothing
        self._head = head
        self._digits = digits
        self.transport = connection.transport
        self.flow = connection.flow
        self.logger = connection.logger
        self.default_headers = connection.server_state.default_headers
        self._connection = connection

    @property
    def message_event(self) -> asyncio.Event:
        """Set when the client is gone or the answer complete."""
        if self._event is None:
            self._event = asyncio.Event()
        return self._event

    def in_asgi(self) -> tuple[Any, Receive, Send]:
        """See `surfaces.exchange.Whole`."""
        if self.scope is None:
            scope: Any = self._head.scope(self._digits, self._connection.app_state)
            scope["extensions"] = {WHOLE: self}
            self.scope = scope
        send: Any = self.send
        return self.scope, self.receive, send

    async def send_500_response(self) -> None:
        """The app has failed, or what it left has."""
        self.in_asgi()  # `send` wants to know the method
        await super().send_500_response()

    def on_response(self) -> None:
        """The answer is complete."""
        self._connection.on_whole_complete()

    def answer(self, status: int, body: bytes) -> bool:
        """See `surfaces.exchange.Whole`."""
        if self.response_started or not self.keep_alive or self.flow.write_paused:
            return False
        self.response_started = self.response_complete = True
        if not self.disconnected:
            start = self._connection.start_of_answer(status)
            self.transport.write(b"%b%d\r\ncontent-type: application/json\r\n\r\n%b" % (start, len(body), body))
        if self._event is not None:
            self._event.set()
        self._connection.on_whole_complete()
        return True

    def let_go(self) -> None:
        """The app has returned: leave no cycle behind for the collector."""
        nothing: Any = None
        self.scope = nothing

    async def receive(self) -> Any:
        """See ASGI; the body comes in one piece."""
        if self._read or self.disconnected or self.response_complete:
            return await super().receive()
        self._read = True
        return {"type": "http.request", "body": self.content, "more_body": False}


class FastConnection(HttpConnection):
    """One connection, which takes each request on one of two ways.

    *The long way* is uvicorn's: the parser reads the bytes, and each request gets a task. It also learns: the last head
    that was parsed is the `Head` that this connection remembers, if requests with it can be read without the parser.

    *The short way* is for a request that begins with the remembered head while the parser stands between two messages
    (`_between`) and nothing is being answered. It is cut out of the bytes as they came (waiting in `_held` for the rest
    of its body) and handed to the connection's own task (`_task`), which sleeps in `_wake` until there is a `_next`.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # uvicorn counts and logs requests on the long way alone.
        self._may_remember = self.limit_concurrency is None and not self.access_log
        self._between = True
        self._raw_head = b""  # of the message that the parser is reading, in case that it is to be remembered
        self._head: Head | None = None
        self._held = b""
        self._app: Any = self.app  # pyright: ignore[reportUnknownMemberType]
        self._task: asyncio.Task[None] | None = None
        self._next: WholeRequest | None = None
        self._wake: asyncio.Future[None] | None = None
        self._idle_since = 0.0
        self._starts_of_answers: dict[int, bytes] = {}
        self._shared_headers: list[tuple[bytes, bytes]] = []

    def data_received(self, data: bytes) -> None:
        """A part of a request has come, one, or more; a whole one with a head that is known goes the short way."""
        head = self._head
        if head is None or not self._between or self._is_answering:
            self._parse(data)
            return
        if self._held:
            data, self._held, self._coming = self._held + data, b"", False
        found = head.find(data)
        if found is None:
            self._parse(data)
            return
        start, digits = found
        missing = start + int(digits) - len(data)
        if missing == 0:
            self._begin(WholeRequest(self, head, digits, data[start:]))
        elif missing > 0 and len(data) + missing <= MAX_HELD_BYTES:
            self._hold(data)
        else:
            self._parse(data)

    def on_message_begin(self) -> None:
        """The parser is inside a message from here on."""
        self._between = False
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """A head was parsed."""
        super().on_headers_complete()
        raw, self._raw_head = self._raw_head, b""
        if raw:
            self._remember(raw)

    def on_message_complete(self) -> None:
        """The parser is between two messages now."""
        self._between = True
        super().on_message_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """The other side is gone."""
        super().connection_lost(exc)
        self._unset_keepalive_if_required()  # uvicorn leaves it to ring after a reset, and all that time keeps us alive
        self._head, self._held = None, b""
        if self._wake is not None and not self._wake.done():
            self._wake.set_result(None)

    def timeout_keep_alive_handler(self) -> None:
        """Close the connection if nothing was asked for long enough; each request only notes when it ended."""
        self.timeout_keep_alive_task = None
        if self._held or self._is_answering:
            return
        left = self._idle_since + self.timeout_keep_alive - self.loop.time()
        if left > 0:
            self.timeout_keep_alive_task = self.loop.call_later(left, self.timeout_keep_alive_handler)
        else:
            super().timeout_keep_alive_handler()

    def on_whole_complete(self) -> None:
        """What `on_response_complete` is to other requests."""
        self._idle_since = self.loop.time()
        if self.pipeline or self.flow.read_paused:
            self.on_response_complete()
            return
        self.server_state.total_requests += 1
        if self.timeout_keep_alive_task is None and not self.transport.is_closing():
            self.timeout_keep_alive_task = self.loop.call_later(
                self.timeout_keep_alive, self.timeout_keep_alive_handler
            )

    def start_of_answer(self, status: int) -> bytes:
        """An answer's first bytes, up to the value of its Content-Length."""
        if self._shared_headers is not self.server_state.default_headers:  # a new list each second, for the date
            self._shared_headers = self.server_state.default_headers
            self._starts_of_answers = {}
        start = self._starts_of_answers.get(status)
        if start is None:
            shared = b"".join(b"%b: %b\r\n" % header for header in self._shared_headers)
            start = self._starts_of_answers[status] = b"%b%bcontent-length: " % (STATUS_LINE[status], shared)
        return start

    @property
    def _is_answering(self) -> bool:
        return not self._is_fresh and not self.cycle.response_complete

    def _hold(self, data: bytes) -> None:
        """Wait for the rest of a request, in the parser's stead; `look` knows of it as of any other."""
        self._held = data
        if not self._coming:
            self._coming, self._since = True, self.loop.time()
        self._came = len(data)

    def _parse(self, data: bytes) -> None:
        if self._may_remember and self._between and data.startswith(b"POST "):
            self._raw_head = data[: data.find(b"\r\n\r\n", 0, MAX_HEAD_BYTES) + 4]
        super().data_received(data)

    def _remember(self, raw: bytes) -> None:
        """Keep what the parser made of a head, if the next request may have the same and be read without it."""
        self._head = None
        found = _LENGTH.search(raw)
        names = [name for name, _ in self.headers]
        fits = names.count(b"content-length") == 1 and _UNFIT.isdisjoint(names) and self.cycle.keep_alive
        if found is not None and fits and raw.endswith(b"\r\n\r\n"):
            scope: Any = self.scope
            self._head = Head(raw[: found.start(1)], raw[found.end(1) :], scope)

    def _begin(self, whole: WholeRequest) -> None:
        self.cycle = whole
        wake = self._wake
        if wake is not None and not wake.done():
            self._next = whole
            wake.set_result(None)
        elif self._task is None or self._task.done():  # its callback comes after what the loop has read meanwhile
            self._next = whole
            self._task = self.loop.create_task(self._serve())
            self.tasks.add(self._task)
            self._task.add_done_callback(self._served)
        else:  # an app that goes on after its answer must not hold up the next one
            whole.in_asgi()
            self._start_asgi_task(whole, partial(_call_and_part, self._app))

    async def _serve(self) -> None:
        """Serve one request after the other, up to one that waits and may leave something in its task: it ends then."""
        while (whole := self._next) is not None:
            self._next = None
            context = copy_context()
            app = self._app_for(whole, context)
            waited = app is not None and await _apart(whole.run_asgi(app), context)
            whole.let_go()
            if (waited and not whole.left_nothing) or self.transport.is_closing():
                return
            del whole, context, app
            self._wake = self.loop.create_future()
            await self._wake
            self._wake = None

    def _app_for(self, whole: WholeRequest, context: Context) -> Any:
        """What is to be called for a request; `None` when it is answered already."""
        serve: Serve | None = whole.memo.get(SERVE)
        if serve is not None:
            try:
                return _as_app(context.run(serve, whole))
            except Exception:
                self.logger.exception("a request cannot be served the short way")
        whole.in_asgi()
        return self._app

    def _served(self, task: "asyncio.Task[None]") -> None:
        self.tasks.discard(task)
        if self._task is task:
            self._task = self._wake = None


async def _call_and_part(app: Any, scope: Any, receive: Any, send: Any) -> None:
    """Call an app, and leave no cycle of the request and its scope behind for the collector."""
    try:
        await app(scope, receive, send)
    finally:
        scope["extensions"] = {}


def _as_app(rest: Awaitable[None] | None) -> Any:
    """What is left to do for a request, for the frame that calls apps and looks after what comes of it."""

    def app(*asgi: Any) -> Awaitable[None] | None:
        return rest

    return None if rest is None else app


@coroutine
def _apart(steps: Coroutine[Any, Any, None], context: Context) -> Generator[Any, Any, bool]:
    """Await `steps` in the running task, but with context variables of their own; says whether they had to wait."""
    step: Any = steps.send
    said: Any = None
    waited = False
    while True:
        try:
            awaited = context.run(step, said)
        except StopIteration:
            return waited
        waited = True
        try:
            said = yield awaited
            step = steps.send
        except BaseException as error:  # noqa: BLE001 - cancellation too is for those who wait inside
            step, said = steps.throw, error
