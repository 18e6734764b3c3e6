"""Signals are set once and let everybody go on, on both event loops."""

import anyio
import pytest

from toolwire.engine.signal import Signal

pytestmark = pytest.mark.both_backends


async def test_everybody_who_waits_goes_on():
    signal, went_on = Signal(), list[int]()

    async def wait(number: int) -> None:
        await signal.wait()
        went_on.append(number)

    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            for number in range(3):
                tasks.start_soon(wait, number)
            await anyio.wait_all_tasks_blocked()
            assert not signal.is_set
            signal.set()
    assert sorted(went_on) == [0, 1, 2]


async def test_whoever_comes_later_does_not_wait():
    signal = Signal()
    signal.set()
    signal.set()
    with anyio.fail_after(5):
        await signal.wait()
    assert signal.is_set


async def test_one_who_was_cancelled_keeps_nobody_else_from_going_on():
    signal, given_up, went_on = Signal(), anyio.CancelScope(), anyio.Event()

    async def give_up() -> None:
        with given_up:
            await signal.wait()

    async def wait() -> None:
        await signal.wait()
        went_on.set()

    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(give_up)
            tasks.start_soon(wait)
            await anyio.wait_all_tasks_blocked()
            given_up.cancel()
            await anyio.wait_all_tasks_blocked()
            signal.set()
            await went_on.wait()
    assert given_up.cancelled_caught


async def test_one_who_is_cancelled_in_the_moment_it_is_set_is_cancelled():
    signal, scope = Signal(), anyio.CancelScope()

    async def wait() -> None:
        with scope:
            await signal.wait()
            await anyio.sleep_forever()

    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(wait)
            await anyio.wait_all_tasks_blocked()
            signal.set()
            scope.cancel()
    assert scope.cancelled_caught
