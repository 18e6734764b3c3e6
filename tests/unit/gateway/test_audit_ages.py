"""Old days of an audit chain go, where the settings say so, and what is left still holds."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest

from tests.contracts.stores import SettableClock
from tests.unit.engine.fakes import FaultyStore, Tools, call_of, catalog_of, running
from toolwire.core.errors import StoreUnavailable
from toolwire.core.ports import Append, Put
from toolwire.engine.engine import Engine
from toolwire.gateway.audit import FIRST, Audit, first_break
from toolwire.wire.answers.records import AuditAnchor, AuditEntry

DAY_S = 86_400.0
NOON = 20_000 * DAY_S + DAY_S / 2
OWNER = "alice"


@dataclass
class Kept:
    audit: Audit
    engine: Engine
    clock: SettableClock

    async def call(self, days_later: float = 0.0) -> None:
        self.clock.time += days_later * DAY_S
        await self.engine.submit(call_of(clock=self.clock), catalog_of(Tools()))
        await self.engine.recorder.caught_up()

    async def entries(self, after: int = 0) -> list[AuditEntry]:
        return [entry async for entry in self.audit.read(OWNER, after)]

    async def holds(self) -> bool:
        anchor = self.audit.anchor(OWNER)
        return first_break(await self.entries(), anchor.hash, anchor.seq) is None


@asynccontextmanager
async def audit_on(store: FaultyStore, clock: SettableClock, ttl_s: float = 2 * DAY_S) -> AsyncGenerator[Kept]:
    async with running(store, clock) as engine:
        audit = Audit(store, engine.recorder, clock, bodies=False, ttl_s=ttl_s)
        await audit.load()
        engine.observers.append(audit.observe)
        yield Kept(audit, engine, clock)


async def test_days_that_are_old_enough_go_and_the_rest_follows_the_anchor():
    clock = SettableClock(NOON)
    store = FaultyStore(clock)
    async with audit_on(store, clock) as kept:
        for days_later in (0, 0, 1, 1, 1):
            await kept.call(days_later)
        assert (kept.audit.anchor(OWNER), await kept.holds()) == (AuditAnchor(0, FIRST), True)
        first_days = await kept.entries()

        await kept.audit.remove_old()  # it is noon of day 3, and what day 1 has seen may be two days old
        left = await kept.entries()
        assert [entry.seq for entry in left] == [3, 4, 5]
        assert kept.audit.anchor(OWNER) == AuditAnchor(2, first_days[1].hash)
        assert await kept.holds()
        assert [entry.seq for entry in await kept.entries(after=4)] == [5]
        assert await store.read(f"audit:{OWNER}:2024-10-04") == []
    async with audit_on(store, clock) as again:
        assert [entry.seq for entry in await again.entries()] == [3, 4, 5]
        assert await again.holds()
        await again.call()
        assert [entry.seq for entry in await again.entries()] == [3, 4, 5, 6]
        assert await again.holds()


async def test_a_chain_of_which_nothing_is_left_goes_on_where_it_was():
    clock = SettableClock(NOON)
    store = FaultyStore(clock)
    async with audit_on(store, clock) as kept:
        await kept.call()
        (last,) = await kept.entries()
        clock.time += 10 * DAY_S
        await kept.audit.remove_old()
        assert (await kept.entries(), await kept.audit.end(OWNER)) == ([], 1)
        assert kept.audit.anchor(OWNER) == AuditAnchor(1, last.hash)
    async with audit_on(store, clock) as again:
        assert again.audit.anchor(OWNER) == AuditAnchor(1, last.hash)
        await again.call()
        assert [(entry.seq, entry.previous) for entry in await again.entries()] == [(2, last.hash)]


async def test_nothing_goes_by_itself_and_nothing_that_is_young():
    clock = SettableClock(NOON)
    async with audit_on(FaultyStore(clock), clock, ttl_s=0) as kept:
        await kept.call()
        clock.time += 5000 * DAY_S
        await kept.audit.keep()  # off: it has nothing to do
        assert len(await kept.entries()) == 1
    clock = SettableClock(NOON)
    async with audit_on(FaultyStore(clock), clock) as kept:
        await kept.call()
        clock.time += 2.4 * DAY_S
        await kept.audit.remove_old()
        assert len(await kept.entries()) == 1


async def test_a_store_that_fails_keeps_what_was_to_go():
    clock = SettableClock(NOON)
    store = FaultyStore(clock)
    async with audit_on(store, clock) as kept:
        await kept.call()
        await kept.call(1)
        clock.time += 10 * DAY_S
        store.failure = StoreUnavailable("the disk is full; make room")
        with pytest.raises(StoreUnavailable):
            await kept.audit.remove_old()
        store.failure = None
        assert await kept.holds()
        await kept.audit.remove_old()
        assert (await kept.entries(), kept.audit.anchor(OWNER).seq) == ([], 2)


async def test_a_clock_that_goes_back_begins_no_day_anew():
    clock = SettableClock(NOON)
    async with audit_on(FaultyStore(clock), clock) as kept:
        await kept.call()
        await kept.call(-1)
        assert [entry.seq for entry in await kept.entries()] == [1, 2]
        assert await kept.holds()


async def test_a_chain_that_was_begun_in_one_stream_goes_on_by_days():
    clock = SettableClock(NOON)
    store = FaultyStore(clock)
    async with audit_on(store, clock) as kept:
        await kept.call()
        (row,) = await store.read(f"audit:{OWNER}:2024-10-04")
        (head,) = await store.scan("audit_head", OWNER)
    before = FaultyStore(clock)
    await before.tx([Append(f"audit:{OWNER}", row.value), Put("audit_head", OWNER, OWNER, head.value)])
    async with audit_on(before, clock) as kept:
        await kept.call(1)
        assert [entry.seq for entry in await kept.entries()] == [1, 2]
        assert await kept.holds()
    clock.time += 4 * DAY_S
    async with audit_on(before, clock) as kept:
        await kept.audit.remove_old()
        assert (await kept.entries(), kept.audit.anchor(OWNER).seq) == ([], 2)
