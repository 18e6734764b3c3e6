"""Plain calls of handlers that never wait: what they raise, whom they tell, and what of them is kept."""

import pytest

from tests.unit.engine.fakes import AnyArguments, FaultyStore, LoopClock, Tools, call_of, running
from toolwire.core.call import Call
from toolwire.core.errors import ToolwireError
from toolwire.core.handler import Emit, Handler, mark_prompt
from toolwire.core.result import Result, text_result
from toolwire.core.tool import Tool
from toolwire.engine.catalog import Catalog, Entry
from toolwire.engine.record import Record

pytestmark = pytest.mark.both_backends


def entry_of(handler: Handler) -> Entry:
    catalog = Catalog(lambda schema: AnyArguments())
    catalog.replace([Tool("work")], Tools(), handlers={"work": mark_prompt(handler)})
    return catalog.find("work")


async def answer(call: Call, emit: Emit) -> Result:
    return text_result("done")


async def test_it_is_told_of_and_recorded_as_any_other():
    store, told = FaultyStore(LoopClock()), list[Record]()
    async with running(store) as engine:
        engine.observers.append(told.append)
        assert engine.ready
        record = engine.prompt_calls.run(call_of(), entry_of(answer), 5.0)
        await engine.recorder.caught_up()
    assert (record.result, record.created_at) == (text_result("done"), 5.0)
    assert told == [record]
    assert [put.key for put in store.puts("call")] == [record.call.id]
    assert not engine.ready


@pytest.mark.parametrize(
    ("error", "code"), [(ToolwireError("no"), "internal_error"), (LookupError("no"), "internal_error")]
)
async def test_what_its_handler_raises_is_a_failed_result(error: Exception, code: str):
    async def fail(call: Call, emit: Emit) -> Result:
        raise error

    async with running() as engine:
        result = engine.prompt_calls.run(call_of(), entry_of(fail), 5.0).result
    assert result is not None
    assert result.error is not None
    assert result.error.code == code


async def test_one_that_waits_although_it_says_that_it_never_does_is_a_mistake():
    async def wait(call: Call, emit: Emit) -> Result:
        await held
        return text_result("done")

    class Held:
        def __await__(self):  # type: ignore[no-untyped-def] -- what a loop would be told is nobody's business here
            yield

    held = Held()
    async with running() as engine:
        with pytest.raises(RuntimeError, match="never waits"):
            engine.prompt_calls.run(call_of(), entry_of(wait), 5.0)
