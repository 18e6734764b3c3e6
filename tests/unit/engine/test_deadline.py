"""The engine's timers, in virtual time: what costs a timer, what rings when, and what stays in memory."""

import anyio
import pytest

from toolwire.engine.deadline import MIN_COMPACTED, TICK_S, Timekeeper

pytestmark = pytest.mark.virtual_time


class Item:
    """Something to be looked at unless it is over; `looks` has the times at which it was."""

    def __init__(self, *, over: bool = False) -> None:
        self.over = over
        self.looks: list[float] = []

    def still_going(self) -> None:
        self.looks.append(anyio.current_time())


class Bell:
    def __init__(self) -> None:
        self.rung: list[float] = []

    def __call__(self) -> None:
        self.rung.append(anyio.current_time())


async def test_what_is_over_within_a_tick_is_never_looked_at():
    keeper, quick, slow = Timekeeper(), Item(), Item()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(keeper.keep)
        keeper.soon(quick)
        keeper.soon(slow)
        await anyio.sleep(TICK_S / 2)
        quick.over = True
        await anyio.sleep(10)
        tasks.cancel_scope.cancel()
    assert quick.looks == []
    assert slow.looks == [TICK_S]


async def test_what_comes_while_the_keeper_waits_is_looked_at_a_tick_later():
    keeper, item = Timekeeper(), Item()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(keeper.keep)
        await anyio.sleep(10)
        keeper.soon(item)
        await anyio.sleep(10)
        tasks.cancel_scope.cancel()
    assert item.looks == [10 + TICK_S]


async def test_timers_ring_in_their_order_at_their_moments():
    keeper, early, late = Timekeeper(), Bell(), Bell()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(keeper.keep)
        keeper.at(7, late)
        await anyio.sleep(1)  # the keeper waits for the later one now
        keeper.after(3, early)
        await anyio.sleep(100)
        tasks.cancel_scope.cancel()
    assert (early.rung, late.rung) == ([4], [7])


async def test_a_timer_that_was_set_before_the_keeper_began_rings_too():
    keeper, bell = Timekeeper(), Bell()
    keeper.after(3, bell)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(keeper.keep)
        await anyio.sleep(4)
        tasks.cancel_scope.cancel()
    assert bell.rung == [3]


async def test_a_cancelled_timer_never_rings():
    keeper, bell, other = Timekeeper(), Bell(), Bell()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(keeper.keep)
        keeper.after(1, bell).cancel()
        keeper.after(2, other)
        await anyio.sleep(3)
        tasks.cancel_scope.cancel()
    assert (bell.rung, other.rung) == ([], [2])


async def test_a_timer_may_cancel_another_that_is_due_at_the_same_moment():
    keeper, bell = Timekeeper(), Bell()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(keeper.keep)

        def silence() -> None:
            second.cancel()

        keeper.at(1, silence)
        second = keeper.at(1, bell)
        await anyio.sleep(3)
        tasks.cancel_scope.cancel()
    assert bell.rung == []


async def test_a_timer_that_sets_itself_again_at_once_does_not_hold_up_the_rest():
    keeper, bell, again = Timekeeper(), Bell(), 0
    reached = anyio.Event()

    def rearm() -> None:
        nonlocal again
        again += 1
        if again < 1000:
            keeper.after(0, rearm)
        else:
            reached.set()

    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(keeper.keep)
            keeper.after(0, rearm)
            keeper.after(0, bell)
            await reached.wait()
            tasks.cancel_scope.cancel()
    assert bell.rung == [0]


async def test_a_callback_that_fails_is_logged_and_stops_no_other(caplog: pytest.LogCaptureFixture):
    class Broken(Item):
        def still_going(self) -> None:
            raise RuntimeError("look")

    def fail() -> None:
        raise RuntimeError("ring")

    keeper, item, bell = Timekeeper(), Item(), Bell()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(keeper.keep)
        keeper.soon(Broken())
        keeper.soon(item)
        keeper.at(1, fail)
        keeper.at(1, bell)
        await anyio.sleep(3)
        tasks.cancel_scope.cancel()
    assert item.looks == [TICK_S]
    assert bell.rung == [1]
    assert [str(record.exc_info[1]) for record in caplog.records if record.exc_info] == ["look", "ring"]


async def test_cancelled_timers_of_a_far_day_do_not_pile_up():
    keeper, bell = Timekeeper(), Bell()
    kept = [keeper.at(1e12, bell) for _ in range(3)]
    for _ in range(100 * MIN_COMPACTED):
        keeper.at(1e12, bell).cancel()
    assert keeper.kept <= MIN_COMPACTED
    assert all(timer.callback is bell for timer in kept)


async def test_timers_that_are_still_wanted_survive_the_clearing_out():
    keeper, bell = Timekeeper(), Bell()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(keeper.keep)
        for n in range(3 * MIN_COMPACTED):
            keeper.at(1 + n / 1000, bell)
            keeper.at(1e12, bell).cancel()
        await anyio.sleep(100)
        tasks.cancel_scope.cancel()
    assert len(bell.rung) == 3 * MIN_COMPACTED
    assert bell.rung == sorted(bell.rung)
