"""After a restart: open calls are taken up once, and nothing is run twice; gateway.md D6 and §6 (lost calls)."""

from typing import Any

import anyio
import pytest
from msgspec.structs import replace

from tests.contracts.stores import SettableClock
from tests.unit.engine.fakes import (
    BOB,
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
from toolwire.core.call import Call
from toolwire.core.errors import AgentLost, StoreUnavailable
from toolwire.core.handler import Emit, Handler
from toolwire.core.ports import Del, Put
from toolwire.core.result import Result, failed, text_result
from toolwire.engine.claims import Claim, at_rest, encode_claim, fingerprint_of, scope_of
from toolwire.engine.offload import encode_record
from toolwire.engine.record import Record
from toolwire.engine.recover import recover

BUSY = failed("one at a time", "agent_busy")

pytestmark = pytest.mark.both_backends


async def leave_open(store: FaultyStore, *calls: Call, claimed: bool = True) -> None:
    """What a crash leaves of calls that were claimed and had not ended."""
    for call in calls:
        now = store.clock.now()
        record = Record(call, store.clock)
        owner = call.caller.owner
        ops: list[Any] = [
            Put("call", owner, call.id, encode_record(record.stored())),
            Put("open_call", owner, call.id, b""),
        ]
        if claimed and call.idempotency_key is not None:
            claim = Claim(call.id, owner, fingerprint_of(call), now, now + 3600)
            ops.append(Put("claim", "", scope_of(call), encode_claim(claim), expires_at=now + 3600))
        await store.tx(ops)


def nobody(call: Call) -> Handler | None:
    return None


async def status_of(store: FaultyStore, call: Call) -> str | None:
    async with running(store) as engine:
        stored = await engine.load(call.caller.owner, call.id)
    return stored and stored.status


async def test_a_call_that_nobody_can_resume_ends_as_outcome_unknown_and_is_told_so_to_its_retry():
    store, tools, call = FaultyStore(LoopClock()), Tools(), call_of(key="k1")
    await leave_open(store, call)
    async with running(store) as engine:
        assert await recover(engine, nobody) == 1
        retry = await engine.submit(call_of(key="k1"), catalog_of(tools))
        assert (retry.replayed, code_of(retry.record.result)) == (True, "outcome_unknown")
        assert retry.record.call.id == call.id
        assert engine.idle
    assert tools.calls == []
    assert list(await store.scan("open_call", None)) == []
    assert await status_of(store, call) == "failed"


async def test_a_retry_joins_a_call_that_is_being_resumed_and_the_agent_is_not_asked_a_second_time():
    store, call = FaultyStore(LoopClock()), call_of(key="k1", agent_id="agent_1")
    await leave_open(store, call)
    waiting, answered = anyio.Event(), anyio.Event()
    resumed: list[Call] = []

    async def resume(call: Call, emit: Emit) -> Result:
        resumed.append(call)
        waiting.set()
        await answered.wait()
        return text_result("from the journal")

    agent = Agent()

    async def retry() -> None:
        submission = await engine.submit(call_of(key="k1", agent_id="agent_1"), catalog_of(agent, delegate=agent))
        assert (submission.replayed, submission.record.result) == (True, text_result("from the journal"))

    async with running(store) as engine, anyio.create_task_group() as tasks:
        assert await recover(engine, lambda call: resume) == 1
        with anyio.fail_after(5):
            await waiting.wait()
        tasks.start_soon(retry)
        await anyio.wait_all_tasks_blocked()
        answered.set()
    assert resumed == [at_rest(call)]
    assert agent.calls == []


async def test_every_open_call_of_every_owner_is_taken_up_exactly_once_however_many_there_are():
    store, agent = FaultyStore(LoopClock()), Agent()
    calls = [in_session() for _ in range(1500)]
    await leave_open(store, *calls)
    await leave_open(store, bobs := call_of(watched=True, caller=BOB))
    async with running(store) as engine:
        assert await recover(engine, lambda call: agent.resume) == 1501
        await anyio.wait_all_tasks_blocked()
        assert await recover(engine, lambda call: agent.resume) == 0
    async with running(store) as engine:
        assert await recover(engine, lambda call: agent.resume) == 0
    assert sorted(call.id for call in agent.resumed) == sorted(call.id for call in [*calls, bobs])
    assert list(await store.scan("open_call", None)) == []
    assert await status_of(store, bobs) == "completed"


async def test_a_call_that_was_cut_off_by_stopping_is_resumed_by_the_next_start():
    store, tools, call = FaultyStore(LoopClock()), HeldTools(), call_of(key="k1")
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks, running(store) as engine:
            tasks.start_soon(engine.submit, call, catalog_of(tools))
            await tools.started.wait()
    agent = Agent()
    async with running(store) as engine:
        assert await recover(engine, lambda call: agent.resume) == 1
        retry = await engine.submit(call_of(key="k1"), catalog_of(tools))
        assert retry.record.result == text_result("resumed")
    assert agent.resumed == [at_rest(call)]
    assert len(tools.calls) == 1


async def test_an_agent_that_is_lost_for_good_ends_its_calls():
    async def resume(call: Call, emit: Emit) -> Result:
        raise AgentLost("it did not come back")

    store, call = FaultyStore(LoopClock()), call_of(key="k1")
    await leave_open(store, call)
    async with running(store) as engine:
        await recover(engine, lambda call: resume)
        retry = await engine.submit(call_of(key="k1"), catalog_of(Tools()))
        assert code_of(retry.record.result) == "agent_lost"


@pytest.mark.virtual_time
async def test_a_resumed_call_still_ends_at_its_last_moment():
    async def never(call: Call, emit: Emit) -> Result:
        await anyio.sleep_forever()
        raise AssertionError("not reached")

    store = FaultyStore(LoopClock())
    session, keyed = in_session(timeout_s=60.0), call_of(key="k1", timeout_s=60.0)
    await leave_open(store, session, keyed)
    await anyio.sleep(30)
    async with running(store) as engine:
        await recover(engine, lambda call: never)
        await anyio.sleep(31)
        assert engine.find(session.id) is None
        assert engine.find(keyed.id) is not None
        await anyio.sleep(540)
        assert engine.find(keyed.id) is None
    assert await status_of(store, session) == "timeout"
    assert await status_of(store, keyed) == "timeout"


@pytest.mark.parametrize("later", ["none", "another"])
async def test_an_open_call_whose_key_has_expired_does_not_stand_in_for_a_later_one(later: str):
    clock = SettableClock(1000.0)
    store, tools = FaultyStore(clock), HeldTools()
    old = call_of(key="k1", clock=clock)
    await leave_open(store, old, claimed=False)
    if later == "another":
        first_found = replace(call_of(key="k1", arguments={"n": 2}, clock=clock), id="call_")
        await leave_open(store, first_found)
    held = HeldTools()
    async with running(store, clock) as engine, anyio.create_task_group() as tasks:
        await recover(engine, lambda call: held.call)
        with anyio.fail_after(5):
            await held.started.wait()

        async def retry() -> None:
            submission = await engine.submit(call_of(key="k1", arguments={"n": 2}, clock=clock), catalog_of(tools))
            assert submission.record.call.id != old.id
            assert submission.replayed == (later == "another")

        tasks.start_soon(retry)
        await anyio.wait_all_tasks_blocked()
        held.let_go.set()
        await anyio.wait_all_tasks_blocked()
        tools.let_go.set()
    assert len(tools.calls) == (0 if later == "another" else 1)


async def test_an_old_call_that_ends_does_not_take_the_key_from_the_call_that_has_it_now():
    clock = SettableClock(1000.0)
    store, old_tools, tools = FaultyStore(clock), HeldTools(BUSY), HeldTools()
    old = call_of(key="k1", clock=clock)
    await leave_open(store, old, claimed=False)

    async def submit(replayed: bool) -> None:
        submission = await engine.submit(call_of(key="k1", clock=clock), catalog_of(tools))
        assert (submission.replayed, submission.record.result) == (replayed, text_result("done"))

    with anyio.fail_after(5):
        async with running(store, clock) as engine, anyio.create_task_group() as tasks:
            await recover(engine, lambda call: old_tools.call)
            tasks.start_soon(submit, False)
            await tools.started.wait()
            old_tools.let_go.set()
            await anyio.wait_all_tasks_blocked()
            assert engine.find(old.id) is None
            tasks.start_soon(submit, True)
            await anyio.wait_all_tasks_blocked()
            tools.let_go.set()
        assert await store.get("claim", "", scope_of(old)) is not None
    assert len(tools.calls) == 1


async def test_an_entry_without_a_record_is_passed_over():
    store, call = FaultyStore(LoopClock()), call_of(key="k1")
    await leave_open(store, call)
    await store.tx([Del("call", "alice", call.id)])
    async with running(store) as engine:
        assert await recover(engine, nobody) == 0


async def test_a_store_that_cannot_be_read_stops_the_recovery():
    store, call = FaultyStore(LoopClock()), call_of(key="k1")
    await leave_open(store, call)
    store.unreadable = StoreUnavailable("the disk is broken")
    async with running(store) as engine:
        with pytest.raises(StoreUnavailable):
            await recover(engine, nobody)
