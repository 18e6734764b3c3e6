"""A handler that never waits is run without anything that could stop it, and ends as any other does."""

import pytest

from tests.unit.engine.fakes import Agent, AnyArguments, LoopClock, Tools, call_of, running
from toolwire.adapters.memory import MemoryStore
from toolwire.core.call import Call
from toolwire.core.errors import ToolwireError
from toolwire.core.event import Progress, Stamped
from toolwire.core.handler import Emit, Handler, is_prompt, mark_prompt
from toolwire.core.result import Result, text_result
from toolwire.core.tool import Tool
from toolwire.engine.catalog import Catalog

pytestmark = pytest.mark.both_backends


def catalog_with(handler: Handler) -> Catalog:
    catalog = Catalog(lambda schema: AnyArguments())
    catalog.replace([Tool("work")], Tools(), handlers={"work": handler})
    return catalog


async def test_its_result_and_its_progress_are_those_of_the_call():
    async def handle(call: Call, emit: Emit) -> Result:
        emit(Progress(1, None, "half"))
        return text_result("done")

    heard: list[Stamped] = []
    async with running() as engine:
        submission = await engine.submit(call_of(), catalog_with(mark_prompt(handle)), heard.append)
        assert (submission.record.result, submission.record.scope) == (text_result("done"), None)
        assert engine.idle
    assert isinstance(heard[0].event, Progress)


@pytest.mark.parametrize(
    ("error", "code"), [(ToolwireError("no"), "internal_error"), (LookupError("no"), "internal_error")]
)
async def test_what_it_raises_is_a_failed_result(error: Exception, code: str):
    async def handle(call: Call, emit: Emit) -> Result:
        raise error

    async with running() as engine:
        submission = await engine.submit(call_of(), catalog_with(mark_prompt(handle)))
        result = submission.record.result
        assert result is not None
        assert result.error is not None
        assert result.error.code == code
        assert engine.idle


async def test_under_a_key_it_may_wait_for_the_store_like_any_other():
    async def handle(call: Call, emit: Emit) -> Result:
        return text_result("done")

    store = MemoryStore(LoopClock())
    async with running(store) as engine:
        first = await engine.submit(call_of(key="k1"), catalog_with(mark_prompt(handle)))
        again = await engine.submit(call_of(key="k1"), catalog_with(mark_prompt(handle)))
        assert (again.replayed, again.record.call.id) == (True, first.record.call.id)


def test_a_provider_that_says_nothing_of_its_handlers_is_asked_for_each_call():
    agent, catalog = Agent(), Catalog(lambda schema: AnyArguments())
    catalog.replace([Tool("work")], agent)
    entry = catalog.find("work")
    assert entry.handler == agent.call
    assert not entry.is_prompt
    assert not is_prompt(entry.handler)
