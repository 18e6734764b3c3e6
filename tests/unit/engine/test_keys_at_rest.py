"""What lies in the store of a call under a key."""

import pytest

from tests.unit.engine.fakes import FaultyStore, LoopClock, Tools, call_of, catalog_of, running
from toolwire.core.ports import Put
from toolwire.engine.claims import scope_of

pytestmark = pytest.mark.both_backends


async def test_a_key_does_not_lie_in_the_store_in_clear():
    """gateway.md D9"""
    store = FaultyStore(LoopClock())
    async with running(store) as engine:
        call = call_of(key="the key of somebody")
        await engine.submit(call, catalog_of(Tools()))
        values = [op.value for ops in store.written for op in ops if isinstance(op, Put)]
        assert len(values) >= 3
        assert not any(b"the key of somebody" in value for value in values)
        stored = await engine.load("alice", call.id)
        assert stored is not None
        assert (stored.call.idempotency_key, scope_of(stored.call)) == ("", scope_of(call))
        assert stored.call.outlives_request
