"""Deadlines in virtual time: gateway.md 42, 44, D5 (time-outs), D19 and §6 (Time-outs)."""

from collections.abc import Sequence

import anyio
import pytest

from tests.unit.engine.fakes import (
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
from toolwire.core.errors import ServiceTimeout
from toolwire.core.event import Progress, Stamped
from toolwire.core.handler import Emit
from toolwire.core.ports import Drop, Op
from toolwire.core.result import Result, failed, text_result
from toolwire.engine.deadline import TICK_S
from toolwire.engine.engine import TIMEOUT_TEXT, Limits
from toolwire.engine.recorder import MAX_PENDING

pytestmark = pytest.mark.virtual_time


async def never(call: Call, emit: Emit) -> Result:
    await anyio.sleep_forever()
    raise AssertionError("not reached")


async def late(call: Call, emit: Emit) -> Result:
    """Answers after two minutes: later than any request waits, sooner than any key is given up."""
    await anyio.sleep(120)
    return text_result("late")


@pytest.mark.parametrize("durable", [False, True])
async def test_a_call_without_a_key_ends_with_its_request_and_its_handler_is_cancelled(durable: bool):
    tools = HeldTools()
    async with running() as engine:
        call = in_session(timeout_s=60.0) if durable else call_of(timeout_s=60.0)
        submission = await engine.submit(call, catalog_of(tools))
        assert submission.record.result == failed("Agent reply timeout", "service_timeout")
        assert anyio.current_time() == pytest.approx(60.0)
        assert tools.cancelled
        stored = await engine.load("alice", call.id)
        assert stored is not None
        assert stored.status == "timeout"
        assert engine.idle


async def test_every_call_has_its_own_deadline():
    ended: dict[float, float] = {}

    async def submit(timeout_s: float) -> None:
        await engine.submit(call_of(timeout_s=timeout_s), catalog_of(Tools(never)))
        ended[timeout_s] = anyio.current_time()

    async with running() as engine, anyio.create_task_group() as tasks:
        for timeout_s in (30.0, 5.0, 60.0):
            tasks.start_soon(submit, timeout_s)
    assert ended == {timeout_s: pytest.approx(timeout_s) for timeout_s in (30.0, 5.0, 60.0)}


async def test_a_deadline_that_has_passed_already_stops_the_call_within_two_ticks():
    async with running() as engine:
        submission = await engine.submit(call_of(timeout_s=-5.0), catalog_of(Tools(never)))
        assert code_of(submission.record.result) == "service_timeout"
        assert anyio.current_time() <= 2 * TICK_S


async def test_a_quick_call_costs_no_timer():
    async with running() as engine:
        for _ in range(100):
            await engine.submit(call_of(), catalog_of(Tools()))
        await anyio.sleep(1)
        assert engine.timekeeper.kept == 0


async def test_under_a_key_the_request_times_out_while_the_call_goes_on_and_a_retry_gets_the_late_answer():
    tools = Tools(late)
    async with running() as engine:
        call = call_of(key="k1", timeout_s=60.0)
        with pytest.raises(ServiceTimeout) as timed_out:
            await engine.submit(call, catalog_of(tools))
        assert timed_out.value.message == TIMEOUT_TEXT == "Agent reply timeout"
        assert timed_out.value.data == {"task_id": call.id, "retryable": True}
        assert anyio.current_time() == pytest.approx(60.0)
        with pytest.raises(ServiceTimeout) as again:
            await engine.submit(call_of(key="k1", timeout_s=30.0), catalog_of(tools))
        assert again.value.data["task_id"] == call.id
        retry = await engine.submit(call_of(key="k1", timeout_s=60.0), catalog_of(tools))
        assert (retry.replayed, retry.record.result) == (True, text_result("late"))
        assert anyio.current_time() == pytest.approx(120.0)
    assert len(tools.calls) == 1


async def test_a_late_answer_is_kept_for_a_retry_that_comes_later_still():
    tools = Tools(late)
    async with running() as engine:
        with pytest.raises(ServiceTimeout):
            await engine.submit(call_of(key="k1", timeout_s=60.0), catalog_of(tools))
        await anyio.sleep(3600)
        retry = await engine.submit(call_of(key="k1"), catalog_of(tools))
        assert (retry.replayed, retry.record.result) == (True, text_result("late"))
    assert len(tools.calls) == 1


async def test_a_call_under_a_key_that_never_ends_is_given_up_at_its_last_moment():
    tools = HeldTools()
    async with running(limits=Limits(keyed_deadline_s=600.0)) as engine:
        call = call_of(key="k1", timeout_s=60.0)
        with pytest.raises(ServiceTimeout):
            await engine.submit(call, catalog_of(tools))
        with pytest.raises(ServiceTimeout):
            await engine.submit(call_of(key="k1", timeout_s=539.0), catalog_of(tools))
        ended = await engine.submit(call_of(key="k1", timeout_s=60.0), catalog_of(tools))
        assert code_of(ended.record.result) == "service_timeout"
        assert anyio.current_time() == pytest.approx(600.0)
        assert tools.cancelled
        assert engine.idle
    assert len(tools.calls) == 1


async def test_a_deadline_of_its_own_beyond_that_lets_a_call_go_on():
    tools = Tools(never)

    async def repeat() -> None:
        await anyio.sleep(899)
        ended = await engine.submit(call_of(key="k1"), catalog_of(tools))
        assert code_of(ended.record.result) == "service_timeout"
        assert anyio.current_time() == pytest.approx(900.0)

    async with running(limits=Limits(keyed_deadline_s=600.0)) as engine, anyio.create_task_group() as tasks:
        tasks.start_soon(repeat)
        with anyio.move_on_after(100):
            await engine.submit(call_of(key="k1", timeout_s=900.0), catalog_of(tools))
    assert len(tools.calls) == 1


async def test_a_watched_call_without_a_key_cannot_be_retried_when_its_request_times_out():
    tools = Tools(late)
    async with running() as engine:
        call = call_of(watched=True, timeout_s=60.0)
        with pytest.raises(ServiceTimeout) as timed_out:
            await engine.submit(call, catalog_of(tools))
        assert timed_out.value.data == {"task_id": call.id, "retryable": False}
        await anyio.sleep(100)
        stored = await engine.load("alice", call.id)
        assert stored is not None
        assert stored.result == text_result("late")


async def test_a_caller_who_has_timed_out_hears_nothing_more():
    heard: list[Stamped] = []

    async def speak(call: Call, emit: Emit) -> Result:
        for n in range(10):
            emit(Progress(n))
            await anyio.sleep(10)
        return text_result("done")

    async with running() as engine:
        with pytest.raises(ServiceTimeout):
            await engine.submit(call_of(key="k1", timeout_s=25.0), catalog_of(Tools(speak)), heard.append)
        await anyio.sleep(200)
    assert [stamped.seq for stamped in heard] == [1, 2, 3]


async def test_a_plain_call_waits_for_a_slow_store_only_until_its_deadline():
    store, held, tools = FaultyStore(LoopClock()), anyio.Event(), Tools()

    async def hold(ops: Sequence[Op]) -> None:
        await held.wait()

    store.before_tx = hold
    async with running(store) as engine:
        engine.recorder.add(lambda: [Drop("channel")])
        await anyio.sleep(1)
        for _ in range(MAX_PENDING + 1):
            engine.recorder.add(list)
        call = call_of(timeout_s=10.0)
        with pytest.raises(ServiceTimeout) as refused:
            await engine.submit(call, catalog_of(tools))
        assert refused.value.data == {"task_id": call.id, "retryable": False}
        assert anyio.current_time() == pytest.approx(11.0)
        assert tools.calls == []
        held.set()
        assert (await engine.submit(call_of(timeout_s=10.0), catalog_of(tools))).record.result == text_result("done")
