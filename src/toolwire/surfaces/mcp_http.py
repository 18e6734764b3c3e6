"""MCP over Streamable HTTP as a bare ASGI callable; it knows the wires and no tool, key or agent.

The order of the checks is fixed (gateway.md D22 and §6): host and origin, method, media types, credentials, size, JSON,
then the method. Every non-2xx answer has a JSON-RPC error body, because clients read that and not the status (D16).
Spec: MCP 2025-11-25 basic/transports#streamable-http; MCP 2026-07-28 basic/transports; contract mcp.md 1.
"""

import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import anyio
from anyio.abc import TaskGroup
from msgspec import Struct

from toolwire.core.call import Caller
from toolwire.core.errors import (
    InternalError,
    InvalidRequest,
    MethodNotAllowed,
    NotAcceptable,
    ServiceUnavailable,
    ToolwireError,
)
from toolwire.core.event import Stamped
from toolwire.core.ids import new_id
from toolwire.engine.engine import Engine
from toolwire.surfaces.accept import Accepted, accepted_types
from toolwire.surfaces.asked import Asked, Reply, error_reply
from toolwire.surfaces.endpoint import Door
from toolwire.surfaces.exchange import Exchange, RawHeader, Receive, Send, send_plain
from toolwire.surfaces.hop import Facts, Hop
from toolwire.surfaces.limits import (
    Disconnected,
    Guard,
    check_size,
    credentials_in,
    read_body,
)
from toolwire.surfaces.mcp_methods import KEEPING, LASTING, answer
from toolwire.surfaces.sessions import ChangeKept, Session, Sessions
from toolwire.surfaces.standalone import Standalone
from toolwire.wire.jsonrpc import NO_ID, Posted, decode, error_body
from toolwire.wire.mcp.client_features import pack_capabilities
from toolwire.wire.mcp.envelope import check_no_modern_meta, check_routing, names_version, read_meta
from toolwire.wire.mcp.param_headers import check_param_headers
from toolwire.wire.mcp.requests import read_cancelled
from toolwire.wire.mcp.versions import LATEST_MODERN, MODERN, is_legacy

logger = logging.getLogger("toolwire.surfaces")

REPLAYED_HEADER = (b"idempotency-replayed", b"true")
LAST_WORDS_S = 1.0
"""How long a request that is cancelled may take to say so to its client."""


class HttpSettings(Struct, frozen=True):
    """Sizes in bytes, times in seconds.

    `lenient_versions` believes the body of a request that names 2026-07-28 under a header of an older version, which
    some clients send; by default such a request is refused, because proxies may have routed it by its header.
    """

    request_limit_bytes: int = 1024 * 1024
    sse_keepalive_s: float = 15.0
    lenient_versions: bool = False


class McpHttp:
    """Serves every MCP endpoint behind a door. Use `running()` around serving."""

    def __init__(self, engine: Engine, door: Door, sessions: Sessions, guard: Guard, settings: HttpSettings) -> None:
        self._engine = engine
        self._door = door
        self._sessions = sessions
        self._guard = guard
        self._settings = settings
        self._tasks: TaskGroup | None = None
        self._standalone = Standalone(engine.timekeeper, settings.sse_keepalive_s)
        self._by_request: dict[tuple[str, int | str], list[_Running]] = {}

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Own the tasks of streams and watchers until the block ends."""
        async with anyio.create_task_group() as tasks:
            self._tasks = tasks
            try:
                yield
            finally:
                self._tasks = None
                tasks.cancel_scope.cancel()

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        """One HTTP request to an MCP endpoint."""
        hop = Hop(scope, receive, send)
        try:
            if hop.facts is None:  # else these very headers have been checked before
                self._guard.check(hop.headers)
            method = scope["method"]
            if method == "POST":
                await self._post(hop)
            elif method == "DELETE":
                await self._delete(hop)
            elif method == "GET":
                await self._listen(hop)
            elif method == "OPTIONS":
                await send_plain(send, 204, None, ((b"allow", b"POST, DELETE"),))
            else:
                raise _not_allowed(hop, f"{method} is not used here; POST JSON-RPC messages")
        except ToolwireError as error:
            await self._refuse(hop, error)
        except Disconnected:
            return
        except Exception:
            request_id = new_id("req")
            logger.exception("request %s failed inside the server", request_id)
            mistake = InternalError(f"a mistake of ours; the log has it under {request_id}", request_id=request_id)
            await self._refuse(hop, mistake)

    async def _post(self, hop: Hop) -> None:
        facts = hop.facts or hop.read_facts()
        admission = hop.admission = await self._door.admit(hop.scope["path"], hop.headers, facts.credentials)
        limit = self._settings.request_limit_bytes
        if hop.whole is not None:
            message = decode(check_size(hop.whole.content, limit))
        else:
            message = decode(await read_body(hop.receive, hop.headers, limit))
        version = facts.version
        if isinstance(message, Posted):
            if version is None:
                raise InvalidRequest("a response was posted; on this protocol version the server asks nothing")
            await send_plain(hop.send, 202, None)
            return
        modern = version is None or (self._settings.lenient_versions and names_version(message) in MODERN)
        spoken = LATEST_MODERN if modern or version is None else version
        asked = Asked(message, admission.caller, admission.endpoint, spoken, modern, facts.key)
        try:
            if not modern:
                await self._check_wire(hop, asked)
            elif message.is_request:
                _check_envelope(hop, asked, facts)
        except ToolwireError as error:
            reply = error_reply(asked, error)
            await send_plain(hop.send, reply.status, reply.body)
            return
        if message.is_request:
            await self._request(hop, asked, facts.accepted)
        else:
            self._notification(asked)
            await send_plain(hop.send, 202, None)

    async def _check_wire(self, hop: Hop, asked: Asked) -> None:
        """The initialize wire alone."""
        message = asked.message
        check_no_modern_meta(message, hop.headers.get(b"mcp-protocol-version"))
        token = hop.headers.get(b"mcp-session-id")
        if token is not None and message.method != "initialize":
            agent_id = asked.endpoint.agent_id
            asked.session = await self._sessions.find(token.decode("latin-1"), asked.caller, agent_id)
            if message.method in KEEPING:
                asked.keep = partial(self._keep, asked.session, asked.caller, agent_id)

    async def _keep(self, session: Session, caller: Caller, agent_id: str, change: ChangeKept) -> None:
        self._standalone.keeps(await self._sessions.keep(session, caller, agent_id, change))

    async def _request(self, hop: Hop, asked: Asked, accepted: Accepted) -> None:
        if self._tasks is None:
            refusal = error_reply(asked, _stopping())
            await send_plain(hop.send, refusal.status, refusal.body)
            return
        exchange = Exchange(hop.send, self._tasks, streams=accepted.sse, whole=hop.whole)
        is_call = asked.message.method in LASTING
        if is_call and not accepted.json:
            exchange.open_stream()
        try:
            reply = await (self._call(hop, asked, exchange) if is_call else answer(self._engine, asked))
        except BaseException:
            # We are cancelled, so the server stops: whoever waits is told, and no stream stays open behind us.
            with anyio.move_on_after(LAST_WORDS_S, shield=True):
                last = error_reply(asked, _stopping())
                await exchange.finish(last.status, asked.parting or last.body)
            raise
        if reply is None:
            await exchange.finish(202, None)
            return
        headers: tuple[RawHeader, ...] = ()
        if reply.replayed:
            headers = (REPLAYED_HEADER,)
        elif asked.message.method == "initialize" and not reply.refused:
            declared = pack_capabilities(asked.message.params.get("capabilities"))
            session = self._sessions.mint(asked.caller, asked.endpoint.agent_id, declared)
            headers = ((b"mcp-session-id", session.id.encode()),)
        if not accepted.json:
            exchange.open_stream(headers)
        await exchange.finish(reply.status, reply.body, headers)

    async def _call(self, hop: Hop, asked: Asked, exchange: Exchange) -> Reply | None:
        """A request of `LASTING`; `None` when it was cancelled."""
        running = _Running(self, hop, asked, exchange)
        if exchange.streams:
            asked.listener = running.hear
        self._engine.timekeeper.soon(running)
        try:
            if asked.session is not None:
                return await self._cancellable(running, (asked.session.id, asked.message.id_value))
            if asked.message.method == "tools/call":  # nobody can name it in notifications/cancelled
                return await answer(self._engine, asked)
            asked.notify = exchange.notify if exchange.streams else None
            with anyio.CancelScope() as running.scope:
                return await answer(self._engine, asked)
            return None
        finally:
            running.end()
            self._engine.timekeeper.forget(running)

    async def _cancellable(self, running: "_Running", key: tuple[str, int | str]) -> Reply | None:
        named = self._by_request.setdefault(key, [])
        named.append(running)
        try:
            with anyio.CancelScope() as running.scope:
                reply = await answer(self._engine, running.asked)
                return None if running.silent else reply
            return None
        finally:
            named.remove(running)
            if not named:
                del self._by_request[key]

    def _notification(self, asked: Asked) -> None:
        if asked.message.method != "notifications/cancelled" or asked.session is None:
            return
        id_ = read_cancelled(asked.message)
        named = self._by_request.get((asked.session.id, id_), ()) if id_ is not None else ()
        if len(named) == 1:  # with two under one id, cancelling the wrong one would be worse than cancelling none
            named[0].cancel(self._engine)

    async def _delete(self, hop: Hop) -> None:
        credentials = credentials_in(hop.scope["headers"])
        admission = hop.admission = await self._door.admit(hop.scope["path"], hop.headers, credentials)
        token = hop.headers.get(b"mcp-session-id")
        if not is_legacy(hop.headers.get(b"mcp-protocol-version")):
            raise _not_allowed(hop, "DELETE ends sessions, which this protocol version has not")
        if token is None:
            raise InvalidRequest("DELETE ends a session; name it in Mcp-Session-Id")
        agent_id = admission.endpoint.agent_id
        session = await self._sessions.find(token.decode("latin-1"), admission.caller, agent_id)
        await self._sessions.end(session, admission.caller, agent_id)
        self._standalone.end(session.id)
        await send_plain(hop.send, 200, None)

    async def _listen(self, hop: Hop) -> None:
        """The stream of a session, which the initialize wire alone has."""
        token = hop.headers.get(b"mcp-session-id")
        if token is None or not is_legacy(hop.headers.get(b"mcp-protocol-version")):
            raise _not_allowed(hop, "GET opens the stream of a session, and there is none; POST JSON-RPC messages")
        credentials = credentials_in(hop.scope["headers"])
        admission = hop.admission = await self._door.admit(hop.scope["path"], hop.headers, credentials)
        changes, agent_id = admission.endpoint.library.changes, admission.endpoint.agent_id
        session = await self._sessions.find(token.decode("latin-1"), admission.caller, agent_id)
        if changes is None or self._tasks is None:
            raise _not_allowed(hop, "nothing here has news to tell of; POST JSON-RPC messages")
        if not accepted_types(hop.headers).sse:
            raise NotAcceptable("GET opens a stream; accept text/event-stream")
        await self._standalone.serve(session, Exchange(hop.send, self._tasks, streams=True), changes, hop.receive)

    async def _refuse(self, hop: Hop, error: ToolwireError) -> None:
        """An error before there is a message to answer to."""
        legacy = is_legacy(hop.headers.get(b"mcp-protocol-version"))
        row = hop.admission.endpoint.row(error.code) if hop.admission else error.row
        raw_id = error.data.get("raw_id")
        id_ = NO_ID if raw_id is None else str(raw_id).encode()
        request_id = new_id("req")
        if error.told != error.message:
            logger.error("request %s was refused: %s", request_id, error.message)
        body = error_body(id_, row, error.code, error.told, {"request_id": request_id, **error.data})
        extra: list[RawHeader] = []
        if error.code == "unauthorized":
            extra.append((b"www-authenticate", self._door.challenge().encode()))
        if error.code == "method_not_allowed":
            extra.append((b"allow", str(error.data.get("allow", "POST")).encode()))
        if error.code == "rate_limited":
            seconds = -(-int(error.data.get("retry_after_ms", 1000)) // 1000)
            extra.append((b"retry-after", b"%d" % max(1, seconds)))
        await send_plain(hop.send, row.http_legacy if legacy else row.http_modern, body, extra)

    def watch(self, running: "_Running") -> None:
        """Look out for a client that goes away, and keep its stream alive."""
        if self._tasks is None:
            return
        running.exchange.keep_alive(self._engine.timekeeper, self._settings.sse_keepalive_s)
        if running.asked.modern:
            self._tasks.start_soon(running.watch_disconnect, self._engine)


def _check_envelope(hop: Hop, asked: Asked, facts: Facts) -> None:
    """The newer wire alone."""
    message = asked.message
    if facts.version is not None:  # its headers say nothing of the body, which is believed
        read_meta(message)
        return
    if facts.routing is None or not facts.routing.fits(message):
        facts.routing = check_routing(message, hop.headers)
    if message.method == "tools/call" and (mirrored := asked.endpoint.mirrored()):
        params = message.params
        found = mirrored.get(str(params.get("name")), ())
        check_param_headers(found, params.get("arguments"), hop.scope["headers"])


class _Running:
    """A request of `LASTING` in progress: hears its events, and is looked at when it has not ended within a tick."""

    __slots__ = ("_surface", "_watch", "asked", "exchange", "hop", "over", "scope", "silent")

    def __init__(self, surface: McpHttp, hop: Hop, asked: Asked, exchange: Exchange) -> None:
        self._surface = surface
        self._watch: anyio.CancelScope | None = None
        self.scope: anyio.CancelScope | None = None
        self.silent = False
        self.hop = hop
        self.asked = asked
        self.exchange = exchange
        self.over = False

    def hear(self, stamped: Stamped) -> None:
        """Pass on what the client wants to hear."""
        body = self.asked.notice(stamped.event)
        if body is not None:
            self.exchange.notify(body)

    def still_going(self) -> None:
        """Not over within a tick: from here on silence and absence matter."""
        self._surface.watch(self)

    def end(self) -> None:
        """The answer is known; stop looking, and leave no cycle behind for the collector."""
        self.over = True
        self.asked.listener = None
        if self._watch is not None:
            self._watch.cancel()

    def cancel(self, engine: Engine) -> None:
        """The client named this request in `notifications/cancelled`: nothing more is said of it (mcp.md S10)."""
        self.silent = True
        if not self._cancel_call(engine, "the client said so"):
            self.stop()

    def stop(self) -> None:
        """End the request, which stands for no call or for one that others want."""
        if self.scope is not None:
            self.scope.cancel()

    async def watch_disconnect(self, engine: Engine) -> None:
        """On 2026-07-28 a client that goes away cancels its call, unless a key still wants the result (D21)."""
        if self.over:
            return
        try:
            with anyio.CancelScope() as self._watch:
                while (await self.hop.receive())["type"] != "http.disconnect":
                    pass
        except Exception:  # this task's outermost frame: one request's failure must not end the group of all of them
            logger.exception("cannot tell whether a client is still there")
            return
        if not self.over and not self._cancel_call(engine, "the client went away") and self.asked.call_id is None:
            self.stop()

    def _cancel_call(self, engine: Engine, reason: str) -> bool:
        """End the call for which the request stands, if nobody else wants it; says whether that ends the request."""
        call_id = self.asked.call_id
        return call_id is not None and not self.asked.outlives_request and engine.cancel(call_id, reason)


def _not_allowed(hop: Hop, message: str) -> MethodNotAllowed:
    legacy = is_legacy(hop.headers.get(b"mcp-protocol-version"))
    return MethodNotAllowed(message, allow="POST, DELETE" if legacy else "POST")


def _stopping() -> ServiceUnavailable:
    return ServiceUnavailable("the server is stopping; ask again in a moment")
