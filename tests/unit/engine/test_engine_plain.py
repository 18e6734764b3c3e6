"""A call without a key: refused or run in place, recorded behind its answer; gateway.md §6 (Order), ARCHITECTURE §2."""

import logging
from collections.abc import Callable, Sequence

import anyio
import pytest
from anyio.lowlevel import checkpoint

from tests.unit.engine.fakes import (
    ALICE,
    Agent,
    FaultyStore,
    HeldTools,
    LoopClock,
    Tools,
    call_of,
    catalog_of,
    code_of,
    in_session,
    running,
)
from toolwire.adapters.memory import MemoryStore
from toolwire.core.call import MAX_DEPTH, Call
from toolwire.core.errors import (
    AgentBusy,
    AgentLost,
    AgentOffline,
    Conflict,
    InvalidParam,
    ServiceUnavailable,
    StoreUnavailable,
    ToolNotFound,
    ToolwireError,
)
from toolwire.core.event import Finished, Log, Progress, Stamped
from toolwire.core.handler import Emit
from toolwire.core.ports import Op, Put
from toolwire.core.result import Result, failed, text_result
from toolwire.core.tool import Tool
from toolwire.engine.catalog import Catalog
from toolwire.engine.engine import Engine, Limits

pytestmark = pytest.mark.both_backends


async def test_a_call_is_run_and_its_result_is_in_its_record():
    tools = Tools()
    async with running() as engine:
        call = call_of()
        submission = await engine.submit(call, catalog_of(tools))
        assert tools.calls == [call]
        assert submission.record.result == text_result("done")
        assert (submission.claim, submission.replayed) == (None, False)
        assert engine.find(call.id) is None


async def test_the_record_of_a_plain_call_is_written_behind_and_found_at_once_by_its_owner_alone():
    store = FaultyStore(LoopClock())
    async with running(store) as engine:
        call = call_of()
        await engine.submit(call, catalog_of(Tools()))
        assert store.written == []
        stored = await engine.load("alice", call.id)
        assert stored is not None
        assert (stored.call, stored.status, stored.result) == (call, "completed", text_result("done"))
        assert await engine.load("bob", call.id) is None
        assert store.puts("open_call") == []


async def test_records_of_plain_calls_are_kept_for_the_history_and_no_longer():
    store = FaultyStore(LoopClock())
    async with running(store, limits=Limits(history_ttl_s=3600.0)) as engine:
        call = call_of()
        await engine.submit(call, catalog_of(Tools()))
        await engine.load("alice", call.id)
        (put,) = store.puts("call")
        assert put.expires_at == pytest.approx(engine.clock.now() + 3600.0, abs=5)


async def test_without_a_history_neither_plain_calls_nor_those_of_a_session_leave_a_record():
    store = FaultyStore(LoopClock())
    async with running(store, limits=Limits(history_ttl_s=0.0)) as engine:
        plain, session = call_of(), in_session()
        await engine.submit(plain, catalog_of(Tools()))
        await engine.submit(session, catalog_of(Tools()))
        assert not engine.recorder.behind
        assert await engine.load("alice", plain.id) is None
        assert await engine.load("alice", session.id) is None
    assert [put.key for put in store.puts("open_call")] == [session.id]
    assert store.puts("call") == []
    assert list(await store.scan("open_call", None)) == []


async def test_a_call_is_found_while_it_runs():
    tools = HeldTools()
    async with running() as engine, anyio.create_task_group() as tasks:
        call = call_of()
        tasks.start_soon(engine.submit, call, catalog_of(tools))
        with anyio.fail_after(5):
            await tools.started.wait()
        record = engine.find(call.id)
        assert record is not None
        assert record.call == call
        assert not record.over
        tools.let_go.set()


async def test_events_reach_the_listener_as_they_happen_and_the_end_comes_last():
    told: list[Stamped] = []

    async def speak(call: Call, emit: Emit) -> Result:
        emit(Progress(1))
        assert len(told) == 1
        emit(Log("info", "half-way"))
        return text_result("done")

    async with running() as engine:
        await engine.submit(call_of(), catalog_of(Tools(speak)), told.append)
    assert [stamped.event for stamped in told] == [Progress(1), Log("info", "half-way"), Finished(text_result("done"))]


async def refused(engine: Engine, call: Call, catalog: Catalog) -> ToolwireError:
    """The error that the call is refused with."""
    with pytest.raises(ToolwireError) as error:
        await engine.submit(call, catalog)
    return error.value


@pytest.mark.parametrize("key", [None, "k1"])
async def test_what_is_refused_before_the_claim_raises_and_leaves_nothing(key: str | None):
    store = FaultyStore(LoopClock())
    agent = Agent()
    catalog = catalog_of(agent, delegate=agent)
    async with running(store) as engine:
        assert isinstance(await refused(engine, call_of(key=key, tool="other"), catalog), ToolNotFound)
        for refusal in (AgentOffline("nobody is there"), AgentBusy("one at a time")):
            agent.refusal = refusal
            assert await refused(engine, call_of(key=key), catalog) is refusal
        agent.refusal = None
        assert isinstance(await refused(engine, call_of(key=key, depth=MAX_DEPTH + 1), catalog), Conflict)
        assert store.written == []
        assert agent.calls == []
        await engine.submit(call_of(key=key, depth=MAX_DEPTH), catalog)
        assert len(agent.calls) == 1


async def test_arguments_that_were_repaired_are_those_that_run_and_are_recorded():
    class Repairing:
        def check(self, value: object) -> Sequence[object]:
            return ["not a number"]

        def repaired(self, value: object) -> dict[str, object]:
            return {"n": 3}

    tools = Tools()
    catalog = Catalog(lambda schema: Repairing())  # pyright: ignore[reportArgumentType] - the violations are never read
    catalog.replace([Tool("work")], tools)
    async with running() as engine:
        submission = await engine.submit(call_of(arguments={"n": "3"}), catalog)
    assert tools.calls[0].arguments == {"n": 3}
    assert submission.record.call.arguments == {"n": 3}


async def test_what_an_agent_keeps_of_a_plain_call_is_written_behind_before_its_end():
    store = FaultyStore(LoopClock())
    agent = Agent(ops=[Put("message", "alice", "m1", b"")])
    async with running(store) as engine:
        await engine.submit(call_of(), catalog_of(agent, delegate=agent))
    kinds = [op.kind for ops in store.written for op in ops if isinstance(op, Put)]
    assert kinds == ["message", "call"]


@pytest.mark.parametrize("durable", [False, True])
async def test_an_error_of_the_provider_is_the_result_with_its_code_and_data(durable: bool):
    async def lose(call: Call, emit: Emit) -> Result:
        raise AgentLost("it is gone", agent_id="agent_1")

    async with running() as engine:
        submission = await engine.submit(in_session() if durable else call_of(), catalog_of(Tools(lose)))
    assert submission.record.result == failed("it is gone", "agent_lost", {"agent_id": "agent_1"})


@pytest.mark.parametrize("make_call", [call_of, in_session])
async def test_a_mistake_in_the_provider_is_an_internal_error_that_tells_nothing_but_where_the_log_has_it(
    make_call: Callable[[], Call], caplog: pytest.LogCaptureFixture
):
    async def fail(call: Call, emit: Emit) -> Result:
        raise RuntimeError("password=hunter2")

    async with running() as engine:
        call = make_call()
        submission = await engine.submit(call, catalog_of(Tools(fail)))
        assert code_of(submission.record.result) == "internal_error"
        text = repr(submission.record.result)
        assert call.id in text
        assert "hunter2" not in text
        assert "Traceback" not in text
        assert call.id in caplog.text
        await engine.submit(call_of(), catalog_of(Tools()))  # and the engine goes on


async def test_a_call_that_is_cancelled_ends_as_cancelled_and_its_handler_stops():
    tools = HeldTools()
    call = call_of()

    async def submit() -> None:
        submission = await engine.submit(call, catalog_of(tools))
        assert submission.record.result == failed("cancelled: the client said so", "cancelled")
        assert tools.cancelled

    async with running() as engine, anyio.create_task_group() as tasks:
        tasks.start_soon(submit)
        with anyio.fail_after(5):
            await tools.started.wait()
        assert engine.cancel(call.id, "the client said so")
    assert not engine.cancel(call.id, "again")
    assert not engine.cancel("call_unknown", "never")


async def test_a_result_that_was_there_when_the_call_was_stopped_is_kept():
    async def finish_anyway(call: Call, emit: Emit) -> Result:
        with anyio.CancelScope(shield=True):
            engine.cancel(call.id, "too late")
            await checkpoint()
        return text_result("done all the same")

    async with running() as engine:
        submission = await engine.submit(call_of(), catalog_of(Tools(finish_anyway)))
    assert submission.record.result == text_result("done all the same")


@pytest.mark.parametrize("failure", [AgentLost("the link broke"), RuntimeError("cleaning up failed")])
async def test_what_goes_wrong_because_a_call_was_stopped_does_not_hide_why_it_was(failure: Exception):
    async def fail(call: Call, emit: Emit) -> Result:
        engine.cancel(call.id, "enough")
        try:
            await anyio.sleep_forever()
        finally:
            raise failure

    async with running() as engine:
        submission = await engine.submit(call_of(), catalog_of(Tools(fail)))
    assert submission.record.result == failed("cancelled: enough", "cancelled")


async def test_a_task_of_the_provider_that_fails_while_the_call_is_stopped_harms_nobody_else():
    async def fail_in_task() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            raise RuntimeError("a task failed")

    async def spawn(call: Call, emit: Emit) -> Result:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(fail_in_task)
            tasks.start_soon(anyio.sleep_forever)
            await anyio.wait_all_tasks_blocked()
            engine.cancel(call.id, "enough")
            await anyio.sleep_forever()
        raise AssertionError("not reached")

    async with running() as engine:
        for call in (call_of(), call_of(watched=True), in_session()):
            submission = await engine.submit(call, catalog_of(Tools(spawn)))
            assert code_of(submission.record.result) == "cancelled"


@pytest.mark.parametrize("make_call", [call_of, in_session])
async def test_a_call_ends_with_its_submitter_and_is_recorded_as_cancelled(make_call: Callable[[], Call]):
    tools = HeldTools()
    async with running() as engine:
        call = make_call()
        with anyio.fail_after(5):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(engine.submit, call, catalog_of(tools))
                await tools.started.wait()
                tasks.cancel_scope.cancel()
        assert tools.cancelled
        stored = await engine.load("alice", call.id)
        assert stored is not None
        assert stored.status == "canceled"
        assert engine.find(call.id) is None
        assert list(await engine.store.scan("open_call", None)) == []


async def test_a_call_of_a_session_is_committed_before_it_is_dispatched_and_its_end_before_it_is_answered():
    store = FaultyStore(LoopClock())

    async def look(call: Call, emit: Emit) -> Result:
        stored = await engine.load("alice", call.id)
        assert stored is not None
        assert stored.status == "running"
        assert [row.key for row in await store.scan("open_call", "alice")] == [call.id]
        return text_result("done")

    agent = Agent(look, ops=[Put("message", "alice", "m1", b"")])
    async with running(store) as engine:
        call = in_session()
        await engine.submit(call, catalog_of(agent, delegate=agent))
        claim, end = store.written
        assert [op.kind for op in claim if isinstance(op, Put)] == ["message", "open_call"]
        assert [type(op).__name__ for op in end] == ["Del", "Put"]
        stored = await engine.load("alice", call.id)
        assert stored is not None
        assert stored.status == "completed"
        assert list(await store.scan("open_call", None)) == []


async def test_a_call_that_goes_on_in_a_conversation_is_as_durable_as_one_of_a_session():
    """gateway.md D12: on 2026-07-28 the context is what a session was before."""
    store, tools = FaultyStore(LoopClock()), Tools()
    async with running(store) as engine:
        await engine.submit(call_of(context_id="ch_1", continues=True), catalog_of(tools))
        assert [type(op).__name__ for op in store.written[0]] == ["Put"]
        assert [put.kind for put in store.puts("open_call")] == ["open_call"]


async def test_a_claim_that_cannot_be_written_refuses_the_call_and_runs_nothing():
    store, tools = FaultyStore(LoopClock()), Tools()
    store.failure = StoreUnavailable("the disk is full; make room")
    async with running(store) as engine:
        call = in_session()
        assert await refused(engine, call, catalog_of(tools)) is store.failure
        assert tools.calls == []
        assert engine.find(call.id) is None
        store.failure = None
        await engine.submit(call_of(), catalog_of(tools))
    assert store.puts("open_call") == []


async def test_arguments_that_cannot_be_recorded_are_refused_before_the_claim():
    tools = Tools()
    async with running() as engine:
        error = await refused(engine, in_session(arguments={"x": "\ud800"}), catalog_of(tools))
        assert isinstance(error, InvalidParam)
        assert error.data == {"param": "arguments"}
    assert tools.calls == []


async def test_a_caller_who_leaves_during_the_claim_leaves_no_open_call_and_nothing_is_run():
    store, tools, asked = FaultyStore(LoopClock()), Tools(), anyio.Event()

    async def leave(ops: Sequence[Op]) -> None:
        store.before_tx = None
        asked.set()
        await anyio.wait_all_tasks_blocked()

    store.before_tx = leave
    async with running(store) as engine:
        call = in_session()
        with anyio.fail_after(5):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(engine.submit, call, catalog_of(tools))
                await asked.wait()
                tasks.cancel_scope.cancel()
        assert tools.calls == []
        assert list(await store.scan("open_call", None)) == []
        stored = await engine.load("alice", call.id)
        assert stored is not None
        assert stored.status == "canceled"


async def test_a_call_that_is_cancelled_during_its_claim_is_not_run():
    store, tools = FaultyStore(LoopClock()), Tools()
    call = in_session()

    async def cancel(ops: Sequence[Op]) -> None:
        store.before_tx = None
        assert engine.cancel(call.id, "changed my mind")

    store.before_tx = cancel
    async with running(store) as engine:
        submission = await engine.submit(call, catalog_of(tools))
    assert tools.calls == []
    assert code_of(submission.record.result) == "cancelled"


async def test_an_engine_that_does_not_run_takes_no_calls():
    clock = LoopClock()
    async with running(MemoryStore(clock)) as engine:
        pass
    tools = Tools()
    for call in (call_of(), call_of(key="k1"), in_session()):
        assert isinstance(await refused(engine, call, catalog_of(tools)), ServiceUnavailable)
    assert tools.calls == []


async def test_many_calls_at_once_leave_nothing_behind(caplog: pytest.LogCaptureFixture):
    store = FaultyStore(LoopClock())
    async with running(store) as engine:
        catalog = catalog_of(Tools())
        async with anyio.create_task_group() as tasks:
            for n in range(200):
                tasks.start_soon(engine.submit, call_of(), catalog)
                tasks.start_soon(engine.submit, in_session(), catalog)
                tasks.start_soon(engine.submit, call_of(key=f"k{n}"), catalog)
        assert engine.idle
    assert len(await store.scan("call", ALICE.owner)) == 600
    assert list(await store.scan("open_call", None)) == []
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []
