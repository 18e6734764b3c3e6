"""Answers on calls and tasks, and the events of their streams; they decide nothing.

Spec: gateway.md 25, 54, §6 "REST".
"""

from typing import Any, Literal, TypeAlias

from msgspec import UNSET, Struct, UnsetType

from toolwire.core.jsontypes import JsonObject
from toolwire.core.result import Content
from toolwire.wire.answers.times import Time

TaskStatus: TypeAlias = Literal[
    "queued",
    "running",
    "input_required",
    "auth_required",
    "completed",
    "failed",
    "canceled",
    "timeout",
    "rejected",
]
ENDED: tuple[TaskStatus, ...] = ("completed", "failed", "canceled", "timeout", "rejected")
"""The statuses after which nothing changes any more."""


class Answer(Struct, frozen=True, kw_only=True):
    """The end of a call. `text` is its texts, joined; `structured` is there where the tool gave it."""

    task_id: str
    context_id: str | None
    text: str
    content: list[Content]
    is_error: bool
    structured: Any | UnsetType = UNSET


class TaskProgress(Struct, frozen=True):
    """How far a task is."""

    progress: float
    total: float | None = None
    message: str | None = None


class TaskFailure(Struct, frozen=True):
    """Why a task ended badly."""

    code: str
    message: str
    retryable: bool


class TaskQuestion(Struct, frozen=True):
    """What a task asks: `params` are MCP's for the `method`, and `key` is what its answer is given under."""

    key: str
    method: Literal["elicitation/create", "sampling/createMessage", "roots/list"]
    params: JsonObject


class Task(Struct, frozen=True, kw_only=True):
    """A task as it is now. `questions` are there while it asks, and `…/continue` answers them.

    `started_at` is when the agent took it; one that is `queued` has none.
    """

    task_id: str
    agent_id: str
    tool: str
    context_id: str | None
    status: TaskStatus
    created_at: Time
    started_at: Time | None = None
    completed_at: Time | None = None
    progress: TaskProgress | None = None
    questions: list[TaskQuestion] | None = None
    result: Answer | None = None
    error: TaskFailure | None = None

    @property
    def has_ended(self) -> bool:
        """Whether nothing changes any more."""
        return self.status in ENDED


class TaskPage(Struct, frozen=True):
    """Tasks, the oldest first; `more` says that there are others after the last of these."""

    tasks: list[Task]
    more: bool


class Problem(Struct, frozen=True, kw_only=True):
    """Why a request was refused: `code` is stable, `message` is for people, `details` for a program."""

    type: Literal["client_error", "server_error"]
    code: str
    message: str
    details: JsonObject
    request_id: str


class ProgressEvent(Struct, frozen=True, kw_only=True, tag_field="type", tag="progress"):
    """How far a call is."""

    progress: float
    at: Time
    total: float | None = None
    message: str | None = None


class LogEvent(Struct, frozen=True, kw_only=True, tag_field="type", tag="log"):
    """What a tool has logged."""

    level: str
    text: str
    at: Time


class ChunkEvent(Struct, frozen=True, kw_only=True, tag_field="type", tag="chunk"):
    """A piece of the answer was there; its text comes with the result."""

    at: Time


class AskedEvent(Struct, frozen=True, kw_only=True, tag_field="type", tag="input_required"):
    """The call asks something; `…/continue` answers it where the call is a task."""

    questions: list[TaskQuestion]
    at: Time


class AnsweredEvent(Struct, frozen=True, kw_only=True, tag_field="type", tag="answered"):
    """What became of questions, by key: "accept", "decline", "cancel" or "answered"."""

    outcomes: dict[str, str]
    at: Time


class ResultEvent(Struct, frozen=True, kw_only=True, tag_field="type", tag="result"):
    """The end of a call; the last event."""

    result: Answer
    at: Time


class ErrorEvent(Struct, frozen=True, kw_only=True, tag_field="type", tag="error"):
    """The end of a call that gave no answer; the last event."""

    error: Problem
    at: Time


CallEvent: TypeAlias = ProgressEvent | LogEvent | ChunkEvent | AskedEvent | AnsweredEvent | ResultEvent | ErrorEvent
"""What the `data` of each event of a call's stream holds."""
