"""What each MCP method does, on either wire; it reads no bytes and sends none.

`METHODS` is the gate: a (method, wire) that is missing there does not exist. Spec: contract mcp.md 1.2.
"""

import logging
from collections.abc import Awaitable, Callable, Mapping

from msgspec.structs import replace

from toolwire.core.call import Call, Caller, TaskTerms
from toolwire.core.errors import (
    InternalError,
    InvalidArguments,
    InvalidParam,
    MethodNotFound,
    MissingCapability,
    PageRequired,
    SessionNotFound,
    ToolwireError,
)
from toolwire.core.ids import new_id
from toolwire.core.jsontypes import JsonObject
from toolwire.core.result import TOOL_FAILED, Failure, failed
from toolwire.engine.catalog import Entry
from toolwire.engine.claims import check_key
from toolwire.engine.engine import Engine, Submission
from toolwire.engine.record import Listener
from toolwire.surfaces.asked import Asked, Reply, error_reply, failure_reply, result_reply
from toolwire.surfaces.endpoint import Endpoint, Extras
from toolwire.surfaces.mcp_asking import can_be_asked, submit_asking
from toolwire.surfaces.mcp_changes import listen, subscribe, unsubscribe
from toolwire.surfaces.mcp_logging import set_level, wanted_level
from toolwire.surfaces.mcp_prompts import complete, get_prompt, list_prompts
from toolwire.surfaces.mcp_resources import list_resources, list_templates, read_resource
from toolwire.surfaces.mcp_tasks import (
    cancel_task,
    created_reply,
    get_task,
    submit_task,
    task_terms,
    update_task,
)
from toolwire.surfaces.task_state import CONTEXT_KEY, call_meta
from toolwire.wire.jsonrpc import result_body
from toolwire.wire.mcp.handshake import discover_result, initialize_result
from toolwire.wire.mcp.replies import CACHED_PRIVATELY, tool_result, tools_list_result
from toolwire.wire.mcp.requests import ToolCall, meta_milliseconds, meta_string, read_cursor, read_tool_call
from toolwire.wire.rest import rfc3339

logger = logging.getLogger("toolwire.surfaces")

KEY_KEY = "toolwire/idempotency_key"
REPLAY_KEY = "toolwire/idempotency"
TIMEOUT_KEY = "toolwire/timeout_ms"
WEBHOOK_KEY = "toolwire/webhook"
FOR_THE_CLIENT = frozenset({MissingCapability.code, PageRequired.code})
"""Failures of a tool that are not for the model to read: the client itself has to do something about them."""


async def answer(engine: Engine, asked: Asked) -> Reply:
    """The one response that a request is owed; refusals are responses too."""
    method = METHODS.get((asked.message.method, asked.modern))
    try:
        if method is None:
            raise MethodNotFound(f"method {asked.message.method!r} does not exist on protocol version {asked.version}")
        return await method(engine, asked)
    except Exception as error:  # noqa: BLE001 -- the outermost frame that still knows which id to answer to
        return refused(asked, error)


def refused(asked: Asked, error: Exception) -> Reply:
    """The response to a request that `error` has ended."""
    if isinstance(error, ToolwireError):
        return error_reply(asked, error)
    request_id = new_id("req")
    logger.error("request %s failed inside the server", request_id, exc_info=error)
    mistake = InternalError(f"a mistake of ours; the log has it under {request_id}")
    return error_reply(asked, mistake, request_id)


async def _initialize(engine: Engine, asked: Asked) -> Reply:
    return result_reply(asked, initialize_result(asked.message, asked.endpoint.info, asked.endpoint.features))


async def _discover(engine: Engine, asked: Asked) -> Reply:
    return result_reply(asked, {**discover_result(asked.endpoint.info, asked.endpoint.features), **CACHED_PRIVATELY})


async def _ping(engine: Engine, asked: Asked) -> Reply:
    return result_reply(asked, {})


async def _tools_list(engine: Engine, asked: Asked) -> Reply:
    read_cursor(asked.message)
    if (look := asked.endpoint.library.look) is not None:
        await look()
    stamp = asked.endpoint.stamp if asked.modern else None
    return Reply(result_body(asked.message.id, tools_list_result(asked.endpoint.catalog.listing(), stamp)))


async def _tools_call(engine: Engine, asked: Asked) -> Reply:
    params = read_tool_call(asked.message)
    endpoint = asked.endpoint
    entry, terms = endpoint.catalog.get(params.name), None
    call = await _call_of(engine, asked, params, entry)
    asked.call_id = call.id
    asked.outlives_request = call.outlives_request
    if entry is not None and entry.tool.task != "never":
        terms = task_terms(engine, asked, call, entry.tool)
    asked.progress_token = params.progress_token
    try:
        asked.log_level = wanted_level(asked, params.meta)
        is_heard = params.progress_token is not None or asked.log_level is not None
        listener = asked.listener if is_heard and terms is None else None
        if terms is None and (entry is None or not entry.may_ask):
            submission = await engine.submit(call, endpoint.catalog, listener)
        else:
            submission = await _submit(engine, asked, call, listener, terms)
        if isinstance(submission, Reply):
            return submission
    except InvalidArguments as error:
        return unfit(asked, error)
    may_be_task = terms is not None or submission.record.call.task is not None
    told = created_reply(engine, asked, submission, terms) if may_be_task else None
    return told or ended(asked, submission)


def unfit(asked: Asked, error: InvalidArguments) -> Reply:
    """The response to a call whose arguments do not fit."""
    endpoint = asked.endpoint
    if endpoint.plane == "gateway":
        return error_reply(asked, error)
    # MCP's own plane: the model called a tool that exists, so the model is told (mcp.md S21).
    body = tool_result(failed(error.message), None, endpoint.stamp if asked.modern else None, asked.version)
    return Reply(result_body(asked.message.id, body))


async def _submit(
    engine: Engine, asked: Asked, call: Call, listener: Listener | None, terms: TaskTerms | None
) -> Submission | Reply:
    """What becomes of a task, or of a call that may ask: its record, which of a task need not be over, or a `Reply`."""
    if terms is not None:
        return await submit_task(engine, asked, call, terms)
    if can_be_asked(asked, call):
        return await submit_asking(engine, asked, call, listener)
    return await engine.submit(call, asked.endpoint.catalog, listener)


def ended(asked: Asked, submission: Submission) -> Reply:
    """The response to a call that has ended."""
    endpoint, record = asked.endpoint, submission.record
    result = record.result
    assert result is not None
    failure = result.error
    on_gateway = endpoint.plane == "gateway"
    replay = _replay_mark(submission)
    if failure is not None and failure.code in FOR_THE_CLIENT and not on_gateway:
        return failure_reply(endpoint, asked.message.id, failure, asked.modern)
    if on_gateway and failure is not None and failure.code != TOOL_FAILED:
        data: JsonObject = {**(failure.data or {}), "task_id": record.call.id}
        if failure.code == "service_timeout":
            data["retryable"] = record.call.idempotency_key is not None
        if replay is not None:
            data["idempotency"] = replay
        reply = failure_reply(endpoint, asked.message.id, Failure(failure.code, failure.message, data), asked.modern)
        return Reply(reply.body, reply.status, submission.replayed, refused=True)
    meta = call_meta(endpoint, record.call)
    if replay is not None:
        meta[REPLAY_KEY] = replay
    body = tool_result(result, meta or None, endpoint.stamp if asked.modern else None, asked.version)
    return Reply(result_body(asked.message.id, body), replayed=submission.replayed)


def _replay_mark(submission: Submission) -> JsonObject | None:
    if not submission.replayed or submission.claim is None:
        return None
    claim = submission.claim
    return {"replayed": True, "first_seen": rfc3339(claim.first_seen), "expires_at": rfc3339(claim.expires_at)}


async def _call_of(engine: Engine, asked: Asked, params: ToolCall, entry: Entry | None) -> Call:
    endpoint = asked.endpoint
    extras = endpoint.take_extras(params.name, params.arguments) if endpoint.take_extras else Extras(params.arguments)
    caller = asked.caller
    context_id, continues, is_foreign = None, False, False
    if asked.session is not None:
        caller = Caller(caller.principal, caller.owner, caller.surface, caller.scopes, asked.session.id)
        if endpoint.owns_context is not None:
            context_id = asked.session.context_id
            if not await endpoint.owns_context(caller, context_id):
                raise SessionNotFound(
                    "the conversation of this Mcp-Session-Id is over; send initialize to begin a new one"
                )
    elif endpoint.owns_context is not None:
        named = extras.context_id if extras.context_id is not None else meta_string(params.meta, CONTEXT_KEY)
        continues = named is not None
        context_id = new_id("ch") if named is None else named
        is_foreign = continues and not await endpoint.owns_context(caller, context_id)
    call = Call(
        id=asked.planned_id or new_id("call"),
        caller=caller,
        tool=params.name,
        arguments=extras.arguments,
        deadline=engine.clock.now() + _timeout_s(endpoint, params, entry),
        agent_id=endpoint.agent_id,
        idempotency_key=_one_key(extras.idempotency_key, meta_string(params.meta, KEY_KEY), asked.key_header),
        context_id=context_id,
        attachments=extras.attachments,
        continues=continues,
        client_capabilities=asked.client_capabilities(params.meta),
    )
    if is_foreign and not await engine.knows(call):  # a known key comes first (gateway.md §6, order)
        raise InvalidParam(
            f"no conversation {context_id!r} of yours with this agent; leave it out to begin one",
            param=f"_meta.{CONTEXT_KEY}" if extras.context_id is None else "arguments.context_id",
        )
    if is_foreign:  # should the key be forgotten before it is looked at again, this is a call of its own
        call = replace(call, context_id=new_id("ch"), continues=False)
    watch = endpoint.watch
    if watch is None or (WEBHOOK_KEY not in params.meta and not watch.stands(call)):
        return call
    return await watch.over(call, params.meta.get(WEBHOOK_KEY))


def _timeout_s(endpoint: Endpoint, params: ToolCall, entry: Entry | None) -> float:
    wanted = meta_milliseconds(params.meta, TIMEOUT_KEY)
    if wanted is not None:
        return min(wanted, endpoint.max_timeout_s * 1000) / 1000
    own = None if entry is None else entry.tool.timeout_s
    return endpoint.call_timeout_s if own is None else own


def _one_key(argument: str | None, meta: str | None, header: str | None) -> str | None:
    if argument is None and meta is None and header is None:
        return None
    keys = {check_key(key) for key in (argument, meta, header) if key is not None}
    if len(keys) > 1:
        raise InvalidParam(
            "two different idempotency keys were sent (argument, _meta, Idempotency-Key header); send one",
            param="arguments.idempotency_key",
        )
    return keys.pop() if keys else None


Method = Callable[[Engine, Asked], Awaitable[Reply]]

METHODS: Mapping[tuple[str, bool], Method] = {
    ("initialize", False): _initialize,
    ("ping", False): _ping,
    ("tools/list", False): _tools_list,
    ("tools/call", False): _tools_call,
    ("server/discover", True): _discover,
    ("tools/list", True): _tools_list,
    ("tools/call", True): _tools_call,
    ("logging/setLevel", False): set_level,
    ("resources/list", False): list_resources,
    ("resources/list", True): list_resources,
    ("resources/templates/list", False): list_templates,
    ("resources/templates/list", True): list_templates,
    ("resources/read", False): read_resource,
    ("resources/read", True): read_resource,
    ("prompts/list", False): list_prompts,
    ("prompts/list", True): list_prompts,
    ("prompts/get", False): get_prompt,
    ("prompts/get", True): get_prompt,
    ("completion/complete", False): complete,
    ("completion/complete", True): complete,
    ("resources/subscribe", False): subscribe,
    ("resources/unsubscribe", False): unsubscribe,
    ("subscriptions/listen", True): listen,
    ("tasks/get", True): get_task,
    ("tasks/update", True): update_task,
    ("tasks/cancel", True): cancel_task,
}
"""(method, on 2026-07-28) → what it does."""

KEEPING = frozenset({"logging/setLevel", "resources/subscribe", "resources/unsubscribe"})
"""Methods that change what a session keeps."""
LASTING = frozenset({"tools/call", "resources/read", "prompts/get", "completion/complete", "subscriptions/listen"})
"""Methods that may take long, say how far they are, and be cancelled."""
