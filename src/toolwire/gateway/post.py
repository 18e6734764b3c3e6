"""Carries messages that are no calls to the agents they are for; what is published over REST gets here.

A `chat_message` waits for its agents, also for one that is not attached, until they answer or the channel closes. Where
an agent will not answer, the gateway says so on the channel, so that nobody waits in vain.
"""

import logging
from collections.abc import Iterable, Sequence
from functools import partial

import anyio

from toolwire.core.errors import AgentBusy, ChannelNotFound, ToolwireError
from toolwire.core.ports import Clock, Op
from toolwire.engine.recorder import Recorder
from toolwire.gateway.channel import GATEWAY_PARTY, Channel, Draft
from toolwire.gateway.channels import Channels
from toolwire.gateway.delivery import Delivery
from toolwire.gateway.presence import Presence
from toolwire.wire.link import OWNERS_TYPES, Message

logger = logging.getLogger("toolwire.gateway")


class _Mail:
    """One message and its deliveries, one an agent; expected on its channel until all are answered or given up."""

    __slots__ = ("_channel", "deliveries", "message_id")

    def __init__(self, channel: Channel, deliveries: Sequence[Delivery]) -> None:
        self._channel = channel
        self.message_id = deliveries[0].id
        self.deliveries = {delivery.agent_id: delivery for delivery in deliveries}

    def heard(self, message: Message) -> None:
        for delivery in tuple(self.deliveries.values()):
            delivery.heard(message)
        self.tidy()

    def tidy(self) -> None:
        expected = self._channel.expected
        if expected is not None and all(delivery.settled for delivery in self.deliveries.values()):
            expected.pop(self.message_id, None)

    def answered_ops(self, message: Message) -> Sequence[Op]:
        delivery = self.deliveries.get(message.publisher_id)
        return () if delivery is None else delivery.answered_ops(message)


class Post:
    """The channels' postman. Keep `keep` running while serving.

    Args:
        presence: finds the agents' desks.
        channels: the message service.
        recorder: writes behind that a message need not be delivered any more.
        clock: wall time.
    """

    def __init__(self, presence: Presence, channels: Channels, recorder: Recorder, clock: Clock) -> None:
        self._presence = presence
        self._channels = channels
        self._recorder = recorder
        self._clock = clock
        self._sorted: dict[str, list[Delivery]] = {}
        self._failed: list[tuple[Channel, Delivery, ToolwireError]] = []
        self._wake: anyio.Event | None = None
        channels.postman = self

    def ops(self, channel: Channel, message: Message) -> Sequence[Op]:
        """What is committed with a message: to whom it is to be delivered."""
        if message.type != "chat_message":
            return ()
        deliveries = [
            self._delivery(channel, message, agent_id)
            for agent_id in channel.participants
            if agent_id != message.publisher_id
        ]
        if deliveries:
            self._sorted[message.message_id] = deliveries
        return [delivery.record_op(None) for delivery in deliveries]

    def unsort(self, message_id: str) -> None:
        """The message could not be committed."""
        self._sorted.pop(message_id, None)

    def post(self, channel: Channel, message: Message) -> Sequence[str]:
        """Deliver a message that is on its channel now; the agents that it goes to."""
        if message.type == "chat_cancel":
            return self._tell(channel, message, (str(message.payload.get("target_message_id")),))
        if message.type in OWNERS_TYPES:
            return self._answer(channel, message)
        deliveries = self._sorted.pop(message.message_id, None)
        if deliveries is None:
            return ()
        self._expect(channel, deliveries)
        for delivery in deliveries:
            try:
                self._presence.desk(delivery.agent_id).offer(delivery)
            except AgentBusy as error:
                delivery.fail(error)
        return [delivery.agent_id for delivery in deliveries]

    async def take_up(self, deliveries: Iterable[Delivery]) -> None:
        """Take up the messages among what was not answered before a restart.

        Raises:
            StoreUnavailable: the store cannot be read.
        """
        by_message: dict[str, list[Delivery]] = {}
        for delivery in deliveries:
            if delivery.call_id is None:
                by_message.setdefault(delivery.id, []).append(delivery)
        for mail in by_message.values():
            try:
                channel = await self._channels.find(mail[0].message.channel_id, GATEWAY_PARTY)
            except ChannelNotFound:
                channel = None
            if channel is None or channel.is_closed(self._clock.now()):
                for delivery in mail:
                    self._done(delivery)
                continue
            self._expect(channel, mail)
            for delivery in mail:
                desk = self._presence.desk(delivery.agent_id)
                (desk.submit if delivery.taken_by is None else desk.submit_taken)(delivery)

    async def keep(self) -> None:
        """Say on the channels what agents will not answer, until cancelled."""
        while True:
            if not self._failed:
                self._wake = anyio.Event()
                await self._wake.wait()
                self._wake = None
            failed, self._failed = self._failed, []
            for channel, delivery, error in failed:
                await self._say_failed(channel, delivery, error)

    def closed(self, channel: Channel) -> None:
        """A channel is closed: what it still has to deliver is given up."""
        expected = channel.expected or {}
        for message_id, expecting in tuple(expected.items()):
            if isinstance(expecting, _Mail):
                del expected[message_id]
                for delivery in expecting.deliveries.values():
                    self._presence.desk(delivery.agent_id).withdraw(delivery)
                    self._done(delivery)

    def _delivery(self, channel: Channel, message: Message, agent_id: str) -> Delivery:
        delivery = Delivery(message, agent_id, channel.owner, None, repeatable=False)
        delivery.durable = True
        delivery.kept_until = self._clock.now() + self._channels.shelf.history_ttl_s
        return delivery

    def _expect(self, channel: Channel, deliveries: Sequence[Delivery]) -> None:
        mail = _Mail(channel, deliveries)
        channel.expect(mail.message_id, mail)
        for delivery in deliveries:
            delivery.on_failed = partial(self._fail, channel, mail)

    def _fail(self, channel: Channel, mail: _Mail, delivery: Delivery, error: ToolwireError) -> None:
        self._done(delivery)
        mail.tidy()
        self._failed.append((channel, delivery, error))
        if self._wake is not None:
            self._wake.set()

    def _done(self, delivery: Delivery) -> None:
        self._recorder.add(lambda: (delivery.done_op(),))

    async def _say_failed(self, channel: Channel, delivery: Delivery, error: ToolwireError) -> None:
        kind = "agent_busy" if isinstance(error, AgentBusy) else "agent_reply_error"
        payload = {"text": error.told, "code": error.code, "agent_id": delivery.agent_id}
        draft = Draft(kind, payload, in_reply_to=delivery.id)
        try:
            await self._channels.publish(channel, draft, GATEWAY_PARTY)
        except ToolwireError as refused:
            logger.warning("cannot say on channel %s that a message was lost: %s", channel.id, refused.message)

    def _answer(self, channel: Channel, message: Message) -> Sequence[str]:
        """Give the owner's answer to the agents that have asked; to one that is away, when it is there again."""
        told, expected = list[str](), channel.expected or {}
        for agent_id in channel.participants:
            for delivery in tuple(self._presence.desk(agent_id).open.values()):
                if delivery.id in expected and delivery.answered_by(message):
                    told.append(agent_id)
        return told or self._tell(channel, message, tuple(expected))

    def _tell(self, channel: Channel, message: Message, about: Sequence[str]) -> Sequence[str]:
        """Tell those who have one of the messages `about` on this channel, each agent's takers once."""
        told: list[str] = []
        for agent_id in channel.participants:
            open_here = self._presence.desk(agent_id).open
            found = [open_here[message_id] for message_id in about if message_id in open_here]
            takers = {id(d.taker): d.taker for d in found if d.taker and d.message.channel_id == channel.id}
            for taker in takers.values():
                taker.tell(message)
            if takers:
                told.append(agent_id)
        return told
