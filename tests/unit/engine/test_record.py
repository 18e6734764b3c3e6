"""The record of one call: numbers, rising progress, one end; gateway.md 54, D20 and §6 (Answers)."""

import anyio
import pytest

from tests.contracts.stores import SettableClock
from tests.unit.engine.fakes import call_of
from toolwire.core.asking import asker_of
from toolwire.core.event import Chunk, Event, Finished, Log, Progress, Stamped
from toolwire.core.result import Text, failed, text_result
from toolwire.engine.asking import Asking
from toolwire.engine.deadline import Timekeeper
from toolwire.engine.record import KEPT_EVENTS, Record, status_of

pytestmark = pytest.mark.both_backends


def new_record() -> Record:
    clock = SettableClock()
    return Record(call_of(clock=clock), clock)


def heard(record: Record) -> list[Stamped]:
    """What a listener is told of the record from now on."""
    told: list[Stamped] = []
    record.listen(told.append)
    return told


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        ([1, 2, 3], [1, 2, 3]),
        ([1, 1, 1], [1, 2, 3]),
        ([5, 2, 5.5, 6], [5, 6, 7, 8]),
        ([0, -3], [0, 1]),
        ([-3, -3], [-3, -2]),
        ([0.25, 0.5], [0.25, 0.5]),
    ],
)
def test_progress_that_would_not_rise_is_raised_by_one(values: list[float], shown: list[float]):
    record = new_record()
    told = heard(record)
    for value in values:
        record.emit(Progress(value, 10, "working"))
    assert [stamped.event for stamped in told] == [Progress(value, 10, "working") for value in shown]


def test_events_are_numbered_from_one_and_stamped_with_the_time():
    clock = SettableClock(1000.0)
    record = Record(call_of(clock=clock), clock)
    told = heard(record)
    events: list[Event] = [Log("info", "hello"), Progress(1), Chunk(Text("part"))]
    for event in events:
        clock.time += 1
        record.emit(event)
    assert told == [Stamped(record.call.id, n, 1000.0 + n, event) for n, event in enumerate(events, 1)]


def test_a_call_ends_once_and_nothing_comes_after_the_end():
    clock = SettableClock(1000.0)
    record = Record(call_of(clock=clock), clock)
    told = heard(record)
    clock.time = 1005.0
    record.finish(text_result("first"))
    clock.time = 1006.0
    record.finish(failed("second"))
    record.emit(Progress(1))
    record.stop(failed("third"))
    assert record.over
    assert record.result == text_result("first")
    assert record.verdict is None
    assert (record.created_at, record.completed_at) == (1000.0, 1005.0)
    assert [stamped.event for stamped in told] == [Finished(text_result("first"))]


def test_only_the_latest_events_are_kept():
    record = new_record()
    for n in range(KEPT_EVENTS + 10):
        record.emit(Progress(n))
    assert [stamped.seq for stamped in record.since(0)] == list(range(11, KEPT_EVENTS + 11))
    assert [stamped.seq for stamped in record.since(KEPT_EVENTS + 8)] == [KEPT_EVENTS + 9, KEPT_EVENTS + 10]
    assert record.since(KEPT_EVENTS + 10) == []


def test_a_record_without_events_has_none_since_any_number():
    assert new_record().since(0) == []


def test_a_listener_is_told_what_happens_after_it_came_until_it_leaves():
    record = new_record()
    record.emit(Progress(1))
    first, second = heard(record), heard(record)
    record.emit(Progress(2))
    record.unlisten(second.append)
    record.emit(Progress(3))
    record.finish(text_result("done"))
    record.unlisten(first.append)
    assert record.listeners is None  # a record that is kept does not keep its listeners
    assert [stamped.seq for stamped in first] == [2, 3, 4]
    assert [stamped.seq for stamped in second] == [2]


def test_a_listener_may_leave_while_it_is_told():
    record = new_record()
    told: list[int] = []

    def once(stamped: Stamped) -> None:
        told.append(stamped.seq)
        record.unlisten(once)

    record.listen(once)
    later = heard(record)
    record.emit(Progress(1))
    record.emit(Progress(2))
    assert told == [1]
    assert [stamped.seq for stamped in later] == [1, 2]


def test_a_listener_that_fails_harms_neither_the_provider_nor_other_listeners_nor_the_end(
    caplog: pytest.LogCaptureFixture,
):
    record = new_record()

    def fail(stamped: Stamped) -> None:
        raise RuntimeError("my mistake")

    record.listen(fail)
    told = heard(record)
    record.emit(Progress(1))
    record.finish(text_result("done"))
    assert record.over
    assert [stamped.seq for stamped in told] == [1, 2]
    assert record.call.id in caplog.text


def test_a_record_that_no_engine_runs_needs_no_timer_however_long_it_takes():
    record = new_record()
    record.still_going()
    assert record.timer is None


@pytest.mark.virtual_time
async def test_the_end_silences_the_timer():
    record, keeper = new_record(), Timekeeper()
    rung: list[str] = []
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(keeper.keep)
        record.timer = keeper.after(1, lambda: rung.append("bell"))
        record.finish(text_result("done"))
        await anyio.sleep(2)
        tasks.cancel_scope.cancel()
    assert rung == []


async def test_everybody_who_waits_learns_of_the_end():
    record = new_record()
    results: list[object] = []

    async def wait() -> None:
        results.append(await record.wait())

    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(wait)
            tasks.start_soon(wait)
            await anyio.wait_all_tasks_blocked()
            assert results == []
            record.finish(text_result("done"))
        await wait()
    assert results == [text_result("done")] * 3


async def test_news_is_the_next_event_or_the_end():
    record = new_record()
    came = 0

    async def read() -> None:
        nonlocal came
        await record.news()
        came += 1

    with anyio.fail_after(5):
        for happen in (lambda: record.emit(Progress(1)), lambda: record.finish(text_result("done"))):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(read)
                tasks.start_soon(read)
                await anyio.wait_all_tasks_blocked()
                happen()
    assert came == 4


@pytest.mark.parametrize(
    ("code", "status"),
    [
        (None, "completed"),
        ("service_timeout", "timeout"),
        ("cancelled", "canceled"),
        ("tool_failed", "failed"),
        ("agent_lost", "failed"),
    ],
)
def test_a_status_follows_from_how_the_call_ended(code: str | None, status: str):
    assert status_of(text_result("x") if code is None else failed("x", code)) == status


def test_a_record_is_stored_as_running_until_it_has_ended():
    record = new_record()
    open_row = record.stored()
    assert (open_row.status, open_row.completed_at, open_row.result) == ("running", None, None)
    record.finish(failed("no", "cancelled"))
    ended = record.stored()
    assert (ended.status, ended.completed_at, ended.result) == ("canceled", 1000.0, record.result)
    assert ended.call == record.call


def test_an_asker_is_made_when_the_call_asks_and_no_more_when_it_is_over():
    made: list[Asking] = []

    def make(record: Record) -> Asking:
        made.append(Asking(record.call.client_capabilities, record.call.deadline))
        return made[-1]

    record, silent = new_record(), new_record()
    record.make_asker = silent.make_asker = make
    assert made == []
    assert asker_of(record.emit) is asker_of(record.emit) is made[0]
    silent.finish(text_result("done"))
    assert asker_of(silent.emit) is None


def test_whoever_waits_for_the_end_alone_is_told_of_it_once_whatever_the_others_do(caplog: pytest.LogCaptureFixture):
    def fail(record: Record) -> None:
        raise LookupError("not this one")

    ended: list[Record] = []
    record = new_record()
    record.at_end(fail)
    record.at_end(ended.append)
    record.emit(Chunk(Text("a")))
    assert ended == []
    record.finish(text_result("done"))
    record.finish(text_result("again"))
    assert ended == [record]
    assert "not this one" in caplog.text
