"""Any sequence of operations leaves SQLite with what the memory store, its model, has, killed on the way or not."""

import shutil
import tempfile
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import anyio
from anyio.from_thread import BlockingPortal, start_blocking_portal
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from tests.contracts.stores import SettableClock, begin
from toolwire.adapters.memory import MemoryStore
from toolwire.adapters.sqlite import SqliteStore
from toolwire.core.errors import StoreConflict
from toolwire.core.ports import Ack, Append, Del, Drop, Enqueue, Nack, Op, Put, Store

KINDS, OWNERS, KEYS = st.sampled_from(["call", "claim"]), st.sampled_from(["", "ann"]), st.sampled_from("abé")
STREAMS, IDS = st.sampled_from("st"), st.sampled_from("xyz")
VALUES = st.binary(max_size=3)
EXPECTED = st.none() | st.integers(0, 3)
TIMES = st.sampled_from([0.0, 1000.0, 1000.5, 1001.0, 1002.0])

OPS: st.SearchStrategy[Op] = st.one_of(
    st.builds(Put, KINDS, OWNERS, KEYS, VALUES, EXPECTED, st.none() | TIMES),
    st.builds(Del, KINDS, OWNERS, KEYS, EXPECTED),
    st.builds(Append, STREAMS, VALUES, st.none() | st.integers(0, 9)),
    st.builds(Drop, STREAMS),
    st.builds(Enqueue, st.just("q"), IDS, TIMES, VALUES),
    st.builds(Ack, st.just("q"), IDS),
    st.builds(Nack, st.just("q"), IDS, TIMES),
)
BATCHES = st.lists(OPS, min_size=1, max_size=6)

Outcome: TypeAlias = list[Any]


async def _outcome(call: Awaitable[object]) -> object:
    try:
        return await call
    except StoreConflict as conflict:
        return conflict.message


async def _at_once(store: Store, batches: list[list[Op]]) -> Outcome:
    """Hand in all the batches, and a claim between them, before the first is answered."""
    outcomes: Outcome = [None] * (len(batches) + 1)

    async def keep(place: int, call: Callable[[], Awaitable[object]]) -> None:
        outcomes[place] = await _outcome(call())

    async with anyio.create_task_group() as tasks:
        for place, batch in enumerate(batches):
            await begin(tasks, keep, place, partial(store.tx, batch))
        await begin(tasks, keep, len(batches), partial(store.claim, "q", "me", 2, 1.0))
    return outcomes


async def _everything(store: Store) -> Outcome:
    found: Outcome = []
    for kind in ("call", "claim"):
        found.append(await store.scan(kind, None))
        found.append(await store.scan(kind, "ann", after="a", limit=1))
        found.append(await store.scan(kind, None, limit=1))
        found.append([await store.get(kind, owner, key) for owner in ("", "ann") for key in "abé"])
    found.extend([await store.read(stream) for stream in "st"])
    found.append(await store.read("s", after=2, limit=2))
    return found


class SqliteAgainstMemory(RuleBasedStateMachine):
    @initialize()
    def open(self) -> None:
        self.clock = SettableClock()
        self.directory = tempfile.TemporaryDirectory()
        self.lives = 0
        self.path = Path(self.directory.name) / "0.db"
        self.loop = start_blocking_portal()
        self.portal: BlockingPortal = self.loop.__enter__()
        self.sqlite = self.portal.call(SqliteStore.open, self.path, self.clock)
        self.memory = MemoryStore(self.clock)

    def same(self, call: Callable[[Store], Awaitable[object]]) -> None:
        assert self.portal.call(_outcome, call(self.sqlite)) == self.portal.call(_outcome, call(self.memory))

    @rule(batch=BATCHES)
    def transact(self, batch: list[Op]) -> None:
        self.same(lambda store: store.tx(batch))

    @rule(batches=st.lists(BATCHES, max_size=4))
    def transact_at_once(self, batches: list[list[Op]]) -> None:
        self.same(lambda store: _at_once(store, batches))

    @rule(n=st.integers(0, 4), lease_s=st.sampled_from([0.5, 1.0]))
    def claim(self, n: int, lease_s: float) -> None:
        self.same(lambda store: store.claim("q", "me", n, lease_s))

    @rule(later_s=st.sampled_from([0.5, 1.0]))
    def wait(self, later_s: float) -> None:
        self.clock.time += later_s

    @rule()
    def sweep(self) -> None:
        self.same(lambda store: store.sweep())

    @rule()
    def reopen(self) -> None:
        self.portal.call(self.sqlite.close)
        self.sqlite = self.portal.call(SqliteStore.open, self.path, self.clock)

    @rule()
    def kill(self) -> None:
        """Go on with the files as they are now; in this order they are such as a kill at some moment leaves."""
        self.lives += 1
        before, self.path = self.path, self.path.with_name(f"{self.lives}.db")
        for suffix in ("-redo-0", "-redo-1", "-wal", ""):
            if (file := Path(f"{before}{suffix}")).exists():
                shutil.copy(file, f"{self.path}{suffix}")
        self.portal.call(self.sqlite.close)
        self.sqlite = self.portal.call(SqliteStore.open, self.path, self.clock)

    @rule(owner=OWNERS, key=KEYS)
    def get(self, owner: str, key: str) -> None:
        self.same(lambda store: store.get("call", owner, key))

    @rule()
    def look_at_everything(self) -> None:
        """A rule, since whoever looks has what was logged applied: that is not to come after every step."""
        self.same(_everything)

    def teardown(self) -> None:
        self.look_at_everything()
        self.portal.call(self.sqlite.close)
        self.loop.__exit__(None, None, None)
        self.directory.cleanup()


SqliteAgainstMemory.TestCase.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
TestSqliteAgainstMemory = SqliteAgainstMemory.TestCase
