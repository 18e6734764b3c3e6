"""gateway.md 46: kinds and form of keys, what is stored of them, at most three `bak_`, revocation; owners (§6)."""

import re

import pytest

from tests.unit.gateway.world import ManualClock, open_world
from toolwire.adapters.memory import MemoryStore
from toolwire.core.errors import Conflict, KeyNotFound, StoreUnavailable
from toolwire.gateway.keys import FIRST_OWNER, REVOKED_TTL_S, KeyKind, Keys

OWNER = FIRST_OWNER


async def test_the_first_start_makes_one_owner_and_its_key():
    world = await open_world()
    secret = await world.keys.ensure_first_owner()
    assert secret is not None
    record = world.keys.find(secret.encode())
    assert record is not None
    assert (record.kind, record.owner, record.agent_id) == ("oag", FIRST_OWNER, None)
    assert [owner.owner_id for owner in world.keys.owners()] == [FIRST_OWNER]


async def test_the_second_start_makes_nothing_and_knows_the_key():
    first = await open_world()
    secret = await first.keys.ensure_first_owner()
    again = await open_world(first.store)
    assert await again.keys.ensure_first_owner() is None
    assert secret is not None
    assert again.keys.find(secret.encode()) is not None


async def test_two_processes_that_start_at_once_agree_on_the_first_owner():
    clock = ManualClock()
    store = MemoryStore(clock)
    one, other = Keys(store, clock), Keys(store, clock)
    secret = await one.ensure_first_owner()
    assert await other.ensure_first_owner() is None
    assert secret is not None
    assert other.find(secret.encode()) is not None


@pytest.mark.parametrize(("kind", "agent_id"), [("bak", "agent_1"), ("oag", None), ("agk", "agent_1")])
async def test_a_key_is_its_prefix_and_64_hex_digits(kind: KeyKind, agent_id: str | None):
    world = await open_world()
    record, secret = await world.keys.create(kind, OWNER, agent_id)
    assert re.fullmatch(kind + "_[0-9a-f]{64}", secret)
    assert record.prefix == secret[:12]
    assert world.keys.find(secret.encode()) == record


async def test_the_store_never_holds_a_key():
    world = await open_world()
    _, secret = await world.keys.create("bak", OWNER, "agent_1")
    rows = await world.store.scan("key", None)
    assert rows
    assert all(secret[12:].encode() not in row.value for row in rows)


async def test_an_unknown_key_is_nobodys():
    world = await open_world()
    assert world.keys.find(b"bak_" + b"0" * 64) is None
    assert world.keys.find(b"\xff\xfe") is None


async def test_a_fourth_calling_key_is_refused_until_one_is_revoked():
    """gateway.md 46: at most three active `bak_` keys of an agent."""
    world = await open_world()
    records = [(await world.keys.create("bak", OWNER, "agent_1"))[0] for _ in range(3)]
    with pytest.raises(Conflict, match="revoke"):
        await world.keys.create("bak", OWNER, "agent_1")
    await world.keys.create("bak", OWNER, "agent_2")
    await world.keys.create("agk", OWNER, "agent_1")
    await world.keys.revoke(OWNER, records[0].key_id)
    await world.keys.create("bak", OWNER, "agent_1")


async def test_a_revoked_key_opens_nothing_from_then_on_and_after_a_restart():
    world = await open_world()
    record, secret = await world.keys.create("bak", OWNER, "agent_1")
    revoked = await world.keys.revoke(OWNER, record.key_id)
    assert revoked.revoked_at == world.clock.now()
    assert await world.keys.revoke(OWNER, record.key_id) == revoked
    assert world.keys.find(secret.encode()) is None
    again = await open_world(world.store)
    assert again.keys.find(secret.encode()) is None
    assert again.keys.list(OWNER) == [revoked]


async def test_a_revoked_key_is_forgotten_when_nobody_asks_about_it_any_more():
    world = await open_world()
    first, second = [(await world.keys.create("bak", OWNER, "agent_1"))[0] for _ in range(2)]
    kept, secret = await world.keys.create("bak", OWNER, "agent_1")
    await world.keys.revoke(OWNER, first.key_id)
    world.clock.at += 60
    await world.keys.revoke(OWNER, second.key_id)
    world.clock.at += REVOKED_TTL_S - 60
    await world.keys.forget_revoked()
    assert [key.key_id for key in world.keys.list(OWNER)] == [second.key_id, kept.key_id]
    with pytest.raises(KeyNotFound):
        await world.keys.revoke(OWNER, first.key_id)
    world.clock.at += 60
    again = await open_world(world.store)
    again.clock.at = world.clock.at
    await again.keys.forget_revoked()
    assert [key.key_id for key in again.keys.list(OWNER)] == [kept.key_id]
    assert again.keys.find(secret.encode()) is not None
    assert [row.key for row in await world.store.scan("key", OWNER)] == [kept.key_id]


async def test_an_owner_revokes_and_lists_only_its_own_keys():
    world = await open_world()
    record, secret = await world.keys.create("bak", OWNER, "agent_1")
    other, _ = await world.keys.create_owner("acme")
    with pytest.raises(KeyNotFound):
        await world.keys.revoke(other.owner_id, record.key_id)
    assert world.keys.find(secret.encode()) is not None
    assert [key.owner for key in world.keys.list(other.owner_id)] == [other.owner_id]


async def test_an_owner_cannot_lock_itself_out():
    world = await open_world()
    await world.keys.ensure_first_owner()
    (last,) = world.keys.list(OWNER)
    with pytest.raises(Conflict, match="last"):
        await world.keys.revoke(OWNER, last.key_id)
    await world.keys.create("oag", OWNER)
    assert not (await world.keys.revoke(OWNER, last.key_id)).active


async def test_all_keys_of_an_agent_are_revoked_together():
    world = await open_world()
    await world.keys.ensure_first_owner()
    for kind in ("bak", "agk"):
        await world.keys.create(kind, OWNER, "agent_1")
    await world.keys.create("bak", OWNER, "agent_2")
    await world.keys.revoke_all(OWNER, "agent_1")
    assert [(key.kind, key.agent_id) for key in world.keys.list(OWNER) if key.active] == [
        ("oag", None),
        ("bak", "agent_2"),
    ]


async def test_a_key_that_could_not_be_stored_is_no_key():
    world = await open_world()
    await world.store.close()
    with pytest.raises(StoreUnavailable):
        await world.keys.create("bak", OWNER, "agent_1")
    assert world.keys.list(OWNER) == []


@pytest.mark.parametrize(("kind", "agent_id"), [("bak", None), ("agk", None), ("oag", "agent_1")])
async def test_a_key_is_bound_as_its_kind_demands(kind: KeyKind, agent_id: str | None):
    world = await open_world()
    with pytest.raises(ValueError, match="agent_id"):
        await world.keys.create(kind, OWNER, agent_id)
