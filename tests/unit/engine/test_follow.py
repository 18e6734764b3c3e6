"""One record, read by everyone: from any place on, while the call runs and after its end; ARCHITECTURE §1."""

from collections.abc import Sequence
from contextlib import aclosing

import anyio
import pytest

from tests.unit.engine.fakes import (
    FaultyStore,
    HeldTools,
    LoopClock,
    Tools,
    call_of,
    catalog_of,
    in_session,
    running,
)
from toolwire.core.call import Call
from toolwire.core.errors import CallNotFound
from toolwire.core.event import Finished, Progress, Stamped
from toolwire.core.handler import Emit
from toolwire.core.ports import Op
from toolwire.core.result import Result, text_result
from toolwire.engine.engine import Engine
from toolwire.engine.follow import follow
from toolwire.engine.record import KEPT_EVENTS, Record

pytestmark = pytest.mark.both_backends

DONE = Finished(text_result("done"))


async def read(engine: Engine, call_id: str, after: int = 0) -> list[Stamped]:
    """All that alice reads of a call, up to its end."""
    with anyio.fail_after(5):
        async with aclosing(follow(engine, "alice", call_id, after)) as stamps:
            return [stamped async for stamped in stamps]


async def begin(engine: Engine, tasks: anyio.abc.TaskGroup, tools: HeldTools, call: Call) -> Record:
    """The record of a call that has begun."""
    tasks.start_soon(engine.submit, call, catalog_of(tools))
    with anyio.fail_after(5):
        await tools.started.wait()
    record = engine.find(call.id)
    assert record is not None
    return record


async def test_everybody_reads_the_same_events_from_where_they_want_up_to_the_end():
    tools, call = HeldTools(), call_of()
    seen: dict[str, list[Stamped]] = {}

    async def follow_from(name: str, after: int) -> None:
        seen[name] = await read(engine, call.id, after)

    async with running() as engine, anyio.create_task_group() as tasks:
        record = await begin(engine, tasks, tools, call)
        tasks.start_soon(follow_from, "from the start", 0)
        await anyio.wait_all_tasks_blocked()
        for n in (1, 2, 3):
            record.emit(Progress(n))
        tasks.start_soon(follow_from, "late", 0)
        tasks.start_soon(follow_from, "from the middle", 2)
        tasks.start_soon(follow_from, "from ahead", 100)
        await anyio.wait_all_tasks_blocked()
        record.emit(Progress(4))
        tools.let_go.set()
    assert [stamped.event for stamped in seen["late"]] == [Progress(1), Progress(2), Progress(3), Progress(4), DONE]
    assert [stamped.seq for stamped in seen["late"]] == [1, 2, 3, 4, 5]
    assert seen["from the start"] == seen["late"]
    assert seen["from the middle"] == seen["late"][2:]
    assert [(stamped.seq, stamped.event) for stamped in seen["from ahead"]] == [(101, DONE)]


async def test_the_end_has_the_same_place_with_and_without_a_listener():
    heard: list[Stamped] = []
    for listener in (None, heard.append):
        tools, call = HeldTools(), call_of()
        async with running() as engine, anyio.create_task_group() as tasks:
            record = await begin(engine, tasks, tools, call)
            if listener is not None:
                record.listen(listener)
            record.emit(Progress(1))
            tools.let_go.set()
            assert [stamped.seq for stamped in await read(engine, call.id)] == [1, 2]


@pytest.mark.parametrize("durable", [False, True])
async def test_after_the_end_a_reader_gets_the_end_alone(durable: bool):
    async with running() as engine:
        call = in_session() if durable else call_of()
        submission = await engine.submit(call, catalog_of(Tools()))
        (stamped,) = await read(engine, call.id, after=7)
    assert (stamped.call_id, stamped.seq, stamped.event) == (call.id, 8, DONE)
    assert submission.record.completed_at is not None
    assert abs(stamped.at - submission.record.completed_at) < 5


async def test_a_call_of_another_owner_is_not_found_while_it_runs_nor_after_it():
    tools, call = HeldTools(), call_of()
    async with running() as engine:
        async with anyio.create_task_group() as tasks:
            await begin(engine, tasks, tools, call)
            with pytest.raises(CallNotFound):
                await anext(follow(engine, "bob", call.id))
            tools.let_go.set()
        with pytest.raises(CallNotFound):
            await anext(follow(engine, "bob", call.id))
        with pytest.raises(CallNotFound):
            await anext(follow(engine, "alice", "call_unknown"))


async def test_a_slow_reader_misses_events_but_never_the_end_and_the_call_does_not_wait_for_it():
    async def chatter(call: Call, emit: Emit) -> Result:
        for n in range(1, 10 * KEPT_EVENTS + 1):
            emit(Progress(n))
        return text_result("done")

    tools, call, rest = HeldTools(), call_of(), list[Stamped]()
    async with running() as engine, anyio.create_task_group() as tasks:
        record = await begin(engine, tasks, tools, call)
        record.emit(Progress(0))
        async with aclosing(follow(engine, "alice", call.id)) as stamps:
            assert (await anext(stamps)).seq == 1
            await chatter(call, record.emit)
            tools.let_go.set()
            with anyio.fail_after(5):
                await record.wait()
            rest.extend([stamped async for stamped in stamps])
    assert [stamped.seq for stamped in rest[:-1]] == list(range(9 * KEPT_EVENTS + 2, 10 * KEPT_EVENTS + 2))
    assert rest[-1].event == DONE
    assert rest[-1].seq == 10 * KEPT_EVENTS + 2


async def test_what_happens_while_a_reader_is_busy_is_read_in_its_order():
    tools, call, seen = HeldTools(), call_of(), list[int]()
    async with running() as engine, anyio.create_task_group() as tasks:
        record = await begin(engine, tasks, tools, call)
        record.emit(Progress(1))
        async with aclosing(follow(engine, "alice", call.id)) as stamps:
            async for stamped in stamps:
                seen.append(stamped.seq)
                if stamped.seq < 5:
                    record.emit(Progress(stamped.seq + 1))
                elif stamped.seq == 5:
                    record.emit(Progress(6))
                    tools.let_go.set()
    assert seen == [1, 2, 3, 4, 5, 6, 7]


@pytest.mark.parametrize("reads", [0, 1, 3])
async def test_a_reader_who_closes_early_leaves_the_call_alone_and_nothing_behind(reads: int):
    tools, call = HeldTools(), call_of()
    async with running() as engine, anyio.create_task_group() as tasks:
        record = await begin(engine, tasks, tools, call)
        for n in (1, 2, 3):
            record.emit(Progress(n))
        stamps = follow(engine, "alice", call.id)
        for _ in range(reads):
            await anext(stamps)
        await stamps.aclose()
        assert record.listeners is None
        record.emit(Progress(4))
        tools.let_go.set()
        assert (await record.wait()) == text_result("done")


async def test_a_reader_who_is_cancelled_leaves_the_call_alone():
    tools, call = HeldTools(), call_of()
    async with running() as engine, anyio.create_task_group() as tasks:
        record = await begin(engine, tasks, tools, call)
        async with anyio.create_task_group() as readers:
            readers.start_soon(read, engine, call.id)
            await anyio.wait_all_tasks_blocked()
            readers.cancel_scope.cancel()
        record.emit(Progress(1))
        tools.let_go.set()
    assert not tools.cancelled


async def test_a_reader_who_looks_while_the_call_is_being_claimed_follows_it():
    store, tools, call = FaultyStore(LoopClock()), HeldTools(), call_of(key="k1")
    claiming, held = anyio.Event(), anyio.Event()
    seen: list[Stamped] = []

    async def hold(ops: Sequence[Op]) -> None:
        store.before_tx = None
        claiming.set()
        await held.wait()

    async def follow_it() -> None:
        seen.extend(await read(engine, call.id))

    store.before_tx = hold
    async with running(store) as engine, anyio.create_task_group() as tasks:
        tasks.start_soon(engine.submit, call, catalog_of(tools))
        await claiming.wait()
        tasks.start_soon(follow_it)
        await anyio.wait_all_tasks_blocked()
        held.set()
        tools.let_go.set()
    assert [stamped.event for stamped in seen] == [DONE]


async def test_a_call_that_is_claimed_while_a_reader_looks_into_the_store_is_followed():
    store, tools, call = FaultyStore(LoopClock()), HeldTools(), call_of(key="k1")

    async def claim_now(kind: str) -> None:
        if kind == "call":
            store.before_get = None
            tasks.start_soon(engine.submit, call, catalog_of(tools))
            await tools.started.wait()

    async def end() -> None:
        await tools.started.wait()
        await anyio.wait_all_tasks_blocked()
        tools.let_go.set()

    async with running(store) as engine, anyio.create_task_group() as tasks:
        tasks.start_soon(end)
        store.before_get = claim_now
        assert [stamped.event for stamped in await read(engine, call.id)] == [DONE]


async def test_a_claim_that_fails_ends_the_reading_too():
    store, call = FaultyStore(LoopClock()), call_of(key="k1")
    claiming, held = anyio.Event(), anyio.Event()

    async def fail(ops: Sequence[Op]) -> None:
        claiming.set()
        await held.wait()
        raise RuntimeError("a bug in an adapter")

    async def submit() -> None:
        with pytest.raises(RuntimeError):
            await engine.submit(call, catalog_of(Tools()))

    async def follow_it() -> None:
        (stamped,) = await read(engine, call.id)
        assert isinstance(stamped.event, Finished)
        assert stamped.event.result.is_error

    store.before_tx = fail
    async with running(store) as engine, anyio.create_task_group() as tasks:
        tasks.start_soon(submit)
        await claiming.wait()
        tasks.start_soon(follow_it)
        await anyio.wait_all_tasks_blocked()
        held.set()


async def test_a_call_that_waits_for_recovery_has_no_events_yet():
    store, tools, call = FaultyStore(LoopClock()), HeldTools(), call_of(key="k1")
    async with anyio.create_task_group() as tasks, running(store) as engine:
        await begin(engine, tasks, tools, call)
    async with running(store) as restarted:
        assert await read(restarted, call.id) == []
