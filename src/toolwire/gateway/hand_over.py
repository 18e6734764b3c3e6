"""Publishes at once what needs no commit of its own, and hands answers over to the commit that ends their call.

Of what an agent says there are three kinds here (`publish_at_once`):

* What lies on a channel that is not durable, and deltas of a call's own channel: on the channel at once.
* The answer on the durable channel of one call: *handed over*. It is known to the call at once and committed together
  with the call's end; only then is it on the channel, and is its sender told (`HandedOver`).
* All else is published as anything is (channels.py): in a conversation an answer is a row like any other.
"""

from collections.abc import Callable, Sequence
from typing import TypeAlias

from toolwire.core.errors import ServiceUnavailable, ToolwireError
from toolwire.core.ports import Op
from toolwire.engine.signal import Signal
from toolwire.gateway.channel import Channel, Draft, Party, Receipt, receipt_of
from toolwire.gateway.channel_rules import admit
from toolwire.gateway.channels import Channels
from toolwire.gateway.delivery import Delivery
from toolwire.providers.agent_reply import DELTA
from toolwire.wire.link import TERMINAL_TYPES, Message

Told: TypeAlias = Callable[[Receipt | ToolwireError], None]
"""Told that the answer is on its channel, or why not; must not block or raise."""


class HandedOver:
    """An answer that is known and not committed yet; a `delivery.Joint`.

    Until then it is `pending` on its channel, so that whoever sends it again waits for the same commit.
    """

    __slots__ = ("_channel", "_channels", "_message", "_told", "ops")

    def __init__(self, channels: Channels, channel: Channel, message: Message, ops: Sequence[Op], told: Told) -> None:
        self.ops = ops
        self._channels = channels
        self._channel = channel
        self._message = message
        self._told: Told | None = told
        channel.pending = {**(channel.pending or {}), message.message_id: Signal()}

    def ended(self, committed: bool) -> None:
        """See `delivery.Joint`; whoever sent the answer is told once, and sends it again to learn more."""
        told, self._told = self._told, None
        if not committed:
            if told is not None:
                told(ServiceUnavailable("the answer could not be stored; publish it again in a moment"))
            return
        channel, message = self._channel, self._message
        if channel.pending is not None:
            channel.pending.pop(message.message_id).set()
        channel.put(message)
        self._channels.close_now(channel)
        if told is not None:
            told(receipt_of(message))


def publish_at_once(
    channels: Channels, channel: Channel, draft: Draft, party: Party, told: Told, in_order: bool
) -> bool:
    """Publish a message that needs no commit of its own; `False` says that it must be published as any other.

    An answer is left to the end of its call if `in_order` says that all that was said before it is on the channel.

    Raises:
        ToolwireError: it may not come at all, see `channel_rules.admit`.
    """
    if not channel.durable or (draft.type == DELTA and not channel.kept_in_stream):
        told(channels.publish_now(channel, draft, party))
        return True
    return in_order and _hand_over(channels, channel, draft, party, told)


def _hand_over(channels: Channels, channel: Channel, draft: Draft, party: Party, told: Told) -> bool:
    if channel.kept_in_stream or channel.pending or draft.type not in TERMINAL_TYPES:
        return False
    expecting = None if channel.expected is None else channel.expected.get(draft.in_reply_to or "")
    if not isinstance(expecting, Delivery) or not expecting.joins_end or expecting.agent_id != party.agent_id:
        return False
    now = channels.now()
    if admit(channel, draft, party, now) is not None:
        return False  # said again: `publish` knows what to answer
    message = channel.message(draft, party.name, now)
    ops = channels.message_ops(channel, message, now, terminal=True)
    expecting.take(message, HandedOver(channels, channel, message, ops, told))
    return True
