"""What may be published on a channel, and by whom; it publishes nothing.

Spec: gateway.md 1H, 39, D13, D30.
"""

from typing import Final

from toolwire.core.errors import Forbidden, InvalidParam
from toolwire.gateway.channel import GATEWAY_PARTY, Channel, Draft, Party, Receipt
from toolwire.providers.agent_reply import DELTA
from toolwire.wire.link import INPUT_REQUIRED, OWNERS_TYPES, TERMINAL_TYPES

AGENTS_TYPES: Final = (*TERMINAL_TYPES, DELTA, INPUT_REQUIRED)
"""What only agents say."""


def admit(channel: Channel, draft: Draft, party: Party, now: float) -> Receipt | None:
    """Let a message come; the receipt of an earlier one when it is only said again.

    Raises:
        Forbidden: an agent that takes no part or speaks as the owner, or an owner who speaks as an agent.
        ChannelNotFound: it is another owner's channel.
        ChannelClosed: nothing can be published any more.
        InvalidParam: the message id is somebody else's, or an answer names no message of the channel.
        IdempotencyKeyReused: the key stands for another message.
    """
    channel.check_member(party)
    if party.agent_id is None and party is not GATEWAY_PARTY and draft.type in AGENTS_TYPES:
        raise Forbidden(f"only agents publish {draft.type!r}; publish a chat_message")
    if party.agent_id is not None and draft.type in OWNERS_TYPES:
        raise Forbidden(f"only the channel's owner publishes {draft.type!r}")
    known = channel.known(draft, party.name)
    if known is not None:
        if draft.type == INPUT_REQUIRED:
            channel.asked_again(draft, known, party.name)
        return known
    if channel.is_closed(now) and not _still_owed(channel, draft):
        channel.check_open(now)
    if not channel.kept_in_stream and draft.type in TERMINAL_TYPES:
        _check_answers(channel, draft)
    return None


def _still_owed(channel: Channel, draft: Draft) -> bool:
    """Whether a conversation that was closed still takes this: what was under way then is answered all the same."""
    if channel.closed_at is None or not channel.kept_in_stream or channel.single_shot or not channel.expected:
        return False
    return draft.in_reply_to in channel.expected


def _check_answers(channel: Channel, draft: Draft) -> None:
    """An answer that names no message would leave its caller waiting for the time-out: say so to the agent instead."""
    for row in channel.rows:  # mostly the first and only one
        if row.message_id == draft.in_reply_to:
            return
    raise InvalidParam(
        f"in_reply_to {draft.in_reply_to!r} is no message on channel {channel.id!r}; answer a message_id of it",
        param="in_reply_to",
    )
