"""What becomes of a task whose process died in the middle of a turn (sdk.md 81-83); it does not look for such tasks.

A request to the model is made again. A call that had begun is not: its outcome is unknown, and the model is told so,
unless its tool is idempotent. A call that a person had approved waits for that person again, who should look first.
"""

import toolwire.sdk.payloads as p
from toolwire.sdk.hosting.task import OpenCall, Stop, Task
from toolwire.sdk.turns.endings import lose, stop_turn
from toolwire.sdk.turns.turn_state import Turn

MAX_RECOVERIES = 3
VERIFY_FIRST = (
    "The process ended while this approved call was running, so it may have taken effect already: "
    "verify before approving it again."
)


def recover(turn: Turn) -> bool:
    """Bring the task to where it can be driven on; false when it has been recovered too often and now rests."""
    task = turn.task
    if task.recoveries >= MAX_RECOVERIES:
        reason = f"its process died {MAX_RECOVERIES + 1} times in this turn"
        stop_turn(turn, Stop(final=False, reason=reason, by="runtime"))
        return False
    if task.request_call is not None:
        task.record(p.StepAttemptAbandoned(_began(task, task.request_call), "auto_redrive"), origin="system")
    for call in list(task.calls.values()):
        if call.state == "started":
            _recover_call(turn, call)
    return True


def _recover_call(turn: Turn, call: OpenCall) -> None:
    task, call_id = turn.task, call.use.call_id
    tool = turn.mounts.get(call.use.tool_name)
    began = _began(task, call_id)
    if tool is not None and tool.repeatable:
        task.record(p.StepAttemptAbandoned(began, "idempotent_redrive"), origin="system")
        call.state = "approved" if call.asked is not None else "new"
        return
    if call.asked is None:
        lose(turn, call)
        return
    task.record(p.StepAttemptAbandoned(began, "interrupted_approval"), origin="system")
    asked = call.asked
    again = p.ToolCallApprovalRequested(
        call_id, asked.tool_name, asked.arguments, asked.arguments_ref, VERIFY_FIRST, asked.rule
    )
    task.record(again, origin="system")


def _began(task: Task, call_id: str) -> int:
    """The number of the event with which a call or a request began."""
    for event in reversed(task.events):
        if isinstance(event.payload, (p.LLMRequestStarted, p.ToolCallStarted)) and event.payload.call_id == call_id:
            return event.seq
    return task.next_seq
