"""How tasks stand, as REST and webhooks show it (gateway.md 54 and §6); it changes none.

`queued` is a call that no agent has taken yet: its agent is away or at work on another one of the same conversation.
`auth_required` is one that has sent somebody to sign in, `input_required` one that asks anything else.
"""

from collections.abc import Callable

import msgspec

from toolwire.core.asking import SIGN_IN, Question
from toolwire.core.call import Call
from toolwire.core.error_rows import ERRORS
from toolwire.core.event import Progress
from toolwire.core.jsontypes import JsonObject, as_object
from toolwire.core.result import TOOL_FAILED
from toolwire.engine.record import CallRecord, Record, status_of
from toolwire.gateway.rest_calls import shown_result
from toolwire.surfaces.task_state import asking_of
from toolwire.wire.rest import rfc3339

IsWaiting = Callable[[Call], bool]
"""Whether nobody has taken a call yet that is under way."""


def shown_task(found: Record | CallRecord, is_waiting: IsWaiting) -> JsonObject:
    """A call that is a task, as REST shows it."""
    call, result = found.call, found.result
    task: JsonObject = {
        "task_id": call.id,
        "agent_id": call.agent_id,
        "tool": call.tool,
        "context_id": call.context_id,
        "status": task_status(found, is_waiting),
        "created_at": rfc3339(found.created_at),
    }
    asking = asking_of(found)
    if asking is not None and asking.questions:
        task["questions"] = msgspec.to_builtins(asking.questions)
    if found.started_at is not None and task["status"] != "queued":  # one that was given back waits again
        task["started_at"] = rfc3339(found.started_at)
    if found.completed_at is not None:
        task["completed_at"] = rfc3339(found.completed_at)
    progress = _progress(found)
    if progress is not None:
        task["progress"] = progress
    if result is not None and (result.error is None or result.error.code == TOOL_FAILED):
        task["result"] = shown_result(call, result)
    if result is not None and result.error is not None:
        row = ERRORS.get(result.error.code)
        retryable = row is not None and row.retryable
        task["error"] = {"code": result.error.code, "message": result.error.message, "retryable": retryable}
    return task


def task_status(found: Record | CallRecord, is_waiting: IsWaiting | None = None) -> str:
    """One of gateway.md 54."""
    if found.result is not None:
        error = found.result.error
        return "rejected" if error is not None and error.code == "agent_busy" else status_of(found.result)
    asking = asking_of(found)
    if asking is not None and asking.questions:
        return "auth_required" if any(map(_signs_in, asking.questions)) else "input_required"
    return "queued" if is_waiting is not None and is_waiting(found.call) else "running"


def _signs_in(question: Question) -> bool:
    return (as_object(question.params.get("_meta")) or {}).get(SIGN_IN) is True


def _progress(found: Record | CallRecord) -> JsonObject | None:
    events = found.events if isinstance(found, Record) else None
    for stamped in reversed(events or ()):
        if isinstance(stamped.event, Progress):
            return shown_progress(stamped.event)
    return None


def shown_progress(event: Progress) -> JsonObject:
    """How far a call is."""
    shown = {"progress": event.progress, "total": event.total, "message": event.message}
    return {name: value for name, value in shown.items() if value is not None}
