"""How long a key stands for its call may differ from one catalogue to another: gateway.md 27, D7."""

import anyio
import pytest

from tests.contracts.stores import SettableClock
from tests.unit.engine.fakes import Agent, FaultyStore, HeldTools, Tools, call_of, catalog_of, running
from toolwire.core.handler import Provider
from toolwire.core.result import text_result
from toolwire.engine.catalog import Catalog
from toolwire.engine.engine import Engine, Limits, Submission
from toolwire.engine.recover import recover

pytestmark = pytest.mark.both_backends

LIMITS = Limits(idempotency_ttl_s=100.0, history_ttl_s=10.0)


def lasting(tools: Provider, key_ttl_s: float | None) -> Catalog:
    catalog = catalog_of(tools)
    catalog.key_ttl_s = key_ttl_s
    return catalog


async def repeat(engine: Engine, clock: SettableClock, catalog: Catalog, key: str = "k1") -> Submission:
    return await engine.submit(call_of(key=key, clock=clock), catalog)


@pytest.mark.parametrize("ttl_s", [20.0, 5000.0])
async def test_a_key_stands_for_its_call_for_as_long_as_its_catalogue_says(ttl_s: float):
    """D7: longer than the engine's own time, too, with its result; and replays do not extend it."""
    clock, tools = SettableClock(1000.0), Tools()
    catalog = lasting(tools, ttl_s)
    async with running(clock=clock, limits=LIMITS) as engine:
        first = await repeat(engine, clock, catalog)
        assert first.claim is not None
        assert first.claim.expires_at == 1000.0 + ttl_s
        clock.time = 999.0 + ttl_s
        again = await repeat(engine, clock, catalog)
        assert again.replayed
        assert again.record.result == text_result("done")
        clock.time = 1000.0 + ttl_s
        assert not (await repeat(engine, clock, catalog)).replayed
    assert len(tools.calls) == 2


async def test_another_time_holds_for_keys_that_are_first_seen_from_then_on():
    clock, tools = SettableClock(1000.0), Tools()
    catalog = lasting(tools, None)
    async with running(clock=clock, limits=LIMITS) as engine:
        await repeat(engine, clock, catalog, "before")
        catalog.key_ttl_s = 20.0
        await repeat(engine, clock, catalog, "after")
        clock.time = 1099.0
        assert (await repeat(engine, clock, catalog, "before")).replayed
        assert not (await repeat(engine, clock, catalog, "after")).replayed


async def test_a_call_that_is_taken_up_after_a_restart_is_kept_as_long_as_its_key():
    clock, tools, agent = SettableClock(1000.0), HeldTools(), Agent()
    store = FaultyStore(clock)
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks, running(store, clock, LIMITS) as engine:
            tasks.start_soon(engine.submit, call_of(key="k1", clock=clock), lasting(tools, 5000.0))
            await tools.started.wait()
    async with running(store, clock, LIMITS) as engine:
        assert await recover(engine, lambda call: agent.resume) == 1
        assert (await repeat(engine, clock, catalog_of(agent))).replayed
        clock.time = 5999.0
        again = await repeat(engine, clock, catalog_of(agent))
        assert again.replayed
        assert again.record.result == text_result("resumed")
    assert agent.calls == []
