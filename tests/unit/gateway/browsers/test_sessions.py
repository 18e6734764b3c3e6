"""Sessions of browsers over a store: how long they hold, what ends them, and what a restart finds."""

import pytest

from tests.unit.gateway.world import World, open_world
from toolwire.core.errors import KeyNotFound
from toolwire.gateway.browsers.sessions import (
    MAX_SESSIONS,
    RENEW_AFTER_S,
    SESSION_TTL_S,
    BrowserSession,
    BrowserSessions,
)
from toolwire.gateway.keys import FIRST_OWNER


async def sessions_of(world: World) -> BrowserSessions:
    sessions = BrowserSessions(world.store, world.clock, world.keys)
    await sessions.load()
    return sessions


def found(sessions: BrowserSessions, secret: str) -> BrowserSession:
    session = sessions.find(secret.encode())
    assert session is not None
    return session


async def test_a_session_stands_for_its_owner_as_an_oag_key_does_and_outlives_a_restart():
    world = await open_world()
    secret = await (await sessions_of(world)).begin(FIRST_OWNER, None, "Firefox\x00")
    again = await sessions_of(world)
    record = again.find_key(secret.encode())
    assert record is not None
    assert (record.kind, record.owner, found(again, secret).label) == ("oag", FIRST_OWNER, "Firefox")
    assert again.find(b"brs_other") is None
    assert again.find(b"oag_" + secret[4:].encode()) is None


async def test_nothing_that_is_kept_opens_anything():
    world = await open_world()
    secret = await (await sessions_of(world)).begin(FIRST_OWNER, None)
    rows = await world.store.scan("browser", None)
    assert len(rows) == 1
    assert secret[4:].encode() not in rows[0].value


async def test_a_session_ends_30_days_after_its_browser_was_last_there():
    world = await open_world()
    sessions = await sessions_of(world)
    secret = await sessions.begin(FIRST_OWNER, None)
    session = found(sessions, secret)
    world.clock.at += RENEW_AFTER_S - 1
    assert await sessions.renew(session.session_id, FIRST_OWNER) == session
    world.clock.at += SESSION_TTL_S - RENEW_AFTER_S
    renewed = await sessions.renew(session.session_id, FIRST_OWNER)
    assert renewed is not None
    assert renewed.expires_at == world.clock.at + SESSION_TTL_S
    assert found(await sessions_of(world), secret) == renewed
    world.clock.at += SESSION_TTL_S
    assert sessions.find(secret.encode()) is None
    assert await sessions.renew(session.session_id, FIRST_OWNER) is None
    assert sessions.list(FIRST_OWNER) == []


async def test_a_session_ends_with_the_key_that_began_it_and_whoever_listens_is_told():
    world = await open_world()
    await world.keys.ensure_first_owner()
    record, _ = await world.keys.create("oag", FIRST_OWNER)
    sessions = await sessions_of(world)
    ended: list[str] = []
    sessions.on_ended(lambda each: ended.append(each.key_id))
    by_key = await sessions.begin(FIRST_OWNER, record.key_id)
    by_link = await sessions.begin(FIRST_OWNER, None)
    gone = found(sessions, by_key).session_id
    await world.keys.revoke(FIRST_OWNER, record.key_id)
    assert (sessions.find(by_key.encode()), ended) == (None, [gone])
    again = await sessions_of(world)
    assert again.find(by_key.encode()) is None
    assert [each.session_id for each in again.list(FIRST_OWNER)] == [found(sessions, by_link).session_id]


async def test_signing_out_lasts_and_is_each_owner_s_own():
    world = await open_world()
    sessions = await sessions_of(world)
    secret = await sessions.begin(FIRST_OWNER, None)
    session_id = found(sessions, secret).session_id
    with pytest.raises(KeyNotFound):
        await sessions.end("own_other", session_id)
    assert await sessions.renew(session_id, "own_other") is None
    await sessions.end(FIRST_OWNER, session_id)
    assert sessions.find(secret.encode()) is None
    assert (await sessions_of(world)).list(FIRST_OWNER) == []


async def test_the_browser_that_was_away_longest_makes_room():
    world = await open_world()
    sessions = await sessions_of(world)
    secrets = list[str]()
    for _ in range(MAX_SESSIONS + 1):
        world.clock.at += 1
        secrets.append(await sessions.begin(FIRST_OWNER, None))
    assert len(sessions.list(FIRST_OWNER)) == MAX_SESSIONS
    assert sessions.find(secrets[0].encode()) is None
    assert sessions.find(secrets[-1].encode()) is not None


async def test_a_session_whose_time_is_over_is_forgotten_and_said_to_have_ended():
    world = await open_world()
    sessions, ended = await sessions_of(world), list[str]()
    sessions.on_ended(lambda record: ended.append(record.key_id))
    session = found(sessions, await sessions.begin(FIRST_OWNER, None))
    world.clock.at += SESSION_TTL_S - 1
    sessions.forget_old()
    assert ended == []
    world.clock.at += 1
    sessions.forget_old()
    assert ended == [session.session_id]
