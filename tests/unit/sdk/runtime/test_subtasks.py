"""Handing parts of a task to other agents (sdk.md 56, 57, §3.6)."""

from typing import Any

import pytest

from tests.unit.sdk.runtime.script import agent, noting, payloads, results, say, types, use
from toolwire.sdk import AgentDefinition, AsyncClient, BudgetSpec, Options
from toolwire.sdk.testing import FakeLLMProvider

HELPER = {"helper": AgentDefinition(description="Acts.", prompt="You are the helper.", tools=None)}


def two_agents(request: Any) -> Any:
    """The main agent hands a part out; the helper makes one call of `act`."""
    last = request.messages[-1]
    if request.system == "You are the helper.":
        return say(f"helper: {results(request)[0].error or 'ok'}") if last.role == "tool" else use(("h1", "act", {}))
    if last.role == "tool":
        (block,) = results(request)
        return say(f"main: {block.output or block.error}")
    return use(("m1", "Task", {"agent": "helper", "goal": "act for me"}))


def yes(_name: str, _arguments: Any) -> bool:
    return True


@pytest.mark.parametrize(
    ("resolver", "answer"),
    [(yes, "main: helper: ok"), (None, "main: helper: nobody can be asked inside a subtask")],
)
async def test_a_part_is_a_task_of_its_own_by_the_same_permissions(resolver: Any, answer: str):
    ran: list[Any] = []
    options = agent(noting("act", ran, "high"), agents=HELPER, can_use_tool=resolver)
    seen: dict[str, list[str]] = {}
    async with AsyncClient(options, provider=FakeLLMProvider(responder=two_agents)) as client:
        client.subscribe(lambda event: seen.setdefault(event.task_id, []).append(event.type))
        outcome = await client.start(goal="go")
        assert await client.task_answer(outcome.task_id) == answer
        events = await client.events(outcome.task_id)
        (spawned,) = payloads(events, "SubtaskSpawned")
        status = await client.task_status(spawned.subtask_id)
        child = await client.events(spawned.subtask_id)

    assert len(ran) == (1 if resolver else 0)
    assert status is not None
    assert (status.status, status.parent_task_id) == ("completed", outcome.task_id)
    assert payloads(child, "TaskCreated")[0].subtask_depth == 1
    assert child[0].trace_id == events[0].trace_id
    assert types(events).count("SubtaskCompleted") == 1
    assert set(seen) == {outcome.task_id, spawned.subtask_id}


async def test_a_budget_of_subtasks_and_an_unknown_agent_are_failed_results():
    def respond(request: Any) -> Any:
        if request.messages[-1].role != "tool":
            return use(("m1", "Task", {"agent": "helper", "goal": "x"}), ("m2", "Task", {"agent": "nope", "goal": "x"}))
        return say("; ".join(block.error or "" for block in results(request)))

    options = agent(agents=HELPER, budget=BudgetSpec(max_spawned_subtasks=0))
    async with AsyncClient(options, provider=FakeLLMProvider(responder=respond)) as client:
        outcome = await client.start(goal="go")
        answer = await client.task_answer(outcome.task_id)
        events = await client.events(outcome.task_id)

    assert answer == (
        "the budget of 0 subtasks for this turn is used up; invalid arguments: agent must be one of helper"
    )
    assert len(payloads(events, "SubtaskDenied")) == 1


def test_agents_that_cannot_be_chosen_are_refused():
    with pytest.raises(ValueError, match="needs a description"):
        Options(system_prompt="x", agents={"a": AgentDefinition(description=" ", prompt="y")})
    with pytest.raises(ValueError, match="the main agent's own name"):
        Options(system_prompt="x", name="a", agents={"a": AgentDefinition(description="d", prompt="y")})
