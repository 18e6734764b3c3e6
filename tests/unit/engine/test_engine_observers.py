"""Those who look at all calls: told of each as it begins to run, and of its events if they listen."""

import logging
from collections.abc import Callable

import pytest

from tests.unit.engine.fakes import Tools, call_of, catalog_of, in_session, running
from toolwire.core.call import Call
from toolwire.core.event import Finished, Progress, Stamped
from toolwire.core.handler import Emit
from toolwire.core.result import Result, text_result
from toolwire.engine.record import Record

pytestmark = pytest.mark.both_backends


async def working(call: Call, emit: Emit) -> Result:
    emit(Progress(1, None, "half"))
    return text_result("done")


@pytest.mark.parametrize("call", [call_of, in_session, lambda: call_of(key="k")])
async def test_an_observer_is_told_of_each_call_and_may_listen_to_it(call: Callable[[], Call]):
    heard: list[Stamped] = []
    async with running() as engine:
        engine.observers.append(lambda record: record.listen(heard.append))
        submitted = await engine.submit(call(), catalog_of(Tools(working)))

    assert [type(stamped.event) for stamped in heard] == [Progress, Finished]
    assert {stamped.call_id for stamped in heard} == {submitted.record.call.id}


async def test_an_observer_that_leaves_is_told_nothing_more():
    seen: list[Record] = []
    async with running() as engine:
        engine.observers.append(seen.append)
        await engine.submit(call_of(), catalog_of(Tools()))
        engine.observers.remove(seen.append)
        await engine.submit(call_of(), catalog_of(Tools()))
    assert len(seen) == 1


async def test_an_observers_mistake_is_logged_and_harms_neither_the_call_nor_the_others(
    caplog: pytest.LogCaptureFixture,
):
    seen: list[Record] = []

    def fail(record: Record) -> None:
        raise ValueError("a mistake")

    async with running() as engine:
        engine.observers += [fail, seen.append]
        with caplog.at_level(logging.ERROR):
            submitted = await engine.submit(call_of(), catalog_of(Tools()))
    assert submitted.record.result == text_result("done")
    assert seen == [submitted.record]
    assert "an observer of call" in caplog.text
