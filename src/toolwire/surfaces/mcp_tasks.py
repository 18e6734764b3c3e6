"""Calls that are tasks: begun, looked at, answered and cancelled; a task is a call, so nothing else is kept of it.

A task belongs to the principal that began it, on the endpoint where it did. Spec: MCP 2026-07-28, the extension
`io.modelcontextprotocol/tasks` (SEP-2663); contract mcp.md 1.4.
"""

from collections.abc import Callable

import anyio
from msgspec.structs import replace

from toolwire.core.call import Call, TaskTerms
from toolwire.core.errors import InvalidParam
from toolwire.core.jsontypes import JsonObject, as_object
from toolwire.core.tool import Tool
from toolwire.engine.asking import Asking
from toolwire.engine.engine import Engine, Submission
from toolwire.engine.promote import promote
from toolwire.engine.record import Record
from toolwire.surfaces.asked import Asked, Reply, result_reply
from toolwire.surfaces.task_state import Found, Standing, ask_by_task, asking_of, begun, task_of
from toolwire.wire.jsonrpc import result_body
from toolwire.wire.mcp.asking import read_answers as given_answers
from toolwire.wire.mcp.tasks import (
    created_result,
    detailed_result,
    knows_tasks,
    read_answers,
    read_task_id,
    require_tasks,
)

LATER = frozenset({"later", "maybe"})
"""With these a call becomes a task when its body says so."""
GRACE_S = 0.1
"""How long a call that may be a task has to end before its client is told of one: what is quick needs no polling."""


def task_terms(engine: Engine, asked: Asked, call: Call, tool: Tool) -> TaskTerms | None:
    """On what terms a call is a task, or may turn into one now; `None` if its tool or its client will not have it so.

    Raises:
        MissingCapability: the tool's calls are always tasks, and this client does not know them.
    """
    if not asked.modern or not knows_tasks(call.client_capabilities):
        if tool.task not in ("optional", "maybe"):
            require_tasks(None, f"the tool {tool.name!r}")
        return None
    return None if tool.task in LATER else _terms(engine, tool)


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
        ask_by_task(record, Asking(call.client_capabilities, call.done_by, before, repeats=True))
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
    if entry is None or entry.tool.task not in LATER or not knows_tasks(record.call.client_capabilities):
        return
    terms = _terms(engine, entry.tool)

    async def make_task() -> float:
        if record.call.task is None:
            await promote(engine, record, terms)
            if isinstance(record.asker, Asking):
                record.asker.deadline = terms.ends_by
                ask_by_task(record, record.asker)
            turned()
        return record.call.done_by

    record.make_task = make_task


def created_reply(engine: Engine, asked: Asked, submission: Submission, terms: TaskTerms | None) -> Reply | None:
    """The answer that names a task; `None` for a call that is none, or may be answered with its end, which is there."""
    record = submission.record
    entry = asked.endpoint.catalog.get(record.call.tool)
    mode = "never" if entry is None else entry.tool.task
    is_task = record.call.task is not None if mode in LATER else terms is not None
    if not is_task or (record.over and mode == "optional"):
        return None
    body = result_body(asked.message.id, created_result(begun(engine, asked.endpoint, record), asked.endpoint.stamp))
    return Reply(body, replayed=submission.replayed)


async def get_task(engine: Engine, asked: Asked) -> Reply:
    """`tasks/get`."""
    found = await _named(engine, asked)
    task = task_of(engine, asked.endpoint, found)
    return Reply(result_body(asked.message.id, detailed_result(task, asked.endpoint.stamp)))


async def cancel_task(engine: Engine, asked: Asked) -> Reply:
    """`tasks/cancel`; of one that has ended nothing changes, and the answer is the same."""
    found = await _named(engine, asked)
    engine.cancel(found.call.id, "the client said so")
    return result_reply(asked, {})


async def update_task(engine: Engine, asked: Asked) -> Reply:
    """`tasks/update`; answers to what is not asked, or not any more, are passed over."""
    asking = asking_of(await _named(engine, asked))
    answers = read_answers(asked.message)
    if asking is not None:
        for key, answer in answers.items():
            asking.give(key, answer)
        if isinstance(asking.way, Standing):
            asking.way.tell()
    return result_reply(asked, {})


def declared(asked: Asked) -> JsonObject | None:
    """What the client of a request has declared that it can do."""
    return asked.client_capabilities(as_object(asked.message.params.get("_meta")) or {})


async def _named(engine: Engine, asked: Asked) -> Found:
    """The task that a request names.

    Raises:
        MissingCapability: the client has not declared that it knows tasks.
        InvalidParam: it names none of the caller's.
    """
    require_tasks(declared(asked), asked.message.method)
    task_id = read_task_id(asked.message)
    found = await own_task(engine, asked, task_id)
    if found is None:
        raise InvalidParam(f"no task {task_id!r} of yours here; it may have been forgotten since", param="taskId")
    return found


async def own_task(engine: Engine, asked: Asked, task_id: str) -> Found | None:
    """A task of whoever asks, on the endpoint that is asked; `None` if there is none of that id."""
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
