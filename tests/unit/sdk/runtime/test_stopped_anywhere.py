"""A turn that is stopped, or dies, after any of its events leaves a task that can go on (sdk.md 81-83, §3.15, §4.2)."""

from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.unit.sdk.runtime.script import agent, noting, raw, say, unpaired, use
from toolwire.sdk import NEXT_GOAL_WAKE_HANDLE, AsyncClient, HostConfig
from toolwire.sdk.hosting.task import Task, fold
from toolwire.sdk.testing import FakeLLMProvider
from toolwire.sdk.turns.recovery import recover


async def yes(_name: str, _arguments: Any) -> bool:
    await anyio.lowlevel.checkpoint()
    return True


async def pause(_arguments: Any, _ctx: Any) -> str:
    await anyio.lowlevel.checkpoint()
    return "paused"


OPTIONS = agent(noting("look", []), raw("pause", pause), raw("act", pause, "high"), can_use_tool=yes)


def respond(request: Any) -> Any:
    """Two rounds of calls that run beside, after and behind each other, then the answer."""
    rounds = sum(message.role == "tool" for message in request.messages)
    if rounds == 0:
        return use(("a", "look", {}), ("b", "pause", {}), ("c", "act", {}), ("d", "nope", {}))
    return use(("e", "act", {}), ("f", "act", {})) if rounds == 1 else say()


@pytest.mark.parametrize("stored", [False, True])
@pytest.mark.parametrize("by", ["the caller", "interrupt"])
async def test_a_turn_can_be_stopped_after_any_event(tmp_path: Path, by: str, stored: bool):
    config = HostConfig(storage_path=tmp_path / "tasks.db" if stored else None)
    provider = FakeLLMProvider(responder=respond)
    async with AsyncClient(OPTIONS, provider=provider, host_config=config) as client:
        whole = await client.start(goal="go")
        length = len(await client.events(whole.task_id))
        assert length > 40
        for last in range(length):
            await stopped_after(client, last, by)
    assert [request for request in provider.received_requests if unpaired(request)] == []


async def stopped_after(client: AsyncClient, last: int, by: str) -> None:
    ids: list[str] = []
    scope = anyio.CancelScope()

    def watch(event: Any) -> None:
        ids[:] = [event.task_id]
        if event.seq == last and by == "interrupt":
            group.start_soon(client.interrupt, event.task_id)
        elif event.seq == last:
            scope.cancel()

    unsubscribe = client.subscribe(watch)
    async with anyio.create_task_group() as group:
        with anyio.fail_after(5), scope:
            await client.start(goal="go")
    unsubscribe()
    (task_id,) = ids
    status = await client.task_status(task_id)
    assert status is not None
    assert (status.status, status.wake_handle) == ("suspended", NEXT_GOAL_WAKE_HANDLE)
    host = client._runner.host  # pyright: ignore[reportPrivateUsage] -- the live task is what is compared
    live = await host.find(task_id)
    again = Task(task_id)
    await fold(again, await client.events(task_id), host.contents)
    assert (again.messages, again.status, again.calls) == (live.messages, live.status, live.calls)
    assert (await client.send_goal(task_id, goal="go on")).wake_handle == NEXT_GOAL_WAKE_HANDLE


async def test_a_turn_whose_process_died_after_any_event_is_recovered():
    provider = FakeLLMProvider(responder=respond)
    async with AsyncClient(OPTIONS, provider=provider) as client:
        events = await client.events((await client.start(goal="go")).task_id)
        runner = client._runner  # pyright: ignore[reportPrivateUsage] -- a process that died cannot be had by public means
        started = next(event.seq for event in events if event.type == "TaskStarted")
        for last in range(started, len(events) - 1):
            task = Task(f"task-{last:032x}")
            await fold(task, events[: last + 1], runner.host.contents)
            runner.host.tasks[task.id] = task
            if recover(runner.turn(task)):
                with anyio.fail_after(5):
                    await runner.drive(task)
            if task.asked:  # the approved call that died waits for a person again
                await client.approve_all(task.id)
            assert (task.status, task.wake_handle, task.calls) == ("suspended", NEXT_GOAL_WAKE_HANDLE, {})
            assert [event.seq for event in task.events] == list(range(task.next_seq))

    assert [request for request in provider.received_requests if unpaired(request)] == []
