"""Frames on their way to the link: in order, together, in messages of bounded size, with room for who waits."""

import json

import anyio
import pytest

from toolwire.agent.outgoing import BATCH_BYTES, MAX_WAITING_BYTES, Outgoing
from toolwire.wire.link import Drain, Read

pytestmark = pytest.mark.both_backends


async def test_what_is_ready_is_taken_together_and_one_frame_stands_alone() -> None:
    outgoing = Outgoing()
    outgoing.open()
    outgoing.put(Drain())
    assert await outgoing.take() == b'{"frame":"drain"}'
    for ref in (1, 2, 3):
        outgoing.put(Read(ref, "ch_1"))
    assert [frame["ref"] for frame in json.loads(await outgoing.take())] == [1, 2, 3]


async def test_large_frames_go_in_several_messages_in_their_order() -> None:
    outgoing = Outgoing()
    outgoing.open()
    parts = [b'"%d%s"' % (number, b"x" * (BATCH_BYTES // 3)) for number in range(7)]
    huge = b'"h%s"' % (b"x" * BATCH_BYTES * 2)
    for part in (*parts, huge):
        outgoing.put_encoded(part)
    taken: list[str] = []
    sizes: list[int] = []
    while len(taken) < 8:
        data = await outgoing.take()
        sizes.append(len(data))
        decoded = json.loads(data)
        taken += decoded if isinstance(decoded, list) else [decoded]
    assert [text[0] for text in taken] == list("0123456h")
    assert all(size <= BATCH_BYTES + 100 for size in sizes[:-1])
    assert sizes[-1] == len(huge)


async def test_who_says_more_than_the_link_takes_waits_until_it_has_taken_some() -> None:
    outgoing = Outgoing()
    outgoing.open()
    passed = anyio.Event()

    async def talk() -> None:
        await outgoing.room()
        passed.set()

    outgoing.put_encoded(b"x" * (MAX_WAITING_BYTES + 1))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(talk)
        tasks.start_soon(talk)
        await anyio.wait_all_tasks_blocked()
        assert not passed.is_set()
        await outgoing.take()
    assert passed.is_set()


async def test_a_link_that_goes_lets_who_waits_go_on_and_drops_what_it_had() -> None:
    outgoing = Outgoing()
    outgoing.put(Drain())
    await outgoing.room()
    outgoing.open()
    outgoing.put_encoded(b"x" * (MAX_WAITING_BYTES + 1))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(outgoing.room)
        await anyio.wait_all_tasks_blocked()
        outgoing.close()
    assert not outgoing.is_open
    outgoing.open()
    outgoing.put(Drain())
    assert await outgoing.take() == b'{"frame":"drain"}'


async def test_a_writer_waits_for_the_first_frame() -> None:
    outgoing = Outgoing()
    outgoing.open()
    taken: list[bytes] = []

    async def write() -> None:
        taken.append(await outgoing.take())

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(write)
        await anyio.wait_all_tasks_blocked()
        outgoing.put(Drain())
    assert taken == [b'{"frame":"drain"}']


class Wire:
    """Takes what is sent without waiting, while it has room."""

    def __init__(self, has_room: bool = True) -> None:
        self.has_room = has_room
        self.sent: list[bytes] = []

    def send_now(self, data: bytes) -> bool:
        if self.has_room:
            self.sent.append(data)
        return self.has_room


@pytest.mark.parametrize(("has_room", "size"), [(True, 1), (False, 1), (True, BATCH_BYTES)])
async def test_what_was_held_is_sent_at_once_or_by_the_writer_where_that_has_to_wait(has_room: bool, size: int) -> None:
    outgoing, wire, taken = Outgoing(), Wire(has_room), list[bytes]()
    outgoing.open()

    async def write() -> None:
        taken.append(await outgoing.take())

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(write)
        await anyio.wait_all_tasks_blocked()
        outgoing.hold()
        outgoing.release(wire.send_now)
        outgoing.hold()
        outgoing.put_encoded(b"1" * size)
        outgoing.put_encoded(b"2")
        await anyio.wait_all_tasks_blocked()
        assert (wire.sent, taken) == ([], [])
        outgoing.release(wire.send_now)
        await anyio.wait_all_tasks_blocked()
        if has_room and size == 1:
            assert (wire.sent, taken, outgoing.is_empty) == ([b"[1,2]"], [], True)
            outgoing.put_encoded(b"3")
        else:
            assert (wire.sent, len(taken)) == ([], 1)


async def test_nothing_overtakes_what_the_writer_is_sending() -> None:
    outgoing, wire = Outgoing(), Wire()
    outgoing.open()
    outgoing.put_encoded(b"1")
    assert await outgoing.take() == b"1"
    outgoing.hold()
    outgoing.put_encoded(b"2")
    outgoing.release(wire.send_now)
    assert wire.sent == []
    assert await outgoing.take() == b"2"
