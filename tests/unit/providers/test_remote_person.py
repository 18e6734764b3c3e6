"""A server's time-out stands still while a person is waited for; in virtual time."""

import math

import anyio
import pytest
from trio.testing import MockClock

from toolwire.providers.remote_person import Clocks, clocks_of


@pytest.fixture
def anyio_backend():
    return "trio", {"clock": MockClock(autojump_threshold=0)}


@pytest.mark.anyio
async def test_a_time_out_does_not_count_the_time_of_a_person():
    clocks = Clocks()
    with clocks.limit(10) as scope:
        await anyio.sleep(4)
        with clocks.stopped(), clocks.stopped():
            await anyio.sleep(1000)
        await anyio.sleep(5)
        assert scope.deadline == anyio.current_time() + 1
        await anyio.sleep(2)
    assert scope.cancelled_caught


@pytest.mark.anyio
async def test_a_time_out_that_begins_while_a_person_is_waited_for_begins_after():
    clocks = Clocks()
    with clocks.stopped():
        block = clocks.limit(10)
        scope = block.__enter__()
        await anyio.sleep(1000)
    assert scope.deadline == anyio.current_time() + 10
    block.__exit__(None, None, None)


@pytest.mark.anyio
async def test_a_time_out_that_was_lifted_stays_so():
    clocks = Clocks()
    with clocks.limit(10) as scope:
        scope.deadline = math.inf
        with clocks.stopped():
            await anyio.sleep(1)
        assert scope.deadline == math.inf


@pytest.mark.anyio
async def test_a_block_that_lasts_too_long_is_a_time_out():
    with pytest.raises(TimeoutError), clocks_of(None).fail_after(1):
        await anyio.sleep(2)


def test_the_clocks_of_what_signs_in_are_found():
    class Signs:
        clocks = Clocks()

    assert clocks_of(Signs) is Signs.clocks
    assert clocks_of(object()) is not Signs.clocks
