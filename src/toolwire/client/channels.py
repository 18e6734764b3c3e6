"""What a client asks of the message service: channels, and deliveries to an agent; it sends nothing.

Spec: gateway.md 1H, §3, §6.
"""

from collections.abc import Sequence

from msgspec.structs import replace

from toolwire.client.asks import Ask, delete, get, part, post, present
from toolwire.client.doors import D, Group, Method
from toolwire.core.jsontypes import JsonObject
from toolwire.wire.answers.channels import Channel, ChannelMessage, Delivery, DeliveryIds, History, Lease, Published


class ChannelCalls(Group[D]):
    """Channels between an owner and agents, by an owner's key or, except to make and close them, an agent's own."""

    @Method
    def create(
        self,
        participants: Sequence[str],
        *,
        metadata: JsonObject | None = None,
        single_shot: bool = False,
        deadline_ms: int | None = None,
    ) -> Ask[Channel]:
        """Make a channel with agents, by their ids or names; one that is `single_shot` closes with the first answer."""
        more = present(metadata=metadata, deadline_ms=deadline_ms)
        return post("/channels", Channel, {"participants": list(participants), "single_shot": single_shot, **more})

    @Method
    def get(self, channel: str) -> Ask[Channel]:
        """One channel."""
        return get(_channel(channel), Channel)

    @Method
    def close(self, channel: str) -> Ask[None]:
        """Close a channel; what is on it can be read for some time."""
        return delete(_channel(channel))

    @Method
    def publish(
        self,
        channel: str,
        type: str,
        payload: JsonObject,
        *,
        in_reply_to: str | None = None,
        idempotency_key: str | None = None,
        message_id: str | None = None,
        sender_id: str | None = None,
    ) -> Ask[Published]:
        """Put a message on a channel; under an idempotency key it is there once, however often it is sent."""
        names = present(
            sender_id=sender_id, message_id=message_id, in_reply_to=in_reply_to, idempotency_key=idempotency_key
        )
        ask = post(_channel(channel) + "/messages", Published, {"type": type, "payload": payload, **names})
        return replace(ask, idempotent=idempotency_key is not None)

    @Method
    def messages(
        self, channel: str, *, since: int | None = None, limit: int | None = None, types: Sequence[str] = ()
    ) -> Ask[History]:
        """Messages after an offset, or those of some types."""
        query = {"since": since, "limit": limit, "type": list(types) or None}
        return get(_channel(channel) + "/messages", History, query)

    @Method
    def wait(
        self,
        channel: str,
        in_reply_to: str,
        *,
        timeout_ms: int | None = None,
        since: int | None = None,
        expect_types: Sequence[str] | None = None,
    ) -> Ask[ChannelMessage]:
        """Wait for a reply to a message; without `expect_types` any ends the wait, a piece of an answer too."""
        types = None if expect_types is None else list(expect_types)
        body = present(in_reply_to=in_reply_to, timeout_ms=timeout_ms, since=since, expect_types=types)
        return post(_channel(channel) + "/wait", ChannelMessage, body)


class DeliveryCalls(Group[D]):
    """Messages for an agent that fetches them, by its own key.

    `journal` names the memory in which the reader keeps what it has taken; without it the key stands for one.
    """

    @Method
    def read(
        self, agent: str, *, limit: int | None = None, block_ms: int | None = None, journal: str | None = None
    ) -> Ask[list[Delivery]]:
        """Take messages, at most `limit`, and wait for some when there are none."""
        return post(_deliveries(agent, "read"), list[Delivery], present(max=limit, block_ms=block_ms, journal=journal))

    @Method
    def ack(self, agent: str, delivery_ids: Sequence[str], *, journal: str | None = None) -> Ask[DeliveryIds]:
        """Say that the replies to these are published."""
        return replace(post(_deliveries(agent, "ack"), DeliveryIds, _named(delivery_ids, journal)), idempotent=True)

    @Method
    def nack(self, agent: str, delivery_ids: Sequence[str], *, journal: str | None = None) -> Ask[DeliveryIds]:
        """Say that these were not begun, so that they are delivered again."""
        return replace(post(_deliveries(agent, "nack"), DeliveryIds, _named(delivery_ids, journal)), idempotent=True)

    @Method
    def renew(self, agent: str, delivery_ids: Sequence[str], *, journal: str | None = None) -> Ask[list[Lease]]:
        """Say that these are still being worked on."""
        return replace(post(_deliveries(agent, "renew"), list[Lease], _named(delivery_ids, journal)), idempotent=True)


def _channel(channel: str) -> str:
    return f"/channels/{part(channel)}"


def _deliveries(agent: str, what: str) -> str:
    return f"/agents/{part(agent)}/deliveries/{what}"


def _named(delivery_ids: Sequence[str], journal: str | None) -> JsonObject:
    return present(delivery_ids=list(delivery_ids), journal=journal)
