"""MCP over stdin and stdout, one JSON-RPC message a line; it knows the wires, and no tool and no descriptor.

Spec: MCP 2025-11-25 and 2026-07-28, basic/transports#stdio.
"""

from collections.abc import Callable

import anyio
from anyio.abc import TaskGroup

from toolwire.core.call import Caller
from toolwire.core.change import Change, ListChanged
from toolwire.core.errors import InvalidRequest, ServiceUnavailable, ToolwireError, UnsupportedVersion
from toolwire.core.event import Stamped
from toolwire.core.ids import new_id
from toolwire.core.jsontypes import JsonObject, as_object
from toolwire.engine.engine import Engine
from toolwire.surfaces.asked import Asked, error_reply
from toolwire.surfaces.changes import Changes
from toolwire.surfaces.dialogue import Dialogue
from toolwire.surfaces.endpoint import Endpoint
from toolwire.surfaces.mcp_methods import LASTING, answer
from toolwire.surfaces.sessions import NOTHING_KEPT, ChangeKept
from toolwire.surfaces.stdio_pipe import MAX_LINE_BYTES, LineWriter, read_lines
from toolwire.wire.jsonrpc import NO_ID, Message, Posted, decode, error_body
from toolwire.wire.mcp.changes import cancelled_body, change_body
from toolwire.wire.mcp.envelope import check_no_modern_meta, names_version, read_meta
from toolwire.wire.mcp.requests import read_cancelled
from toolwire.wire.mcp.versions import LATEST_LEGACY, LATEST_MODERN, MODERN, negotiate

LAST_WORDS_S = 1.0
"""When we are stopped: how long what is cancelled may take to say so, and how long the client may take to read it."""


async def serve_stdio(
    engine: Engine, endpoint: Endpoint, caller: Caller, source: int, sink: int, stop: anyio.Event | None = None
) -> None:
    """Serve until `source` has ended and everything that it asked for has been answered and read.

    Args:
        engine: runs the calls; it must be running.
        endpoint: what is served.
        caller: who is on the other end.
        source: descriptor to read lines from.
        sink: descriptor to write lines to.
        stop: when set, serving ends at once; what is under way is cancelled and answered so.
    """
    async with anyio.create_task_group() as tasks:
        writer = LineWriter(sink)
        tasks.start_soon(writer.write)
        connection = _Connection(engine, endpoint, caller, writer)
        flushing = anyio.CancelScope()
        changes = endpoint.library.changes or Changes()
        async with anyio.create_task_group() as requests:
            with changes.heard(connection.hear), anyio.CancelScope() as serving:
                if stop is not None:
                    tasks.start_soon(_stop_when, stop, serving, flushing)
                async for line in read_lines(source):
                    await connection.take(line, requests)
                    await writer.room()
                connection.part()
                await connection.idle()
            connection.cancel()
            with anyio.move_on_after(LAST_WORDS_S):
                await connection.idle()
            requests.cancel_scope.cancel()
        with flushing:
            await writer.flushed()
        tasks.cancel_scope.cancel()


async def _stop_when(event: anyio.Event, serving: anyio.CancelScope, flushing: anyio.CancelScope) -> None:
    await event.wait()
    serving.cancel()
    flushing.deadline = anyio.current_time() + 2 * LAST_WORDS_S


class _Request:
    """A request of `LASTING` under way: hears of it, and may be cancelled."""

    __slots__ = ("_writer", "asked", "scope", "silent")

    def __init__(self, asked: Asked, writer: LineWriter) -> None:
        self._writer = writer
        self.asked = asked
        self.scope = anyio.CancelScope()
        self.silent = False
        asked.listener = self.hear

    def hear(self, stamped: Stamped) -> None:
        body = self.asked.notice(stamped.event)
        if body is not None:
            self._writer.tell(body)

    def cancel(self, engine: Engine, reason: str) -> None:
        """End the request, and its call unless a key still wants the result."""
        call_id = self.asked.call_id
        if call_id is None or self.asked.outlives_request or not engine.cancel(call_id, reason):
            self.scope.cancel()


class _Connection:
    """One client. Its first request decides for a wire; `server/discover` alone does not (mcp.md 1.1, S32)."""

    def __init__(self, engine: Engine, endpoint: Endpoint, caller: Caller, writer: LineWriter) -> None:
        self._engine = engine
        self._endpoint = endpoint
        self._caller = caller
        self._writer = writer
        self._modern: bool | None = None
        self._version = LATEST_LEGACY
        self._kept = NOTHING_KEPT
        self._is_initialized = False
        self._declared: JsonObject | None = None
        self._dialogue = Dialogue()
        self._under_way: dict[int | str, list[_Request]] = {}
        self._idle = anyio.Event()

    async def idle(self) -> None:
        """Wait until no request is under way."""
        while self._under_way:
            await self._idle.wait()

    def cancel(self) -> None:
        """Cancel all requests that are under way; each is answered so."""
        for requests in self._under_way.values():
            for request in requests:
                request.cancel(self._engine, "the server is stopping")

    async def take(self, line: bytes | None, requests: TaskGroup) -> None:
        """One line of the client's."""
        asked = None
        try:
            if line is None:
                raise InvalidRequest(f"a line is longer than {MAX_LINE_BYTES} bytes; send less at once")
            message = decode(line)
            if isinstance(message, Posted):
                self._dialogue.take(message, ("", self._caller.principal))
                return
            asked = self._asked(message)
            if not message.is_request:
                self._notification(message)
                return
            self._check_wire(asked)
        except ToolwireError as error:
            self._writer.put(self._refusal(asked, error))
            return
        if message.method in LASTING:
            request = _Request(asked, self._writer)
            self._under_way.setdefault(message.id_value, []).append(request)
            requests.start_soon(self._call, request)
            return
        reply = await answer(self._engine, asked)
        if message.method == "initialize" and not reply.refused:
            self._version = negotiate(message.params.get("protocolVersion"))
            self._is_initialized = True
            self._declared = as_object(message.params.get("capabilities")) or None
        self._writer.put(reply.body)

    def _asked(self, message: Message) -> Asked:
        modern = names_version(message) is not None and message.method != "initialize"
        version = LATEST_MODERN if modern else self._version
        asked = Asked(message, self._caller, self._endpoint, version, modern, kept=self._kept)
        asked.declared = self._declared
        asked.keep = self._keep
        asked.notify = self._writer.tell
        if not modern:
            asked.dialogue = self._dialogue
            asked.request = self._request
        return asked

    def _request(self, body: bytes) -> Callable[[], None]:
        self._writer.put(body)
        return _nothing

    async def _keep(self, change: ChangeKept) -> None:
        self._kept = change(self._kept)

    def hear(self, change: Change) -> None:
        """Tell a client of the initialize wire of a change; on the other it has asked with a request."""
        if self._is_initialized and (isinstance(change, ListChanged) or change.uri in self._kept.uris):
            self._writer.tell(change_body(change))

    def part(self) -> None:
        """End the requests that would never end by themselves, also those that had no time to begin."""
        for requests in self._under_way.values():
            for request in requests:
                if request.asked.message.method == "subscriptions/listen":
                    request.scope.cancel()
        self._dialogue.end()

    def _check_wire(self, asked: Asked) -> None:
        message = asked.message
        if asked.modern:
            if self._modern is False:
                raise InvalidRequest("this connection was initialized; requests on it carry no protocolVersion")
            meta = read_meta(message)
            if meta.version not in MODERN:
                raise UnsupportedVersion(
                    f"protocol version {meta.version!r} is not spoken here",
                    supported=list(MODERN),
                    requested=meta.version,
                )
        elif self._modern and message.method == "initialize":
            raise UnsupportedVersion(
                "this connection speaks requests that stand alone; initialize is not part of that",
                supported=list(MODERN),
                requested=_text(message.params.get("protocolVersion")),
            )
        elif self._modern:
            read_meta(message)
        else:
            check_no_modern_meta(message, None)
        if self._modern is None and message.method != "server/discover":
            self._modern = asked.modern

    def _refusal(self, asked: Asked | None, error: ToolwireError) -> bytes:
        if asked is not None:
            return error_reply(asked, error).body
        raw_id = error.data.get("raw_id")
        id_ = NO_ID if raw_id is None else str(raw_id).encode()
        return error_body(id_, error.row, error.code, error.told, {**error.data, "request_id": new_id("req")})

    async def _call(self, request: _Request) -> None:
        asked = request.asked
        try:
            reply = None
            if not request.silent:
                with request.scope:
                    reply = await answer(self._engine, asked)
            if not request.silent:
                stopping = ServiceUnavailable("the server is stopping; ask again when it is back")
                if reply is None and asked.parting is not None:
                    self._writer.put(cancelled_body(asked.message.id, "the server ends the subscription"))
                else:
                    self._writer.put((reply or error_reply(asked, stopping)).body)
        finally:
            same_id = self._under_way[asked.message.id_value]
            same_id.remove(request)
            if not same_id:
                del self._under_way[asked.message.id_value]
            self._idle.set()
            self._idle = anyio.Event()

    def _notification(self, message: Message) -> None:
        if message.method != "notifications/cancelled":
            return
        id_ = read_cancelled(message)
        named = self._under_way.get(id_, ()) if id_ is not None else ()
        if len(named) == 1:  # with two under one id, cancelling the wrong one would be worse than cancelling none
            named[0].silent = True
            named[0].cancel(self._engine, "the client said so")


def _nothing() -> None:
    pass


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
