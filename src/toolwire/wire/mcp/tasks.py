"""Tasks on the wire: what a client sends, and a task as JSON; it keeps no task.

Spec: MCP 2026-07-28, the extension `io.modelcontextprotocol/tasks` (SEP-2663); contract mcp.md 1.4.
"""

from collections.abc import Mapping
from typing import Any, Literal, cast

import msgspec
from msgspec import Raw, Struct

from toolwire.core.errors import InvalidParam, MissingCapability
from toolwire.core.jsontypes import JsonObject, as_object
from toolwire.wire.jsonrpc import Message, notification_body
from toolwire.wire.mcp.asking import read_responses
from toolwire.wire.mcp.envelope import SERVER_INFO_KEY
from toolwire.wire.mcp.handshake import TASKS
from toolwire.wire.mcp.replies import Stamp
from toolwire.wire.rest import rfc3339

MAX_WATCHED = 1000
"""Tasks that one subscription may name."""

TaskStatus = Literal["working", "input_required", "completed", "failed", "cancelled"]

_encode = msgspec.json.Encoder().encode


class Task(Struct, frozen=True):
    """A task as its client sees it; times are Unix seconds, UTC, spans are milliseconds.

    Of `result` (JSON of what the call would have been answered), `error` (a JSON-RPC error) and `questions` (requests
    by key) the one is set that goes with the status, and none while it works or when it was cancelled.
    """

    task_id: str
    status: TaskStatus
    created_at: float
    updated_at: float
    ttl_ms: int
    poll_ms: int
    message: str | None = None
    result: bytes | None = None
    error: JsonObject | None = None
    questions: JsonObject | None = None


def knows_tasks(capabilities: JsonObject | None) -> bool:
    """Whether a client has declared the extension."""
    extensions = as_object((capabilities or {}).get("extensions"))
    return extensions is not None and as_object(extensions.get(TASKS)) is not None


def require_tasks(capabilities: JsonObject | None, what: str) -> None:
    """Refuse `what` unless the client has declared the extension.

    Raises:
        MissingCapability: it has not; the error names the extension (mcp.md 1.4, −32021).
    """
    if not knows_tasks(capabilities):
        raise MissingCapability(
            f"{what} needs a client that declares the extension {TASKS!r} in its capabilities",
            requiredCapabilities={"extensions": {TASKS: {}}},
        )


def read_task_id(message: Message) -> str:
    """The task that a request names.

    Raises:
        InvalidParam: it names none.
    """
    task_id = message.params.get("taskId")
    if not isinstance(task_id, str):
        raise InvalidParam("params.taskId must be a string: the id of a task", param="taskId")
    return task_id


def read_answers(message: Message) -> Mapping[str, JsonObject]:
    """The answers of `tasks/update`, by the key of their question.

    Raises:
        InvalidParam: they are no object, or one of them is none.
    """
    return read_responses(message.params.get("inputResponses"))


def read_watched(message: Message) -> list[str]:
    """The tasks that `subscriptions/listen` wants to hear of.

    Raises:
        InvalidParam: they are no list of strings, or too many.
    """
    filter_ = as_object(message.params.get("notifications")) or {}
    given: Any = filter_.get("taskIds")
    if given is None:
        return []
    param = "notifications.taskIds"
    if not isinstance(given, list) or not all(isinstance(task_id, str) for task_id in cast("list[Any]", given)):
        raise InvalidParam(f"params.{param} must be a list of task ids", param=param)
    listed = cast("list[str]", given)
    if len(listed) > MAX_WATCHED:
        raise InvalidParam(f"params.{param} has {len(listed)} ids; ask for at most {MAX_WATCHED}", param=param)
    return list(dict.fromkeys(listed))


def created_result(task: Task, stamp: Stamp) -> bytes:
    """The answer to a call that has become a task: the task and nothing of its end."""
    inner = _encode(_head(task))[1:-1]
    return b'{"resultType":"task",%b,"_meta":{"%b":%b}}' % (inner, SERVER_INFO_KEY.encode(), stamp.server_info)


def detailed_result(task: Task, stamp: Stamp) -> bytes:
    """The answer to `tasks/get`."""
    return b"{%b,%b}" % (_encode(_detailed(task))[1:-1], stamp.complete)


def task_body(task: Task, meta: JsonObject) -> bytes:
    """`notifications/tasks`: the same as `tasks/get` would answer now."""
    return notification_body("notifications/tasks", {**_detailed(task), "_meta": meta})


def _head(task: Task) -> JsonObject:
    shown: JsonObject = {
        "taskId": task.task_id,
        "status": task.status,
        "createdAt": rfc3339(task.created_at),
        "lastUpdatedAt": rfc3339(task.updated_at),
        "ttlMs": task.ttl_ms,
        "pollIntervalMs": task.poll_ms,
    }
    if task.message is not None:
        shown["statusMessage"] = task.message
    return shown


def _detailed(task: Task) -> JsonObject:
    shown = _head(task)
    if task.result is not None:
        shown["result"] = Raw(task.result)
    if task.error is not None:
        shown["error"] = task.error
    if task.questions is not None:
        shown["inputRequests"] = task.questions
    return shown
