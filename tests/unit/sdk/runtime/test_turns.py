"""How a turn goes: overlapping calls, budgets, going in circles, schemas, goals, stops (sdk.md 63-68, §4.5, §4.6)."""

import threading
from typing import Any

import anyio
import pytest

from tests.unit.sdk.runtime.script import agent, model, noting, payloads, raw, results, say, types, unpaired, use
from toolwire.sdk import (
    NEXT_GOAL_WAKE_HANDLE,
    AsyncClient,
    BudgetSpec,
    HostConfig,
    InjectedMessage,
    LLMRequest,
    LLMResponse,
    NotResumableError,
    Options,
    QueryFailedError,
    TextBlock,
    Usage,
    query,
    tool,
)
from toolwire.sdk.testing import FakeLLMProvider


def test_low_risk_calls_of_one_response_overlap_on_threads():
    together = threading.Barrier(3, timeout=5)
    provider = model(use(*((f"t{n}", "meet", {"n": n}) for n in range(3))), say())

    def meet(arguments: Any, _ctx: Any) -> int:
        together.wait()
        return arguments["n"]

    result = query(agent(raw("meet", meet)), goal="go", provider=provider)

    assert result.answer() == "Done."
    assert [block.output for block in results(provider.received_requests[1])] == [0, 1, 2]
    assert types(result).index("ToolResultRecorded") > max(
        position for position, kind in enumerate(types(result)) if kind == "ToolCallStarted"
    )


@pytest.mark.parametrize(("safe", "most"), [(False, 1), (True, 3)])
def test_other_calls_run_in_order_unless_they_are_declared_safe(safe: bool, most: int):
    lock = threading.Lock()
    now, seen = [0], [0]
    all_in = threading.Barrier(3, timeout=5)

    def body(arguments: dict[str, Any], ctx: Any) -> str:
        with lock:
            now[0] += 1
            seen[0] = max(seen[0], now[0])
        if safe:
            all_in.wait()
        with lock:
            now[0] -= 1
        return "ok"

    act = raw("act", body, "high", concurrency_safe=safe)
    calls = use(*((f"t{n}", "act", NOTHING) for n in range(3)))

    query(agent(act, permission_mode="bypassPermissions"), goal="go", provider=model(calls, say()))

    assert seen[0] == most


async def test_the_loop_goes_on_while_a_synchronous_tool_blocks():
    release = threading.Event()
    provider = model(use(("t1", "block", {})), say())
    async with (
        AsyncClient(agent(raw("block", lambda _a, _c: release.wait(5))), provider=provider) as client,
        anyio.create_task_group() as group,
    ):
        started = anyio.Event()
        client.subscribe(lambda event: started.set() if event.type == "ToolCallStarted" else None)
        group.start_soon(lambda: client.start(goal="go"))
        await started.wait()
        release.set()

    assert results(provider.received_requests[1])[0].output is True


NOTHING: dict[str, Any] = {}


def circling(request: LLMRequest) -> LLMResponse:
    return use((f"c{len(request.messages)}", "look", {}))


def test_max_turns_ends_the_turn_and_keeps_what_was_said():
    provider = FakeLLMProvider(responder=circling)

    result = query(agent(noting("look", []), max_turns=3), goal="go", provider=provider)

    assert len(provider.received_requests) == 3
    assert payloads(result, "TaskFailed")[0].reason == "max_turns"
    with pytest.raises(QueryFailedError, match="max_turns"):
        result.answer()
    assert len(payloads(result, "ToolResultRecorded")) == 3


def test_a_budget_of_calls_ends_the_turn_in_the_middle_of_a_batch():
    ran: list[Any] = []
    thinking_aloud = LLMResponse(
        "tool_use", [TextBlock("I will look."), *use(*((f"t{n}", "look", {"n": n}) for n in range(5))).content]
    )

    result = query(
        agent(noting("look", ran), budget=BudgetSpec(max_tool_calls=2)),
        goal="go",
        provider=model(thinking_aloud),
    )

    assert len(ran) == 2
    assert {denied.rule for denied in payloads(result, "ToolCallDenied")} == {"budget"}
    assert payloads(result, "TaskFailed")[0].reason == "budget"
    assert result.messages()[-1].answer == "I will look."  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType] -- a Result


def test_a_budget_of_money_ends_the_turn_and_usage_tells_the_cost():
    class Priced(FakeLLMProvider):
        def cost_usd(self, model: str, usage: Usage) -> float:
            return 0.25

    result = query(
        agent(noting("look", []), budget=BudgetSpec(max_cost_usd=0.5)),
        goal="go",
        provider=Priced(responder=circling),
    )

    assert result.usage().cost_usd == 0.5
    assert payloads(result, "TaskFailed")[0].detail == "max_cost_usd=0.5 is used up"


def test_the_same_call_with_the_same_result_is_told_at_three_and_ends_at_five():
    provider = FakeLLMProvider(responder=circling)

    result = query(agent(noting("look", [])), goal="go", provider=provider)

    assert payloads(result, "TaskFailed")[0].reason == "repetition"
    assert len(provider.received_requests) == 5
    notices = [item for item in result.messages() if isinstance(item, InjectedMessage)]
    assert [notice.origin for notice in notices] == ["repetition"] * 2
    assert "3 times" in notices[0].text


def test_the_same_call_with_new_results_may_go_on():
    counter = iter(range(100))
    responses = [use((f"t{n}", "count", {})) for n in range(8)]

    result = query(agent(raw("count", lambda _a, _c: next(counter))), goal="go", provider=model(*responses, say()))

    assert result.answer() == "Done."


SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


@pytest.mark.parametrize("text", ['{"n": 3}', '```json\n{"n": 3}\n```'])
def test_an_answer_that_fits_its_schema_is_the_value(text: str):
    assert query(agent(output_schema=SCHEMA), goal="go", provider=model(say(text))).answer() == {"n": 3}


def test_an_answer_that_does_not_fit_gets_one_chance():
    provider = model(say("not json"), say('{"n": 1}'))
    corrected = query(agent(output_schema=SCHEMA), goal="go", provider=provider)
    failed = query(agent(output_schema=SCHEMA), goal="go", provider=model(say('{"n": "x"}'), say("[]")))

    assert corrected.answer() == {"n": 1}
    assert "does not fit the output schema" in provider.received_requests[1].messages[-1].text
    assert payloads(failed, "TaskFailed")[0].reason == "output_schema"


async def test_a_conversation_goes_from_goal_to_goal():
    provider = model(say("one"), say("two"))
    async with AsyncClient(agent(), provider=provider) as client:
        first = await client.start(goal="a")
        second = await client.send_goal(first.task_id, goal="b")

        assert (first.status, first.wake_handle) == ("suspended", NEXT_GOAL_WAKE_HANDLE)
        assert second.task_id == first.task_id
        assert await client.task_answer(first.task_id) == "two"
        assert [m.text for m in provider.received_requests[1].messages][1:] == ["a", "one", "b"]
        assert (await client.usage(first.task_id)).output == 2


async def test_a_conversation_survives_a_failed_turn():
    async with AsyncClient(agent(), provider=model(LLMResponse("error", []), say("better"))) as client:
        failed = await client.start(goal="a")
        better = await client.send_goal(failed.task_id, goal="again")

    assert (failed.status, better.status) == ("failed", "suspended")


async def test_a_closed_conversation_takes_no_goal_until_it_is_reopened():
    async with AsyncClient(agent(), provider=model(say(), say())) as client:
        outcome = await client.start(goal="a")
        await client.close(outcome.task_id)
        with pytest.raises(NotResumableError, match="closed"):
            await client.send_goal(outcome.task_id, goal="b")
        await client.reopen(outcome.task_id)
        assert (await client.send_goal(outcome.task_id, goal="b")).status == "suspended"


def test_a_call_beyond_its_time_is_stopped_and_the_turn_goes_on():
    @tool(timeout=0.02)
    async def hang() -> str:
        """Hang."""
        await anyio.sleep_forever()
        return "never"

    provider = model(use(("t1", "hang", {})), say())
    by_host = model(use(("t1", "block", {})), say())
    release = threading.Event()

    own = query(agent(hang), goal="go", provider=provider)
    general = query(
        agent(raw("block", lambda _a, _c: release.wait(5))),
        goal="go",
        provider=by_host,
        host_config=HostConfig(tool_timeout_s=0.02),
    )
    release.set()

    assert (own.answer(), general.answer()) == ("Done.", "Done.")
    assert "took longer than 0.02 s" in (results(provider.received_requests[1])[0].error or "")
    assert "took longer than 0.02 s" in (results(by_host.received_requests[1])[0].error or "")


@pytest.mark.parametrize("verb", ["interrupt", "cancel"])
@pytest.mark.parametrize("where", ["tool", "model"])
async def test_a_stop_is_prompt_and_leaves_every_call_with_its_result(verb: str, where: str):
    @tool
    async def hang() -> str:
        """Hang."""
        await anyio.sleep_forever()
        return "never"

    answers: list[Any] = [use(("t1", "hang", {}), ("t2", "hang", {}))] if where == "tool" else []
    outcomes: list[Any] = []
    done: list[bool] = []

    async def respond(request: LLMRequest) -> LLMResponse:
        if not answers and not done:
            await anyio.sleep_forever()
        return answers.pop() if answers else say()

    provider = FakeLLMProvider(responder=respond)
    async with AsyncClient(agent(hang), provider=provider) as client, anyio.create_task_group() as group:
        under_way = anyio.Event()
        ids: list[str] = []

        def watch(event: Any) -> None:
            ids[:] = [event.task_id]
            if event.type == ("ToolCallStarted" if where == "tool" else "LLMRequestStarted"):
                under_way.set()

        client.subscribe(watch)

        async def start() -> None:
            outcomes.append(await client.start(goal="go"))

        group.start_soon(start)
        with anyio.fail_after(5):
            await under_way.wait()
            await getattr(client, verb)(ids[0])
        done.append(True)
        events = await client.events(ids[0])
        if verb == "interrupt":
            assert types(events)[-3:] == ["TurnInterrupted", "TaskSnapshot", "TaskSuspended"]
            await client.send_goal(ids[0], goal="again")
            assert unpaired(provider.received_requests[-1]) == set()
        else:
            assert types(events)[-1] == "TaskCancelled"
            with pytest.raises(NotResumableError, match="cancelled"):
                await client.send_goal(ids[0], goal="again")
        if where == "tool":
            assert len(payloads(events, "ToolResultRecorded")) == 2
        else:
            assert payloads(events, "LLMRequestFinished")[-1].success is False

    assert outcomes[0].status == ("suspended" if verb == "interrupt" else "cancelled")


async def test_a_caller_that_is_cancelled_leaves_a_task_at_rest():
    @tool
    async def hang() -> str:
        """Hang."""
        await anyio.sleep_forever()
        return "never"

    async with AsyncClient(agent(hang), provider=model(use(("t1", "hang", {})), say())) as client:
        ids: list[str] = []
        client.subscribe(lambda event: ids.append(event.task_id))
        with anyio.move_on_after(0.05):
            await client.start(goal="go")

        status = await client.task_status(ids[0])
        assert status is not None
        assert status.status == "suspended"
        assert (await client.send_goal(ids[0], goal="again")).wake_handle == NEXT_GOAL_WAKE_HANDLE


async def test_a_busy_task_takes_no_second_goal():
    release = threading.Event()
    async with (
        AsyncClient(
            agent(raw("block", lambda _a, _c: release.wait(5))), provider=model(use(("t1", "block", {})), say())
        ) as client,
        anyio.create_task_group() as group,
    ):
        started = anyio.Event()
        ids: list[str] = []

        def watch(event: Any) -> None:
            ids[:] = [event.task_id]
            if event.type == "ToolCallStarted":
                started.set()

        client.subscribe(watch)
        group.start_soon(lambda: client.start(goal="go"))
        await started.wait()
        with pytest.raises(NotResumableError, match="running"):
            await client.send_goal(ids[0], goal="me too")
        release.set()


def test_observers_are_told_each_event_and_harm_nobody():
    told: list[str] = []

    def bad(event: Any) -> None:
        raise RuntimeError("no")

    def good(event: Any) -> None:
        told.append(event.type)

    result = query(agent(observers=(bad, good)), goal="go", provider=model(say()))

    assert told == types(result)


def test_options_that_contradict_each_other_are_refused():
    with pytest.raises(ValueError, match="say the same"):
        Options(system_prompt="x", max_turns=3, budget=BudgetSpec(max_iterations=3))
    with pytest.raises(ValueError, match="Invalid effort"):
        Options(system_prompt="x", effort="huge")
    with pytest.raises(ValueError, match="unknown plugin 'shell'"):
        Options(system_prompt="x", plugins=("shell",))
