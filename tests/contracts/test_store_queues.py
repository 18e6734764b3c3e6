"""The contract of the `Store` port (core/ports.py), continued: work that is due, leased, done or given back."""

import anyio
import pytest

from tests.contracts.stores import SettableClock, begin, ids
from toolwire.core.ports import Ack, Enqueue, Leased, Nack, Put, Store

pytestmark = pytest.mark.both_backends


async def test_claimed_work_says_what_to_do_and_until_when(store: Store):
    await store.tx([Enqueue("hooks", "h1", due=990.5, body=b"\x00body\xff")])

    assert await store.claim("hooks", "me", n=5, lease_s=30) == [
        Leased(queue="hooks", id="h1", body=b"\x00body\xff", attempts=1, lease_until=1030.0)
    ]


async def test_work_is_due_from_its_instant_on(store: Store, clock: SettableClock):
    await store.tx([Enqueue("q", "now", 1000.0, b""), Enqueue("q", "soon", 1000.5, b"")])

    assert ids(await store.claim("q", "me", 9, 60)) == ["now"]
    clock.time = 1000.5
    assert ids(await store.claim("q", "me", 9, 60)) == ["soon"]


async def test_a_claim_sees_its_own_queue(store: Store):
    await store.tx([Enqueue("a", "1", 0.0, b""), Enqueue("b", "1", 0.0, b"")])

    assert ids(await store.claim("a", "me", 9, 60)) == ["1"]
    assert await store.claim("c", "me", 9, 60) == []
    assert ids(await store.claim("b", "me", 9, 60)) == ["1"]


async def test_the_oldest_due_comes_first_and_then_what_was_enqueued_first(store: Store):
    await store.tx([Enqueue("q", "z", 500.0, b""), Enqueue("q", "late", 900.0, b"")])
    await store.tx([Enqueue("q", "a", 500.0, b""), Enqueue("q", "early", 100.0, b"")])

    assert ids(await store.claim("q", "me", 3, 60)) == ["early", "z", "a"]
    assert await store.claim("q", "me", 0, 60) == []
    assert ids(await store.claim("q", "me", 3, 60)) == ["late"]


async def test_leased_work_is_not_claimed_again_until_the_lease_lapses(store: Store, clock: SettableClock):
    await store.tx([Enqueue("q", "w", 1000.0, b"")])
    await store.claim("q", "me", 1, lease_s=10)

    clock.time = 1009.9
    assert await store.claim("q", "you", 1, lease_s=10) == []
    clock.time = 1010.0
    (again,) = await store.claim("q", "you", 1, lease_s=10)
    assert (again.attempts, again.lease_until) == (2, 1020.0)


async def test_lapsed_work_comes_by_its_due_among_the_rest(store: Store, clock: SettableClock):
    await store.tx([Enqueue("q", "old", 10.0, b""), Enqueue("q", "new", 20.0, b"")])
    await store.claim("q", "me", 1, lease_s=10)
    clock.time = 1010.0

    assert ids(await store.claim("q", "me", 2, lease_s=10)) == ["old", "new"]


async def test_acknowledged_work_is_gone(store: Store, clock: SettableClock):
    await store.tx([Enqueue("q", "w", 1000.0, b""), Enqueue("q", "other", 1000.0, b"")])
    await store.claim("q", "me", 2, lease_s=10)
    await store.tx([Ack("q", "w"), Ack("q", "w"), Ack("q", "never was")])
    clock.time = 2000.0

    assert ids(await store.claim("q", "me", 9, 60)) == ["other"]


async def test_work_given_back_is_due_again_at_its_instant_and_keeps_its_attempts(store: Store, clock: SettableClock):
    await store.tx([Enqueue("q", "w", 1000.0, b"body")])
    await store.claim("q", "me", 1, lease_s=3600)
    await store.tx([Nack("q", "w", due=1005.0), Nack("q", "never was", due=1.0)])

    assert await store.claim("q", "me", 9, 60) == []
    clock.time = 1005.0
    (again,) = await store.claim("q", "me", 9, 60)
    assert (again.id, again.body, again.attempts) == ("w", b"body", 2)


async def test_the_same_id_again_replaces_the_work(store: Store, clock: SettableClock):
    """Body and due are replaced, and it is new work: not leased, never tried. Its place in line stays."""
    await store.tx([Enqueue("q", "w", 1000.0, b"old"), Enqueue("q", "x", 1000.0, b"")])
    await store.claim("q", "me", 9, lease_s=3600)

    await store.tx([Enqueue("q", "x", 1010.0, b""), Enqueue("q", "w", 1010.0, b"new")])
    assert await store.claim("q", "me", 9, 60) == []
    clock.time = 1010.0
    again = await store.claim("q", "me", 9, 60)
    assert [(work.id, work.body, work.attempts) for work in again] == [("w", b"new", 1), ("x", b"", 1)]


async def test_operations_on_the_same_work_apply_in_order_within_a_batch(store: Store):
    await store.tx([Enqueue("q", "a", 1.0, b""), Enqueue("q", "b", 2.0, b""), Enqueue("q", "c", 3.0, b"")])
    await store.tx(
        [
            Enqueue("q", "new", 1.0, b""),
            Nack("q", "new", 9.0),
            Ack("q", "a"),
            Nack("q", "a", 1.0),
            Ack("q", "b"),
            Enqueue("q", "b", 8.0, b"again"),
            Nack("q", "c", 2000.0),
            Enqueue("q", "c", 3.0, b"again"),
            Enqueue("q", "gone", 1.0, b""),
            Ack("q", "gone"),
        ]
    )

    assert ids(await store.claim("q", "me", 9, 60)) == ["c", "b", "new"]


async def test_enqueueing_and_acknowledging_go_with_the_rest_of_a_batch(store: Store):
    await store.tx([Put("task", "", "t", b"working"), Enqueue("hooks", "t", 1000.0, b"")])
    (work,) = await store.claim("hooks", "me", 1, 60)
    await store.tx([Put("task", "", "t", b"told", expect=1), Ack("hooks", work.id)])

    stored = await store.get("task", "", "t")
    assert stored is not None
    assert stored.value == b"told"


async def test_a_claim_sees_what_was_enqueued_before_it_and_no_more(store: Store):
    claimed: list[str] = []

    async def claim() -> None:
        claimed.extend(ids(await store.claim("q", "me", 9, 60)))

    async with anyio.create_task_group() as tasks:
        await begin(tasks, store.tx, [Enqueue("q", "before", 1.0, b"")])
        await begin(tasks, claim)
        await begin(tasks, store.tx, [Enqueue("q", "after", 1.0, b"")])

    assert claimed == ["before"]
    assert ids(await store.claim("q", "me", 9, 60)) == ["after"]


async def test_work_is_leased_to_one_of_many_workers(store: Store):
    await store.tx([Enqueue("q", f"{n:03}", float(n), b"") for n in range(100)])
    claimed: list[str] = []

    async def work(name: str) -> None:
        while leased := await store.claim("q", name, n=3, lease_s=60):
            claimed.extend(ids(leased))

    async with anyio.create_task_group() as tasks:
        for worker in range(8):
            tasks.start_soon(work, f"worker {worker}")

    assert sorted(claimed) == [f"{n:03}" for n in range(100)]
