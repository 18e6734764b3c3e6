"""What answers say of themselves."""

import pytest

from toolwire.wire.answers.calls import ENDED, Task, TaskStatus


@pytest.mark.parametrize("status", ["queued", "running", "input_required", "auth_required", *ENDED])
def test_a_task_has_ended_when_nothing_changes_any_more(status: TaskStatus):
    task = Task(task_id="t", agent_id="a", tool="x", context_id=None, status=status, created_at="")
    assert task.has_ended is (status in ("completed", "failed", "canceled", "timeout", "rejected"))
