"""cards.md §3: what is kept for a card, and how much of it."""

from collections.abc import Sequence
from typing import Any

import anyio
import pytest

from tests.unit.engine.fakes import FaultyStore, LoopClock
from toolwire.canvas import card_storage
from toolwire.canvas.card_storage import CardStorage, QuotaExceeded, copy_holder
from toolwire.core.errors import InvalidParam, StoreUnavailable
from toolwire.core.ports import Op

pytestmark = pytest.mark.both_backends

MIB = 1024 * 1024


def opened() -> tuple[CardStorage, FaultyStore]:
    store = FaultyStore(LoopClock())
    return CardStorage(store), store


@pytest.mark.parametrize("value", [None, False, 0, "", [], {}, {"a": [1.5, None, "文"]}, 2**70, "\x00"])
async def test_any_json_value_comes_back_as_it_was(value: Any) -> None:
    storage, store = opened()
    await storage.set("alice", "card_1", "instance", "key", value)
    assert await storage.get("alice", "card_1", "key") == (True, value)
    assert await CardStorage(store).get("alice", "card_1", "key") == (True, value)
    assert await storage.get("alice", "card_1", "other") == (False, None)


async def test_holders_and_owners_share_nothing() -> None:
    storage, store = opened()
    for owner, holder in (("alice", "card_1"), ("alice", "card_10"), ("alice", "card"), ("bob", "card_1")):
        await storage.set(owner, holder, "instance", "key", [owner, holder])
    again = CardStorage(store)
    assert await again.keys("alice", "card_1") == ["key"]
    await again.clear("alice", "card_1")
    assert await again.get("alice", "card_1", "key") == (False, None)
    assert await again.keys("alice", "card_1") == []
    for owner, holder in (("alice", "card_10"), ("alice", "card"), ("bob", "card_1")):
        assert await again.get(owner, holder, "key") == (True, [owner, holder])


@pytest.mark.parametrize("key", ["", "x" * 257, "a\0b"])
async def test_a_key_has_1_to_256_characters(key: str) -> None:
    storage, _ = opened()
    with pytest.raises(InvalidParam):
        await storage.set("alice", "card_1", "instance", key, 1)
    await storage.set("alice", "card_1", "instance", "文" * 256, 1)
    await storage.delete("alice", "card_1", key)


async def test_a_value_a_copy_and_a_package_have_their_limits() -> None:
    storage, store = opened()
    with pytest.raises(QuotaExceeded, match="in parts"):
        await storage.set("alice", "card_1", "instance", "key", "x" * MIB)
    most = "x" * (MIB - 2)
    for number in range(5):
        await storage.set("alice", "card_1", "instance", str(number), most)
    for again in (storage, CardStorage(store)):  # after a restart, too
        with pytest.raises(QuotaExceeded, match="Delete"):
            await again.set("alice", "card_1", "instance", "5", 1)
        await again.set("alice", "card_1", "instance", "4", most)
    await storage.set("alice", "card_1", "instance", "4", 1)
    await storage.set("alice", "card_1", "instance", "5", 1)
    await storage.delete("alice", "card_1", "0")
    await storage.set("alice", "card_1", "instance", "6", "x" * 1000)
    for number in range(20):
        await storage.set("alice", "pkg_1", "package", str(number), most)
    with pytest.raises(QuotaExceeded):
        await storage.set("alice", "pkg_1", "package", "20", 1)


async def test_there_are_so_many_keys_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(card_storage, "MAX_KEYS", 3)
    monkeypatch.setattr(card_storage, "_PAGE", 2)
    storage, store = opened()
    for key in ("c", "a", "b"):
        await storage.set("alice", "card_1", "instance", key, 1)
    for again in (storage, CardStorage(store)):
        with pytest.raises(QuotaExceeded, match="3 keys"):
            await again.set("alice", "card_1", "instance", "d", 1)
        await again.set("alice", "card_1", "instance", "a", 2)
        assert await again.keys("alice", "card_1") == ["a", "b", "c"]
    await storage.clear("alice", "card_1")
    await storage.set("alice", "card_1", "instance", "d", 1)


async def test_writes_at_once_do_not_get_past_the_limit_together() -> None:
    storage, _ = opened()
    refused: list[str] = []

    async def write(key: str) -> None:
        try:
            await storage.set("alice", "card_1", "instance", key, "x" * (MIB - 2))
        except QuotaExceeded:
            refused.append(key)

    async with anyio.create_task_group() as tasks:
        for number in range(12):
            tasks.start_soon(write, str(number))
    assert len(refused) == 7
    assert len(await storage.keys("alice", "card_1")) == 5


async def test_what_the_store_did_not_take_counts_nothing() -> None:
    storage, store = opened()
    await storage.set("alice", "card_1", "instance", "kept", 1)

    async def fail(ops: Sequence[Op]) -> None:
        raise StoreUnavailable("disk full")

    store.before_tx = fail
    for change in (
        storage.set("alice", "card_1", "instance", "lost", "x" * 1000),
        storage.delete("alice", "card_1", "kept"),
        storage.clear("alice", "card_1"),
    ):
        with pytest.raises(StoreUnavailable):
            await change
    store.before_tx = None
    assert await storage.keys("alice", "card_1") == ["kept"]
    assert await storage.get("alice", "card_1", "kept") == (True, 1)


async def test_the_copies_of_a_workspace_lose_what_they_keep_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(card_storage, "_FEW", 2)
    storage, store = opened()
    holders = [copy_holder("ws_1", "card_1"), copy_holder("ws_1", "card_2"), copy_holder("ws_10", "card_3"), "pkg_1"]
    for owner in ("alice", "bob"):
        for holder in holders:
            for key in ("a", "b", "c"):
                await storage.set(owner, holder, "instance", key, holder)
    await storage.clear_workspace("alice", "ws_1")
    await storage.clear_workspace("alice", "ws_1")
    for again in (storage, CardStorage(store)):
        assert [len(await again.keys("alice", holder)) for holder in holders] == [0, 0, 3, 3]
        assert [len(await again.keys("bob", holder)) for holder in holders] == [3, 3, 3, 3]
