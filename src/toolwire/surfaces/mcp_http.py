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
    ToolwireError,
)
from toolwire.core.ids import new_id
from toolwire.engine.engine import Engine
from toolwire.surfaces.accept import Accepted, accepted_types
from toolwire.surfaces.asked import Asked, Reply, error_reply
from toolwire.surfaces.dialogue import Dialogue
from toolwire.surfaces.endpoint import Admission, Door
from toolwire.surfaces.event_ids import EventIds, holder_of
from toolwire.surfaces.exchange import WRITE_TIMEOUT_S, Exchange, RawHeader, Receive, Send, send_plain
from toolwire.surfaces.held_open import HeldOpen, revoked
from toolwire.surfaces.hop import Facts, Hop
from toolwire.surfaces.limits import (
    Disconnected,
    Guard,
    check_size,
    credentials_in,
    read_body,
)
from toolwire.surfaces.mcp_methods import KEEPING, LASTING, answer
from toolwire.surfaces.plain_requests import PlainRequests
from toolwire.surfaces.resume import Resumption, is_said
from toolwire.surfaces.running import Running
from toolwire.surfaces.sending import headers_of, part, retry_later, send_reply, stopping
from toolwire.surfaces.sessions import ChangeKept, Session, Sessions
from toolwire.surfaces.standalone import Standalone
from toolwire.surfaces.streams import ResumeLimits, Streams
from toolwire.wire.jsonrpc import NO_ID, Posted, decode, error_body
from toolwire.wire.mcp.client_features import pack_capabilities
from toolwire.wire.mcp.envelope import check_no_modern_meta, check_routing, names_version, read_meta
from toolwire.wire.mcp.param_headers import check_param_headers
from toolwire.wire.mcp.requests import read_cancelled
from toolwire.wire.mcp.versions import LATEST_LEGACY, LATEST_MODERN, MODERN, is_legacy, legacy_version

logger = logging.getLogger("toolwire.surfaces")


class HttpSettings(Struct, frozen=True):
    """Sizes in bytes, times in seconds.

    `lenient_versions` believes the body of a request that names 2026-07-28 under a header of an older version, which
    some clients send; by default such a request is refused, because proxies may have routed it by its header.
    `write_timeout_s` is how long a client may take nothing of its answer. `resume` says what is kept for clients that
    come back for the rest of a stream.
    """

    request_limit_bytes: int = 1024 * 1024
    sse_keepalive_s: float = 15.0
    lenient_versions: bool = False
    write_timeout_s: float = WRITE_TIMEOUT_S
    resume: ResumeLimits = ResumeLimits()


class McpHttp:
    """Serves every MCP endpoint behind a door. Use `running()` around serving.

    What a request holds open ends with its credential; `held_open` is where that is said, if credentials can end.
    """

    def __init__(
        self,
        engine: Engine,
        door: Door,
        sessions: Sessions,
        guard: Guard,
        settings: HttpSettings,
        held_open: HeldOpen | None = None,
    ) -> None:
        self.engine = engine
        self.held_open = held_open or HeldOpen()
        self.streams = Streams(engine, EventIds(sessions.derive(b"event")), settings.resume)
        self._door = door
        self._sessions = sessions
        self._guard = guard
        self._settings = settings
        self._tasks: TaskGroup | None = None
        self._standalone = Standalone(engine.timekeeper, settings.sse_keepalive_s, settings.resume.retry_ms)
        self._dialogue = Dialogue()
        self._plain = PlainRequests(self, self.__call__, self._exchange, sessions, settings.request_limit_bytes)
        self._by_request: dict[tuple[str, int | str], list[Running]] = {}

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Own the tasks of streams and watchers until the block ends."""
        async with anyio.create_task_group() as tasks:
            self._tasks = self._plain.tasks = tasks
            try:
                yield
            finally:
                self._tasks = self._plain.tasks = None
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
        if await self._plain.answer(hop, facts, admission, message):
            return
        version = facts.version
        if isinstance(message, Posted):
            if version is None:
                raise InvalidRequest("a response was posted; on this protocol version the server asks nothing")
            await self._take(hop, admission, message)
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
            await send_plain(hop.send, reply.status, reply.body, retry_later(reply))
            return
        if message.is_request:
            await self._request(hop, asked, facts.accepted)
        else:
            self._notification(asked)
            await send_plain(hop.send, 202, None)

    async def _take(self, hop: Hop, admission: Admission, posted: Posted) -> None:
        """A response to what we have asked a session; without a session nothing was asked."""
        token = hop.headers.get(b"mcp-session-id")
        if token is not None:
            caller, agent_id = admission.caller, admission.endpoint.agent_id
            session = await self._sessions.find(token.decode("latin-1"), caller, agent_id)
            self._dialogue.take(posted, (session.id, caller.principal))

    async def _check_wire(self, hop: Hop, asked: Asked) -> None:
        """The initialize wire alone."""
        message = asked.message
        check_no_modern_meta(message, hop.headers.get(b"mcp-protocol-version"))
        token = hop.headers.get(b"mcp-session-id")
        if message.method == "initialize":
            if self._sessions.limit:
                await self._sessions.check_room(asked.caller)
        elif token is not None:
            agent_id = asked.endpoint.agent_id
            asked.session = await self._sessions.find(token.decode("latin-1"), asked.caller, agent_id)
            asked.dialogue = self._dialogue
            if message.method in KEEPING:
                asked.keep = partial(self._keep, asked.session, asked.caller, agent_id)

    async def _keep(self, session: Session, caller: Caller, agent_id: str, change: ChangeKept) -> None:
        self._standalone.keeps(await self._sessions.keep(session, caller, agent_id, change))

    async def _request(self, hop: Hop, asked: Asked, accepted: Accepted) -> None:
        if self._tasks is None:
            refusal = error_reply(asked, stopping())
            await send_plain(hop.send, refusal.status, refusal.body)
            return
        exchange = self._exchange(accepted, self._tasks, hop)
        is_call = asked.message.method in LASTING
        try:
            reply = await (self._call(hop, asked, exchange, accepted) if is_call else answer(self.engine, asked))
        except BaseException:
            await part(self.streams, exchange, asked)
            raise
        headers: tuple[RawHeader, ...] = ()
        if reply is None:
            pass
        elif reply.replayed or reply.refused:
            headers = headers_of(reply)
        elif asked.message.method == "initialize":
            declared = pack_capabilities(asked.message.params.get("capabilities"))
            session = self._sessions.mint(asked.caller, asked.endpoint.agent_id, declared)
            headers = ((b"mcp-session-id", session.id.encode()),)
        if not accepted.json:
            exchange.open_stream(headers)
        await send_reply(self.streams, exchange, reply, headers)

    def _exchange(self, accepted: Accepted, tasks: TaskGroup, hop: Hop) -> Exchange:
        return Exchange(hop.send, tasks, accepted.sse, hop.whole, self._settings.write_timeout_s)

    async def _call(self, hop: Hop, asked: Asked, exchange: Exchange, accepted: Accepted) -> Reply | None:
        """A request of `LASTING`; `None` when it was cancelled."""
        running = Running(self, hop, asked, exchange)
        if not accepted.json:
            exchange.open_stream()
        self.engine.timekeeper.soon(running)
        try:
            reply = await self._answer(running, asked, exchange)
        finally:
            running.end()
            self.engine.timekeeper.forget(running)
        return error_reply(asked, revoked()) if running.revoked else reply

    async def _answer(self, running: Running, asked: Asked, exchange: Exchange) -> Reply | None:
        if asked.session is not None:
            return await self._cancellable(running, (asked.session.id, asked.message.id_value))
        if asked.message.method == "tools/call":  # nobody can name it in notifications/cancelled
            return await answer(self.engine, asked)
        asked.notify = exchange.notify if exchange.streams else None
        with anyio.CancelScope() as running.scope:
            return await answer(self.engine, asked)
        return None

    async def _cancellable(self, running: Running, key: tuple[str, int | str]) -> Reply | None:
        named = self._by_request.setdefault(key, [])
        named.append(running)
        try:
            with anyio.CancelScope() as running.scope:
                reply = await answer(self.engine, running.asked)
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
            named[0].cancel()

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
        """The stream of a session, or the rest of any stream; the initialize wire alone has them."""
        token, last_id = hop.headers.get(b"mcp-session-id"), hop.headers.get(b"last-event-id")
        version = legacy_version(hop.headers.get(b"mcp-protocol-version"))
        if version is None or (token is None and not last_id):
            raise _not_allowed(hop, "GET opens the stream of a session, and there is none; POST JSON-RPC messages")
        credentials = credentials_in(hop.scope["headers"])
        admission = hop.admission = await self._door.admit(hop.scope["path"], hop.headers, credentials)
        endpoint, session = admission.endpoint, None
        if token is not None:
            session = await self._sessions.find(token.decode("latin-1"), admission.caller, endpoint.agent_id)
        holder = holder_of(admission.caller, endpoint.agent_id, session)
        after = self.streams.ids.read(last_id.decode("latin-1"), holder) if last_id else None
        if self._tasks is None or (after is None and endpoint.library.changes is None):
            raise _not_allowed(hop, "nothing here has news to tell of; POST JSON-RPC messages")
        if not accepted_types(hop.headers).sse:
            raise NotAcceptable("GET opens a stream; accept text/event-stream")
        if after is not None and is_said(self.streams, after):
            await send_plain(hop.send, 204, None)  # what tells a reader of event streams not to come back
            return
        exchange = Exchange(hop.send, self._tasks, streams=True, write_timeout_s=self._settings.write_timeout_s)
        with self.held_open.of(admission.credential_id).opened(exchange.end):
            if after is not None and after.kind == "call":
                exchange.keep_alive(self.engine.timekeeper, self._settings.sse_keepalive_s)
                await Resumption(self.streams, admission, session, after).serve(exchange, hop.receive)
            elif session is not None and endpoint.library.changes is not None:
                seal = partial(self.streams.ids.mint, holder=holder) if version == LATEST_LEGACY else None
                await self._standalone.serve(session, exchange, endpoint.library, hop.receive, seal, after)

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
            extra.append((b"www-authenticate", self._door.challenge(hop.scope["path"], hop.headers).encode()))
        if error.code == "method_not_allowed":
            extra.append((b"allow", str(error.data.get("allow", "POST")).encode()))
        if error.code == "rate_limited":
            seconds = -(-int(error.data.get("retry_after_ms", 1000)) // 1000)
            extra.append((b"retry-after", b"%d" % max(1, seconds)))
        await send_plain(hop.send, row.http_legacy if legacy else row.http_modern, body, extra)

    def watch(self, running: Running) -> None:
        """Look out for a client that goes away, and keep its stream alive."""
        if self._tasks is None:
            return
        running.exchange.keep_alive(self.engine.timekeeper, self._settings.sse_keepalive_s)
        if running.asked.modern:
            running.exchange.on_end = running.lost
            self._tasks.start_soon(running.watch_disconnect)


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


def _not_allowed(hop: Hop, message: str) -> MethodNotAllowed:
    legacy = is_legacy(hop.headers.get(b"mcp-protocol-version"))
    return MethodNotAllowed(message, allow="POST, DELETE" if legacy else "POST")
