"""Tasks under an id chosen outside, such as one made of a conversation's elsewhere."""

from pathlib import Path

import pytest

from tests.unit.sdk.runtime.script import agent, model, say
from toolwire.sdk import AsyncClient, Client, HostConfig, InvalidTurnOptionError, NotResumableError


def test_a_task_begins_under_the_id_that_is_given():
    with Client(agent(), provider=model(say("one"), say("two"))) as client:
        assert client.start(goal="go", task_id="task-mine").task_id == "task-mine"
        assert client.send_goal("task-mine", goal="on").status == "suspended"
        assert client.task_answer("task-mine") == "two"


@pytest.mark.parametrize("task_id", ["mine", "task-", "task-a b", "task-../x", f"task-{'x' * 65}"])
def test_what_is_no_id_is_refused(task_id: str):
    with Client(agent(), provider=model()) as client, pytest.raises(InvalidTurnOptionError, match="task_id must be"):
        client.start(goal="go", task_id=task_id)


async def test_an_id_that_is_taken_is_refused_in_memory_and_after_a_restart(tmp_path: Path):
    kept = HostConfig(storage_path=tmp_path / "tasks.db")
    for host_config in (None, kept):
        async with AsyncClient(agent(), provider=model(say("one")), host_config=host_config) as client:
            await client.start(goal="go", task_id="task-mine")
            with pytest.raises(NotResumableError, match="there is a task 'task-mine' already"):
                await client.start(goal="go", task_id="task-mine")

    async with AsyncClient(agent(), provider=model(), host_config=kept) as client:
        with pytest.raises(NotResumableError, match="there is a task 'task-mine' already"):
            await client.start(goal="go", task_id="task-mine")
        assert await client.task_answer("task-mine") == "one"
