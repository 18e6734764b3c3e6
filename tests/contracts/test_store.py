"""The contract of the `Store` port (core/ports.py): every store passes all of it, on asyncio and on trio."""

import anyio
import pytest

from tests.contracts.stores import SettableClock, begin, keys, values
from toolwire.core.errors import StoreConflict, StoreUnavailable
from toolwire.core.ports import Ack, Append, Del, Drop, Enqueue, Op, Put, Row, Store, Stored

pytestmark = pytest.mark.both_backends


# Records


async def test_a_record_is_read_back_with_its_owner_and_version(store: Store):
    await store.tx([Put("call", "ann", "k", b"\x00one\xff")])

    assert await store.get("call", "ann", "k") == Stored(key="k", owner="ann", value=b"\x00one\xff", version=1)


async def test_an_absent_record_is_none(store: Store):
    await store.tx([Put("call", "ann", "k", b"")])

    assert await store.get("call", "bob", "k") is None
    assert await store.get("claim", "ann", "k") is None
    assert await store.get("call", "ann", "K") is None


async def test_each_write_counts_the_version_up_within_a_batch_too(store: Store):
    await store.tx([Put("call", "", "k", b"1"), Put("call", "", "k", b"2", expect=1)])
    await store.tx([Put("call", "", "k", b"3", expect=2)])

    assert await store.get("call", "", "k") == Stored(key="k", owner="", value=b"3", version=3)


async def test_keys_may_hold_any_text(store: Store):
    odd = ["'", '"; DROP TABLE records; --', "a\x00b", "🙂", "ﬀ", " ", "%_*?"]
    await store.tx([Put("call", "ann", key, key.encode()) for key in odd])

    assert keys(await store.scan("call", "ann")) == sorted(odd)
    for key in odd:
        stored = await store.get("call", "ann", key)
        assert stored is not None
        assert stored.value == key.encode()


async def test_expecting_absence_refuses_a_record_that_is_there(store: Store):
    await store.tx([Put("call", "", "k", b"mine", expect=0)])

    with pytest.raises(StoreConflict, match="'k' is at version 1, not 0"):
        await store.tx([Put("call", "", "k", b"theirs", expect=0)])

    assert await store.get("call", "", "k") == Stored(key="k", owner="", value=b"mine", version=1)


async def test_expecting_a_version_refuses_any_other(store: Store):
    await store.tx([Put("call", "", "k", b"1")])

    for expect in (2, 7):
        with pytest.raises(StoreConflict):
            await store.tx([Put("call", "", "k", b"x", expect=expect)])
        with pytest.raises(StoreConflict):
            await store.tx([Del("call", "", "k", expect=expect)])
        with pytest.raises(StoreConflict):
            await store.tx([Put("call", "", "absent", b"x", expect=expect)])

    await store.tx([Del("call", "", "k", expect=1)])
    assert await store.get("call", "", "k") is None


async def test_removing_an_absent_record_is_fine_unless_a_version_is_expected(store: Store):
    await store.tx([Del("call", "", "k"), Del("call", "", "k", expect=0)])

    with pytest.raises(StoreConflict):
        await store.tx([Del("call", "", "k", expect=1)])


async def test_a_removed_record_begins_at_version_one_again(store: Store):
    await store.tx([Put("call", "", "k", b"1"), Put("call", "", "k", b"2")])
    await store.tx([Del("call", "", "k"), Put("call", "", "k", b"3", expect=0)])

    assert await store.get("call", "", "k") == Stored(key="k", owner="", value=b"3", version=1)


# Expiry


async def test_a_record_is_absent_from_the_instant_it_expires(store: Store, clock: SettableClock):
    await store.tx([Put("claim", "", "k", b"1", expires_at=1010.25)])

    clock.time = 1010.0
    assert await store.get("claim", "", "k") is not None
    clock.time = 1010.25
    assert await store.get("claim", "", "k") is None
    assert await store.scan("claim", "") == []
    assert await store.scan("claim", None) == []


async def test_an_expired_record_counts_as_absent_for_what_is_expected(store: Store, clock: SettableClock):
    await store.tx([Put("claim", "", "k", b"1", expires_at=1010.0), Put("claim", "", "k", b"2", expires_at=1010.0)])
    clock.time = 1010.0

    with pytest.raises(StoreConflict):
        await store.tx([Put("claim", "", "k", b"x", expect=2)])
    with pytest.raises(StoreConflict):
        await store.tx([Del("claim", "", "k", expect=2)])
    await store.tx([Put("claim", "", "k", b"3", expect=0)])

    assert await store.get("claim", "", "k") == Stored(key="k", owner="", value=b"3", version=1)


async def test_a_write_without_expiry_takes_an_earlier_one_away(store: Store, clock: SettableClock):
    await store.tx([Put("claim", "", "k", b"1", expires_at=1010.0)])
    await store.tx([Put("claim", "", "k", b"2")])
    clock.time = 2000.0

    assert await store.get("claim", "", "k") == Stored(key="k", owner="", value=b"2", version=2)


async def test_a_record_written_expired_is_never_seen(store: Store):
    await store.tx([Put("claim", "", "k", b"1", expires_at=1000.0), Put("claim", "", "k", b"2", 0, expires_at=999.0)])

    assert await store.get("claim", "", "k") is None


async def test_a_sweep_removes_what_has_expired_and_says_how_much(store: Store, clock: SettableClock):
    await store.tx([Put("claim", "", f"{n:04}", b"", expires_at=1001.0 + n % 2) for n in range(2500)])
    await store.tx([Put("claim", "", "kept", b"")])
    assert await store.sweep() == 0

    clock.time = 1001.0
    assert await store.sweep() == 1250
    assert await store.sweep() == 0
    clock.time = 1002.0
    assert await store.sweep() == 1250
    assert keys(await store.scan("claim", "")) == ["kept"]


# Scans


async def test_a_scan_goes_in_key_order_from_after_a_key_up_to_a_limit(store: Store):
    await store.tx([Put("call", "ann", key, b"") for key in ("c", "a", "é", "b", "B", "aa")])

    assert keys(await store.scan("call", "ann")) == ["B", "a", "aa", "b", "c", "é"]
    assert keys(await store.scan("call", "ann", after="a")) == ["aa", "b", "c", "é"]
    assert keys(await store.scan("call", "ann", after="ab", limit=2)) == ["b", "c"]
    assert await store.scan("call", "ann", after="é") == []
    assert await store.scan("call", "ann", limit=0) == []


async def test_a_scan_sees_one_kind_and_one_owner(store: Store):
    await store.tx([Put("call", "ann", "1", b"a"), Put("call", "bob", "2", b"b"), Put("key", "ann", "3", b"c")])

    assert await store.scan("call", "ann") == [Stored(key="1", owner="ann", value=b"a", version=1)]
    assert keys(await store.scan("call", "")) == []


async def test_a_scan_over_all_owners_goes_in_key_order(store: Store):
    await store.tx([Put("call", "bob", "1", b""), Put("call", "ann", "2", b""), Put("call", "", "3", b"")])

    page = await store.scan("call", None)
    assert [(stored.key, stored.owner) for stored in page] == [("1", "bob"), ("2", "ann"), ("3", "")]
    assert keys(await store.scan("call", None, after="1", limit=1)) == ["2"]
    assert await store.scan("call", None, limit=0) == []


async def test_pages_over_all_owners_lose_no_record_where_owners_use_the_same_key(store: Store, clock: SettableClock):
    owners = ("ann", "bob", "cem")
    await store.tx([Put("call", owner, key, b"") for key in "ab" for owner in owners])
    await store.tx([Put("call", "dee", "a", b"", expires_at=1001.0), Put("call", "dee", "0", b"", expires_at=1001.0)])
    clock.time = 1001.0

    first = await store.scan("call", None, limit=2)
    assert [(stored.key, stored.owner) for stored in first] == [("a", owner) for owner in owners]
    second = await store.scan("call", None, after=first[-1].key, limit=2)
    assert [(stored.key, stored.owner) for stored in second] == [("b", owner) for owner in owners]


# Streams


async def test_rows_are_numbered_from_one_in_the_order_they_came(store: Store):
    await store.tx([Append("s", b"a"), Append("s", b"b"), Append("t", b"x")])
    await store.tx([Append("s", b"c")])

    assert await store.read("s") == [Row(seq=1, value=b"a"), Row(seq=2, value=b"b"), Row(seq=3, value=b"c")]
    assert await store.read("t") == [Row(seq=1, value=b"x")]
    assert await store.read("u") == []


async def test_given_numbers_may_leave_gaps_and_the_next_one_follows_the_last(store: Store):
    await store.tx([Append("s", b"a", seq=5), Append("s", b"b"), Append("s", b"c", seq=2**40)])
    await store.tx([Append("s", b"d")])

    assert [row.seq for row in await store.read("s")] == [5, 6, 2**40, 2**40 + 1]


async def test_a_number_that_is_not_beyond_the_last_is_refused(store: Store):
    await store.tx([Append("s", b"a", seq=5)])

    for seq in (5, 4, 0, -1):
        with pytest.raises(StoreConflict, match="'s' is at 5"):
            await store.tx([Append("s", b"x", seq=seq)])
    with pytest.raises(StoreConflict):
        await store.tx([Append("s", b"b", seq=6), Append("s", b"x", seq=6)])
    with pytest.raises(StoreConflict):
        await store.tx([Append("new", b"x", seq=0)])

    assert values(await store.read("s")) == [b"a"]
    assert await store.read("new") == []


async def test_reading_goes_on_after_a_row_up_to_a_limit(store: Store):
    await store.tx([Append("s", b"%d" % n, seq=10 * n) for n in range(1, 6)])

    assert values(await store.read("s", after=20)) == [b"3", b"4", b"5"]
    assert values(await store.read("s", after=15, limit=2)) == [b"2", b"3"]
    assert await store.read("s", after=50) == []
    assert await store.read("s", limit=0) == []


async def test_a_dropped_stream_is_empty_and_begins_at_one_again(store: Store):
    await store.tx([Append("s", b"a"), Append("s", b"b"), Append("t", b"kept")])
    await store.tx([Append("s", b"c"), Drop("s"), Append("s", b"d"), Drop("never was")])

    assert await store.read("s") == [Row(seq=1, value=b"d")]
    assert values(await store.read("t")) == [b"kept"]


# Transactions


async def test_a_conflict_undoes_the_whole_batch_and_nothing_else(store: Store):
    await store.tx(
        [
            Put("call", "", "k", b"old"),
            Append("s", b"old"),
            Enqueue("q", "w", 1000.0, b"old"),
            Put("call", "", "d", b""),
        ]
    )

    with pytest.raises(StoreConflict):
        await store.tx(
            [
                Put("call", "", "k", b"new"),
                Put("call", "", "fresh", b"new"),
                Del("call", "", "d"),
                Append("s", b"new"),
                Append("fresh", b"new"),
                Drop("s"),
                Enqueue("q", "w", 1.0, b"new"),
                Enqueue("q", "fresh", 1.0, b"new"),
                Ack("q", "w"),
                Put("call", "", "k", b"newer", expect=1),
            ]
        )

    assert await store.get("call", "", "k") == Stored(key="k", owner="", value=b"old", version=1)
    assert keys(await store.scan("call", None)) == ["d", "k"]
    assert values(await store.read("s")) == [b"old"]
    assert await store.read("fresh") == []
    assert [work.body for work in await store.claim("q", "me", 9, 60)] == [b"old"]


async def test_an_empty_batch_is_fine(store: Store):
    await store.tx([])


async def test_the_batch_is_what_was_handed_in_even_if_the_list_changes_afterwards(store: Store):
    ops: list[Op] = [Append("s", b"a")]
    async with anyio.create_task_group() as tasks:
        await begin(tasks, store.tx, ops)
        ops.append(Append("s", b"b"))

    assert values(await store.read("s")) == [b"a"]


async def test_transactions_apply_in_the_order_of_the_calls(store: Store):
    outcomes: list[str] = []

    async def call(name: str, *ops: Op) -> None:
        try:
            await store.tx(ops)
            outcomes.append(name)
        except StoreConflict:
            outcomes.append(f"{name} conflicts")

    async with anyio.create_task_group() as tasks:
        await begin(tasks, call, "a", Put("call", "", "k", b"a", expect=0), Append("s", b"a"))
        await begin(tasks, call, "b", Put("call", "", "k", b"b", expect=0), Append("s", b"b"))
        await begin(tasks, call, "c", Put("call", "", "k", b"c", expect=1), Append("s", b"c"))
        await begin(tasks, call, "d", Del("call", "", "k", expect=2), Append("s", b"d"))

    assert sorted(outcomes) == ["a", "b conflicts", "c", "d"]
    assert values(await store.read("s")) == [b"a", b"c", b"d"]
    assert await store.get("call", "", "k") is None


async def test_one_of_many_claims_of_the_same_key_wins(store: Store):
    won: list[int] = []

    async def contend(n: int) -> None:
        try:
            await store.tx([Put("claim", "", "k", b"%d" % n, expect=0), Append("s", b"%d" % n)])
            won.append(n)
        except StoreConflict:
            pass

    async with anyio.create_task_group() as tasks:
        for n in range(50):
            tasks.start_soon(contend, n)

    assert len(won) == 1
    assert values(await store.read("s")) == [b"%d" % won[0]]


async def test_many_writers_lose_nothing(store: Store):
    async def write(writer: int) -> None:
        for n in range(10):
            await store.tx([Append("all", b"%d:%d" % (writer, n)), Put("call", "", f"{writer}:{n}", b"")])

    async with anyio.create_task_group() as tasks:
        for writer in range(30):
            tasks.start_soon(write, writer)

    rows = await store.read("all")
    assert [row.seq for row in rows] == list(range(1, 301))
    for writer in range(30):
        assert [row.value for row in rows if row.value.startswith(b"%d:" % writer)] == [
            b"%d:%d" % (writer, n) for n in range(10)
        ]
    assert len(await store.scan("call", "")) == 300


async def test_a_cancelled_caller_leaves_its_batch_whole(store: Store):
    async with anyio.create_task_group() as tasks:
        await begin(tasks, store.tx, [Put("call", "", "k", b""), *(Append("s", b"%d" % n) for n in range(100))])
        tasks.cancel_scope.cancel()

    await store.tx([Append("t", b"after it")])
    assert len(await store.read("s")) == 100
    assert await store.get("call", "", "k") is not None


# Closing


async def test_closing_twice_is_fine(store: Store):
    await store.tx([Append("s", b"a")])

    await store.close()
    await store.close()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(store.close)
        tasks.start_soon(store.close)


async def test_a_closed_store_says_so(store: Store):
    await store.close()

    with pytest.raises(StoreUnavailable, match="closed"):
        await store.tx([Append("s", b"a")])
    with pytest.raises(StoreUnavailable, match="closed"):
        await store.get("call", "", "k")
    with pytest.raises(StoreUnavailable, match="closed"):
        await store.scan("call", None)
    with pytest.raises(StoreUnavailable, match="closed"):
        await store.read("s")
    with pytest.raises(StoreUnavailable, match="closed"):
        await store.claim("q", "me", 1, 60)
    with pytest.raises(StoreUnavailable, match="closed"):
        await store.sweep()


async def test_what_was_handed_in_before_closing_is_answered(store: Store):
    answered: list[int] = []

    async def write(n: int) -> None:
        await store.tx([Append("s", b"%d" % n)])
        answered.append(n)

    async with anyio.create_task_group() as tasks:
        for n in range(20):
            await begin(tasks, write, n)
        await store.close()

    assert sorted(answered) == list(range(20))
