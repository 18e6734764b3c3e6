"""Carries calls to agents as messages on channels, and their answers back; it does not know links from pollers.

What a call becomes is gateway.md 1I: a `chat_message` on the call's channel, whose id shares its end with the call's
(`wire.link.message_id_of`), and one terminal reply to it.
"""

from collections.abc import Iterable, Sequence
from functools import partial

import msgspec
from anyio import get_cancelled_exc_class

from toolwire.core.call import Call
from toolwire.core.errors import (
    AgentBusy,
    ChannelClosed,
    ChannelNotFound,
    InvalidParam,
    OutcomeUnknown,
    ServiceUnavailable,
    WaitTimeout,
)
from toolwire.core.handler import Emit
from toolwire.core.jsontypes import JsonObject
from toolwire.core.ports import Clock, Op, Store, Stored
from toolwire.core.tool import Tool
from toolwire.engine.offload import decode_record
from toolwire.engine.recorder import Recorder
from toolwire.gateway.attachments import Attachments
from toolwire.gateway.channel import GATEWAY, GATEWAY_PARTY, Channel, Draft, cancel_message
from toolwire.gateway.channel_shelf import row_op
from toolwire.gateway.channels import Channels
from toolwire.gateway.delivery import Delivery
from toolwire.gateway.desk import Desk
from toolwire.gateway.presence import Presence
from toolwire.gateway.questions import ask_meanwhile
from toolwire.gateway.registration import MESSAGE_SOURCE
from toolwire.wire.link import TERMINAL_TYPES, Message, message_id_of
from toolwire.wire.mcp.tasks import knows_tasks

MAX_CLAIM_S = 60.0
"""How long a claim may take. A call whose claim failed is never delivered, and is forgotten after this."""


class _Claimed:
    """A call between its claim and its delivery; of one that is not durable nothing is made before the claim."""

    __slots__ = ("at", "channel", "delivery", "tool")

    def __init__(self, at: float, tool: Tool, channel: Channel | None = None, delivery: Delivery | None = None) -> None:
        self.at = at
        self.tool = tool
        self.channel = channel
        self.delivery = delivery


_encode_arguments = msgspec.json.Encoder().encode


class Courier:
    """The `Courier` of every `AgentProvider`.

    Args:
        presence: finds the agent's desk.
        channels: the message service.
        store: for what is left of calls from before a restart.
        recorder: writes behind what a call leaves in the store when it ends without an answer.
        clock: wall time.
        keyed_deadline_s: for how many seconds a call goes on that outlives its request.
        attachments: finds the files of calls; without it calls bring none along.
    """

    def __init__(
        self,
        presence: Presence,
        channels: Channels,
        store: Store,
        recorder: Recorder,
        clock: Clock,
        keyed_deadline_s: float = 600.0,
        attachments: Attachments | None = None,
    ) -> None:
        self._presence = presence
        self._channels = channels
        self._store = store
        self._recorder = recorder
        self._clock = clock
        self._keyed_deadline_s = keyed_deadline_s
        self._attachments = attachments
        self._claimed: dict[str, _Claimed] = {}
        self._joining: dict[str, Delivery] = {}
        self._resumable: dict[str, tuple[Channel, Delivery]] = {}

    async def attach(self, call: Call) -> Call:
        """Find the files of a call; see `Attachments.attach`."""
        if self._attachments is None:
            raise InvalidParam("files cannot be attached here; call the tool without them", param="attachments")
        return await self._attachments.attach(call)

    def ready(self, call: Call, tool: Tool) -> None:
        """Refuse before the claim what cannot be delivered.

        Raises:
            AgentOffline: nobody is attached for the agent.
            AgentBusy: it takes one call at a time and has one.
        """
        self._presence.desk(call.agent_id).admit()

    def claim_ops(self, call: Call, tool: Tool) -> Sequence[Op]:
        """The message and who will be sent it, to be committed, and a conversation's rows; nothing for a plain call."""
        now = self._clock.now()
        self._forget_failed(now)
        if not call.durable:
            self._claimed[call.id] = _Claimed(now, tool)
            return ()
        channel = self._channel_of(call, now)
        delivery = self._delivery(call, tool, channel, now)
        self._claimed[call.id] = _Claimed(now, tool, channel, delivery)
        return [*self._durable_ops(channel, delivery, now), *self._grants(call)]

    def is_waiting(self, call: Call) -> bool:
        """Whether a call that is under way has been handed to nobody yet."""
        if call.id in self._claimed:
            return True
        delivery = self._presence.desk(call.agent_id).open.get(message_id_of(call.id)) if call.agent_id else None
        return delivery is not None and delivery.taken_by is None

    def unclaim(self, call: Call) -> None:
        """The call's key stands for another call."""
        self._claimed.pop(call.id, None)

    async def exchange(self, call: Call, emit: Emit) -> Message:
        """Deliver a claimed call and wait for its terminal reply; see `providers.agent.Courier.exchange`."""
        claimed = self._claimed.pop(call.id, None)
        if claimed is None:
            raise ServiceUnavailable("the call waited too long for its claim; send it again")
        channel, delivery = claimed.channel, claimed.delivery
        if channel is None or delivery is None:
            now = self._clock.now()
            channel = self._channel_of(call, now)
            delivery = self._delivery(call, claimed.tool, channel, now)
            if call.files:
                await self._store.tx(self._grants(call))  # before the agent can ask
            if channel.kept_in_stream:
                await self._commit(channel, delivery)
            delivery.commit = partial(self._keep_task, call, channel, delivery)
        elif channel.kept_in_stream:
            channel.opened()
            channel.put(delivery.message)
        else:
            self._channels.keep(channel)
            delivery.joins_end = True
            self._joining[call.id] = delivery
        delivery.emit = emit
        return await self._outcome(call, channel, delivery, self._deliver(call, channel, delivery))

    async def _keep_task(self, call: Call, channel: Channel, delivery: Delivery) -> None:
        """A plain call is about to become a task: keep its message, so that it is delivered after a restart, too."""
        if delivery.durable:
            return
        delivery.durable, delivery.recorded = True, delivery.taken_by
        delivery.kept_until = self._clock.now() + self._channels.shelf.history_ttl_s
        try:
            await self._store.tx([delivery.record_op(delivery.taken_by)])
        except BaseException:
            delivery.durable = False
            raise
        if not channel.kept_in_stream:
            channel.durable = delivery.joins_end = True
            self._joining[call.id] = delivery

    def end_ops(self, call: Call) -> Sequence[Op]:
        """The answer that ended the call, where it is to be committed with the end."""
        delivery = self._joining.get(call.id)
        return () if delivery is None or delivery.joint is None else delivery.joint.ops

    def ended(self, call: Call, committed: bool) -> None:
        """The call has ended, and with it what `end_ops` gave is committed, or not yet."""
        delivery = self._joining.pop(call.id, None)
        if delivery is None or delivery.joint is None:
            return
        if not committed:
            self._joining[call.id] = delivery
        delivery.joint.ended(committed)

    async def resume(self, call: Call, emit: Emit) -> Message:
        """Wait for the reply to a call from before a restart; see `providers.agent.Courier.resume`."""
        message_id = message_id_of(call.id)
        resumable = self._resumable.pop(message_id, None)
        if resumable is not None:
            channel, delivery = resumable
            delivery.resumed(emit)
            return await self._outcome(call, channel, delivery, self._presence.desk(call.agent_id))
        try:
            channel = await self._channels.find(call.context_id or _channel_id(call), GATEWAY_PARTY)
            return await self._channels.wait(channel, message_id, 0.0, types=TERMINAL_TYPES)
        except (ChannelNotFound, ChannelClosed, WaitTimeout):
            raise OutcomeUnknown(
                "the gateway stopped while the call was under way and nothing of it is left; check before you retry"
            ) from None

    async def take_up(self, deliveries: Iterable[Delivery]) -> None:
        """Go on delivering the calls among what was not answered before a restart.

        Call it before agents attach, so that none is told to stop what will be resumed, and before the engine recovers.

        Raises:
            StoreUnavailable: the store cannot be read.
        """
        for delivery in deliveries:
            if delivery.call_id is None:
                continue
            channel = await self._channels.fetch(delivery.message.channel_id)
            opened = await self._store.get("open_call", delivery.owner, delivery.call_id)
            if channel is None and opened is not None:
                channel = self._opened_again(delivery, opened)
            if opened is None or channel is None:
                self._drop(delivery)
                continue
            self._resumable[delivery.id] = (channel, delivery)
            channel.expect(delivery.id, delivery)
            desk = self._presence.desk(delivery.agent_id)
            (desk.submit if delivery.taken_by is None else desk.submit_taken)(delivery)

    def _opened_again(self, delivery: Delivery, opened: Stored) -> Channel | None:
        """The channel of one call, of which nothing is stored until somebody has answered on it."""
        if not opened.value:
            return None
        record, message = decode_record(opened.value), delivery.message
        caller = record.call.caller
        channel = Channel(message.channel_id, caller.owner, caller.principal, (delivery.agent_id,), record.created_at)
        channel.durable = True
        channel.rows, channel.last = [message], message.offset
        self._channels.keep(channel)
        return channel

    def _grants(self, call: Call) -> Sequence[Op]:
        return self._attachments.grants(call.agent_id, call.files) if self._attachments and call.files else ()

    def _forget_failed(self, now: float) -> None:
        while self._claimed:
            call_id, oldest = next(iter(self._claimed.items()))
            if now - oldest.at <= MAX_CLAIM_S:
                return
            del self._claimed[call_id]

    def _channel_of(self, call: Call, now: float) -> Channel:
        """The channel of a call: the one it names, or a new one.

        A session's channel and one that is continued are conversations. A durable call's own is not kept here before
        the claim holds.
        """
        channel_id = call.context_id or _channel_id(call)
        channel = self._channels.get(channel_id)
        if channel is None:
            caller = call.caller
            channel = Channel(channel_id, caller.owner, caller.principal, (call.agent_id,), now)
            channel.durable = call.durable
            if caller.session_id is not None:
                channel.keep_in_stream()
            if channel.kept_in_stream or not channel.durable:
                self._channels.keep(channel)
        elif not channel.kept_in_stream:
            channel.keep_in_stream()
        else:
            channel.check_open(now)
        return channel

    def _delivery(self, call: Call, tool: Tool, channel: Channel, now: float) -> Delivery:
        draft = Draft("chat_message", self._payload(call, tool, channel.id, now), message_id_of(call.id))
        message = channel.message(draft, GATEWAY, now)
        if not channel.kept_in_stream:
            channel.rows.append(message)
        return Delivery(message, call.agent_id, call.caller.owner, call.id, tool.repeatable)

    def _payload(self, call: Call, tool: Tool, channel_id: str, now: float) -> JsonObject:
        """The payload of the `chat_message` (gateway.md 1H, 1I)."""
        deadline = call.done_by
        if call.outlives_request and call.task is None:
            deadline = max(deadline, now + self._keyed_deadline_s)
        payload: JsonObject = {
            "channel_id": channel_id,
            "context_id": channel_id,
            "metadata": {
                "target_agent_id": call.agent_id,
                "delivery_principal": f"agent:{call.agent_id}",
                "protocol": "mcp" if call.caller.surface == "gateway" else call.caller.surface,
                "deadline": round(deadline, 3),
            },
        }
        if tool.task == "later" and call.task is None and knows_tasks(call.client_capabilities):
            payload["metadata"]["may_become_task"] = True
        if call.client_capabilities is not None:
            payload["metadata"]["client_capabilities"] = call.client_capabilities
        if tool.source.startswith(MESSAGE_SOURCE):
            payload["message"] = call.arguments.get("message", "")
        else:
            payload["message"] = f"{call.tool} {_encode_arguments(call.arguments).decode()}"
            payload["tool"] = {"name": call.tool, "arguments": call.arguments}
        if call.files:
            payload["attachments"] = list(call.files)
        return payload

    def _durable_ops(self, channel: Channel, delivery: Delivery, now: float) -> Sequence[Op]:
        delivery.durable = True
        delivery.kept_until = now + self._channels.shelf.history_ttl_s
        link = self._presence.desk(delivery.agent_id).pick(delivery)
        if link is not None:  # it is sent there as soon as this is committed
            delivery.recorded, delivery.taken_at = link.journal, now
        ops: list[Op] = []
        if channel.kept_in_stream:
            if not channel.stored:
                ops += self._channels.shelf.opening_ops(channel)
            ops.append(row_op(delivery.message))
        ops.append(delivery.record_op(delivery.recorded))  # it has the message, so that a call's own channel can wait
        return ops

    async def _commit(self, channel: Channel, delivery: Delivery) -> None:
        """A plain call in a conversation: its message is committed, because the conversation is durable."""
        ops: list[Op] = [] if channel.stored else self._channels.shelf.opening_ops(channel)
        await self._store.tx([*ops, row_op(delivery.message)])
        channel.opened()
        channel.put(delivery.message)

    def _deliver(self, call: Call, channel: Channel, delivery: Delivery) -> Desk:
        channel.expect(delivery.id, delivery)
        desk = self._presence.desk(call.agent_id)
        try:
            desk.offer(delivery)
        except AgentBusy:
            self._end(channel, delivery)
            raise
        return desk

    async def _outcome(self, call: Call, channel: Channel, delivery: Delivery, desk: Desk) -> Message:
        try:
            await delivery.stirred()
            if delivery.questions:
                await ask_meanwhile(delivery, self._clock)
            return delivery.outcome()
        except get_cancelled_exc_class():
            is_wanted = call.outlives_request and call.task is None  # a task is cancelled by whoever wanted it
            if not is_wanted and not self._cut_off(delivery):
                self._tell_cancelled(delivery)
            raise
        finally:
            delivery.commit = None  # which has the delivery: no work for the collector
            desk.withdraw(delivery)
            if not self._cut_off(delivery):
                self._end(channel, delivery)

    def _cut_off(self, delivery: Delivery) -> bool:
        """Whether the call stays open in the store, to be resumed when the gateway is there again."""
        return self._recorder.stopping and delivery.durable and not delivery.settled

    def _tell_cancelled(self, delivery: Delivery) -> None:
        """Send `chat_cancel` to whoever has the message (D19); it is for the moment and on no channel."""
        if delivery.taker is not None:
            message = delivery.message
            delivery.taker.tell(cancel_message(message.channel_id, message.message_id, self._clock.now()))

    def _end(self, channel: Channel, delivery: Delivery) -> None:
        if channel.expected is not None:
            channel.expected.pop(delivery.id, None)
        if delivery.durable and delivery.answer is None:
            self._drop(delivery)
        if channel.single_shot and channel.closed_at is None and delivery.joint is None:
            self._channels.close_now(channel)
            if channel.durable:
                op = self._channels.shelf.record_op(channel)
                self._recorder.add(lambda: (op,))

    def _drop(self, delivery: Delivery) -> None:
        self._recorder.add(lambda: (delivery.done_op(),))


def _channel_id(call: Call) -> str:
    return "ch_" + call.id.removeprefix("call_")
