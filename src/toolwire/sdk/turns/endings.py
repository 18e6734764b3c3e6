"""How a turn comes to rest: an answer, a failure, a wait for a person, a stop; it starts nothing.

A conversation (`one_shot` false) rests after each answer and waits for the next goal. On every path each call that the
model asked for has its result before the task rests, because no provider takes a call without one.
"""

from typing import Any

import toolwire.sdk.payloads as p
from toolwire.sdk.content import ContentRef
from toolwire.sdk.hosting.task import OpenCall, Stop
from toolwire.sdk.messages import Message, ToolResultBlock, Usage
from toolwire.sdk.options import NEXT_GOAL_WAKE_HANDLE
from toolwire.sdk.turns.turn_state import JSON, Turn, clipped, fitted

UNKNOWN_OUTCOME = "Interrupted before its result was recorded, so its outcome is unknown: check before doing it again."
NEVER_RAN = "Not run: the turn was stopped before."


def approval_handle(call_id: str) -> str:
    """What a task waits for that needs a yes."""
    return f"approval-{call_id}"


def answer_with(turn: Turn, answer: Any) -> None:
    """End the turn with its answer."""
    task = turn.task
    task.answer = answer
    inline, ref = fitted(answer, turn)
    turn.snapshot()
    if turn.agent.one_shot:
        task.record(p.TaskCompleted(inline, ref))
    else:
        task.record(p.TaskSuspended("waiting_human", _next_goal(), inline, ref))
    task.answer = answer


def wait_for_approval(turn: Turn) -> None:
    """Rest until somebody says yes or no to the first of the calls that are asked about."""
    asked = turn.task.asked
    turn.snapshot()
    handle = approval_handle(asked[0].use.call_id)
    turn.task.record(p.TaskSuspended("waiting_human", p.HumanResponseReceived(handle)))


def fail(turn: Turn, reason: str, detail: str | None = None, retryable: bool = False) -> None:
    """End the turn without an answer; what the model said last is kept as a partial one."""
    task = turn.task
    close_calls(turn, NEVER_RAN)
    turn.snapshot()
    task.record(p.TaskFailed(clipped(reason, 200), retryable, None if detail is None else clipped(detail)))


def stop_turn(turn: Turn, stop: Stop) -> None:
    """End the turn because somebody wants it to end: interrupted, or cancelled for good."""
    task = turn.task
    close_request(turn)
    close_calls(turn, NEVER_RAN)
    if stop.final:
        task.record(p.TaskCancelled(clipped(stop.reason or "cancelled", 500)), stop.by, "system")
        return
    task.record(p.TurnInterrupted(None if stop.reason is None else clipped(stop.reason, 500), stop.by))
    turn.snapshot()
    task.record(p.TaskSuspended("interrupted", _next_goal()))


def close_request(turn: Turn) -> None:
    """Record that a request to the model under way was left."""
    task = turn.task
    if task.request_call is None:
        return
    empty: ContentRef = turn.host.contents.put(b"[]", JSON)
    task.record(p.LLMResponseRecorded(task.request_call, empty, "error"), "llm", "llm")
    task.record(p.LLMRequestFinished(task.request_call, False, usage=Usage()), "llm", "llm")


def close_calls(turn: Turn, why: str) -> None:
    """Give every open call its result, and put them into the conversation."""
    task = turn.task
    if not task.calls:
        return
    for call in list(task.calls.values()):
        _close(turn, call, why)
    blocks = [call.block for call in task.calls.values() if call.block is not None]
    task.say([Message("tool", list(blocks))], turn.host.contents)


def _close(turn: Turn, call: OpenCall, why: str) -> None:
    task, call_id, name = turn.task, call.use.call_id, call.use.tool_name
    if call.state == "started":
        lose(turn, call)
    elif call.state in ("asked", "approved"):
        if call.state == "asked":
            task.record(p.ToolCallApprovalResolved(call_id, name, False, why, "runtime"))
        call.refuse(why)
    elif call.state == "new":
        call.refuse(why)
    if call.block is None:
        call.block = ToolResultBlock(call_id, "", False, UNKNOWN_OUTCOME)


def lose(turn: Turn, call: OpenCall, reason: str = UNKNOWN_OUTCOME) -> None:
    """Record that nobody knows what became of a call that had begun."""
    call_id = call.use.call_id
    nothing = turn.host.contents.put(b'""', JSON)
    turn.task.record(p.ToolResultRecorded(call_id, False, nothing, reason), "tool_runtime", "tool")
    turn.task.record(p.ToolCallFinished(call_id), "tool_runtime", "tool")
    call.refuse(reason)


def _next_goal() -> p.HumanResponseReceived:
    return p.HumanResponseReceived(NEXT_GOAL_WAKE_HANDLE)
