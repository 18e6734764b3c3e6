"""cards.md 60, decisions 20, 21, 24: the cards that are there, and those that are woken."""

from pathlib import Path

import anyio
import pytest

from tests.unit.card.manifests import GOOD, encoded
from toolwire.canvas import card_connections
from toolwire.canvas.card_connections import CardConnection, CardConnections
from toolwire.canvas.card_port import DidNotStart
from toolwire.canvas.packages import Package, Version
from toolwire.canvas.sources import read_source
from toolwire.card.manifest import read_manifest
from toolwire.wire.card import REPLACED
from toolwire.wire.card_messages import CardRef, PeersData

pytestmark = pytest.mark.virtual_time

ONE, TWO = CardRef("card_1", "One"), CardRef("card_2", "Two")


class Alarm:
    """Wakes nobody, and counts."""

    def __init__(self) -> None:
        self.woken: list[str] = []
        self.reason: str | None = None

    def wake(self, package: Package, card: CardRef) -> None:
        self.woken.append(card.id)

    def why_not(self, package: Package) -> str | None:
        return self.reason


def package(tmp_path: Path, id_: str = "pkg_1") -> Package:
    source = read_source(str(tmp_path), may_read_files=True)
    return Package(id_, "alice", source, 0.0, accepted=Version("digest", read_manifest(encoded(GOOD))))


def opened() -> tuple[CardConnections, Alarm, list[tuple[CardConnection, str]]]:
    alarm, lost = Alarm(), list[tuple[CardConnection, str]]()
    connections = CardConnections(alarm)
    connections.on_lost(lambda connection, reason: lost.append((connection, reason)))
    return connections, alarm, lost


async def test_a_card_that_is_there_is_not_woken(tmp_path: Path) -> None:
    connections, alarm, _ = opened()
    radar = package(tmp_path)
    connection = CardConnection(radar, None)
    connections.attach(connection)
    assert await connections.ready(radar, ONE) is connection
    assert alarm.woken == []
    assert connections.is_awake("pkg_1", "card_1")
    assert not connections.is_awake("pkg_2", "card_1")


async def test_all_who_call_a_sleeping_copy_wait_for_the_same_arrival(tmp_path: Path) -> None:
    """Decision 21."""
    connections, _, _ = opened()
    radar, found = package(tmp_path), list[CardConnection]()
    connection = CardConnection(radar, None)

    async def wait(card: CardRef) -> None:
        found.append(await connections.ready(radar, card))

    async with anyio.create_task_group() as tasks:
        for card in (ONE, ONE, TWO):
            tasks.start_soon(wait, card)
        await anyio.sleep(9.9)
        connections.attach(CardConnection(package(tmp_path, "pkg_2"), None))
        assert found == []
        connections.attach(connection)
    assert found == [connection] * 3
    assert anyio.current_time() == pytest.approx(9.9)


async def test_who_waits_for_10_s_is_told_why_as_far_as_that_is_known(tmp_path: Path) -> None:
    """cards.md 60, decision 21."""
    connections, alarm, _ = opened()
    with pytest.raises(DidNotStart, match=r"'One' did not start within 10 s; ask the user to look at its log"):
        await connections.ready(package(tmp_path), ONE)
    assert anyio.current_time() == 10
    alarm.reason = "no page is open"
    with pytest.raises(DidNotStart, match=r"within 10 s: no page is open"):
        await connections.ready(package(tmp_path), ONE)


async def test_who_waits_for_what_will_not_come_is_told_at_once(tmp_path: Path) -> None:
    connections, alarm, _ = opened()
    alarm.reason = "it crashed"
    radar = package(tmp_path)

    async def wait() -> None:
        with pytest.raises(DidNotStart, match="did not start: it crashed"):
            await connections.ready(radar, ONE)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(wait)
        tasks.start_soon(wait)
        await anyio.sleep(3)
        connections.give_up("pkg_2")
        await anyio.sleep(1)
        connections.give_up("pkg_1")
    assert anyio.current_time() == 4
    with anyio.move_on_after(2):  # who comes later waits anew
        await connections.ready(radar, ONE)
    assert anyio.current_time() == 6


async def test_a_waker_may_give_up_while_it_is_asked(tmp_path: Path) -> None:
    connections, alarm, _ = opened()

    def refuse(package: Package, card: CardRef) -> None:
        connections.give_up(package.id)

    alarm.wake = refuse
    with pytest.raises(DidNotStart):
        await connections.ready(package(tmp_path), ONE)
    assert anyio.current_time() == 0


async def test_a_frame_comes_before_a_process_and_each_gives_way_to_its_like(tmp_path: Path) -> None:
    """Decision 24."""
    connections, _, lost = opened()
    radar = package(tmp_path)
    process, frame, other = (CardConnection(radar, instance) for instance in (None, "card_1", "card_2"))
    for connection in (process, frame, other):
        connections.attach(connection)
    assert connections.present("pkg_1", "card_1") is frame
    assert connections.present("pkg_1", "card_3") is process
    newer = CardConnection(radar, None)
    connections.attach(newer)
    await process.serve_out()
    assert process.close_code == REPLACED
    assert [one.takes_calls for one in (process, frame, other)] == [False, True, True]
    assert connections.present("pkg_1", "card_3") is newer
    connections.detach(frame, "gone")
    connections.detach(frame, "twice")
    assert lost == [(frame, "gone")]
    assert connections.present("pkg_1", "card_1") is newer
    other.close("its copy was removed")
    assert connections.present("pkg_1", "card_2") is newer  # nobody is sent to who is leaving


async def test_a_connection_goes_when_its_last_call_is_over_and_not_before_another_is_there(tmp_path: Path) -> None:
    connections, _, _ = opened()
    older, newer = (CardConnection(package(tmp_path), None) for _ in range(2))
    connections.attach(older)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(older.serve_out)
        with older.calling():
            with older.calling():
                await anyio.sleep(60)
            connections.attach(newer)
            await anyio.sleep(2.9)
            assert older.close_reason is None
            assert await connections.ready(older.package, ONE) is newer
    assert anyio.current_time() == pytest.approx(62.9)
    assert older.close_code == REPLACED


async def test_the_hosts_own_child_gives_way_to_one_that_somebody_runs_even_when_late(tmp_path: Path) -> None:
    """A call that came while the author's process started has woken it: that one must go on all the same."""
    connections, _, _ = opened()
    radar = package(tmp_path)
    child, authors, late, anew = (CardConnection(radar, None, is_child=one) for one in (True, False, True, False))
    for connection in (child, authors, late):
        connections.attach(connection)
    assert [one.takes_calls for one in (child, authors, late)] == [False, True, False]
    connections.detach(authors, "it was stopped")
    connections.attach(next_child := CardConnection(radar, None, is_child=True))
    assert connections.present("pkg_1", "card_1") is next_child
    connections.attach(anew)
    assert connections.present("pkg_1", "card_1") is anew


async def test_a_connection_that_never_finishes_its_calls_is_given_up(tmp_path: Path) -> None:
    connections, _, _ = opened()
    older = CardConnection(package(tmp_path), None)
    connections.attach(older)
    with older.calling():
        connections.attach(CardConnection(package(tmp_path), None))
        await older.serve_out()
    assert anyio.current_time() == 3
    assert older.close_reason == "another connection speaks for the card now"


async def test_a_closed_connection_takes_nothing_more_and_keeps_its_first_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(card_connections, "MAX_BACKLOG_BYTES", 200)
    connection = CardConnection(package(tmp_path), None)
    connection.send("agents.changed", PeersData("card_1"))
    assert len(connection.take()) == 1
    for _ in range(10):
        connection.send("agents.changed", PeersData("card_1"))
    assert connection.close_reason == "it does not read what it is sent"
    waiting = len(connection.take())
    assert 0 < waiting < 10
    connection.close("later")
    connection.send("agents.changed", PeersData("card_1"))
    assert connection.take() == ()
    assert connection.close_reason == "it does not read what it is sent"
