"""Bodies that wait between a request and its repeat (mcp.md 1.2, MRTR rules)."""

from collections.abc import Generator
from contextlib import contextmanager

import anyio
import pytest

from tests.unit.surfaces.test_sealing import BOUND, ManualClock
from toolwire.core.asking import Question
from toolwire.core.errors import ServiceUnavailable
from toolwire.core.jsontypes import JsonObject
from toolwire.engine.asking import Asking
from toolwire.engine.deadline import Timekeeper
from toolwire.engine.record import Listener
from toolwire.surfaces.parking import MAX_ENDED, MAX_PARKED, Parked, Parking
from toolwire.surfaces.sealing import STATE_TTL_S, Seal

pytestmark = pytest.mark.both_backends


class Work:
    """A body at work, by what happens to it."""

    def __init__(self) -> None:
        self.over = False
        self.paused = False
        self.deadline = 0.0
        self.stopped = ""

    def pause(self) -> None:
        self.paused = True

    def go_on(self, deadline: float) -> None:
        self.paused, self.deadline = False, deadline

    def stop(self, reason: str) -> None:
        self.over, self.stopped = True, reason

    @contextmanager
    def heard_by(self, listener: Listener | None) -> Generator[None]:
        yield


def lot() -> Parking:
    return Parking(Timekeeper(), Seal(b"secret", ManualClock()))


def body(call_id: str = "call_1") -> tuple[Parked, Work]:
    parked, work = Parked(call_id, Asking({}, 1.0, repeats=True)), Work()
    parked.work = work
    return parked, work


async def test_a_body_rests_while_it_is_parked_and_goes_on_with_a_new_deadline():
    parking, (parked, work) = lot(), body()
    state = parking.seal.open(parking.park(parked, BOUND), BOUND)
    assert (work.paused, parking.find(state.call_id, BOUND)) == (True, parked)
    assert parking.find(state.call_id, ("bob", *BOUND[1:])) is None
    parking.resume(parked, 99.0)
    assert (work.paused, work.deadline, parked.asking.deadline) == (False, 99.0, 99.0)


async def test_the_one_that_has_waited_longest_gives_way_unless_somebody_waits_for_it():
    parking = lot()
    bodies = [body(f"call_{number}") for number in range(MAX_PARKED + 1)]
    bodies[0][0].waiting = 1
    for parked, _ in bodies:
        parking.park(parked, BOUND)
    assert [number for number, (_, work) in enumerate(bodies) if work.stopped] == [1]
    assert len(parking) == MAX_PARKED


async def test_what_has_ended_is_known_for_a_while_and_not_without_bound():
    parking = lot()
    for number in range(MAX_ENDED + 1):
        parked, work = body(f"call_{number}")
        parking.park(parked, BOUND)
        work.over = True
        parking.end(parked)
    assert len(parking) == 0
    assert parking.find("call_0", BOUND) is None
    assert parking.find(f"call_{MAX_ENDED}", BOUND) is not None


async def test_nothing_is_kept_of_a_body_that_never_waited():
    parking, (parked, work) = lot(), body()
    work.over = True
    parking.end(parked)
    assert (len(parking), parking.find("call_1", BOUND)) == (0, None)


@pytest.mark.virtual_time
async def test_a_body_that_nobody_answers_is_stopped_and_what_has_ended_is_forgotten():
    keeper = Timekeeper()
    parking = Parking(keeper, Seal(b"secret", ManualClock()))
    (parked, work), (ended, ended_work) = body("call_1"), body("call_2")
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(keeper.keep)
        parking.park(parked, BOUND)
        parking.park(ended, BOUND)
        ended_work.over = True
        parking.end(ended)
        await anyio.sleep(STATE_TTL_S - 1)
        assert not work.stopped
        await anyio.sleep(2)
        tasks.cancel_scope.cancel()
    assert (work.stopped, len(parking)) == ("nobody has answered what it asked", 0)
    assert parking.find("call_2", BOUND) is None


async def test_who_waits_for_a_turn_hears_of_a_question_and_of_the_end():
    parked, work = body()
    question = Question("where", "roots/list", {})

    def fits(asked: Question, answer: JsonObject) -> None: ...

    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(parked.asking.ask, [question], fits)
            await parked.turn()
            assert parked.asking.questions == (question,)
            parked.asking.give("where", {})
            tasks.start_soon(parked.turn)
            await anyio.lowlevel.checkpoint()
            work.over = True
            parked.stir()


async def test_nothing_begins_where_the_server_does_not_run():
    with pytest.raises(ServiceUnavailable):
        lot().start(anyio.lowlevel.checkpoint)
