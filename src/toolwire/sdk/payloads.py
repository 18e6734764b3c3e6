"""What each event of a task says, under the names and with the fields of sdk.md 71-73; it records nothing.

The class's name is the event's type. A body that may be large stands in the content store, and the payload has its
reference; where there are two fields such as `arguments` and `arguments_ref`, exactly one is set.

None of them is looked at by the garbage collector: a long conversation has very many, and JSON has no cycles.
"""

from typing import Any, TypeAlias

import msgspec
from msgspec import Struct

from toolwire.core.jsontypes import JsonObject
from toolwire.sdk.content import ContentRef
from toolwire.sdk.messages import Usage


class HumanResponseReceived(Struct, frozen=True, gc=False, tag="human_response", tag_field="kind"):
    """What a resting task waits for: a person's word. `handle` says on what (`approval-<call_id>`, the next goal)."""

    handle: str


class TurnOptions(Struct, frozen=True, gc=False, omit_defaults=True):
    """What was said for one turn alone; `None` for the agent's own. It holds until the next goal, restarts included.

    `label` is by what whoever gave the goal knows the turn.
    """

    permission_mode: str | None = None
    model: str | None = None
    effort: str | None = None
    enabled_mcp: tuple[str, ...] = ()
    label: str | None = None


class TaskCreated(Struct, frozen=True, gc=False):
    """A task came to be. A goal of more than a few kilobytes is `goal_ref`, and `goal` its beginning."""

    goal: str
    policy_name: str = "react"
    agent_name: str = "main"
    parent_task_id: str | None = None
    inputs: JsonObject = msgspec.field(default_factory=dict[str, Any])
    subtask_depth: int = 0
    background: bool | None = None
    goal_ref: ContentRef | None = None


class AgentBound(Struct, frozen=True, gc=False):
    """Which agent does the task; `digest` stands for its prompt and tools, and tells whether they changed."""

    agent_name: str
    digest: str = ""


class ModelBound(Struct, frozen=True, gc=False):
    """Which model answers from here on."""

    model: str
    principal_identity: str = "local"
    provider: str | None = None


class TaskHostBound(Struct, frozen=True, gc=False):
    """Where the task is at work."""

    host_id: str
    workspace_dir: str | None = None


class ContextContentRecorded(Struct, frozen=True, gc=False):
    """Something that the runtime tells the model beside the goal, such as the workspace's surroundings."""

    kind: str
    name: str
    version: str
    content_hash: str
    policy: str = "evolving"


class ContextPlanComposed(Struct, frozen=True, gc=False):
    """What the next request is made of."""

    plan_ref: ContentRef | None = None


class MessagesAppended(Struct, frozen=True, gc=False):
    """The conversation grew by `count` messages; `messages_ref` is their JSON list."""

    messages_ref: ContentRef
    count: int


class TaskStarted(Struct, frozen=True, gc=False):
    """Somebody works on the task, and nobody else will while the lease holds."""

    lease_id: str
    turn: TurnOptions | None = None


class TaskSnapshot(Struct, frozen=True, gc=False):
    """Counters and sums up to here."""

    state_ref: ContentRef


class TaskCompleted(Struct, frozen=True, gc=False):
    """The task is over, with an answer."""

    answer: Any = None
    answer_ref: ContentRef | None = None


class TaskFailed(Struct, frozen=True, gc=False):
    """The task, or its present turn, ended without an answer."""

    reason: str
    retryable: bool = False
    detail: str | None = None


class TaskSuspended(Struct, frozen=True, gc=False):
    """The task rests: `reason` is "waiting_human" or "interrupted"."""

    reason: str
    wake_on: HumanResponseReceived
    answer: Any = None
    answer_ref: ContentRef | None = None


class TaskWoken(Struct, frozen=True, gc=False):
    """What the task waited for came; with the next goal comes what was said for its turn."""

    wake_event: HumanResponseReceived
    turn: TurnOptions | None = None


class TaskCancelled(Struct, frozen=True, gc=False):
    """The task is over, because nobody wants it any more."""

    reason: str = "cancelled"
    cascade: bool = False


class TurnInterrupted(Struct, frozen=True, gc=False):
    """The present turn was stopped; the task can go on with another goal."""

    reason: str | None = None
    interrupted_by: str = "user"


class StepAttemptAbandoned(Struct, frozen=True, gc=False):
    """The events from `abandoned_from_seq` on were of a step whose process died, and count for nothing."""

    abandoned_from_seq: int
    reason: str
    state_ref: ContentRef | None = None


class StepTransitionMarked(Struct, frozen=True, gc=False):
    """The turn goes on in an unusual way, such as "approval_resume" or "output_correction"."""

    reason: str
    attempt: int = 0


class LLMRequestStarted(Struct, frozen=True, gc=False):
    """The model is asked; `request_ref` says with what, the messages by their number."""

    call_id: str
    model: str
    request_ref: ContentRef
    input_tokens: int = 0
    selection: JsonObject | None = None


class LLMResponseRecorded(Struct, frozen=True, gc=False):
    """The model's answer, as the JSON list of the one message that it is."""

    call_id: str
    response_ref: ContentRef
    stop_reason: str
    output_tokens: int = 0


class LLMRequestFinished(Struct, frozen=True, gc=False):
    """The request is over."""

    call_id: str
    success: bool
    cost_usd: float = 0.0
    latency_ms: int = 0
    usage: Usage = msgspec.field(default_factory=Usage)


class LLMRetryScheduled(Struct, frozen=True, gc=False):
    """The provider had no answer, and is asked again after `delay_seconds`."""

    call_id: str
    attempt: int
    max_retries: int
    delay_seconds: float
    category: str
    error: str = ""


class ToolCallStarted(Struct, frozen=True, gc=False):
    """A tool's body is about to run; `rule` says what let it."""

    call_id: str
    tool_name: str
    arguments: Any = None
    arguments_ref: ContentRef | None = None
    rule: str = ""


class ToolResultRecorded(Struct, frozen=True, gc=False):
    """What became of a call.

    `output_ref` is the whole output. `block_ref` is what the model is shown of it, and `cut` whether that is less.
    `details_ref` has the artifacts, side effects and traceback where they are too long to stand here.
    """

    call_id: str
    success: bool
    output_ref: ContentRef
    summary: str = ""
    artifacts: list[ContentRef] = msgspec.field(default_factory=list[ContentRef])
    side_effects: list[JsonObject] = msgspec.field(default_factory=list[JsonObject])
    file_baselines: list[JsonObject] | None = None
    block_ref: ContentRef | None = None
    cut: bool = False
    details_ref: ContentRef | None = None


class ToolCallFinished(Struct, frozen=True, gc=False):
    """The call is over."""

    call_id: str


class ToolCallDenied(Struct, frozen=True, gc=False):
    """The call did not run, and `rule` says what decided so."""

    call_id: str
    tool_name: str
    reason: str
    rule: str = ""


class ToolCallApprovalRequested(Struct, frozen=True, gc=False):
    """Somebody has to say yes first. `expires_at` (Unix seconds) is when silence becomes a no."""

    call_id: str
    tool_name: str
    arguments: Any = None
    arguments_ref: ContentRef | None = None
    reason: str = ""
    rule: str = ""
    expires_at: float | None = None


class ToolCallApprovalResolved(Struct, frozen=True, gc=False):
    """Somebody said yes or no, or nobody in time; `arguments` are the edited ones, where there are such."""

    call_id: str
    tool_name: str
    approved: bool
    reason: str | None = None
    resolver: str | None = None
    arguments: Any = None
    arguments_ref: ContentRef | None = None


class InjectionRequested(Struct, frozen=True, gc=False):
    """Messages came in from outside, to be appended before the next request."""

    injection_id: str
    messages_ref: ContentRef
    count: int


class McpProvenanceRecorded(Struct, frozen=True, gc=False):
    """Which remote servers' tools this turn may use: names and digests, never credentials."""

    servers: list[JsonObject]


class McpServerSkipped(Struct, frozen=True, gc=False):
    """A remote server could not be reached, and its tools are not there this turn."""

    alias: str
    reason: str


class ConversationClosed(Struct, frozen=True, gc=False):
    """The conversation takes no further goals until it is reopened."""

    closed_by: str
    reason: str | None = None


class ConversationReopened(Struct, frozen=True, gc=False):
    """The conversation takes goals again."""

    reopened_by: str
    reason: str | None = None


class BackgroundShellStarted(Struct, frozen=True, gc=False):
    """A command runs on while the turn goes on."""

    shell_id: str
    command: str
    spawned_by_task_id: str
    pid: int


class BackgroundShellExited(Struct, frozen=True, gc=False):
    """A background command ended by itself."""

    shell_id: str
    exit_code: int


class BackgroundShellKilled(Struct, frozen=True, gc=False):
    """A background command was ended by a signal."""

    shell_id: str
    signal: int


class SubtaskSpawned(Struct, frozen=True, gc=False):
    """Another agent was asked to do a part."""

    subtask_id: str
    agent_name: str
    goal: str
    inputs: JsonObject = msgspec.field(default_factory=dict[str, Any])
    goal_ref: ContentRef | None = None


class SubtaskCompleted(Struct, frozen=True, gc=False):
    """The part is done, or will not be."""

    subtask_id: str
    result: JsonObject


class SubtaskDenied(Struct, frozen=True, gc=False):
    """The part was not handed out."""

    agent_name: str
    goal: str
    reason: str
    goal_ref: ContentRef | None = None


Payload: TypeAlias = (
    TaskCreated
    | AgentBound
    | ModelBound
    | TaskHostBound
    | ContextContentRecorded
    | ContextPlanComposed
    | MessagesAppended
    | TaskStarted
    | TaskSnapshot
    | TaskCompleted
    | TaskFailed
    | TaskSuspended
    | TaskWoken
    | TaskCancelled
    | TurnInterrupted
    | StepAttemptAbandoned
    | StepTransitionMarked
    | LLMRequestStarted
    | LLMResponseRecorded
    | LLMRequestFinished
    | LLMRetryScheduled
    | ToolCallStarted
    | ToolResultRecorded
    | ToolCallFinished
    | ToolCallDenied
    | ToolCallApprovalRequested
    | ToolCallApprovalResolved
    | InjectionRequested
    | McpProvenanceRecorded
    | McpServerSkipped
    | ConversationClosed
    | ConversationReopened
    | BackgroundShellStarted
    | BackgroundShellExited
    | BackgroundShellKilled
    | SubtaskSpawned
    | SubtaskCompleted
    | SubtaskDenied
)
