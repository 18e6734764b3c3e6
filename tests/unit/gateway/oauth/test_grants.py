"""Grants, codes and tokens by themselves: at the same moment, over time, and in number (gateway.md 48, D23)."""

import anyio
import pytest

from tests.unit.gateway.world import ManualClock
from toolwire.adapters.memory import MemoryStore
from toolwire.core.errors import Conflict, KeyNotFound
from toolwire.gateway.oauth.grants import (
    MAX_CODES,
    MAX_GRANTS,
    MAX_LIVE_ACCESS,
    Consent,
    Grants,
    Lifetimes,
    Tokens,
    challenge_of,
)
from toolwire.gateway.oauth.refused import Refused

pytestmark = pytest.mark.anyio

VERIFIER = "v" * 43
URI = "http://127.0.0.1/cb"


def consent(owner: str = "owner", client_id: str = "client") -> Consent:
    return Consent(owner, client_id, "App", URI, "127.0.0.1", challenge_of(VERIFIER), ("agent_1",))


async def begun(grants: Grants, given: Consent | None = None) -> Tokens:
    return await grants.exchange(grants.new_code(given or consent()), "client", URI, VERIFIER, None)


async def test_of_two_uses_of_a_code_at_once_one_is_good_and_then_none():
    grants = Grants(MemoryStore(ManualClock()), ManualClock())
    code = grants.new_code(consent())
    given: list[Tokens] = []
    refused: list[str] = []

    async def use() -> None:
        try:
            given.append(await grants.exchange(code, "client", URI, VERIFIER, None))
        except Refused as error:
            refused.append(error.error)

    async with anyio.create_task_group() as tasks:
        for _ in range(3):
            tasks.start_soon(use)
    assert (len(given), refused) == (1, ["invalid_grant"] * 2)
    assert grants.find(given[0].access.encode()) is None
    assert list(grants.list("owner")) == []


async def test_of_two_uses_of_a_refresh_token_at_once_the_second_ends_the_grant():
    grants = Grants(MemoryStore(ManualClock()), ManualClock())
    first = await begun(grants)
    ends: list[str] = []

    async def use() -> None:
        try:
            await grants.refresh(first.refresh, "client", None)
            ends.append("good")
        except Refused as error:
            ends.append(error.error)

    async with anyio.create_task_group() as tasks:
        for _ in range(2):
            tasks.start_soon(use)
    assert ends == ["good", "invalid_grant"]
    assert list(grants.list("owner")) == []


async def test_times_end_codes_access_tokens_and_grants():
    clock = ManualClock()
    grants = Grants(MemoryStore(clock), clock, Lifetimes(120, 3600, 86_400))
    late = grants.new_code(consent())
    tokens = await begun(grants)
    clock.at += 120
    with pytest.raises(Refused, match="invalid_grant"):
        await grants.exchange(late, "client", URI, VERIFIER, None)
    assert grants.find(tokens.access.encode()) is not None
    clock.at += 3600
    assert grants.find(tokens.access.encode()) is None
    renewed = await grants.refresh(tokens.refresh, "client", None)
    clock.at += 86_399
    again = await grants.refresh(renewed.refresh, "client", None)
    clock.at += 86_400
    assert list(grants.list("owner")) == []
    with pytest.raises(Refused, match="invalid_grant"):
        await grants.refresh(again.refresh, "client", None)


async def test_a_restart_finds_what_holds_and_what_is_spent():
    clock = ManualClock()
    store = MemoryStore(clock)
    before = Grants(store, clock)
    first = await begun(before)
    second = await before.refresh(first.refresh, "client", None)
    grants = Grants(store, clock)
    await grants.load()
    assert grants.find(first.access.encode()) is not None
    assert grants.find(second.access.encode()) is not None
    with pytest.raises(Refused, match="invalid_grant"):
        await grants.refresh(first.refresh, "client", None)
    assert grants.find(second.access.encode()) is None


async def test_a_code_that_was_used_before_a_restart_ends_its_grant_after_it():
    clock = ManualClock()
    store = MemoryStore(clock)
    before = Grants(store, clock)
    code = before.new_code(consent())
    tokens = await before.exchange(code, "client", URI, VERIFIER, None)
    grants = Grants(store, clock)
    await grants.load()
    with pytest.raises(Refused, match="invalid_grant"):
        await grants.exchange(code, "client", URI, VERIFIER, None)
    assert grants.find(tokens.access.encode()) is None


async def test_no_secret_is_in_the_store():
    clock = ManualClock()
    store = MemoryStore(clock)
    grants = Grants(store, clock)
    first = await begun(grants)
    second = await grants.refresh(first.refresh, "client", None)
    kept = [
        row.value + row.key.encode() for kind in ("oauth_grant", "oauth_spent") for row in await store.scan(kind, None)
    ]
    assert len(kept) == 2
    for secret in (first.access, first.refresh, second.access, second.refresh):
        assert not any(secret.encode() in each or bytes.fromhex(secret[4:]) in each for each in kept)


async def test_few_access_tokens_of_a_grant_are_good_at_once():
    grants = Grants(MemoryStore(ManualClock()), ManualClock())
    tokens = [await begun(grants)]
    for _ in range(MAX_LIVE_ACCESS):
        tokens.append(await grants.refresh(tokens[-1].refresh, "client", None))
    good = [grants.find(each.access.encode()) is not None for each in tokens]
    assert good == [False] + [True] * MAX_LIVE_ACCESS


async def test_codes_are_bounded_and_the_oldest_goes():
    grants = Grants(MemoryStore(ManualClock()), ManualClock())
    codes = [grants.new_code(consent()) for _ in range(MAX_CODES + 1)]
    with pytest.raises(Refused, match="invalid_grant"):
        await grants.exchange(codes[0], "client", URI, VERIFIER, None)
    assert await grants.exchange(codes[1], "client", URI, VERIFIER, None)


async def test_an_owner_s_grants_are_bounded():
    grants = Grants(MemoryStore(ManualClock()), ManualClock())
    for _ in range(MAX_GRANTS):
        await begun(grants)
    with pytest.raises(Conflict, match="toolwire grant revoke"):
        grants.new_code(consent())
    assert grants.new_code(consent("other"))


async def test_an_owner_ends_its_own_grants_alone():
    grants = Grants(MemoryStore(ManualClock()), ManualClock())
    tokens = await begun(grants)
    (grant,) = grants.list("owner")
    with pytest.raises(KeyNotFound):
        await grants.revoke("other", grant.grant_id)
    assert grants.find(tokens.access.encode()) is not None
    await grants.revoke("owner", grant.grant_id)
    assert grants.find(tokens.access.encode()) is None


async def test_a_store_that_fails_leaves_a_refresh_token_good():
    clock = ManualClock()
    store = MemoryStore(clock)
    grants = Grants(store, clock)
    tokens = await begun(grants)
    whole = store.tx

    async def full(ops: object) -> None:
        raise OSError("no space left")

    store.tx = full
    with pytest.raises(OSError, match="no space"):
        await grants.refresh(tokens.refresh, "client", None)
    store.tx = whole
    assert await grants.refresh(tokens.refresh, "client", None)


async def test_a_grant_whose_time_is_over_is_forgotten_and_said_to_have_ended():
    clock = ManualClock()
    grants, ended = Grants(MemoryStore(clock), clock, Lifetimes(120, 3600, 86_400)), list[str]()
    grants.on_ended(ended.append)
    await begun(grants)
    (grant,) = grants.list("owner")
    clock.at += 86_399
    grants.forget_old()
    assert ended == []
    clock.at += 1
    grants.forget_old()
    grants.forget_old()
    assert (ended, grants.list("owner")) == ([grant.grant_id], [])
