"""Calls that come in over REST, as the engine takes them, and how they and their ends are shown; it answers nobody.

The body says what a `tools/call` says: the same tool, arguments, attachments, key and conversation, checked in the same
order (gateway.md 25, 54, §6 "REST").
"""

from collections.abc import Awaitable, Callable
from typing import Annotated

from msgspec import UNSET, Meta, Struct, to_builtins
from msgspec.structs import replace

from toolwire.core.call import Call, Caller, TaskTerms
from toolwire.core.errors import InvalidParam, ToolNotFound, ToolwireError, error_of
from toolwire.core.ids import new_id
from toolwire.core.jsontypes import JsonObject
from toolwire.core.result import TOOL_FAILED, Result, Text
from toolwire.engine.claims import check_key
from toolwire.engine.engine import Engine
from toolwire.gateway.agents import Agents
from toolwire.gateway.registration import MESSAGE_TOOL
from toolwire.surfaces.endpoint import Extras, Watch

MAX_WAIT_S = 115.0
"""How long a request waits at most, so that the proxies on its way do not give up first (gateway.md X6)."""
MAX_MS = 2**53
ANSWERS: JsonObject = {"elicitation": {"form": {}, "url": {}}}
"""What whoever looks after a task over REST can be asked, in MCP's words for a client."""

OwnsContext = Callable[[str, Caller, str], Awaitable[bool]]
"""Whether a caller (second) may go on in a conversation (third) with an agent (first)."""


class CallBody(Struct, frozen=True, forbid_unknown_fields=True):
    """The body of `POST …/invoke`. Without `tool`, `message` is said to the agent."""

    tool: str | None = None
    message: str | None = None
    arguments: JsonObject = {}
    attachments: list[JsonObject] = []
    idempotency_key: str | None = None
    context_id: str | None = None
    timeout_ms: Annotated[int, Meta(gt=0, le=MAX_MS)] | None = None


class Webhook(Struct, frozen=True, forbid_unknown_fields=True):
    """Who is to be told of a task's end (gateway.md 34)."""

    url: str
    secret: str | None = None
    token: str | None = None
    events: list[str] | None = None


class TaskBody(CallBody, frozen=True, forbid_unknown_fields=True):
    """The body of `POST …/tasks`. `deadline_ms` is how long the task may take; the request is answered at once."""

    deadline_ms: Annotated[int, Meta(gt=0, le=MAX_MS)] | None = None
    webhook: Webhook | None = None


class RestCalls:
    """Makes calls of bodies.

    Args:
        engine: runs them.
        agents: have the tools.
        owns_context: says who may go on in a conversation.
        watch: tells others of calls.
    """

    def __init__(self, engine: Engine, agents: Agents, owns_context: OwnsContext, watch: Watch) -> None:
        self._engine = engine
        self._agents = agents
        self._owns_context = owns_context
        self._watch = watch

    async def call_of(self, caller: Caller, agent_id: str, body: CallBody, key_header: str | None) -> Call:
        """The call that a body asks for, not begun yet.

        Raises:
            InvalidParam: something in the body cannot be meant so; `param` names it.
            ToolNotFound: the agent has no such tool.
        """
        tool, arguments = _named(body)
        extras = self._extras(agent_id, tool, arguments, body)
        key = _one_key(body.idempotency_key, extras.idempotency_key, key_header)
        named = body.context_id or extras.context_id
        wait_s = MAX_WAIT_S if body.timeout_ms is None else min(body.timeout_ms / 1000, MAX_WAIT_S)
        call = Call(
            new_id("call"),
            caller,
            tool,
            extras.arguments,
            self._engine.clock.now() + wait_s,
            agent_id,
            key,
            named or new_id("ch"),
            extras.attachments,
            continues=named is not None,
        )
        refusal = await self._refusal(call, body)
        if refusal is not None:
            if not await self._engine.knows(call):  # a known key comes first (gateway.md §6, order)
                raise refusal
            # Should the key be forgotten before it is looked at again, this is a call of its own.
            call = replace(call, context_id=new_id("ch"), continues=False)
        if self._watch.stands(call):
            call = await self._watch.over(call, None)
        return replace(call, client_capabilities=ANSWERS) if call.outlives_request else call

    async def told(self, call: Call, webhook: Webhook) -> Call:
        """The same with a webhook, which is told how it stands.

        Raises:
            InvalidParam: it cannot be told; `param` says why.
        """
        return await self._watch.over(call, to_builtins(webhook), "webhook")

    def as_task(self, call: Call, deadline_ms: int | None) -> Call:
        """The same as a task, which may take `deadline_ms`, or as long as tasks may."""
        limits = self._engine.limits.tasks
        most_s = limits.timeout_s if deadline_ms is None else min(deadline_ms / 1000, limits.timeout_s)
        ends_by = self._engine.clock.now() + most_s
        terms = TaskTerms(ends_by, ends_by + limits.ttl_s)
        return replace(call, deadline=ends_by, watched=True, task=terms, client_capabilities=ANSWERS)

    async def _refusal(self, call: Call, body: CallBody) -> ToolwireError | None:
        """What is wrong with a call, but for its arguments."""
        if body.tool is None and self._agents.catalog(call.agent_id).get(MESSAGE_TOOL) is None:
            words = "this agent answers no messages, only calls of its tools; send one in `tool`"
            return ToolNotFound(words, param="tool")
        named = call.context_id or ""
        if call.continues and not await self._owns_context(call.agent_id, call.caller, named):
            words = f"no conversation {named!r} of yours with this agent; leave it out to begin one"
            return InvalidParam(words, param="context_id")
        return None

    def _extras(self, agent_id: str, tool: str, arguments: JsonObject, body: CallBody) -> Extras:
        """The arguments and attachments, wherever in the body the latter stand."""
        if not body.attachments:
            return self._agents.take_extras(agent_id, tool, arguments)
        if "attachments" in arguments:
            raise InvalidParam("attachments stand in the body or in the arguments, not in both", param="attachments")
        taken = self._agents.take_extras(agent_id, tool, {**arguments, "attachments": body.attachments})
        own = {name: value for name, value in taken.arguments.items() if name != "attachments" or name in arguments}
        return replace(taken, arguments=own)


def _named(body: CallBody) -> tuple[str, JsonObject]:
    if (body.tool is None) is (body.message is None):
        raise InvalidParam("send either a tool with its arguments, or a message", param="tool")
    if body.tool is not None:
        return body.tool, body.arguments
    return MESSAGE_TOOL, {**body.arguments, "message": body.message}


def _one_key(*sent: str | None) -> str | None:
    keys = {check_key(key) for key in sent if key is not None}
    if len(keys) > 1:
        words = "two different idempotency keys were sent (body, arguments, Idempotency-Key header); send one"
        raise InvalidParam(words, param="idempotency_key")
    return keys.pop() if keys else None


def shown_result(call: Call, result: Result) -> JsonObject:
    """The end of a call, as `invoke` shows it.

    Raises:
        ToolwireError: it is no answer of the tool's; the code of its failure.
    """
    if result.error is not None and result.error.code != TOOL_FAILED:
        data: JsonObject = {**(result.error.data or {}), "task_id": call.id}
        raise error_of(result.error.code, result.error.message, data)
    return shown_answer(call, result)


def shown_answer(call: Call, result: Result) -> JsonObject:
    """What a call has brought, however it ended."""
    shown: JsonObject = {
        "task_id": call.id,
        "context_id": call.context_id,
        "text": "\n".join(block.text for block in result.content if isinstance(block, Text)),
        "content": result.content,
        "is_error": result.is_error,
    }
    return shown if result.structured is UNSET else {**shown, "structured": result.structured}
