"""Answers on the record of calls: those there were, one in full, their stream, the audit; they decide nothing."""

from typing import Any, Literal, TypeAlias

from msgspec import Struct

from toolwire.core.jsontypes import JsonObject
from toolwire.wire.answers.calls import Answer, TaskFailure, TaskProgress, TaskStatus
from toolwire.wire.answers.times import Time

CallerKind: TypeAlias = Literal["owner", "oauth", "key", "agent", "other"]


class CallCaller(Struct, frozen=True):
    """Who has called: an owner, an OAuth client that the owner let in, a `bak_` key, an agent, or a part of the host.

    `name` is the key's, the agent's or the owner's, where it has one.
    """

    kind: CallerKind
    id: str
    name: str | None = None


class RecordedCall(Struct, frozen=True, kw_only=True):
    """One call. `agent_id` is whose tool it is; `None` for the tools of a toolbox, whose agent is the caller.

    `arguments` and `result` are previews: the beginning of the JSON, and of the texts. They are `None` where `withheld`
    says that what the call said is not shown, and there is no result yet while it runs. `task_id` is set on a call that
    is watched, `keyed` says that it has an idempotency key, `parent` is the call that has made it.
    """

    call_id: str
    agent_id: str | None
    agent_name: str | None
    tool: str
    caller: CallCaller
    surface: str
    status: TaskStatus
    started_at: Time
    ended_at: Time | None
    duration_ms: float
    progress: TaskProgress | None
    arguments: str | None
    result: str | None
    error: TaskFailure | None
    withheld: bool
    task_id: str | None
    keyed: bool
    parent: str | None


class CallLine(Struct, frozen=True, kw_only=True):
    """A line of progress, or one that the tool has logged at `level`."""

    seq: int
    at: Time
    kind: Literal["progress", "log"]
    text: str
    progress: float | None = None
    total: float | None = None
    level: str | None = None


class WholeCall(RecordedCall, frozen=True, kw_only=True):
    """One call in full. `sent` are its arguments, `answer` is its end; both are `None` where they are withheld.

    `deadline_at` is when its caller gives up, `lines` are the latest of what it told on the way.
    """

    deadline_at: Time
    context_id: str | None
    sent: JsonObject | None
    answer: Answer | None
    lines: list[CallLine]


class CallPage(Struct, frozen=True):
    """Calls, the latest first. With `next`, there may be more: ask for those `before` it.

    The stream of calls tells of what happens after this page if it is asked for what comes `after` that.
    """

    calls: list[RecordedCall]
    next: str | None
    after: str


class CallMoment(RecordedCall, frozen=True, kw_only=True, tag_field="type", tag="call"):
    """A call has begun, goes on or has ended: all of it as it is now."""


class CallsMissed(Struct, frozen=True, tag_field="type", tag="reset"):
    """There were more moments than are kept while this reader was away: what it knows is stale."""


CallNews: TypeAlias = CallMoment | CallsMissed
"""What the `data` of each event of the stream holds."""


class AuditAnchor(Struct, frozen=True):
    """A place in an owner's chain: the number of an entry, and its hash; 0 and zeros before the first one."""

    seq: int
    hash: str


class AuditEntry(Struct, frozen=True, omit_defaults=True):
    """One call that has ended, in its owner's chain.

    Digests are SHA-256 of the JSON text with sorted keys, as hex. `previous` is the `hash` of the entry before, and
    `hash` that of everything else in this one. `arguments` and `result` are there where bodies are kept.
    """

    seq: int
    call_id: str
    agent_id: str
    tool: str
    principal: str
    surface: str
    began_at: Time
    ended_at: Time
    status: str
    arguments_digest: str
    result_digest: str
    error_code: str | None = None
    idempotency_key_digest: str | None = None
    parent: str | None = None
    arguments: JsonObject | None = None
    result: Any = None
    previous: str = ""
    hash: str = ""
