"""Writing behind: order, batches, a store that fails and comes back, a full buffer, entries that are refused."""

import logging
from collections.abc import Sequence

import anyio
import pytest

from tests.unit.engine.fakes import FaultyStore, LoopClock
from toolwire.core.errors import StoreUnavailable
from toolwire.core.ports import Append, Op, Put
from toolwire.engine.recorder import LINGER_S, MAX_PENDING, RETRY_S, Pending, Recorder

pytestmark = pytest.mark.virtual_time

FULL = StoreUnavailable("the disk is full; make room")


def row(n: int, expect: int | None = None) -> Pending:
    """An entry of the number `n`."""
    return lambda: (Put("row", "alice", f"{n:06}", b"", expect),)


def numbers(store: FaultyStore) -> list[int]:
    """The numbers of the entries that were written, in order."""
    return [int(put.key) for put in store.puts("row")]


def unencodable() -> Sequence[Op]:
    raise TypeError("no JSON")


async def test_entries_that_gather_are_written_in_one_transaction_and_in_their_order():
    store = FaultyStore(LoopClock())
    recorder = Recorder(store)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(recorder.write)
        for n in range(100):
            recorder.add(row(n))
        assert recorder.behind
        await anyio.sleep(LINGER_S * 2)
        recorder.add(row(100))
        await anyio.sleep(10)
        assert not recorder.behind
        tasks.cancel_scope.cancel()
    assert numbers(store) == list(range(101))
    assert [len(ops) for ops in store.written] == [100, 1]


async def test_whoever_needs_an_entry_does_not_wait_until_more_have_gathered():
    store = FaultyStore(LoopClock())
    recorder = Recorder(store)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(recorder.write)
        await recorder.caught_up()
        recorder.add(row(1))
        await recorder.caught_up()
        assert numbers(store) == [1]
        assert anyio.current_time() == 0
        tasks.cancel_scope.cancel()


async def test_whoever_needs_an_entry_waits_for_the_batch_under_way_and_the_one_behind_it():
    store, held = FaultyStore(LoopClock()), anyio.Event()

    async def hold(ops: Sequence[Op]) -> None:
        await held.wait()

    store.before_tx = hold
    recorder = Recorder(store)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(recorder.write)
        recorder.add(row(1))
        await anyio.sleep(1)
        recorder.add(row(2))

        async def read() -> None:
            await recorder.caught_up()
            assert numbers(store) == [1, 2]
            tasks.cancel_scope.cancel()

        tasks.start_soon(read)
        await anyio.sleep(1)
        assert numbers(store) == []
        held.set()


async def test_whoever_needs_an_entry_waits_for_the_batch_under_way_when_there_is_none_behind_it():
    store, writing, held = FaultyStore(LoopClock()), anyio.Event(), anyio.Event()

    async def hold(ops: Sequence[Op]) -> None:
        writing.set()
        await held.wait()

    async def let_go() -> None:
        await anyio.sleep(1)
        held.set()

    store.before_tx = hold
    recorder = Recorder(store)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(recorder.write)
        recorder.add(row(1))
        await writing.wait()
        assert recorder.behind
        tasks.start_soon(let_go)
        await recorder.caught_up()
        assert numbers(store) == [1]
        tasks.cancel_scope.cancel()


async def test_a_store_that_fails_loses_nothing_and_is_asked_again_every_second(caplog: pytest.LogCaptureFixture):
    store = FaultyStore(LoopClock())
    store.failure = FULL
    recorder = Recorder(store)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(recorder.write)
        recorder.add(row(1))
        await anyio.sleep(LINGER_S * 2)
        assert recorder.failing
        recorder.add(row(2))
        await recorder.caught_up()  # it cannot be, so nobody waits
        await anyio.sleep(RETRY_S * 10)
        assert store.asked == 11
        store.failure = None
        await anyio.sleep(RETRY_S)
        assert not recorder.failing
        tasks.cancel_scope.cancel()
    assert numbers(store) == [1, 2]
    assert [record.message for record in caplog.records] == ["cannot write records: the disk is full; make room"]


async def test_while_the_store_fails_the_oldest_are_given_up_beyond_the_buffer_and_counted_in_the_log(
    caplog: pytest.LogCaptureFixture,
):
    store = FaultyStore(LoopClock())
    store.failure = FULL
    recorder = Recorder(store)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(recorder.write)
        recorder.add(row(0))
        await anyio.sleep(LINGER_S * 2)
        for n in range(1, MAX_PENDING + 10):
            recorder.add(row(n))
        assert not recorder.full  # an answer is never held up for a store that fails
        store.failure = None
        await anyio.sleep(RETRY_S)
        tasks.cancel_scope.cancel()
    assert numbers(store) == list(range(10, MAX_PENDING + 10))
    assert [record.message for record in caplog.records if record.levelno == logging.WARNING] == [
        "gave up 10 records of plain calls: the store cannot be written"
    ]


async def test_what_came_while_a_batch_failed_counts_for_the_buffer_too():
    store = FaultyStore(LoopClock())
    recorder = Recorder(store)

    async def fail_late(ops: Sequence[Op]) -> None:
        for n in range(100, 100 + MAX_PENDING):
            recorder.add(row(n))
        store.before_tx, store.failure = None, FULL

    store.before_tx = fail_late
    for n in range(100):
        recorder.add(row(n))
    await recorder.flush()
    store.failure = None
    await recorder.flush()
    assert numbers(store) == list(range(100, 100 + MAX_PENDING))


async def test_a_slow_store_makes_the_next_caller_wait_until_there_is_room():
    store, held = FaultyStore(LoopClock()), anyio.Event()

    async def hold(ops: Sequence[Op]) -> None:
        await held.wait()

    store.before_tx = hold
    recorder = Recorder(store)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(recorder.write)
        recorder.add(row(0))
        await anyio.sleep(1)
        for n in range(1, MAX_PENDING + 2):
            recorder.add(row(n))
        assert recorder.full
        entered = False

        async def enter() -> None:
            nonlocal entered
            await recorder.room()
            entered = True

        tasks.start_soon(enter)
        await anyio.sleep(10)
        assert not entered
        held.set()
        await anyio.sleep(1)
        assert entered
        tasks.cancel_scope.cancel()
    assert numbers(store) == list(range(MAX_PENDING + 2))


async def test_whoever_waits_for_room_waits_on_while_others_fill_it_again():
    store, left = FaultyStore(LoopClock()), [3]
    recorder = Recorder(store)

    async def refill(ops: Sequence[Op]) -> None:
        if left[0]:
            left[0] -= 1
            for n in range(MAX_PENDING + 1):
                recorder.add(row(n))

    store.before_tx = refill
    recorder.add(row(0))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(recorder.write)
        await anyio.sleep(LINGER_S * 1.5)
        assert recorder.full
        await recorder.room()
        assert (recorder.full, left) == (False, [0])
        tasks.cancel_scope.cancel()


async def test_whoever_waits_for_room_goes_on_when_the_store_fails():
    store = FaultyStore(LoopClock())
    recorder = Recorder(store)
    for n in range(MAX_PENDING + 1):
        recorder.add(row(n))
    store.failure = FULL
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(recorder.write)
            await recorder.room()
            tasks.cancel_scope.cancel()


async def test_entries_that_the_store_refuses_are_dropped_alone_and_the_order_of_the_others_stays(
    caplog: pytest.LogCaptureFixture,
):
    store = FaultyStore(LoopClock())
    recorder = Recorder(store)
    for n in range(100):
        recorder.add(row(n, expect=7 if n in (13, 14, 99) else None))
    await recorder.flush()
    assert numbers(store) == [n for n in range(100) if n not in (13, 14, 99)]
    assert len(caplog.records) == 3
    assert store.asked < 50  # halves, not one by one
    assert not recorder.behind


async def test_an_entry_that_the_store_cannot_hold_costs_no_other_its_place(caplog: pytest.LogCaptureFixture):
    store = FaultyStore(LoopClock())

    async def refuse(ops: Sequence[Op]) -> None:
        if any(isinstance(op, Append) for op in ops):
            raise ValueError("no room for this")

    store.before_tx = refuse
    recorder = Recorder(store)
    recorder.add(row(1))
    recorder.add(lambda: (Append("stream", b""),))
    recorder.add(row(2))
    await recorder.flush()
    assert numbers(store) == [1, 2]
    assert [record.message for record in caplog.records] == [
        "dropped a record that the store refuses: no room for this"
    ]


async def test_a_store_that_fails_in_the_middle_of_a_refused_batch_keeps_what_is_left():
    store = FaultyStore(LoopClock())

    async def fail_soon(ops: Sequence[Op]) -> None:
        if store.written:
            store.failure = FULL

    store.before_tx = fail_soon
    recorder = Recorder(store)
    for n in range(8):
        recorder.add(row(n, expect=7 if n == 7 else None))
    await recorder.flush()
    assert numbers(store) == [0, 1, 2, 3]
    assert recorder.failing
    store.before_tx = store.failure = None
    await recorder.flush()
    assert numbers(store) == [0, 1, 2, 3, 4, 5, 6]


async def test_a_store_that_fails_in_the_first_half_keeps_the_second_too():
    store, asked = FaultyStore(LoopClock()), 0

    async def fail_second(ops: Sequence[Op]) -> None:
        nonlocal asked
        asked += 1
        store.failure = FULL if asked == 2 else None

    store.before_tx = fail_second
    recorder = Recorder(store)
    for n in range(4):
        recorder.add(row(n, expect=7 if n == 3 else None))
    await recorder.flush()
    assert recorder.failing
    await recorder.flush()
    assert numbers(store) == [0, 1, 2]


async def test_an_entry_that_cannot_be_encoded_is_dropped_alone(caplog: pytest.LogCaptureFixture):
    store = FaultyStore(LoopClock())
    recorder = Recorder(store)
    recorder.add(row(1))
    recorder.add(unencodable)
    recorder.add(row(2))
    await recorder.flush()
    recorder.add(unencodable)
    await recorder.flush()
    assert numbers(store) == [1, 2]
    assert store.asked == 1
    assert [record.message for record in caplog.records] == ["dropped a record that cannot be encoded"] * 2


async def test_a_writer_that_is_cancelled_ends_the_batch_under_way():
    store, held = FaultyStore(LoopClock()), anyio.Event()

    async def hold(ops: Sequence[Op]) -> None:
        await held.wait()

    store.before_tx = hold
    recorder = Recorder(store)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(recorder.write)
        recorder.add(row(1))
        await anyio.sleep(1)
        tasks.cancel_scope.cancel()
        with anyio.CancelScope(shield=True):
            recorder.add(row(2))
            await anyio.sleep(1)
            held.set()
            await recorder.flush()
    assert numbers(store) == [1, 2]
    assert not recorder.behind
