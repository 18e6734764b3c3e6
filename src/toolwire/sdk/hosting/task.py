"""A task as it lives in memory: its events, its conversation and what follows from them; it does not run anything.

`record` is the only way in which a task changes while it runs, and `fold` does the same with events that were read
back, so that a task resumed from the store is the one that was left (O(new events), sdk.md §4.8).
"""

import os
import time
from collections.abc import Callable
from typing import Any, Literal, TypeAlias

import anyio
import msgspec
from msgspec import Struct

import toolwire.sdk.payloads as p
from toolwire.sdk.content import ContentRef
from toolwire.sdk.errors import AgentError
from toolwire.sdk.events import SCHEMA_VERSION, EventEnvelope, EventOrigin, event_id
from toolwire.sdk.hosting.contents import Contents
from toolwire.sdk.messages import Message, ToolResultBlock, ToolUseBlock, Usage
from toolwire.sdk.options import NEXT_GOAL_WAKE_HANDLE

Status: TypeAlias = Literal["running", "suspended", "completed", "failed", "cancelled"]
CallState: TypeAlias = Literal["new", "asked", "approved", "started", "done"]

ENVIRONMENT = "environment"
"""The origin of the message that tells the model where it is; views leave it out."""

encode_messages = msgspec.json.Encoder().encode
decode_messages = msgspec.json.Decoder(list[Message]).decode
_decode_block = msgspec.json.Decoder(ToolResultBlock).decode


class OpenCall:
    """A call that the model asked for in its last message, until its result is in the conversation."""

    __slots__ = ("arguments", "arguments_ref", "asked", "block", "block_ref", "state", "use", "verify")

    def __init__(self, use: ToolUseBlock) -> None:
        self.use = use
        self.arguments: Any = use.arguments
        self.arguments_ref: ContentRef | None = None
        self.state: CallState = "new"
        self.asked: p.ToolCallApprovalRequested | None = None
        self.block: ToolResultBlock | None = None
        self.block_ref: ContentRef | None = None
        self.verify = False

    def refuse(self, reason: str) -> None:
        """The call will not run; the model reads why."""
        self.state = "done"
        self.block = ToolResultBlock(self.use.call_id, "", False, reason)


class TurnCount:
    """What the present turn has used up so far."""

    __slots__ = ("corrections", "cost_usd", "requests", "spawned", "tool_calls")

    def __init__(self) -> None:
        self.requests = 0
        self.tool_calls = 0
        self.cost_usd = 0.0
        self.spawned = 0
        self.corrections = 0


class Stop(Struct, frozen=True):
    """Why the present turn is being stopped: an interruption, or the end of the whole task."""

    final: bool
    reason: str | None
    by: str = "user"


class Task:
    """One task. Whoever drives it has set `busy`; `scope`, `stop` and `idle` are how others stop and await it."""

    def __init__(self, task_id: str, trace_id: str = "") -> None:
        self.id = task_id
        self.trace_id = trace_id or f"trace-{os.urandom(12).hex()}"
        self.parent: str | None = None
        self.depth = 0
        self.agent_name = ""
        self.digest = ""
        self.model = ""
        self.events: list[EventEnvelope] = []
        self.unsaved: list[EventEnvelope] = []
        self.next_seq = 0
        self.messages: list[Message] = []
        self.status: Status = "running"
        self.wake_handle: str | None = None
        self.rest: str | None = None
        self.answer: Any = None
        self.answer_ref: ContentRef | None = None
        self.cut: dict[str, ContentRef] = {}
        self.failure: p.TaskFailed | None = None
        self.closed = False
        self.usage = Usage()
        self.turn = TurnCount()
        self.options = p.TurnOptions()
        self.calls: dict[str, OpenCall] = {}
        self.request_call: str | None = None
        self.recoveries = 0
        self.saving = anyio.Lock()
        self.leased = False
        self.busy = False
        self.scope: anyio.CancelScope | None = None
        self.stop: Stop | None = None
        self.idle: anyio.Event | None = None
        self.round = 0
        self.streaks: dict[bytes, tuple[int, int]] = {}

    def record(self, payload: Struct, actor: str = "engine", origin: EventOrigin = "engine") -> EventEnvelope:
        """Add an event. It is durable, and told to observers, once the host has saved the task."""
        seq = self.next_seq
        kind: type[Any] = type(payload)
        envelope = EventEnvelope(
            event_id(self.id, seq),
            self.id,
            seq,
            kind.__name__,
            SCHEMA_VERSION,
            time.time(),
            actor,
            self.trace_id,
            self.id,
            None,
            payload,
            origin,
        )
        self.next_seq = seq + 1
        self.unsaved.append(envelope)
        apply = _FOLDS.get(kind)
        if apply is not None:
            apply(self, payload)
        return envelope

    def say(self, messages: list[Message], contents: Contents, ref: ContentRef | None = None) -> None:
        """Add messages to the conversation; `ref` is their content where that is stored already."""
        if ref is None:
            ref = contents.put(encode_messages(messages), "application/json")
        self.record(p.MessagesAppended(ref, len(messages)))
        self.heard(messages)

    def heard(self, messages: list[Message]) -> None:
        """Take messages into the conversation, and note which calls they open and close."""
        self.messages.extend(messages)
        for message in messages:
            if message.role == "assistant":
                uses = [block for block in message.content if isinstance(block, ToolUseBlock)]
                self.calls = {use.call_id: OpenCall(use) for use in uses}
            elif message.role == "tool":
                for block in message.content:
                    if isinstance(block, ToolResultBlock):
                        self.calls.pop(block.call_id, None)

    @property
    def asked(self) -> list[OpenCall]:
        """The calls that wait for a person's word, in the model's order."""
        return [call for call in self.calls.values() if call.state == "asked"]

    @property
    def resting(self) -> bool:
        """Whether nobody works on the task."""
        return self.status != "running"

    def take_unsaved(self) -> list[EventEnvelope]:
        """The events that are not durable yet; from now on they are the caller's."""
        taken, self.unsaved = self.unsaved, []
        return taken


async def fold(task: Task, events: list[EventEnvelope], contents: Contents) -> None:
    """Bring a task that was just made to where its events left it.

    Raises:
        AgentError: content that an event refers to is missing.
    """
    for envelope in events:
        payload = envelope.payload
        task.next_seq = envelope.seq + 1
        apply = _FOLDS.get(type(payload))
        if apply is not None:
            apply(task, payload)
        if isinstance(payload, p.MessagesAppended):
            task.heard(decode_messages(await _needed(contents, payload.messages_ref)))
        elif isinstance(payload, p.ContextContentRecorded) and payload.kind == ENVIRONMENT:
            task.messages.extend(decode_messages(await _needed(contents, ContentRef(payload.content_hash, 0))))
    task.events.extend(events)
    for call in task.calls.values():
        if call.block_ref is not None and call.block is None:
            call.block = _decode_block(await _needed(contents, call.block_ref))
        if call.arguments_ref is not None:
            call.arguments = msgspec.json.decode(await _needed(contents, call.arguments_ref))
    if task.answer is None and task.answer_ref is not None:
        task.answer = msgspec.json.decode(await _needed(contents, task.answer_ref))


async def _needed(contents: Contents, ref: ContentRef) -> bytes:
    body = await contents.load(ref.hash)
    if body is None:
        raise AgentError(f"the content {ref.hash!r} is missing from the store; restore it from a backup")
    return body


def _created(task: Task, payload: p.TaskCreated) -> None:
    task.agent_name, task.parent, task.depth = payload.agent_name, payload.parent_task_id, payload.subtask_depth
    task.status = "running"


def _bound(task: Task, payload: p.AgentBound) -> None:
    task.agent_name, task.digest = payload.agent_name, payload.digest


def _model(task: Task, payload: p.ModelBound) -> None:
    task.model = payload.model


def _running(task: Task, _payload: Any) -> None:
    task.status, task.wake_handle, task.rest, task.failure = "running", None, None, None


def _begun(task: Task, payload: p.TaskStarted) -> None:
    _running(task, payload)
    task.options = payload.turn or p.TurnOptions()


def _woken(task: Task, payload: p.TaskWoken) -> None:
    _running(task, payload)
    if payload.wake_event.handle == NEXT_GOAL_WAKE_HANDLE:
        task.options = payload.turn or p.TurnOptions()
        task.turn = TurnCount()
        task.recoveries = 0
        task.streaks.clear()


def _suspended(task: Task, payload: p.TaskSuspended) -> None:
    task.status, task.rest, task.wake_handle = "suspended", payload.reason, payload.wake_on.handle
    if payload.answer is not None or payload.answer_ref is not None:
        task.answer, task.answer_ref = payload.answer, payload.answer_ref


def _completed(task: Task, payload: p.TaskCompleted) -> None:
    task.status, task.answer, task.answer_ref = "completed", payload.answer, payload.answer_ref


def _failed(task: Task, payload: p.TaskFailed) -> None:
    task.status, task.failure = "failed", payload
    task.answer, task.answer_ref = _said_last(task), None


def _said_last(task: Task) -> str | None:
    """What the model said last in this turn, if it said anything in words: a partial answer."""
    for message in reversed(task.messages):
        if message.role == "assistant" and message.text:
            return message.text
        if message.role == "user" and message.origin is None:
            return None
    return None


def _cancelled(task: Task, _payload: p.TaskCancelled) -> None:
    task.status = "cancelled"


def _requested(task: Task, payload: p.LLMRequestStarted) -> None:
    task.request_call = payload.call_id
    task.turn.requests += 1


def _answered(task: Task, payload: p.LLMRequestFinished) -> None:
    task.request_call = None
    task.usage = task.usage + payload.usage
    task.turn.cost_usd += payload.cost_usd


def _abandoned(task: Task, _payload: p.StepAttemptAbandoned) -> None:
    task.recoveries += 1
    if task.request_call is not None:
        task.request_call = None
        task.turn.requests -= 1


def _marked(task: Task, payload: p.StepTransitionMarked) -> None:
    if payload.reason == "output_correction":
        task.turn.corrections += 1


def _started(task: Task, payload: p.ToolCallStarted) -> None:
    task.turn.tool_calls += 1
    if call := task.calls.get(payload.call_id):
        call.state = "started"


def _recorded(task: Task, payload: p.ToolResultRecorded) -> None:
    if call := task.calls.get(payload.call_id):
        call.state, call.block_ref = "done", payload.block_ref
    if payload.cut:
        task.cut[payload.output_ref.hash] = payload.output_ref


def _denied(task: Task, payload: p.ToolCallDenied) -> None:
    if call := task.calls.get(payload.call_id):
        call.refuse(payload.reason)


def _asked(task: Task, payload: p.ToolCallApprovalRequested) -> None:
    if call := task.calls.get(payload.call_id):
        call.verify = call.verify or call.state == "started"
        call.state, call.asked = "asked", payload


def _resolved(task: Task, payload: p.ToolCallApprovalResolved) -> None:
    call = task.calls.get(payload.call_id)
    if call is None:
        return
    if not payload.approved:
        call.refuse(payload.reason or "denied by human")
        return
    call.state = "approved"
    if payload.arguments_ref is not None:
        call.arguments_ref = payload.arguments_ref
    elif payload.arguments is not None:
        call.arguments = payload.arguments


def _closed(task: Task, _payload: Any) -> None:
    task.closed = True


def _reopened(task: Task, _payload: Any) -> None:
    task.closed = False


_FOLDS: dict[Any, Callable[[Task, Any], None]] = {
    p.TaskCreated: _created,
    p.AgentBound: _bound,
    p.ModelBound: _model,
    p.TaskStarted: _begun,
    p.TaskWoken: _woken,
    p.TaskSuspended: _suspended,
    p.TaskCompleted: _completed,
    p.TaskFailed: _failed,
    p.TaskCancelled: _cancelled,
    p.LLMRequestStarted: _requested,
    p.LLMRequestFinished: _answered,
    p.StepAttemptAbandoned: _abandoned,
    p.StepTransitionMarked: _marked,
    p.ToolCallStarted: _started,
    p.ToolResultRecorded: _recorded,
    p.ToolCallDenied: _denied,
    p.ToolCallApprovalRequested: _asked,
    p.ToolCallApprovalResolved: _resolved,
    p.ConversationClosed: _closed,
    p.ConversationReopened: _reopened,
}
