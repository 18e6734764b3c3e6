"""Answers of the message service; they deliver nothing.

Spec: gateway.md 1H, §3, §6.
"""

from typing import Literal

from msgspec import Struct

from toolwire.core.jsontypes import JsonObject
from toolwire.wire.answers.times import Time


class Channel(Struct, frozen=True, kw_only=True):
    """A channel between an owner and agents."""

    channel_id: str
    state: Literal["open", "closed"]
    participants: list[str]
    metadata: JsonObject
    single_shot: bool
    created_at: Time
    deadline: Time | None = None
    closed_at: Time | None = None


class Published(Struct, frozen=True, kw_only=True):
    """A message is on its channel; `idempotent` says that it was there already."""

    status: Literal["published"]
    message_id: str
    offset: int
    channel_id: str
    recipients: list[str]
    idempotent: bool
    created_at: Time


class ChannelMessage(Struct, frozen=True, kw_only=True):
    """A message of a channel; `offset` rises within the channel."""

    message_id: str
    channel_id: str
    offset: int
    type: str
    payload: JsonObject
    publisher_id: str
    created_at: Time
    metadata: JsonObject
    in_reply_to: str | None = None
    idempotency_key: str | None = None


class History(Struct, frozen=True):
    """Messages of a channel after an offset."""

    messages: list[ChannelMessage]
    latest_offset: int


class Lease(Struct, frozen=True):
    """Until when a delivery is its reader's."""

    delivery_id: str
    lease_until: Time


class Delivery(Struct, frozen=True):
    """A message for an agent that fetches its messages."""

    delivery_id: str
    lease_until: Time
    redelivered: bool
    message: ChannelMessage


class DeliveryIds(Struct, frozen=True):
    """The deliveries that were meant and are known."""

    delivery_ids: list[str]
