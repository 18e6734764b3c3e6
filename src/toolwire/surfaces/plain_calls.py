"""`tools/call` that brings nothing but a tool's name and arguments, read in one go; it answers for nothing else.

Most calls are such, with an idempotency key among the arguments or without one. What else a call may bring (a webhook,
a progress token, a session, …) then need not be asked for one by one. It decides nothing of its own: a request that any
check might refuse, or that is more than plain, is left to `mcp_http` and `mcp_methods`, which make of a plain one what
is made of it here. Spec: contract mcp.md 1.3.
"""

from collections.abc import Awaitable, Callable
from typing import Any

from msgspec import Struct

from toolwire.core.call import Call, Caller
from toolwire.core.errors import InvalidArguments, ToolwireError
from toolwire.core.ids import new_id
from toolwire.core.jsontypes import JsonObject, as_object
from toolwire.engine.catalog import Entry
from toolwire.engine.claims import Submission
from toolwire.engine.engine import Engine
from toolwire.surfaces.asked import Asked, Reply, error_reply
from toolwire.surfaces.endpoint import Admission, Endpoint, Extras
from toolwire.surfaces.exchange import Exchange, Whole
from toolwire.surfaces.held_open import revoked
from toolwire.surfaces.hop import Facts, Hop
from toolwire.surfaces.mcp_methods import ended, refused, unfit
from toolwire.surfaces.running import Running, Watcher
from toolwire.surfaces.sending import headers_of, part, send_reply
from toolwire.surfaces.sessions import Session
from toolwire.surfaces.task_state import call_meta
from toolwire.wire.jsonrpc import Message, result_body
from toolwire.wire.mcp.asking import ANSWER_PARAMS
from toolwire.wire.mcp.client_features import unpack_capabilities
from toolwire.wire.mcp.envelope import CAPABILITIES_KEY, CLIENT_INFO_KEY, VERSION_KEY
from toolwire.wire.mcp.replies import tool_result
from toolwire.wire.mcp.versions import LATEST_MODERN

_ENVELOPE = frozenset((VERSION_KEY, CAPABILITIES_KEY, CLIENT_INFO_KEY))
"""What `_meta` may hold of a request that asks for nothing by it."""


class PlainCall(Struct, frozen=True):
    """A plain call, and the request that it came in by. `version` is `None` on 2026-07-28."""

    call: Call
    entry: Entry
    endpoint: Endpoint
    message: Message
    version: str | None
    began_at: float

    def asked(self) -> Asked:
        """The request as those know it who answer for more than plain ones."""
        call, modern = self.call, self.version is None
        version, lasts = self.version or LATEST_MODERN, call.outlives_request
        return Asked(self.message, call.caller, self.endpoint, version, modern, call_id=call.id, outlives_request=lasts)


def read_plain(
    engine: Engine, facts: Facts, admission: Admission, message: Message, session: Session | None = None
) -> PlainCall | None:
    """The call that a request is, if all that it says is plain and passes every check; else `None`.

    One of a session is plain only if it has no conversation and is over at once: until then it could be cancelled.
    """
    params, endpoint, caller = message.params, admission.endpoint, admission.caller
    capabilities = _declared(facts, message)
    arguments = as_object(params.get("arguments"))
    if capabilities is None or arguments is None:
        return None
    entry = endpoint.catalog.get(params["name"])
    extras = None if entry is None else _plain_extras(entry, endpoint, arguments)
    if entry is None or extras is None:
        return None
    if session is not None:
        if endpoint.owns_context is not None or extras.idempotency_key is not None or not is_over_at_once(entry):
            return None
        caller = Caller(caller.principal, caller.owner, caller.surface, caller.scopes, session.id)
        capabilities = unpack_capabilities(session.capabilities)
    if entry.may_ask and (capabilities or not ANSWER_PARAMS.isdisjoint(params)):
        return None
    now, own_s = engine.clock.now(), entry.tool.timeout_s
    call = Call(
        new_id("call"),
        caller,
        entry.tool.name,
        extras.arguments,
        now + (endpoint.call_timeout_s if own_s is None else own_s),
        endpoint.agent_id,
        extras.idempotency_key,
        context_id=None if endpoint.owns_context is None else new_id("ch"),
        client_capabilities=capabilities or None,
    )
    if not engine.ready or (endpoint.watch is not None and endpoint.watch.stands(call)):
        return None
    return PlainCall(call, entry, endpoint, message, facts.version, now)


def _declared(facts: Facts, message: Message) -> JsonObject | None:
    """What the client of a plain `tools/call` can do; `None` if it is none, or its headers say something else."""
    params = message.params
    if message.method != "tools/call" or not message.is_request:
        return None
    if facts.version is not None:
        return None if "_meta" in params or type(params.get("name")) is not str else {}
    routing, meta = facts.routing, as_object(params.get("_meta"))
    if routing is None or routing.method != "tools/call" or params.get("name") != routing.name:
        return None
    if meta is None or not _ENVELOPE.issuperset(meta) or meta.get(VERSION_KEY) != routing.version:
        return None
    return as_object(meta.get(CAPABILITIES_KEY))


def _plain_extras(entry: Entry, endpoint: Endpoint, arguments: JsonObject) -> Extras | None:
    """The arguments of the tool's own, and perhaps a key; `None` where they or the tool ask for anything else."""
    tool = entry.tool
    if tool.task != "never" or tool.name in endpoint.mirrored():
        return None
    if endpoint.take_extras is None:
        return Extras(arguments)
    try:
        extras = endpoint.take_extras(tool.name, arguments)
    except ToolwireError:
        return None
    return None if extras.attachments or extras.context_id is not None else extras


def is_over_at_once(entry: Entry) -> bool:
    """Whether a tool never waits, nor anybody for it."""
    return entry.is_prompt and entry.delegate is None


def serve_plain(host: Watcher, plain: PlainCall, whole: Whole | None, ways: "Ways") -> Awaitable[None] | None:
    """Run a plain call and answer its request, at once if its tool never waits; else the rest is to be awaited.

    Args:
        host: looks after the call if it takes long.
        plain: the call.
        whole: the request, where it has a short way for its answer.
        ways: the ways for answers that need more than that.
    """
    if not is_over_at_once(plain.entry) or plain.call.durable:
        return _serve_waiting(host, plain, whole, ways)
    reply = _answer_at_once(host.engine, plain)
    if _is_sent(whole, reply):
        return None
    return send_reply(host.streams, ways.exchange(ways.hop()), reply, headers_of(reply))


async def _serve_waiting(host: Watcher, plain: PlainCall, whole: Whole | None, ways: "Ways") -> None:
    late = _Late(host, plain, ways)
    try:
        reply = await _answer(host.engine, plain, late)
    except BaseException:
        await part(host.streams, late.exchange or ways.exchange(ways.hop()), plain.asked())
        raise
    finally:
        late.end()
    if late.revoked:
        reply = error_reply(plain.asked(), revoked())
    if late.exchange is not None or not _is_sent(whole, reply):
        await send_reply(host.streams, late.exchange or ways.exchange(ways.hop()), reply, headers_of(reply))
    elif whole is not None and plain.entry.delegate is not None:
        whole.left_nothing = True  # no author's code has run here, and what we do in a task ends with the call


def _is_sent(whole: Whole | None, reply: Reply) -> bool:
    """Send an answer the short way, if there is one and it is wide enough."""
    return whole is not None and not headers_of(reply) and whole.answer(reply.status, reply.body)


def _answer_at_once(engine: Engine, plain: PlainCall) -> Reply:
    try:
        record = engine.prompt_calls.run(plain.call, plain.entry, plain.began_at)
    except Exception as error:  # noqa: BLE001 -- as `mcp_methods.answer`
        return _refused(plain, error)
    return _ended(plain, Submission(record))


async def _answer(engine: Engine, plain: PlainCall, late: "_Late") -> Reply:
    try:
        submission = await engine.submit(plain.call, plain.endpoint.catalog, None, late)
    except Exception as error:  # noqa: BLE001 -- as `mcp_methods.answer`
        return _refused(plain, error)
    return _ended(plain, submission)


def _refused(plain: PlainCall, error: Exception) -> Reply:
    return unfit(plain.asked(), error) if isinstance(error, InvalidArguments) else refused(plain.asked(), error)


def _ended(plain: PlainCall, submission: Submission) -> Reply:
    result, endpoint = submission.record.result, plain.endpoint
    assert result is not None
    if result.error is not None or submission.replayed:
        return ended(plain.asked(), submission)
    meta, version = call_meta(endpoint, plain.call), plain.version
    body = tool_result(result, meta, endpoint.stamp if version is None else None, version or LATEST_MODERN)
    return Reply(result_body(plain.message.id, body))


class Ways(Struct, frozen=True):
    """How a request looks to those who do more for it, and how its answer goes out by them: made when it is needed."""

    hop: Callable[[], Hop]
    exchange: Callable[[Hop], Exchange]


class _Late:
    """Looks after a plain call that has not ended within a tick, as after any other request that lasts.

    Attributes:
        exchange: what its answer goes out on from then on.
        revoked: see `running.Running`.
    """

    __slots__ = ("_host", "_plain", "_running", "_ways", "exchange", "over", "revoked")

    def __init__(self, host: Watcher, plain: PlainCall, ways: Ways) -> None:
        self._host = host
        self._plain = plain
        self._ways = ways
        self._running: Running | None = None
        self.exchange: Exchange | None = None
        self.over = self.revoked = False

    def still_going(self) -> None:
        """See `engine.deadline.Watched`."""
        hop = self._ways.hop()
        self.exchange = exchange = self._ways.exchange(hop)
        self._running = Running(self._host, hop, self._plain.asked(), exchange)
        self._running.still_going()

    def end(self) -> None:
        """The answer is known; leave no cycle behind for the collector."""
        self.over = True
        if self._running is not None:
            self._running.end()
            self.revoked = self._running.revoked
        nothing: Any = None
        self._ways = nothing
