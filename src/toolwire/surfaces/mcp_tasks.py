"""Calls that are tasks: begun, looked at, cancelled and listened to; a task is a call, so nothing else is kept of it.

A task belongs to the principal that began it, on the endpoint where it did. Spec: MCP 2026-07-28, the extension
`io.modelcontextprotocol/tasks` (SEP-2663); contract mcp.md 1.4.
"""

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import TypeAlias

import anyio
from msgspec.structs import replace

from toolwire.core.asking import Question
from toolwire.core.call import Call, TaskTerms
from toolwire.core.errors import Cancelled, InvalidArguments, InvalidParam
from toolwire.core.event import Asks, Chunk, Finished, Log, Progress, Stamped
from toolwire.core.ids import new_id
from toolwire.core.jsontypes import JsonObject, as_object
from toolwire.core.result import TOOL_FAILED, Failure, Result
from toolwire.core.tool import Tool
from toolwire.engine.asking import Asking
from toolwire.engine.engine import Engine, Submission
from toolwire.engine.promote import promote
from toolwire.engine.record import CallRecord, Record
from toolwire.surfaces.asked import Asked, Reply, result_reply
from toolwire.surfaces.endpoint import Endpoint
from toolwire.wire.jsonrpc import error_object, result_body
from toolwire.wire.mcp.asking import input_requests
from toolwire.wire.mcp.asking import read_answers as given_answers
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


def task_terms(engine: Engine, asked: Asked, call: Call, tool: Tool) -> TaskTerms | None:
    """On what terms a call is a task, or may turn into one now; `None` if its tool or its client will not have it so.

    Raises:
        MissingCapability: the tool's calls are always tasks, and this client does not know them.
    """
    if not asked.modern or not knows_tasks(call.client_capabilities):
        if tool.task != "optional":
            require_tasks(None, f"the tool {tool.name!r}")
        return None
    return None if tool.task == "later" else _terms(engine, tool)


async def submit_task(engine: Engine, asked: Asked, call: Call, terms: TaskTerms) -> Submission:
    """Begin a call on these terms; it may have ended when this comes back, and is a task if not.

    A call that need not be a task becomes one when it has not ended soon, so that a quick one leaves no record behind.
    Of one that goes to somebody else the claim is already part of the task.

    Raises:
        ToolwireError: as `Engine.submit`; nothing was begun.
        StoreUnavailable: the task cannot be committed; the call is cancelled.
    """
    before = given_answers(asked.message).responses
    entry = asked.endpoint.catalog.find(call.tool)
    call = replace(call, deadline=terms.ends_by)
    may_be_quick = entry.tool.task == "optional"
    if entry.delegate is not None or not may_be_quick:
        call = replace(call, watched=True, task=terms)
    submission = await engine.begin(call, asked.endpoint.catalog)
    record = submission.record
    if not submission.replayed:
        _ask_by_task(record, Asking(call.client_capabilities, call.done_by, before, repeats=True))
    try:
        if may_be_quick:
            with anyio.move_on_after(GRACE_S):
                await record.wait()
        if not (record.over or submission.replayed or record.call.task):
            await promote(engine, record, terms)
    except BaseException:
        if not record.call.outlives_request:
            engine.cancel(record.call.id, "nobody knows of its task")
        raise
    return submission


def let_become_task(engine: Engine, asked: Asked, record: Record, turned: Callable[[], None]) -> None:
    """Give a call that is about to begin what makes a task of it, if its tool wants that; `turned` is told then."""
    entry = asked.endpoint.catalog.get(record.call.tool)
    if entry is None or entry.tool.task != "later" or not knows_tasks(record.call.client_capabilities):
        return
    terms = _terms(engine, entry.tool)

    async def make_task() -> float:
        if record.call.task is None:
            await promote(engine, record, terms)
            if isinstance(record.asker, Asking):
                record.asker.deadline = terms.ends_by
                _ask_by_task(record, record.asker)
            turned()
        return record.call.done_by

    record.make_task = make_task


def _ask_by_task(record: Record, asking: Asking) -> None:
    record.asker = asking
    asking.way = Standing()

    def hear(stamped: Stamped) -> None:
        if isinstance(stamped.event, Finished):  # a thread may wait for the answer all the same
            asking.fail_all(lambda: Cancelled("the call is over"))

    record.listen(hear)


def created_reply(engine: Engine, asked: Asked, submission: Submission, terms: TaskTerms | None) -> Reply | None:
    """The answer that names a task; `None` for a call that is none, or may be answered with its end, which is there."""
    record = submission.record
    entry = asked.endpoint.catalog.get(record.call.tool)
    mode = "never" if entry is None else entry.tool.task
    is_task = record.call.task is not None if mode == "later" else terms is not None
    if not is_task or (record.over and mode == "optional"):
        return None
    body = result_body(asked.message.id, created_result(_begun(engine, record), asked.endpoint.stamp))
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
    asking = _asking_of(await _named(engine, asked))
    answers = read_answers(asked.message)
    if asking is not None:
        for key, answer in answers.items():
            asking.give(key, answer)
        if isinstance(asking.way, Standing):
            asking.way.tell()
    return result_reply(asked, {})


class Standing:
    """How a task asks, an `engine.asking.Way`: its questions stand in `tasks/get`, and who listens is told of them."""

    def __init__(self) -> None:
        self._tellers: dict[object, Callable[[], None]] = {}

    def ask(self, questions: Sequence[Question]) -> None:
        """See `engine.asking.Way.ask`."""
        self.tell()

    def withdraw(self, keys: Iterable[str]) -> None:
        """See `engine.asking.Way.withdraw`; whatever ended the question has an event of its own."""

    def complete(self, key: str) -> None:
        """See `engine.asking.Way.complete`; on this wire nobody is told."""

    def tell(self) -> None:
        """Tell who listens how the task stands."""
        for teller in tuple(self._tellers.values()):
            teller()

    @contextmanager
    def heard(self, teller: Callable[[], None]) -> Generator[None]:
        """Call `teller` whenever the questions are others, until the block ends."""
        key = object()
        self._tellers[key] = teller
        try:
            yield
        finally:
            del self._tellers[key]


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
        with ExitStack() as until:
            for task_id, found in self._found.items():
                teller = _Teller(self._engine, self._endpoint, notify, subscription)
                record = self._engine.find(task_id) or found
                if isinstance(record, Record) and not record.over:
                    until.enter_context(record.heard_by(partial(teller.hear, record)))
                    asking = _asking_of(record)
                    if asking is not None and isinstance(asking.way, Standing):
                        until.enter_context(asking.way.heard(partial(teller.tell, record)))
                teller.start(record)
            yield


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

    def start(self, found: Found) -> None:
        """Of what goes on the client has heard when it looked; of what waits or has ended it may not have."""
        task = _task_of(self._engine, self._endpoint, found)
        if task.status == "working":
            self._last = _state(task)
        else:
            self.tell(found)

    def hear(self, record: Record, stamped: Stamped) -> None:
        if not isinstance(stamped.event, Log | Chunk | Asks):
            self.tell(record)

    def tell(self, found: Found) -> None:
        task = _task_of(self._engine, self._endpoint, found)
        if _state(task) != self._last:
            self._last = _state(task)
            self._notify(task_body(task, self._meta))


def _state(task: Task) -> tuple[object, ...]:
    return task.status, task.message, tuple(task.questions or ())


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


def _terms(engine: Engine, tool: Tool) -> TaskTerms:
    limits = engine.limits.tasks
    ends_by = engine.clock.now() + (limits.timeout_s if tool.task_timeout_s is None else tool.task_timeout_s)
    return TaskTerms(ends_by, ends_by + limits.ttl_s)


def _asking_of(found: Found) -> Asking | None:
    """What a running task asks, if it can."""
    asker = found.asker if isinstance(found, Record) and not found.over else None
    return asker if isinstance(asker, Asking) else None


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
    asking = _asking_of(found)
    if asking is None or not asking.questions:
        return task
    return replace(task, status="input_required", questions=input_requests(asking.questions))


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
