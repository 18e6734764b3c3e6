"""Sessions as sealed tokens: who may go on with one, and until when (gateway.md 40, D12; mcp.md S1, S3, S5).

The wire's view of the same is told in tests/interaction/test_sessions.py.
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode

import pytest

from toolwire.adapters.memory import MemoryStore
from toolwire.core.call import Caller
from toolwire.core.errors import RateLimited, SessionNotFound
from toolwire.core.ports import Stored
from toolwire.engine.recorder import Recorder
from toolwire.surfaces import sessions as module
from toolwire.surfaces.sessions import Kept, Session, Sessions

pytestmark = pytest.mark.both_backends

TTL_S = 3600.0
ALICE = Caller("alice", "alice", "mcp")
BOB = Caller("bob", "bob", "mcp")


class ManualClock:
    def __init__(self) -> None:
        self.at = 1_800_000_000.0

    def now(self) -> float:
        return self.at


class Counted(MemoryStore):
    """A store that counts what is asked of it."""

    asked = 0

    async def get(self, kind: str, owner: str, key: str) -> Stored | None:
        self.asked += 1
        return await super().get(kind, owner, key)


class World:
    """One store behind any number of replicas."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.store = Counted(self.clock)
        self.recorder = Recorder(self.store)

    def replica(self, secret: bytes = b"shared", idle_ttl_s: float = TTL_S) -> Sessions:
        return Sessions(self.store, self.recorder, self.clock, secret, idle_ttl_s)

    async def rows(self) -> int:
        return len(await self.store.scan("session", None))


async def test_a_session_costs_the_store_nothing_until_it_is_used():
    world = World()
    session = world.replica().mint(ALICE, "agent")
    await world.recorder.flush()
    assert await world.rows() == 0
    assert all(0x21 <= ord(c) <= 0x7E for c in session.id)


async def test_one_that_vanishes_soon_costs_the_store_nothing_either_but_where_they_are_counted():
    world = World()
    for limit, rows in ((0, 0), (5, 1)):
        sessions = Sessions(world.store, world.recorder, world.clock, b"shared", TTL_S, limit=limit)
        session = sessions.mint(ALICE, "agent")
        world.clock.at += TTL_S / module.TOUCHES
        assert await sessions.find(session.id, ALICE, "agent") == session
        await world.recorder.flush()
        assert await world.rows() == rows


async def test_one_that_was_used_soon_may_be_idle_from_then_on_for_as_long_as_any():
    world = World()
    session = world.replica().mint(ALICE, "agent")
    world.clock.at += TTL_S / module.TOUCHES
    await world.replica().find(session.id, ALICE, "agent")
    world.clock.at += TTL_S
    assert await world.replica().find(session.id, ALICE, "agent") == session


async def test_a_session_keeps_its_channel_on_every_replica():
    world = World()
    minted = world.replica().mint(ALICE, "agent")
    assert await world.replica().find(minted.id, ALICE, "agent") == minted


async def test_two_sessions_share_neither_id_nor_channel():
    sessions = World().replica()
    one, other = sessions.mint(ALICE, "agent"), sessions.mint(ALICE, "agent")
    assert one.id != other.id
    assert one.context_id != other.context_id


async def test_a_session_is_nobody_elses_and_no_other_agents():
    sessions = World().replica()
    session = sessions.mint(ALICE, "agent")
    for caller, agent_id in ((BOB, "agent"), (ALICE, "other")):
        with pytest.raises(SessionNotFound):
            await sessions.find(session.id, caller, agent_id)


async def test_a_token_of_another_secret_is_unknown():
    world = World()
    session = world.replica(b"before").mint(ALICE, "agent")
    with pytest.raises(SessionNotFound):
        await world.replica(b"after").find(session.id, ALICE, "agent")


@pytest.mark.parametrize("token", ["", "x", "=", "mine", "A" * 43, "A" * 44, "é", "a b", "\x00", "A" * 10_000])
async def test_an_invented_id_is_never_adopted(token: str):
    with pytest.raises(SessionNotFound):
        await World().replica().find(token, ALICE, "agent")


async def test_a_token_has_one_spelling_so_that_an_ended_session_has_no_second():
    sessions = World().replica()
    token = sessions.mint(ALICE, "agent").id
    raw = urlsafe_b64decode(token + "=")
    same_bytes = [
        token + "=",
        token[:10] + "!!!!" + token[10:],
        token[:10] + "\n\n\n\n" + token[10:],
        *(token[:-1] + last for last in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"),
    ]
    spellings = [t for t in same_bytes if t != token and urlsafe_b64decode(t + "=" * (-len(t) % 4)) == raw]
    assert len(spellings) >= 3
    for spelling in spellings:
        with pytest.raises(SessionNotFound):
            await sessions.find(spelling, ALICE, "agent")
    assert urlsafe_b64encode(raw).rstrip(b"=").decode() == token


async def test_an_ended_session_is_over_at_once_even_when_its_last_use_is_written_later():
    world = World()
    sessions = world.replica()
    session = await sessions.find(sessions.mint(ALICE, "agent").id, ALICE, "agent")
    await sessions.end(session, ALICE, "agent")
    await world.recorder.flush()
    for replica in (sessions, world.replica()):
        with pytest.raises(SessionNotFound):
            await replica.find(session.id, ALICE, "agent")


async def test_an_ended_session_stays_over_for_as_long_as_it_could_have_lived():
    world = World()
    sessions = world.replica()
    session = await sessions.find(sessions.mint(ALICE, "agent").id, ALICE, "agent")
    await sessions.end(session, ALICE, "agent")
    await world.recorder.flush()
    for _ in range(10):
        world.clock.at += TTL_S / 4
        await world.store.sweep()
        with pytest.raises(SessionNotFound):
            await world.replica().find(session.id, ALICE, "agent")
    world.clock.at += TTL_S
    await world.store.sweep()
    assert await world.rows() == 0


async def test_another_replica_learns_of_an_end_within_moments():
    world = World()
    here, there = world.replica(), world.replica()
    session = here.mint(ALICE, "agent")
    await there.find(session.id, ALICE, "agent")
    await here.end(session, ALICE, "agent")
    world.clock.at += module.TRUSTED_S
    with pytest.raises(SessionNotFound):
        await there.find(session.id, ALICE, "agent")


@pytest.mark.parametrize("ttl_s", [1.0, TTL_S])
async def test_a_session_ends_when_it_is_idle_for_longer_than_it_may(ttl_s: float):
    world = World()
    sessions = world.replica(idle_ttl_s=ttl_s)
    unused, used = sessions.mint(ALICE, "agent"), sessions.mint(ALICE, "agent")
    await sessions.find(used.id, ALICE, "agent")
    await world.recorder.flush()

    world.clock.at += ttl_s
    assert await sessions.find(unused.id, ALICE, "agent") == unused
    world.clock.at += ttl_s / module.TOUCHES + 0.001
    with pytest.raises(SessionNotFound):
        await sessions.find(used.id, ALICE, "agent")


async def test_use_keeps_a_session_and_is_written_down_seldom():
    world = World()
    sessions = world.replica()
    session = sessions.mint(ALICE, "agent")
    for _ in range(100):
        world.clock.at += TTL_S / 10
        assert await sessions.find(session.id, ALICE, "agent") == session
        await world.recorder.flush()
    assert await world.rows() == 1

    world.clock.at += TTL_S  # exactly as long as it may be idle
    assert await sessions.find(session.id, ALICE, "agent") == session


async def test_a_busy_session_asks_the_store_once_in_a_while():
    world = World()
    sessions = world.replica()
    session = sessions.mint(ALICE, "agent")
    for _ in range(50):
        await sessions.find(session.id, ALICE, "agent")
    assert world.store.asked == 1


async def test_a_clock_that_was_set_back_makes_nobody_trust_an_old_look():
    world = World()
    sessions = world.replica()
    session = sessions.mint(ALICE, "agent")
    await sessions.find(session.id, ALICE, "agent")
    world.clock.at -= 1000
    await sessions.find(session.id, ALICE, "agent")
    assert world.store.asked == 2


async def test_what_is_remembered_of_sessions_is_bounded_and_forgetting_ends_none():
    world = World()
    sessions = world.replica()
    first = sessions.mint(ALICE, "agent")
    await sessions.find(first.id, ALICE, "agent")
    for _ in range(module.CACHED):
        await sessions.find(sessions.mint(ALICE, "agent").id, ALICE, "agent")
    asked = world.store.asked
    assert await sessions.find(first.id, ALICE, "agent") == first
    assert world.store.asked == asked + 1


async def test_no_ended_session_is_remembered():
    world = World()
    sessions = world.replica()
    session = sessions.mint(ALICE, "agent")
    await sessions.end(session, ALICE, "agent")
    for _ in range(3):
        with pytest.raises(SessionNotFound):
            await sessions.find(session.id, ALICE, "agent")
    assert world.store.asked == 3


def with_errors(kept: Kept) -> Kept:
    return Kept("error", kept.uris)


async def test_a_log_level_is_known_to_every_replica_and_lives_as_long_as_the_session():
    world = World()
    one, other = (Sessions(world.store, world.recorder, world.clock, b"shared", TTL_S, keeps=True) for _ in range(2))
    session = one.mint(ALICE, "agent")
    assert (await other.find(session.id, ALICE, "agent")).kept == Kept()
    await one.keep(session, ALICE, "agent", with_errors)
    assert (await one.find(session.id, ALICE, "agent")).kept.log_level == "error"
    for _ in range(5):
        world.clock.at += 0.9 * TTL_S
        assert await other.find(session.id, ALICE, "agent") == Session(session.id, session.context_id, Kept("error"))
        await world.recorder.flush()
    world.clock.at += 2 * TTL_S
    with pytest.raises(SessionNotFound):
        await other.find(session.id, ALICE, "agent")


async def test_an_ended_session_has_no_level_any_more():
    world = World()
    sessions = Sessions(world.store, world.recorder, world.clock, b"shared", TTL_S, keeps=True)
    session = sessions.mint(ALICE, "agent")
    await sessions.keep(session, ALICE, "agent", with_errors)
    await sessions.end(session, ALICE, "agent")
    with pytest.raises(SessionNotFound):
        await sessions.find(session.id, ALICE, "agent")


async def test_sessions_that_were_used_count_until_they_have_been_idle_or_were_ended():
    world = World()
    sessions = Sessions(world.store, world.recorder, world.clock, b"shared", TTL_S, limit=2)
    one, other, unused = (sessions.mint(ALICE, "agent") for _ in range(3))
    for session in (one, other):
        await sessions.find(session.id, ALICE, "agent")
    await world.recorder.flush()
    with pytest.raises(RateLimited) as caught:
        await sessions.check_room(ALICE)
    assert caught.value.data["retry_after_ms"] == 60_000
    await sessions.check_room(Caller("bob", "bob", "mcp"))

    await sessions.end(one, ALICE, "agent")
    await sessions.check_room(ALICE)
    await sessions.find(unused.id, ALICE, "agent")
    await world.recorder.flush()
    with pytest.raises(RateLimited):
        await sessions.check_room(ALICE)
    world.clock.at += 2 * TTL_S
    await sessions.check_room(ALICE)
