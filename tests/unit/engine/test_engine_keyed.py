"""A call under an idempotency key runs once: gateway.md 26-30, D1-D7, D10 and §6 (Order)."""

from collections.abc import Sequence

import anyio
import pytest

from tests.contracts.stores import SettableClock
from tests.unit.engine.fakes import (
    Agent,
    FaultyStore,
    HeldTools,
    LoopClock,
    Tools,
    call_of,
    catalog_of,
    code_of,
    running,
)
from toolwire.core.call import Call, Caller
from toolwire.core.errors import (
    AgentBusy,
    AgentLost,
    AgentOffline,
    Conflict,
    ConsentRequired,
    IdempotencyKeyReused,
    ServiceUnavailable,
    StoreConflict,
    StoreUnavailable,
    ToolNotFound,
    ToolwireError,
)
from toolwire.core.event import Progress, Stamped
from toolwire.core.handler import Emit
from toolwire.core.ports import Del, Op, Put
from toolwire.core.result import Result, failed, text_result
from toolwire.core.tool import Tool
from toolwire.engine.catalog import Catalog
from toolwire.engine.engine import MAX_CLAIM_TRIES, Engine, Limits, Submission
from toolwire.engine.offload import INLINE_BYTES

pytestmark = pytest.mark.both_backends

FULL = StoreUnavailable("the disk is full; make room")


async def submit_all(engine: Engine, calls: Sequence[Call], catalog: Catalog) -> list[Submission | ToolwireError]:
    """What becomes of calls that are submitted at the same time, in their order."""
    outcomes: dict[str, Submission | ToolwireError] = {}

    async def submit(call: Call) -> None:
        try:
            outcomes[call.id] = await engine.submit(call, catalog)
        except ToolwireError as error:
            outcomes[call.id] = error

    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            for call in calls:
                tasks.start_soon(submit, call)
    return [outcomes[call.id] for call in calls]


async def test_a_call_under_a_key_is_committed_with_its_claim_and_its_message_before_it_is_dispatched():
    store = FaultyStore(LoopClock())

    async def look(call: Call, emit: Emit) -> Result:
        assert [op.kind for op in store.written[0] if isinstance(op, Put)] == ["message", "claim", "open_call"]
        assert len(store.written) == 1
        return text_result("done")

    agent = Agent(look, ops=[Put("message", "alice", "m1", b"")])
    async with running(store) as engine:
        call = call_of(key="k1")
        submission = await engine.submit(call, catalog_of(agent, delegate=agent))
        assert submission.record.result == text_result("done")
        assert submission.claim is not None
        assert submission.claim.call_id == call.id
        assert not submission.replayed
        assert engine.idle
    assert b"k1" not in b"".join(put.value + put.key.encode() for put in store.puts("claim"))
    assert list(await store.scan("open_call", None)) == []


async def test_twenty_repeats_join_the_first_call_while_it_runs():
    tools = HeldTools()
    catalog = catalog_of(tools)
    calls = [call_of(key="k1") for _ in range(21)]
    submissions: list[Submission] = []

    async def submit(call: Call) -> None:
        submissions.append(await engine.submit(call, catalog))

    async with running() as engine:
        with anyio.fail_after(5):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(submit, calls[0])
                await tools.started.wait()
                for call in calls[1:]:
                    tasks.start_soon(submit, call)
                await anyio.wait_all_tasks_blocked()
                assert submissions == []
                tools.let_go.set()
    assert tools.calls == [calls[0]]
    assert len(submissions) == 21
    assert {id(submission.record) for submission in submissions} == {id(submissions[0].record)}
    assert sorted(submission.replayed for submission in submissions) == [False] + [True] * 20
    assert {submission.claim for submission in submissions} == {submissions[0].claim}


async def test_repeats_that_come_at_the_same_time_run_once():
    tools = Tools()
    async with running() as engine:
        outcomes = await submit_all(engine, [call_of(key="k1") for _ in range(20)], catalog_of(tools))
        assert engine.idle
    assert len(tools.calls) == 1
    assert all(isinstance(outcome, Submission) for outcome in outcomes)
    assert [o.replayed for o in outcomes if isinstance(o, Submission)].count(False) == 1
    assert {repr(o.record.result) for o in outcomes if isinstance(o, Submission)} == {repr(text_result("done"))}


@pytest.mark.parametrize("size", [1, INLINE_BYTES])
async def test_a_repeat_after_the_end_gets_the_recorded_result_without_tool_or_agent_or_schema(size: int):
    result = text_result("x" * size)

    async def work(call: Call, emit: Emit) -> Result:
        return result

    clock, tools, agent = SettableClock(1000.0), Tools(work), Agent()
    agent.refusal = AgentOffline("nobody is there")
    async with running(clock=clock) as engine:
        first = call_of(key="k1", clock=clock)
        submission = await engine.submit(first, catalog_of(tools))
        clock.time = 2000.0
        repeat = call_of(key="k1", clock=clock)
        replay = await engine.submit(repeat, catalog_of(agent, Tool("another"), delegate=agent))
        assert replay.replayed
        assert replay.claim == submission.claim
        assert replay.record.call.id == first.id
        assert replay.record.result == result
        assert (replay.record.created_at, replay.record.completed_at) == (1000.0, 1000.0)
    assert len(tools.calls) == 1
    assert agent.calls == []


async def test_after_a_restart_a_repeat_still_gets_the_recorded_result():
    store, tools = FaultyStore(LoopClock()), Tools()
    async with running(store) as engine:
        await engine.submit(call_of(key="k1"), catalog_of(tools))
    async with running(store) as engine:
        replay = await engine.submit(call_of(key="k1"), catalog_of(tools))
    assert replay.replayed
    assert len(tools.calls) == 1


@pytest.mark.parametrize("ended", [True, False])
async def test_a_key_that_comes_with_other_arguments_or_another_tool_is_refused(ended: bool):
    tools = HeldTools()
    catalog = catalog_of(tools, Tool("work"), Tool("other"))
    async with running() as engine, anyio.create_task_group() as tasks:
        tasks.start_soon(engine.submit, call_of(key="k1"), catalog)
        with anyio.fail_after(5):
            await tools.started.wait()
        if ended:
            tools.let_go.set()
            await anyio.wait_all_tasks_blocked()
        for other in (call_of(key="k1", arguments={"n": 2}), call_of(key="k1", tool="other")):
            with pytest.raises(IdempotencyKeyReused):
                await engine.submit(other, catalog)
        tools.let_go.set()
        same = await engine.submit(call_of(key="k1", arguments={"n": 1.0}), catalog)
        assert same.replayed
    assert len(tools.calls) == 1


async def test_a_key_is_another_one_for_another_principal_or_agent():
    tools = Tools()
    bob = Caller("bob", "alice", "gateway")
    async with running() as engine:
        for call in (call_of(key="k1"), call_of(key="k1", caller=bob), call_of(key="k1", agent_id="agent_2")):
            assert not (await engine.submit(call, catalog_of(tools))).replayed
    assert len(tools.calls) == 3


async def test_only_the_caller_whose_call_it_is_hears_its_events():
    tools = HeldTools()
    heard: list[list[Stamped]] = [[], []]
    async with running() as engine, anyio.create_task_group() as tasks:
        call = call_of(key="k1")
        tasks.start_soon(engine.submit, call, catalog_of(tools), heard[0].append)
        with anyio.fail_after(5):
            await tools.started.wait()
        tasks.start_soon(engine.submit, call_of(key="k1"), catalog_of(tools), heard[1].append)
        await anyio.wait_all_tasks_blocked()
        record = engine.find(call.id)
        assert record is not None
        record.emit(Progress(1))
        tools.let_go.set()
    assert [stamped.seq for stamped in heard[0]] == [1, 2]
    assert heard[1] == []


async def test_a_caller_who_leaves_is_told_nothing_more_and_the_call_goes_on():
    tools, heard = HeldTools(), list[Stamped]()
    async with running() as engine:
        call = call_of(key="k1")
        with anyio.fail_after(5):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(engine.submit, call, catalog_of(tools), heard.append)
                await tools.started.wait()
                tasks.cancel_scope.cancel()
        record = engine.find(call.id)
        assert record is not None
        record.emit(Progress(1))
        tools.let_go.set()
        replay = await engine.submit(call_of(key="k1"), catalog_of(tools))
        assert replay.record.result == text_result("done")
    assert not tools.cancelled
    assert heard == []


async def test_a_caller_who_leaves_during_the_claim_leaves_a_call_that_runs():
    store, tools, asked = FaultyStore(LoopClock()), Tools(), anyio.Event()

    async def leave(ops: Sequence[Op]) -> None:
        store.before_tx = None
        asked.set()
        await anyio.wait_all_tasks_blocked()

    store.before_tx = leave
    async with running(store) as engine:
        with anyio.fail_after(5):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(engine.submit, call_of(key="k1"), catalog_of(tools))
                await asked.wait()
                tasks.cancel_scope.cancel()
        replay = await engine.submit(call_of(key="k1"), catalog_of(tools))
        assert (replay.replayed, replay.record.result) == (True, text_result("done"))
    assert len(tools.calls) == 1


async def test_a_call_under_a_key_can_be_cancelled_and_that_is_what_repeats_are_told():
    tools = HeldTools()
    async with running() as engine, anyio.create_task_group() as tasks:
        call = call_of(key="k1")
        tasks.start_soon(engine.submit, call, catalog_of(tools))
        with anyio.fail_after(5):
            await tools.started.wait()
        assert engine.cancel(call.id, "not needed")
        replay = await engine.submit(call_of(key="k1"), catalog_of(tools))
        assert replay.record.result == failed("cancelled: not needed", "cancelled")


async def test_a_key_is_free_again_when_it_has_expired_and_replays_do_not_extend_it():
    clock, tools = SettableClock(1000.0), Tools()
    async with running(clock=clock, limits=Limits(idempotency_ttl_s=100.0)) as engine:
        first = await engine.submit(call_of(key="k1", clock=clock), catalog_of(tools))
        clock.time = 1099.0
        assert (await engine.submit(call_of(key="k1", clock=clock), catalog_of(tools))).replayed
        assert first.claim is not None
        assert (first.claim.first_seen, first.claim.expires_at) == (1000.0, 1100.0)
        clock.time = 1100.0
        fresh = await engine.submit(call_of(key="k1", arguments={"n": 2}, clock=clock), catalog_of(tools))
        assert not fresh.replayed
        clock.time = 1101.0
        replay = await engine.submit(call_of(key="k1", arguments={"n": 2}, clock=clock), catalog_of(tools))
        assert replay.record.call.id == fresh.record.call.id
    assert len(tools.calls) == 2


async def test_a_key_outlasts_a_shorter_history():
    clock, tools = SettableClock(1000.0), Tools()
    for history_ttl_s in (0.0, 10.0):
        limits = Limits(idempotency_ttl_s=100.0, history_ttl_s=history_ttl_s)
        async with running(clock=clock, limits=limits) as engine:
            await engine.submit(call_of(key="k1", clock=clock), catalog_of(tools))
            clock.time += 99.0
            assert (await engine.submit(call_of(key="k1", clock=clock), catalog_of(tools))).replayed


async def test_repeats_that_come_at_the_same_time_after_the_key_has_expired_run_once():
    clock, tools = SettableClock(1000.0), Tools()
    async with running(clock=clock, limits=Limits(idempotency_ttl_s=100.0)) as engine:
        await engine.submit(call_of(key="k1", clock=clock), catalog_of(tools))
        clock.time = 1200.0
        calls = [call_of(key="k1", clock=clock) for _ in range(20)]
        outcomes = await submit_all(engine, calls, catalog_of(tools))
    assert [o.replayed for o in outcomes if isinstance(o, Submission)].count(False) == 1
    assert {o.record.call.id for o in outcomes if isinstance(o, Submission)} == {tools.calls[1].id}
    assert len(tools.calls) == 2


async def test_a_pending_call_keeps_its_key_beyond_the_time_to_live():
    clock, tools = SettableClock(1000.0), HeldTools()
    store = FaultyStore(clock)
    async with running(store, clock, Limits(idempotency_ttl_s=10.0)) as engine, anyio.create_task_group() as tasks:
        tasks.start_soon(engine.submit, call_of(key="k1", clock=clock, timeout_s=500.0), catalog_of(tools))
        with anyio.fail_after(5):
            await tools.started.wait()
        assert store.puts("claim")[0].expires_at == 1000.0 + 600.0 + 60.0
        clock.time = 1200.0
        tools.let_go.set()
        joined = await engine.submit(call_of(key="k1", clock=clock), catalog_of(tools))
        assert joined.replayed
        assert not (await engine.submit(call_of(key="k1", clock=clock), catalog_of(tools))).replayed
    assert len(tools.calls) == 2


async def test_an_end_before_which_nothing_was_begun_frees_the_key_and_any_other_is_stored():
    """gateway.md D5: busy, offline, not to be handed over or called any more; agent_lost is not one of these."""
    answers = [AgentBusy("one at a time"), AgentOffline("it left"), ServiceUnavailable("no record"),
               ConsentRequired("it has changed"), ToolNotFound("it is gone"), AgentLost("gone")]  # fmt: skip
    codes = [error.code for error in answers]

    async def answer(call: Call, emit: Emit) -> Result:
        raise answers.pop(0)

    tools = Tools(answer)
    store = FaultyStore(LoopClock())
    async with running(store) as engine:
        for code in codes:
            told = await engine.submit(call_of(key="k1"), catalog_of(tools))
            assert (told.replayed, code_of(told.record.result)) == (False, code)
            freed = [op.kind for op in store.written[-1] if isinstance(op, Del)]
            assert freed == (["open_call"] if code == "agent_lost" else ["open_call", "claim"])
        replay = await engine.submit(call_of(key="k1"), catalog_of(tools))
        assert (replay.replayed, code_of(replay.record.result)) == (True, "outcome_unknown")
    assert len(tools.calls) == len(codes)


async def test_nothing_that_is_refused_before_the_claim_takes_the_key():
    agent = Agent()
    catalog = catalog_of(agent, delegate=agent)
    async with running() as engine:
        agent.refusal = AgentBusy("one at a time")
        with pytest.raises(AgentBusy):
            await engine.submit(call_of(key="k1"), catalog)
        agent.refusal = None
        assert not (await engine.submit(call_of(key="k1", arguments={"n": 2}), catalog)).replayed


@pytest.mark.parametrize("times", [1, MAX_CLAIM_TRIES])
async def test_a_claim_that_fails_is_an_error_for_all_who_wait_for_it_and_leaves_nothing(times: int):
    store, tools = FaultyStore(LoopClock()), Tools()
    store.failure = FULL
    async with running(store) as engine:
        calls = [call_of(key="k1") for _ in range(2 * times)]
        outcomes = await submit_all(engine, calls, catalog_of(tools))
        assert outcomes == [FULL] * len(calls)
        assert engine.idle
        assert store.written == []
        store.failure = None
        assert not (await engine.submit(call_of(key="k1"), catalog_of(tools))).replayed
    assert len(tools.calls) == 1


async def test_repeats_of_a_claim_that_fails_try_themselves():
    store, tools = FaultyStore(LoopClock()), Tools()

    async def fail_once(ops: Sequence[Op]) -> None:
        store.before_tx = None
        await anyio.wait_all_tasks_blocked()
        raise FULL

    store.before_tx = fail_once
    async with running(store) as engine:
        outcomes = await submit_all(engine, [call_of(key="k1") for _ in range(5)], catalog_of(tools))
    assert outcomes.count(FULL) == 1
    assert sorted(o.replayed for o in outcomes if isinstance(o, Submission)) == [False, True, True, True]
    assert len(tools.calls) == 1


async def test_a_store_that_cannot_be_read_refuses_a_repeat():
    store, tools = FaultyStore(LoopClock()), Tools()
    async with running(store) as engine:
        await engine.submit(call_of(key="k1"), catalog_of(tools))
        store.unreadable = FULL
        with pytest.raises(StoreUnavailable):
            await engine.submit(call_of(key="k1"), catalog_of(tools))
        assert engine.idle
        assert len(tools.calls) == 1


async def test_when_another_process_claims_the_key_first_its_result_is_everybodys():
    store, tools, theirs = FaultyStore(LoopClock()), Tools(), Tools()

    async def overtake(ops: Sequence[Op]) -> None:
        store.before_tx = None
        async with running(store) as other:
            await other.submit(call_of(key="k1"), catalog_of(theirs))

    store.before_tx = overtake
    async with running(store) as engine:
        outcomes = await submit_all(engine, [call_of(key="k1") for _ in range(3)], catalog_of(tools))
        assert engine.idle
    assert [(o.replayed, o.record.call.id) for o in outcomes if isinstance(o, Submission)] == [
        (True, theirs.calls[0].id)
    ] * 3
    assert tools.calls == []


async def test_a_key_that_others_keep_taking_and_freeing_is_given_up_as_a_conflict():
    store, tools = FaultyStore(LoopClock()), Tools()

    async def overtake(ops: Sequence[Op]) -> None:
        raise StoreConflict("claim is at version 1, not 0")

    store.before_tx = overtake
    async with running(store) as engine:
        with pytest.raises(Conflict) as refused:
            await engine.submit(call_of(key="k1"), catalog_of(tools))
        assert refused.value.data == {"retry_after_ms": 1000}
        assert engine.idle
    assert store.asked == MAX_CLAIM_TRIES
    assert tools.calls == []


async def test_a_call_that_is_watched_runs_on_its_own_even_without_a_key():
    store, tools = FaultyStore(LoopClock()), Tools()
    async with running(store) as engine:
        call = call_of(watched=True)
        submission = await engine.submit(call, catalog_of(tools))
        assert submission.claim is None
        assert submission.record.result == text_result("done")
        assert engine.idle
    assert store.puts("claim") == []
    assert [put.key for put in [*store.puts("open_call"), *store.puts("call")]] == [call.id, call.id]


async def test_a_watched_call_that_cannot_be_claimed_is_refused():
    store, tools = FaultyStore(LoopClock()), Tools()
    store.failure = FULL
    async with running(store) as engine:
        with pytest.raises(StoreUnavailable):
            await engine.submit(call_of(watched=True), catalog_of(tools))
        assert engine.idle
    assert tools.calls == []
