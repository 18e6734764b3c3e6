"""Calls that are tasks: begun, looked at, cancelled and listened to; a task is a call, so nothing else is kept of it.

A task belongs to the principal that began it, on the endpoint where it did. Spec: MCP 2026-07-28, the extension
`io.modelcontextprotocol/tasks` (SEP-2663); contract mcp.md 1.4.
"""

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TypeAlias

from msgspec.structs import replace

from toolwire.core.call import Call, TaskTerms
from toolwire.core.errors import InvalidArguments, InvalidParam
from toolwire.core.event import Chunk, Log, Progress, Stamped
from toolwire.core.ids import new_id
from toolwire.core.jsontypes import JsonObject, as_object
from toolwire.core.result import TOOL_FAILED, Failure, Result
from toolwire.core.tool import Tool
from toolwire.engine.engine import Engine, Submission
from toolwire.engine.record import CallRecord, Record
from toolwire.surfaces.asked import Asked, Reply, result_reply
from toolwire.surfaces.endpoint import Endpoint
from toolwire.wire.jsonrpc import error_object, result_body
from toolwire.wire.mcp.changes import subscription_meta
from toolwire.wire.mcp.replies import tool_result
from toolwire.wire.mcp.tasks import (
    Task,
    created_result,
    detailed_result,
    knows_tasks,
    read_answers,
    read_task_id,
    require_tasks,
    task_body,
)
from toolwire.wire.mcp.versions import LATEST_MODERN

CONTEXT_KEY = "toolwire/context_id"
TASK_KEY = "toolwire/task_id"

GRACE_S = 0.1
"""How long a call that may be a task has to end before its client is told of one: what is quick needs no polling."""

_TOOLS_OWN = frozenset({TOOL_FAILED, InvalidArguments.code})
"""Failures that the tool itself reports: its task is completed, with a result that says so."""

Found: TypeAlias = Record | CallRecord
"""A task that is running here, or one as it lies in the store."""


def as_task(engine: Engine, asked: Asked, call: Call, tool: Tool) -> Call:
    """The call as it is to be submitted: a task where its tool and its client have it so, else as it came.

    Raises:
        MissingCapability: the tool's calls are always tasks, and this client does not know them.
    """
    if not asked.modern or not knows_tasks(call.client_capabilities):
        if tool.task == "required":
            require_tasks(None, f"the tool {tool.name!r}")
        return call
    limits = engine.limits.tasks
    now = engine.clock.now()
    ends_by = now + (limits.timeout_s if tool.task_timeout_s is None else tool.task_timeout_s)
    terms = TaskTerms(ends_by, ends_by + limits.ttl_s)
    waits_s = GRACE_S if tool.task == "optional" else 0.0
    return replace(call, watched=True, task=terms, deadline=now + waits_s)


def created_reply(engine: Engine, asked: Asked, call: Call, submission: Submission) -> Reply | None:
    """The answer that names a task; `None` for one that may be answered with its end, which is there."""
    entry = asked.endpoint.catalog.get(call.tool)
    if submission.record.over and (entry is None or entry.tool.task != "required"):
        return None
    task = _begun(engine, submission.record)
    body = result_body(asked.message.id, created_result(task, asked.endpoint.stamp))
    return Reply(body, replayed=submission.replayed)


async def get_task(engine: Engine, asked: Asked) -> Reply:
    """`tasks/get`."""
    found = await _named(engine, asked)
    task = _task_of(engine, asked.endpoint, found)
    return Reply(result_body(asked.message.id, detailed_result(task, asked.endpoint.stamp)))


async def cancel_task(engine: Engine, asked: Asked) -> Reply:
    """`tasks/cancel`; of one that has ended nothing changes, and the answer is the same."""
    found = await _named(engine, asked)
    engine.cancel(found.call.id, "the client said so")
    return result_reply(asked, {})


async def update_task(engine: Engine, asked: Asked) -> Reply:
    """`tasks/update`; answers to what is not asked, or not any more, are passed over."""
    found = await _named(engine, asked)
    for key, answer in read_answers(asked.message).items():
        _answer(found, key, answer)
    return result_reply(asked, {})


class Watch:
    """The tasks that one subscription hears of.

    Attributes:
        task_ids: what is honoured of what was asked for.
    """

    def __init__(self, engine: Engine, endpoint: Endpoint, found: Mapping[str, Found]) -> None:
        self._engine = engine
        self._endpoint = endpoint
        self._found = found
        self.task_ids = list(found)

    @contextmanager
    def heard(self, notify: Callable[[bytes], None], subscription: bytes) -> Generator[None]:
        """Tell of each task whenever it stands otherwise than before, until the block ends; at once if it has ended."""
        heard: list[tuple[Record, Callable[[Stamped], None]]] = []
        for task_id, found in self._found.items():
            teller = _Teller(self._engine, self._endpoint, notify, subscription)
            record = self._engine.find(task_id) or found
            if isinstance(record, Record) and not record.over:
                listener = partial(teller.hear, record)
                record.listen(listener)
                heard.append((record, listener))
            else:
                teller.tell(record)
        try:
            yield
        finally:
            for record, listener in heard:
                record.unlisten(listener)


async def watch_tasks(engine: Engine, asked: Asked, task_ids: Sequence[str]) -> Watch:
    """Those of the tasks that a `subscriptions/listen` names which are the caller's.

    Raises:
        MissingCapability: it names some, and the client has not declared that it knows tasks.
    """
    if task_ids:
        require_tasks(_declared(asked), "to hear of tasks")
    found = {task_id: await _own(engine, asked, task_id) for task_id in task_ids}
    return Watch(engine, asked.endpoint, {task_id: one for task_id, one in found.items() if one is not None})


class _Teller:
    """Tells one subscription of one task, of each state once."""

    def __init__(
        self, engine: Engine, endpoint: Endpoint, notify: Callable[[bytes], None], subscription: bytes
    ) -> None:
        self._engine = engine
        self._endpoint = endpoint
        self._notify = notify
        self._meta = subscription_meta(subscription)
        self._last: tuple[object, ...] = ()

    def hear(self, record: Record, stamped: Stamped) -> None:
        if not isinstance(stamped.event, Log | Chunk):
            self.tell(record)

    def tell(self, found: Found) -> None:
        task = _task_of(self._engine, self._endpoint, found)
        state = (task.status, task.message, tuple(task.questions or ()))
        if state != self._last:
            self._last = state
            self._notify(task_body(task, self._meta))


def _declared(asked: Asked) -> JsonObject | None:
    return asked.client_capabilities(as_object(asked.message.params.get("_meta")) or {})


async def _named(engine: Engine, asked: Asked) -> Found:
    """The task that a request names.

    Raises:
        MissingCapability: the client has not declared that it knows tasks.
        InvalidParam: it names none of the caller's.
    """
    require_tasks(_declared(asked), asked.message.method)
    task_id = read_task_id(asked.message)
    found = await _own(engine, asked, task_id)
    if found is None:
        raise InvalidParam(f"no task {task_id!r} of yours here; it may have been forgotten since", param="taskId")
    return found


async def _own(engine: Engine, asked: Asked, task_id: str) -> Found | None:
    found: Found | None = engine.find(task_id)
    if found is None:
        stored = await engine.load(asked.caller.owner, task_id)
        found = engine.find(task_id) or stored  # it may have been taken up while we looked
    if found is None or not found.call.outlives_request:
        return None
    caller, mine = found.call.caller, asked.caller
    same = (caller.principal, caller.owner) == (mine.principal, mine.owner)
    return found if same and found.call.agent_id == asked.endpoint.agent_id else None


def _answer(found: Found, key: str, answer: JsonObject) -> None:
    """Give a running task an answer."""


def _questions(found: Found) -> JsonObject | None:
    """What a running task waits to be told, by key."""
    return None


def _begun(engine: Engine, found: Found) -> Task:
    """A task as it was when it began."""
    call, limits = found.call, engine.limits
    ttl_s = max(limits.history_ttl_s, limits.idempotency_ttl_s)  # of a call under a key that is a task for a repeat
    if call.task is not None:
        ttl_s = call.task.kept_until - found.created_at
    return Task(
        task_id=call.id,
        status="working",
        created_at=found.created_at,
        updated_at=found.created_at,
        ttl_ms=max(1, round(ttl_s * 1000)),
        poll_ms=max(1, round(limits.tasks.poll_s * 1000)),
    )


def _task_of(engine: Engine, endpoint: Endpoint, found: Found) -> Task:
    """A task as it is now."""
    task = _begun(engine, found)
    if found.result is not None:
        return _ended(
            endpoint, found.call, found.result, replace(task, updated_at=found.completed_at or task.created_at)
        )
    if isinstance(found, Record):
        task = _under_way(found, task)
    questions = _questions(found)
    return task if questions is None else replace(task, status="input_required", questions=questions)


def _under_way(record: Record, task: Task) -> Task:
    """With the time of the last thing that was heard of it, and the last words about how far it is."""
    events = record.events
    if not events:
        return task
    for stamped in reversed(events):
        if isinstance(stamped.event, Progress) and stamped.event.message:
            return replace(task, updated_at=events[-1].at, message=stamped.event.message)
    return replace(task, updated_at=events[-1].at)


def _ended(endpoint: Endpoint, call: Call, result: Result, task: Task) -> Task:
    failure = result.error
    if failure is not None and failure.code == "cancelled":
        return replace(task, status="cancelled", message=failure.message)
    if failure is not None and failure.code not in _TOOLS_OWN:
        return replace(task, status="failed", message=failure.message, error=_error(endpoint, call, failure))
    meta = call_meta(endpoint, call) or None
    return replace(task, status="completed", result=tool_result(result, meta, endpoint.stamp, LATEST_MODERN))


def _error(endpoint: Endpoint, call: Call, failure: Failure) -> JsonObject:
    data: JsonObject = {**(failure.data or {}), "request_id": new_id("req")}
    if endpoint.plane == "gateway":
        data["task_id"] = call.id
    return error_object(endpoint.row(failure.code, modern=True), failure.code, failure.message, data)


def call_meta(endpoint: Endpoint, call: Call) -> JsonObject:
    """What the gateway says of a call in the `_meta` of its result."""
    return {TASK_KEY: call.id, CONTEXT_KEY: call.context_id} if endpoint.plane == "gateway" else {}
