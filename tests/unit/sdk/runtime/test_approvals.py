"""Calls that wait for a person: asked at once, answered one by one, edited, expired, denied (sdk.md 34-40, §4.4)."""

from typing import Any

import anyio
import pytest

from tests.unit.sdk.runtime.script import agent, model, noting, payloads, results, say, types, unpaired, use
from toolwire.sdk import NEXT_GOAL_WAKE_HANDLE, AsyncClient, HostConfig, NotResumableError, SuspendReason, tool

MIXED = use(("t1", "act", {"n": 1}), ("t2", "look", {"n": 2}), ("t3", "act", {"n": 3}))


async def test_gated_calls_are_asked_for_at_once_while_the_others_run_and_results_keep_their_order():
    ran: list[Any] = []
    provider = model(MIXED, say())
    async with AsyncClient(agent(noting("act", ran, "high"), noting("look", ran)), provider=provider) as client:
        outcome = await client.start(goal="go")

        assert [name for name, _ in ran] == ["look"]
        assert (outcome.status, outcome.wake_handle) == ("suspended", "approval-t1")
        assert [(p.call_id, p.tool_name, p.arguments) for p in outcome.pending] == [
            ("t1", "act", {"n": 1}),
            ("t3", "act", {"n": 3}),
        ]
        assert await client.suspend_reason(outcome.task_id) == SuspendReason("waiting_human")

        outcome = await client.deny(outcome.task_id, "t3", reason="too much")
        assert (outcome.status, outcome.wake_handle) == ("suspended", "approval-t1")
        outcome = await client.approve(outcome.task_id)
        assert (outcome.status, outcome.wake_handle) == ("suspended", NEXT_GOAL_WAKE_HANDLE)

    assert [(name, arguments["n"]) for name, arguments in ran] == [("look", 2), ("act", 1)]
    read = [(block.call_id, block.success, block.error) for block in results(provider.received_requests[1])]
    assert read == [("t1", True, None), ("t2", True, None), ("t3", False, "too much")]
    assert unpaired(provider.received_requests[1]) == set()


async def test_an_approval_is_recorded_as_the_reference_does():
    async with AsyncClient(agent(noting("act", [], "high")), provider=model(use(("t1", "act", {})), say())) as client:
        outcome = await client.start(goal="go")
        events = await client.events(outcome.task_id)
        assert types(events)[-4:] == [
            "MessagesAppended",
            "ToolCallApprovalRequested",
            "TaskSnapshot",
            "TaskSuspended",
        ]
        await client.approve(outcome.task_id, "t1", reason="fine")
        more = await client.events_after(outcome.task_id, events[-1].seq)

    assert types(more)[:7] == [
        "TaskWoken",
        "ToolCallApprovalResolved",
        "StepTransitionMarked",
        "ToolCallStarted",
        "ToolResultRecorded",
        "ToolCallFinished",
        "MessagesAppended",
    ]
    (resolved,) = payloads(more, "ToolCallApprovalResolved")
    assert (resolved.approved, resolved.reason, resolved.resolver) == (True, "fine", "client")


async def test_a_denied_call_is_no_denied_event_and_the_model_reads_the_reason():
    provider = model(use(("t1", "act", {})), say())
    async with AsyncClient(agent(noting("act", [], "high")), provider=provider) as client:
        outcome = await client.start(goal="go")
        await client.deny(outcome.task_id, "t1")
        events = await client.events(outcome.task_id)

    assert "ToolCallDenied" not in types(events)
    assert results(provider.received_requests[1])[0].error == "denied by human"


async def test_all_calls_can_be_approved_at_once():
    ran: list[Any] = []
    async with AsyncClient(
        agent(noting("act", ran, "high"), noting("look", ran)), provider=model(MIXED, say())
    ) as client:
        outcome = await client.start(goal="go")
        outcome = await client.approve_all(outcome.task_id)

    assert [arguments["n"] for _, arguments in ran] == [2, 1, 3]
    assert outcome.pending == ()


async def test_edited_arguments_run_and_unfit_ones_are_refused_before_anything_is_recorded():
    ran: list[Any] = []

    @tool(risk_level="high")
    def send(to: str) -> str:
        """Send."""
        ran.append(to)
        return "sent"

    async with AsyncClient(agent(send), provider=model(use(("t1", "send", {"to": "everybody"})), say())) as client:
        outcome = await client.start(goal="go")
        with pytest.raises(ValueError, match="edited arguments"):
            await client.approve(outcome.task_id, "t1", arguments={"to": 3, "more": 1})
        outcome = await client.approve(outcome.task_id, "t1", arguments={"to": "one"})
        events = await client.events(outcome.task_id)

    assert ran == ["one"]
    assert payloads(events, "ToolCallApprovalResolved")[0].arguments == {"to": "one"}
    assert payloads(events, "ToolCallStarted")[0].arguments == {"to": "one"}


async def test_an_answer_that_nothing_waits_for_names_what_is_waited_for():
    async with AsyncClient(agent(noting("act", [], "high")), provider=model(use(("t1", "act", {})), say())) as client:
        outcome = await client.start(goal="go")
        with pytest.raises(NotResumableError, match="waits for 'approval-t1', not for 'approval-t9'"):
            await client.approve(outcome.task_id, "t9")
        with pytest.raises(NotResumableError, match="approval-t1"):
            await client.send_goal(outcome.task_id, goal="and now?")
        with pytest.raises(NotResumableError, match="there is no task"):
            await client.approve("task-nope")
        await client.approve(outcome.task_id, "t1")
        with pytest.raises(NotResumableError, match="for no approval"):
            await client.approve(outcome.task_id, "t1")


async def test_silence_becomes_a_no_after_its_time():
    provider = model(use(("t1", "act", {})), say())
    options = agent(noting("act", [], "high"))
    async with AsyncClient(options, provider=provider, host_config=HostConfig(approval_ttl_s=0.02)) as client:
        over = anyio.Event()
        client.subscribe(lambda event: over.set() if event.type == "ToolCallApprovalResolved" else None)
        outcome = await client.start(goal="go")
        with anyio.fail_after(5):
            await over.wait()
        while (status := await client.task_status(outcome.task_id)) and status.status == "running":
            await anyio.lowlevel.checkpoint()

    assert status is not None
    assert status.wake_handle == NEXT_GOAL_WAKE_HANDLE
    assert results(provider.received_requests[1])[0].error == "nobody answered in time"


async def test_interrupting_a_wait_clears_it_and_the_conversation_goes_on():
    provider = model(MIXED, say("next"))
    async with AsyncClient(agent(noting("act", [], "high"), noting("look", [])), provider=provider) as client:
        outcome = await client.start(goal="go")
        outcome = await client.interrupt(outcome.task_id)
        assert (outcome.status, outcome.pending) == ("suspended", ())
        outcome = await client.send_goal(outcome.task_id, goal="again")

    assert unpaired(provider.received_requests[1]) == set()
    assert outcome.wake_handle == NEXT_GOAL_WAKE_HANDLE
