"""What a key stands for when its call's record is open, lost or gone: gateway.md D5, D6 and §6 (lost calls)."""

import pytest

from tests.unit.engine.fakes import FaultyStore, LoopClock, Tools, call_of, catalog_of, code_of, running
from toolwire.core.ports import Del, Put
from toolwire.core.result import failed
from toolwire.engine.claims import Claim, encode_claim, fingerprint_of, scope_of
from toolwire.engine.offload import encode_record
from toolwire.engine.record import Record

pytestmark = pytest.mark.both_backends


async def test_a_claim_whose_call_is_open_elsewhere_is_not_run_a_second_time():
    store, tools = FaultyStore(LoopClock()), Tools()
    clock = LoopClock()
    theirs = call_of(key="k1")
    claim = Claim(theirs.id, "alice", fingerprint_of(theirs), clock.now(), clock.now() + 60)
    await store.tx(
        [
            Put("claim", "", scope_of(theirs), encode_claim(claim)),
            Put("call", "alice", theirs.id, encode_record(Record(theirs, clock).stored())),
        ]
    )
    async with running(store) as engine:
        replay = await engine.submit(call_of(key="k1"), catalog_of(tools))
        assert (replay.replayed, code_of(replay.record.result)) == (True, "outcome_unknown")
    assert tools.calls == []


async def test_a_repeat_of_a_lost_call_is_told_that_its_outcome_is_unknown():
    """gateway.md §6: it ends `agent_lost`, and a later retry under its key is told `outcome_unknown`."""
    store, tools = FaultyStore(LoopClock()), Tools()
    lost = call_of(key="k1")
    claim = Claim(lost.id, "alice", fingerprint_of(lost), LoopClock().now(), LoopClock().now() + 60)
    record = Record(lost, LoopClock())
    record.finish(failed("the agent went away", "agent_lost"))
    await store.tx(
        [
            Put("claim", "", scope_of(lost), encode_claim(claim)),
            Put("call", "alice", lost.id, encode_record(record.stored())),
        ]
    )
    async with running(store) as engine:
        replay = await engine.submit(call_of(key="k1"), catalog_of(tools))
        assert (replay.replayed, code_of(replay.record.result)) == (True, "outcome_unknown")
    assert tools.calls == []


async def test_a_claim_whose_record_has_gone_is_free():
    store, tools = FaultyStore(LoopClock()), Tools()
    async with running(store) as engine:
        first = call_of(key="k1")
        await engine.submit(first, catalog_of(tools))
        await store.tx([Del("call", "alice", first.id)])
        assert not (await engine.submit(call_of(key="k1"), catalog_of(tools))).replayed
    assert len(tools.calls) == 2
