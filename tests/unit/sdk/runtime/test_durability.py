"""Tasks on SQLite: they survive the client, and the process however it ends (sdk.md 81-83, §4.8)."""

import signal
import subprocess
import sys
import threading
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.unit.sdk.runtime.script import agent, model, noting, payloads, results, say, types, unpaired, use
from toolwire.core.errors import StoreUnavailable
from toolwire.sdk import (
    NEXT_GOAL_WAKE_HANDLE,
    AsyncClient,
    Client,
    EventEnvelope,
    HostConfig,
    InjectedMessage,
    NotResumableError,
    aquery,
    query,
)
from toolwire.sdk.testing import FakeLLMProvider


def stored(path: Path, **more: Any) -> HostConfig:
    return HostConfig(storage_path=path / "tasks.db", **more)


async def test_a_conversation_goes_on_in_another_client(tmp_path: Path):
    options = agent(noting("look", []))
    async with AsyncClient(
        options, provider=model(use(("t1", "look", {})), say("one")), host_config=stored(tmp_path)
    ) as client:
        outcome = await client.start(goal="a")
        before = await client.events(outcome.task_id)
        view = await client.messages(outcome.task_id)

    provider = model(say("two"))
    async with AsyncClient(options, provider=provider, host_config=stored(tmp_path)) as client:
        assert await client.events(outcome.task_id) == before
        assert await client.messages(outcome.task_id) == view
        assert await client.task_answer(outcome.task_id) == "one"
        assert [task.task_id for task in await client.task_summaries()] == [outcome.task_id]
        await client.send_goal(outcome.task_id, goal="b")

        assert [m.text for m in provider.received_requests[0].messages if m.role == "user"][1:] == ["a", "b"]
        assert (await client.usage(outcome.task_id)).output == 3
        events = await client.events(outcome.task_id)
        assert [event.seq for event in events] == list(range(len(events)))


async def test_an_approval_survives_a_restart_with_the_results_of_its_batch(tmp_path: Path):
    ran: list[Any] = []
    options = agent(noting("act", ran, "high"), noting("look", ran))
    calls = use(("t1", "act", {"text": "x" * 9000}), ("t2", "look", {}))
    async with AsyncClient(options, provider=model(calls), host_config=stored(tmp_path)) as client:
        outcome = await client.start(goal="go")

    provider = model(say())
    async with AsyncClient(options, provider=provider, host_config=stored(tmp_path)) as client:
        with pytest.raises(NotResumableError, match="approval-t1"):
            await client.send_goal(outcome.task_id, goal="again")
        outcome = await client.approve(outcome.task_id, arguments={"text": "y" * 9000})

    assert outcome.wake_handle == NEXT_GOAL_WAKE_HANDLE
    assert ran == [("look", {}), ("act", {"text": "y" * 9000})]
    assert [(b.call_id, b.output) for b in results(provider.received_requests[0])] == [("t1", "act"), ("t2", "look")]


def test_queries_share_one_storage_and_leave_it_to_others(tmp_path: Path):
    for n in range(3):
        assert query(agent(), goal=f"g{n}", provider=model(say()), host_config=stored(tmp_path)).answer() == "Done."
    with Client(agent(), provider=model(), host_config=stored(tmp_path)) as client:
        listed = client.task_summaries()

    assert [task.status for task in listed] == ["completed"] * 3


async def test_asynchronous_queries_leave_the_storage_when_they_end(tmp_path: Path):
    for n in range(2):
        result = await aquery(agent(), goal=f"g{n}", provider=model(say()), host_config=stored(tmp_path))
        assert result.answer() == "Done."

    assert query(agent(), goal="go", provider=model(say()), host_config=stored(tmp_path)).answer() == "Done."
    with pytest.raises(ValueError, match="must be the path of a file"):
        await aquery(agent(), goal="go", provider=model(), host_config=HostConfig(storage_path="postgres://x/y"))


async def test_a_storage_in_use_on_another_loop_is_refused_and_one_that_lingers_is_taken(tmp_path: Path):
    query(agent(), goal="go", provider=model(say()), host_config=stored(tmp_path))
    async with AsyncClient(agent(), provider=model(say()), host_config=stored(tmp_path)) as client:
        await client.start(goal="go")
        assert len(await client.task_summaries()) == 2
        with pytest.raises(StoreUnavailable, match="another event loop"):
            query(agent(), goal="go", provider=model(say()), host_config=stored(tmp_path))


async def test_memory_holds_a_bounded_number_of_stored_tasks(tmp_path: Path):
    from toolwire.sdk.hosting import host  # noqa: PLC0415 -- its limit is what this is about

    provider = FakeLLMProvider(responder=lambda _request: say())
    async with AsyncClient(agent(), provider=provider, host_config=stored(tmp_path)) as client:
        first = await client.start(goal="first")
        for n in range(host.LIVE_TASKS + 3):
            await client.start(goal=f"g{n}")

        assert len(client._runner.host.tasks) <= host.LIVE_TASKS  # pyright: ignore[reportPrivateUsage] -- nothing public shows it
        assert (await client.send_goal(first.task_id, goal="again")).status == "suspended"


CHILD = """
import os, signal, sys, time
from toolwire.sdk import AgentDefinition, Client, HostConfig, LLMResponse, Options, TextBlock, ToolUseBlock, tool
from toolwire.sdk.testing import FakeLLMProvider

where, storage, *left = sys.argv[1:]
ANY = {"type": "object", "properties": {}}

def die(arguments, ctx):
    with open(storage + ".ran", "a") as file:
        file.write("ran\\n")
    os.kill(os.getpid(), signal.SIGKILL)


make = lambda name, risk, **more: tool(die, name=name, version="1", risk_level=risk, input_schema=ANY, **more)
tools = (make("low", "low"), make("high", "high"), make("again", "low", idempotent=True))

def respond(request):
    if request.system == "helper":
        return LLMResponse("tool_use", [ToolUseBlock("h1", "low", {})])
    if where == "Task":
        return LLMResponse("tool_use", [ToolUseBlock("t1", where, {"agent": "helper", "goal": "x"})])
    if where == "model":
        time.sleep(0.05)  # longer than a step may wait to be saved
        os.kill(os.getpid(), signal.SIGKILL)
    return LLMResponse("tool_use", [ToolUseBlock("t1", where, {})])

agents = {"helper": AgentDefinition(description="Helps.", prompt="helper")}
options = Options(system_prompt="x", name="tester", allowed_tools=tools, agents=agents if where == "Task" else {})
provider = FakeLLMProvider(responder=respond)
with Client(options, provider=provider, host_config=HostConfig(storage_path=storage)) as client:
    client.subscribe(lambda event: event.seq or event.payload.parent_task_id or print(event.task_id, flush=True))
    outcome = client.resume(left[0]) if left else client.start(goal="go")
    client.approve(outcome.task_id)
"""


def killed(where: str, tmp_path: Path, *left: str) -> str:
    """Run a task, or go on with the one that was left, in a process that is killed in the middle of it; its id."""
    child = subprocess.run(
        [sys.executable, "-c", CHILD, where, str(tmp_path / "tasks.db"), *left],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert child.returncode == -signal.SIGKILL, child.stderr
    return left[0] if left else child.stdout.split()[0]


def survivors(ran: list[Any]) -> Any:
    return agent(noting("low", ran), noting("high", ran, "high"), noting("again", ran, idempotent=True))


async def test_killed_in_a_low_risk_tool_the_outcome_is_unknown_and_the_body_does_not_run_again(tmp_path: Path):
    task_id, ran = killed("low", tmp_path), list[Any]()
    provider = model(say())

    async with AsyncClient(survivors(ran), provider=provider, host_config=stored(tmp_path)) as client:
        outcome = await client.resume(task_id)

    assert (ran, outcome.wake_handle) == ([], NEXT_GOAL_WAKE_HANDLE)
    (block,) = results(provider.received_requests[0])
    assert (block.success, block.error is not None and "outcome is unknown" in block.error) == (False, True)


async def test_killed_in_an_idempotent_tool_the_body_runs_again(tmp_path: Path):
    task_id, ran = killed("again", tmp_path), list[Any]()

    async with AsyncClient(survivors(ran), provider=model(say()), host_config=stored(tmp_path)) as client:
        await client.resume(task_id)
        events = await client.events(task_id)

    assert len(ran) == 1
    assert payloads(events, "StepAttemptAbandoned")[0].reason == "idempotent_redrive"


async def test_killed_in_a_model_call_the_model_is_asked_again(tmp_path: Path):
    task_id = killed("model", tmp_path)

    async with AsyncClient(survivors([]), provider=model(say("here")), host_config=stored(tmp_path)) as client:
        await client.resume(task_id)
        assert await client.task_answer(task_id) == "here"
        events = await client.events(task_id)

    (abandoned,) = payloads(events, "StepAttemptAbandoned")
    assert abandoned.reason == "auto_redrive"
    assert types(events)[abandoned.abandoned_from_seq] == "LLMRequestStarted"


async def test_killed_in_an_approved_tool_it_waits_for_the_person_again(tmp_path: Path):
    task_id, ran = killed("high", tmp_path), list[Any]()
    provider = model(say("done"))

    async with AsyncClient(survivors(ran), provider=provider, host_config=stored(tmp_path)) as client:
        outcome = await client.resume(task_id)
        assert (ran, outcome.wake_handle) == ([], "approval-t1")
        assert "verify" in outcome.pending[0].reason
        events = await client.events(task_id)
        assert payloads(events, "StepAttemptAbandoned")[0].reason == "interrupted_approval"
        assert [e.origin for e in events if e.type == "ToolCallApprovalRequested"] == ["engine", "system"]
        await client.approve(task_id)
        notices = [item for item in await client.messages(task_id) if isinstance(item, InjectedMessage)]

    assert len(ran) == 1
    assert (tmp_path / "tasks.db.ran").read_text() == "ran\n"
    assert [notice.origin for notice in notices] == ["system"]
    assert unpaired(provider.received_requests[0]) == set()


def note(over: threading.Event, event: EventEnvelope) -> None:
    if event.type == "TaskSuspended":
        over.set()


def test_workers_find_and_resume_what_a_dead_process_left(tmp_path: Path):
    task_id = killed("low", tmp_path)
    over = threading.Event()
    with Client(survivors([]), provider=model(say()), host_config=stored(tmp_path)) as client:
        client.subscribe(partial(note, over))
        client.start_workers(2, poll_interval=0.05)
        assert over.wait(5)
        status = client.task_status(task_id)

    assert status is not None
    assert status.wake_handle == NEXT_GOAL_WAKE_HANDLE


async def test_a_goal_for_a_task_that_a_dead_process_left_recovers_it_first(tmp_path: Path):
    task_id = killed("low", tmp_path)
    provider = model(say("recovered"), say("next"))

    async with AsyncClient(survivors([]), provider=provider, host_config=stored(tmp_path)) as client:
        await client.send_goal(task_id, goal="and now?")
        assert await client.task_answer(task_id) == "next"
        assert types(await client.events(task_id))[-1] == "TaskSuspended"


async def test_a_task_that_kills_its_process_again_and_again_is_left_at_rest(tmp_path: Path):
    task_id = killed("model", tmp_path)
    for _ in range(3):
        killed("model", tmp_path, task_id)

    provider = model(say("next"))
    async with AsyncClient(survivors([]), provider=provider, host_config=stored(tmp_path)) as client:
        outcome = await client.resume(task_id)
        assert (outcome.status, provider.received_requests) == ("suspended", [])
        assert (await client.send_goal(task_id, goal="carefully now")).status == "suspended"


async def test_killed_in_another_agents_task_that_task_is_cancelled_and_the_first_goes_on(tmp_path: Path):
    task_id = killed("Task", tmp_path)
    provider = model(say("without help"))

    async with AsyncClient(survivors([]), provider=provider, host_config=stored(tmp_path)) as client:
        await client.resume(task_id)
        events = await client.events(task_id)
        (spawned,) = payloads(events, "SubtaskSpawned")
        status = await client.task_status(spawned.subtask_id)
        assert await client.task_answer(task_id) == "without help"

    assert status is not None
    assert status.status == "cancelled"
    assert payloads(events, "SubtaskCompleted")[0].result["error"] == "lost"


async def test_what_was_said_for_a_turn_holds_until_its_end_even_after_a_restart(tmp_path: Path):
    ran: list[Any] = []
    options = agent(noting("act", ran, "high"), permission_mode="bypassPermissions")
    calls = use(("t1", "act", {"n": 1}))
    async with AsyncClient(options, provider=model(calls), host_config=stored(tmp_path)) as client:
        outcome = await client.start(goal="go", permission_mode="default", model_selector="other", effort="high")

    provider = model(use(("t2", "act", {"n": 2})), say(), use(("t3", "act", {"n": 3})), say())
    async with AsyncClient(options, provider=provider, host_config=stored(tmp_path)) as client:
        outcome = await client.approve(outcome.task_id)
        assert (outcome.wake_handle, len(ran)) == ("approval-t2", 1)
        await client.deny(outcome.task_id)
        await client.send_goal(outcome.task_id, goal="more")

    assert [arguments["n"] for _, arguments in ran] == [1, 3]
    assert [(request.model, request.effort) for request in provider.received_requests] == [
        ("other", "high"),
        ("other", "high"),
        ("other", None),
        ("other", None),
    ]


async def test_a_resolver_is_asked_about_what_waited_before_it_was_there(tmp_path: Path):
    ran: list[Any] = []

    async def yes(_name: str, _arguments: Any) -> bool:
        return True

    calls = use(("t1", "act", {"n": 1}), ("t2", "act", {"n": 2}))
    async with AsyncClient(
        agent(noting("act", ran, "high")), provider=model(calls), host_config=stored(tmp_path)
    ) as client:
        outcome = await client.start(goal="go")

    options = agent(noting("act", ran, "high"), can_use_tool=yes)
    async with AsyncClient(options, provider=model(say()), host_config=stored(tmp_path)) as client:
        outcome = await client.deny(outcome.task_id, "t1")

    assert (outcome.wake_handle, ran) == (NEXT_GOAL_WAKE_HANDLE, [("act", {"n": 2})])
