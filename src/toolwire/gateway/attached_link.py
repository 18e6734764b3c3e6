"""One attached agent process: takes its frames and sends it what is ready; it decides nothing about messages.

One reader takes frames, one writer sends whatever is ready as one WebSocket message. A reply on the channel of a plain
call is put there by the reader itself; what must be committed is committed in a task of its own, so that many go into
one commit. Protocol: wire/link.py.
"""

from collections.abc import Sequence
from functools import partial
from typing import Final

import anyio
from anyio.abc import TaskGroup

from toolwire.core.change import ListChanged, ResourceUpdated
from toolwire.core.errors import InvalidRequest, ToolwireError
from toolwire.core.ports import Clock
from toolwire.core.result import Failure
from toolwire.engine.deadline import Timer
from toolwire.engine.signal import Signal
from toolwire.gateway.agents import Agents
from toolwire.gateway.asks import LinkAsks
from toolwire.gateway.auth import Identity
from toolwire.gateway.channel import Party, Receipt, cancel_message
from toolwire.gateway.channels import Channels
from toolwire.gateway.delivery import Delivery, delivery_id_of
from toolwire.gateway.desk import Desk
from toolwire.gateway.hand_over import publish_at_once
from toolwire.gateway.link_frames import BadFrame, data_of, draft_of, payload_bytes, sort_out, texts_of
from toolwire.gateway.presence import Presence
from toolwire.surfaces.web_sockets import POLICY, Receive, Send
from toolwire.wire.link import (
    PROTOCOL,
    Answered,
    Changed,
    Deliver,
    Drain,
    FromAgent,
    FromGateway,
    Hello,
    Message,
    Noted,
    Publish,
    Published,
    Read,
    Refused,
    Register,
    Registered,
    Rows,
    Welcome,
    decode_from_agent,
)

HELLO_S: Final = 10.0
ACK_DELAY_S: Final = 0.02
"""How long `Published` waits for company: an agent does not wait for it, and a write costs as much as a call."""
MAX_COMMITTING: Final = 512
"""Messages of one link that are being committed; beyond that its frames are not read for a moment."""
MAX_BACKLOG: Final = 20_000
"""Frames that wait for an agent that does not read; beyond that its link is given up."""
MAX_BAD_FRAMES: Final = 16
"""Messages that are no frames before the link is given up."""
MAX_JOURNAL_LEN: Final = 128
REPLY_LIMIT_BYTES: Final = 32 * 1024 * 1024

GOING_AWAY: Final = 1012
"""Close code: the server (this one) is shutting down."""
FAILED: Final = 1011
"""Close code: a mistake of ours."""
SUPERSEDED: Final = 4409
"""Close code: another link speaks for the same journal now."""


class Ended(Exception):
    """The link is to be closed, with a code and a reason."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


class AttachedLink:
    """One attached agent process; a `PushTaker` of its desk."""

    def __init__(
        self,
        identity: Identity,
        agents: Agents,
        presence: Presence,
        channels: Channels,
        clock: Clock,
        send: Send,
        reply_limit_bytes: int,
    ) -> None:
        self._clock = clock
        self._reply_limit_bytes = reply_limit_bytes
        assert identity.agent_id is not None, "an agk_ key has its agent"
        self.agent_id = identity.agent_id
        self.journal = ""
        self.in_flight = 0
        self.draining = False
        self._party = Party(identity.agent_id, identity.owner, identity.agent_id)
        self._agents = agents
        self._presence = presence
        self._channels = channels
        self._send = send
        self._outgoing: list[FromGateway] = []
        self._filled: Signal | None = None
        self._tasks: TaskGroup | None = None
        self._end: Ended | None = None
        self._bad_frames = 0
        self._ack_timer: Timer | None = None
        self._committing = 0
        self._committed = anyio.Event()
        self._asks = LinkAsks(self._put)
        self._registering = anyio.Lock()

    async def serve(self, receive: Receive) -> None:
        """Greet the agent, then take and send frames until either side ends it."""
        try:
            hello = await self._greet(receive)
            if hello is None:
                return
            if self._end is None:
                await self._converse(hello, receive)
        except Ended as ended:
            self._end = ended
        if self._end is not None:
            await self.close(self._end)

    def deliver(self, delivery: Delivery) -> None:
        """Send a message with the next write."""
        self._put(Deliver(delivery_id_of(delivery), delivery.message, delivery.attempts > 1))

    def tell(self, message: Message) -> None:
        """Send what is said about a message with the next write."""
        self._put(Deliver(message.message_id, message))

    def supersede(self) -> None:
        """Another link speaks for the same journal."""
        self.end(SUPERSEDED, "another link of the same journal was attached")

    def end(self, code: int, reason: str) -> None:
        """Close the link soon."""
        self._end = Ended(code, reason)
        if self._tasks is not None:
            self._tasks.cancel_scope.cancel(reason)

    async def _greet(self, receive: Receive) -> tuple[Hello, tuple[FromAgent, ...]] | None:
        with anyio.move_on_after(HELLO_S):
            event = await receive()
            if event["type"] == "websocket.disconnect":
                return None
            try:
                hello, *rest = decode_from_agent(data_of(event))
                if not isinstance(hello, Hello):
                    raise InvalidRequest("the first frame must be hello")
                if hello.protocol != PROTOCOL:
                    raise InvalidRequest(f"protocol {hello.protocol} is not spoken here; speak {PROTOCOL}")
                if not 1 <= len(hello.journal) <= MAX_JOURNAL_LEN:
                    raise InvalidRequest(f"journal must have 1 to {MAX_JOURNAL_LEN} characters")
                skills = await self._agents.sync(self.agent_id, hello.registration)
            except ValueError:
                raise await self._refused(InvalidRequest("no frame was sent")) from None
            except ToolwireError as error:
                raise await self._refused(error) from None
            self.journal = hello.journal
            self._put(Welcome(self.agent_id, skills))
            return hello, tuple(rest)
        raise Ended(POLICY, f"no hello within {HELLO_S:.0f} s")

    async def _refused(self, error: ToolwireError) -> Ended:
        frame = Refused(error.code, error.told)
        await self._send({"type": "websocket.send", "text": texts_of([frame])[0]})
        return Ended(POLICY, error.code)

    async def _converse(self, first: tuple[Hello, tuple[FromAgent, ...]], receive: Receive) -> None:
        hello, rest = first
        desk = self._presence.desk(self.agent_id)
        code = None
        try:
            async with anyio.create_task_group() as tasks:
                self._tasks = tasks
                self._attach(desk, hello)
                tasks.start_soon(self._write)
                try:
                    self._take(rest)
                    code = await self._read(receive)
                except Ended as ended:
                    self._end = ended
                tasks.cancel_scope.cancel("the link is gone")
        finally:
            self._tasks = None
            self._presence.asks.detach(self.agent_id, self._asks)
            desk.detach(self)
            if not desk.online and code != GOING_AWAY:
                self._presence.note_detached(self.agent_id)

    def _attach(self, desk: Desk, hello: Hello) -> None:
        if not desk.online:
            self._presence.note_attached(self.agent_id)
        if hello.answers:
            self._presence.asks.attach(self.agent_id, self._asks)
        for message_id in desk.attach(self, hello.running):
            self.tell(cancel_message("", message_id, self._clock.now()))

    async def _read(self, receive: Receive) -> int:
        """Take frames until the other side is gone; the close code it gave."""
        while True:
            event = await receive()
            if event["type"] == "websocket.disconnect":
                return int(event.get("code") or 0)
            data = data_of(event)
            try:
                frames = decode_from_agent(data)
            except InvalidRequest as error:
                frames, bad = sort_out(data, error)
                self._refuse_frames(bad)
            if len(data) > self._reply_limit_bytes:
                frames = self._refuse_large(frames)
            self._take(frames)
            while self._committing >= MAX_COMMITTING:
                self._committed = anyio.Event()
                await self._committed.wait()

    def _take(self, frames: tuple[FromAgent, ...]) -> None:
        for frame in frames:
            match frame:
                case Publish():
                    self._publish(frame)
                case Read():
                    assert self._tasks is not None
                    self._tasks.start_soon(self._answer_read, frame)
                case Answered():
                    self._asks.answered(frame)
                case Noted():
                    self._asks.noted(frame)
                case Changed():
                    self._tell(frame)
                case Register():
                    assert self._tasks is not None
                    self._committing += 1
                    self._tasks.start_soon(self._register, frame)
                case Drain():
                    self.draining = self._asks.draining = True
                case Hello():
                    self._put(Refused("invalid_request", "hello was said already"))

    def _publish(self, frame: Publish) -> None:
        draft, told = draft_of(frame), partial(self._told, frame)
        channel, in_order = self._channels.get(frame.channel_id), not self._committing
        try:
            if channel is None or not publish_at_once(self._channels, channel, draft, self._party, told, in_order):
                assert self._tasks is not None
                self._committing += 1
                self._tasks.start_soon(self._publish_durably, frame)
        except ToolwireError as error:
            told(error)

    async def _publish_durably(self, frame: Publish) -> None:
        try:
            channel = await self._channels.find(frame.channel_id, self._party)
            self._told(frame, await self._channels.publish(channel, draft_of(frame), self._party))
        except ToolwireError as error:
            self._told(frame, error)
        finally:
            self._committing -= 1
            self._committed.set()

    def _told(self, frame: Publish, outcome: Receipt | ToolwireError) -> None:
        if isinstance(outcome, ToolwireError):
            self._put(Refused(outcome.code, outcome.told, frame.ref))
        else:
            self._put_by_and_by(Published(frame.ref, outcome.message_id, outcome.offset, outcome.idempotent))

    def _tell(self, frame: Changed) -> None:
        if frame.which is not None:
            self._agents.tell(self.agent_id, ListChanged(frame.which))
        if frame.uri is not None:
            self._agents.tell(self.agent_id, ResourceUpdated(frame.uri))

    async def _register(self, frame: Register) -> None:
        try:
            async with self._registering:  # which lets them in in the order in which they came
                skills = await self._agents.sync(self.agent_id, frame.registration)
            self._put(Registered(frame.ref, skills))
        except ToolwireError as error:
            self._put(Refused(error.code, error.told, frame.ref))
        finally:
            self._committing -= 1
            self._committed.set()

    async def _answer_read(self, frame: Read) -> None:
        try:
            channel = await self._channels.find(frame.channel_id, self._party)
            history = await self._channels.history(channel, frame.since, frame.limit)
            self._put(Rows(frame.ref, tuple(history.messages)))
        except ToolwireError as error:
            self._put(Refused(error.code, error.told, frame.ref))

    def _refuse_frames(self, bad: Sequence[BadFrame]) -> None:
        self._bad_frames += len(bad)
        if self._bad_frames > MAX_BAD_FRAMES:
            raise Ended(POLICY, "too many messages that are no frames of this protocol")
        for frame in bad:
            self._put(Refused(frame.error.code, frame.error.message, frame.ref))

    def _refuse_large(self, frames: tuple[FromAgent, ...]) -> tuple[FromAgent, ...]:
        """The frames of a large message without those that alone are too large; the agent is told which."""
        limit, kept = self._reply_limit_bytes, list[FromAgent]()
        for frame in frames:
            if isinstance(frame, Publish | Answered) and payload_bytes(frame) > limit:
                self._refuse_one(frame, f"it is larger than {limit} bytes")
            else:
                kept.append(frame)
        return tuple(kept)

    def _refuse_one(self, frame: Publish | Answered, why: str) -> None:
        if isinstance(frame, Answered):
            error = Failure("invalid_agent_response", f"the agent's answer cannot be taken: {why}")
            self._asks.answered(Answered(frame.ref, error=error))
        else:
            self._put(Refused("payload_too_large", f"the payload cannot be taken: {why}", frame.ref))

    def _put(self, frame: FromGateway) -> None:
        self._outgoing.append(frame)
        if len(self._outgoing) > MAX_BACKLOG:
            self._outgoing.clear()
            self.end(POLICY, "the agent does not read what it is sent")
        if self._filled is not None:
            self._filled.set()

    def _put_by_and_by(self, frame: FromGateway) -> None:
        """Send a frame that nobody waits for with the next one that somebody does, or after a moment."""
        self._outgoing.append(frame)
        if self._ack_timer is None and self._filled is not None:
            self._ack_timer = self._presence.timekeeper.after(ACK_DELAY_S, self._wake_writer)

    def _wake_writer(self) -> None:
        self._ack_timer = None
        if self._filled is not None:
            self._filled.set()

    async def _write(self) -> None:
        while True:
            if not self._outgoing:
                self._filled = Signal()
                await self._filled.wait()
                self._filled = None
                if self._ack_timer is not None:
                    self._ack_timer.cancel()
                    self._ack_timer = None
            frames, self._outgoing = self._outgoing, []
            for text in texts_of(frames):
                try:
                    await self._send({"type": "websocket.send", "text": text})
                except OSError:
                    return  # the reader is told that the other side is gone

    async def close(self, ended: Ended) -> None:
        """Say goodbye."""
        with anyio.move_on_after(5, shield=True):
            try:
                await self._send({"type": "websocket.close", "code": ended.code, "reason": ended.reason[:100]})
            except (OSError, RuntimeError):
                return
