"""Attaching and staying attached, over a link in memory; gateway.md §3 (drain, retries) and §6 (journal, running)."""

import json
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager

import anyio
import pytest
import trio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from trio.testing import MockClock

from tests.unit.agent.rig import chat
from toolwire.agent import Agent, MemoryJournal
from toolwire.agent.attach import Target, attached
from toolwire.agent.link import Link, LinkLost, Socket, frames_of
from toolwire.agent.worker import Worker
from toolwire.core.errors import Conflict, Forbidden, ToolwireError
from toolwire.wire.link import (
    Deliver,
    Drain,
    FromAgent,
    FromGateway,
    Hello,
    Publish,
    Published,
    Refused,
    Welcome,
    decode_from_agent,
    encode_frames,
)

pytestmark = pytest.mark.both_backends

TARGET = Target("http://gateway", "agk_test", grace_s=5)


class Side:
    """One end of a link in memory."""

    def __init__(self, send: MemoryObjectSendStream[bytes], receive: MemoryObjectReceiveStream[bytes]) -> None:
        self.outgoing = send
        self.incoming = receive

    has_more = False

    async def send(self, data: bytes) -> None:
        try:
            await self.outgoing.send(data)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            raise LinkLost("broken") from None

    def send_now(self, data: bytes) -> bool:
        return False

    async def receive(self) -> bytes:
        try:
            return await self.incoming.receive()
        except (anyio.EndOfStream, anyio.ClosedResourceError):
            raise LinkLost("broken") from None

    def close(self) -> None:
        self.outgoing.close()
        self.incoming.close()


class Host:
    """A gateway that takes links one after the other. `refusals` are raised or sent instead of a welcome, in order."""

    def __init__(self) -> None:
        self.links: list[Side] = []
        self.refusals: list[Exception | Refused | bytes] = []
        self.attempts: list[float] = []
        self._opened = anyio.Event()

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[Socket]:
        self.attempts.append(anyio.current_time())
        refusal = self.refusals.pop(0) if self.refusals else None
        if isinstance(refusal, Exception):
            raise refusal
        up, up_end = anyio.create_memory_object_stream[bytes](100)
        down, down_end = anyio.create_memory_object_stream[bytes](100)
        agent, gateway = Side(up, down_end), Side(down, up_end)
        if refusal is not None:
            await gateway.send(refusal if isinstance(refusal, bytes) else encode_frames([refusal]))
        else:
            self.links.append(gateway)
            self._opened.set()
            self._opened = anyio.Event()
        try:
            yield agent
        finally:
            agent.close()
            if refusal is not None:
                gateway.close()

    async def link(self, number: int = 1) -> Side:
        """The `number`th link, once it is open."""
        with anyio.fail_after(60):
            while len(self.links) < number:
                await self._opened.wait()
        return self.links[number - 1]

    async def welcome(self, number: int = 1, *more: FromGateway) -> tuple[Side, Hello]:
        """Take the `number`th link."""
        side = await self.link(number)
        [hello] = await frames(side)
        assert isinstance(hello, Hello)
        await side.send(encode_frames([Welcome("agent_1", {}), *more]))
        return side, hello

    def close(self) -> None:
        for side in self.links:
            side.close()


async def frames(side: Side) -> list[FromAgent]:
    with anyio.fail_after(60):
        return list(decode_from_agent(await side.receive()))


async def published(side: Side) -> Publish:
    [frame] = await frames(side)
    assert isinstance(frame, Publish)
    return frame


def echo_agent() -> Agent:
    agent = Agent("echo")

    @agent.tool
    async def work() -> str:
        return "done"

    return agent


def worker_of(agent: Agent) -> Worker:
    return Worker(agent.registration(), agent.choose, MemoryJournal())


@asynccontextmanager
async def attaching(agent: Agent, *refusals: Exception | Refused | bytes) -> AsyncGenerator[tuple[Host, Link]]:
    """The agent's side at work while the test plays the gateway."""
    with hosting(*refusals) as host:
        async with attached(worker_of(agent), host.open, TARGET, wait=False) as link:
            yield host, link


@contextmanager
def hosting(*refusals: Exception | Refused | bytes) -> Generator[Host]:
    host = Host()
    host.refusals = list(refusals)
    try:
        yield host
    finally:
        host.close()


async def test_the_first_frame_says_who_is_there_and_what_it_can_do() -> None:
    async with attaching(echo_agent()) as (host, link):
        _, hello = await host.welcome()
        assert hello.protocol == 1
        assert hello.journal.startswith("jrn_")
        assert hello.running == ()
        assert [skill.name for skill in hello.registration.skills] == ["work"]
        assert await link.wait_attached() == "agent_1"
        assert link.attached


async def test_a_message_in_the_same_write_as_the_welcome_is_answered() -> None:
    async with attaching(echo_agent()) as (host, _):
        side, _ = await host.welcome(1, Deliver("dlv_1", chat("msg_1")))
        reply = await published(side)
        assert reply.in_reply_to == "msg_1"
        await side.send(encode_frames([Published(reply.ref, reply.message_id or "", 2)]))


async def test_frames_that_are_none_do_not_cost_those_beside_them(caplog: pytest.LogCaptureFixture) -> None:
    async with attaching(echo_agent()) as (host, _):
        side, _ = await host.welcome()
        await side.send(b"\xff\xfe not json")
        await side.send(b"7")
        await side.send(b'{"frame":"from_the_future"}')
        good = encode_frames([Deliver("dlv_1", chat("msg_1"))]).decode()
        await side.send(f'[{{"frame":"deliver"}}, 7, null, {good[1:-1]}, {{"frame":"x"}}]'.encode())
        reply = await published(side)
        assert reply.in_reply_to == "msg_1"
        await side.send(encode_frames([Published(reply.ref, reply.message_id or "", 2)]))
    assert caplog.text.count("that are no frames") == 4


def test_one_frame_may_stand_without_an_array() -> None:
    assert frames_of(b'{"frame":"published","ref":1,"message_id":"m","offset":2}') == [Published(1, "m", 2)]


@pytest.mark.virtual_time
async def test_a_broken_link_is_opened_again_and_says_what_is_at_work() -> None:
    agent = Agent("slow")
    release = anyio.Event()

    @agent.tool
    async def work() -> str:
        await release.wait()
        return "done"

    async with attaching(agent) as (host, link):
        side, first = await host.welcome(1, Deliver("dlv_1", chat("msg_1")))
        await anyio.wait_all_tasks_blocked()
        side.close()
        side, second = await host.welcome(2)
        assert second.running == ("msg_1",)
        assert second.journal == first.journal
        assert link.agent_id == "agent_1"
        release.set()
        reply = await published(side)
        side.close()
        side, third = await host.welcome(3)
        assert third.running == ("msg_1",)
        again = await published(side)
        assert (again.ref, again.message_id) == (reply.ref, reply.message_id)
        await side.send(encode_frames([Published(again.ref, again.message_id or "", 2)]))


async def test_leaving_the_block_drains() -> None:
    agent = Agent("slow")
    release, begun = anyio.Event(), anyio.Event()

    @agent.tool
    async def work() -> str:
        begun.set()
        await release.wait()
        return "done"

    with hosting() as host:
        worker = worker_of(agent)

        async def be_the_agent() -> None:
            async with attached(worker, host.open, TARGET):
                await begun.wait()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(be_the_agent)
            side, _ = await host.welcome(1, Deliver("dlv_1", chat("msg_1")))
            assert await frames(side) == [Drain()]
            release.set()
            reply = await published(side)
            await side.send(encode_frames([Published(reply.ref, reply.message_id or "", 2)]))
        assert worker.unfinished == 0


@pytest.mark.virtual_time
async def test_what_is_not_finished_within_the_grace_is_given_up() -> None:
    agent = Agent("stuck")
    stuck = anyio.Event()

    @agent.tool
    async def work() -> str:
        stuck.set()
        await anyio.sleep_forever()
        return "never"

    with hosting() as host:
        worker = worker_of(agent)

        async def be_the_agent() -> None:
            async with attached(worker, host.open, TARGET):
                await stuck.wait()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(be_the_agent)
            await host.welcome(1, Deliver("dlv_1", chat("msg_1")))
        assert worker.unfinished == 1
        assert anyio.current_time() == 5


@pytest.mark.virtual_time
async def test_a_gateway_that_is_away_is_tried_again_ever_more_slowly_and_told_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with attaching(echo_agent(), *[LinkLost("connection refused") for _ in range(12)]) as (host, _):
        await host.welcome()
    pauses = [later - earlier for earlier, later in zip(host.attempts, host.attempts[1:], strict=False)]
    assert len(pauses) == 12
    assert 0.1 <= pauses[0] <= 0.2
    assert all(2.5 <= pause <= 5 for pause in pauses[6:])
    assert caplog.text.count("connection refused") == 1


@pytest.mark.virtual_time
async def test_links_that_break_at_once_are_tried_more_slowly_and_a_steady_one_resets_that() -> None:
    async with attaching(echo_agent()) as (host, _):
        for number in range(1, 9):
            side, _ = await host.welcome(number)
            side.close()
        assert host.attempts[-1] - host.attempts[-2] > 1
        side, _ = await host.welcome(9)
        await anyio.sleep(10)
        side.close()
        broke = anyio.current_time()
        await host.welcome(10)
        assert anyio.current_time() - broke <= 0.2


@pytest.mark.virtual_time
async def test_a_gateway_that_says_nothing_is_tried_again() -> None:
    async with attaching(echo_agent()) as (host, _):
        await host.link(1)
        await host.welcome(2)
        assert host.attempts[1] >= 20


@pytest.mark.virtual_time
@pytest.mark.parametrize(
    "answer", [encode_frames([Published(1, "m", 1)]), b"hello?", encode_frames([Refused("internal_error", "oops")])]
)
async def test_a_gateway_that_does_not_welcome_is_tried_again(answer: bytes) -> None:
    async with attaching(echo_agent(), answer) as (host, _):
        await host.welcome()
    assert len(host.attempts) == 2


async def test_a_key_that_is_refused_ends_the_attempt_with_that_error() -> None:
    with hosting(Forbidden("not this key")) as host, pytest.raises(Forbidden, match="not this key"):
        async with attached(worker_of(echo_agent()), host.open, TARGET):
            raise AssertionError("the block must not begin")
    assert len(host.attempts) == 1


async def test_a_registration_that_is_refused_ends_the_attempt_with_what_is_wrong() -> None:
    refusal = Refused("invalid_param", "skills[0].name is none")
    with hosting(refusal) as host, pytest.raises(ToolwireError, match="name is none") as caught:
        async with attached(worker_of(echo_agent()), host.open, TARGET):
            raise AssertionError("the block must not begin")
    assert caught.value.code == "invalid_param"


@pytest.mark.virtual_time
async def test_another_delivery_mode_is_a_conflict_that_does_not_pass() -> None:
    refusals = [Refused("conflict", "delivery_mode is 'push'") for _ in range(3)]
    with hosting(*refusals) as host, pytest.raises(Conflict, match="delivery_mode"):
        async with attached(worker_of(echo_agent()), host.open, TARGET):
            raise AssertionError("the block must not begin")
    assert len(host.attempts) == 3


@pytest.mark.virtual_time
async def test_a_key_that_is_revoked_later_ends_the_block() -> None:
    with hosting() as host:

        async def be_the_agent() -> None:
            with pytest.raises(Forbidden):
                async with attached(worker_of(echo_agent()), host.open, TARGET):
                    await anyio.sleep_forever()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(be_the_agent)
            side, _ = await host.welcome()
            await anyio.wait_all_tasks_blocked()
            host.refusals = [Forbidden("revoked")]
            side.close()


async def test_an_error_in_the_block_comes_out_as_it_is() -> None:
    with hosting() as host:

        async def play() -> None:
            await host.welcome()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(play)
            with pytest.raises(ValueError, match="mine"):
                async with attached(worker_of(echo_agent()), host.open, TARGET):
                    raise ValueError("mine")


@pytest.mark.virtual_time
async def test_the_author_is_told_when_the_event_loop_stood_still(caplog: pytest.LogCaptureFixture) -> None:
    clock = trio.lowlevel.current_clock()
    assert isinstance(clock, MockClock)
    with hosting() as host:
        link = Link(worker_of(echo_agent()), host.open, "x")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(link.watch_loop)
            await anyio.sleep(10)
            assert caplog.text == ""
            clock.jump(30)  # as if a body had blocked for so long
            await anyio.sleep(1)
            tasks.cancel_scope.cancel()
    assert caplog.text.count("the event loop stood still") == 1


def test_a_target_does_not_show_its_key() -> None:
    assert "secret" not in repr(Target("http://x", "agk_0123456789secret"))
    assert json.dumps(repr(Target("http://x", "agk_0123456789secret"))).count("agk_01234567") == 1
