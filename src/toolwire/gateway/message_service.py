"""Puts the message service together: channels, agents' desks, who carries messages; it decides nothing by itself."""

from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from msgspec import Struct

from toolwire.compose import Opened
from toolwire.config import Config
from toolwire.gateway.attachments import Attachments
from toolwire.gateway.channel_ages import ChannelAges
from toolwire.gateway.channels import Channels
from toolwire.gateway.conversations import Conversations
from toolwire.gateway.courier import Courier
from toolwire.gateway.desk import Rules
from toolwire.gateway.post import Post
from toolwire.gateway.presence import Presence
from toolwire.wire.link import DeliveryMode


class MessageService(Struct, frozen=True):
    """The parts; keep each of `keeping` running while serving."""

    channels: Channels
    conversations: Conversations
    presence: Presence
    courier: Courier
    post: Post
    ages: ChannelAges

    @property
    def keeping(self) -> Sequence[Callable[[], Coroutine[Any, Any, None]]]:
        """What runs until it is cancelled."""
        return (self.presence.keep, self.post.keep, self.ages.keep)

    async def take_up(self) -> None:
        """Go on with what was not answered before a restart; call it before agents attach.

        Raises:
            StoreUnavailable: the store cannot be read.
        """
        left = await self.presence.load()
        await self.courier.take_up(left)
        await self.post.take_up(left)


def message_service(
    config: Config, opened: Opened, mode_of: Callable[[str], DeliveryMode], attachments: Attachments
) -> MessageService:
    """The message service on these ports.

    Args:
        config: all settings.
        opened: the ports.
        mode_of: the delivery mode of an agent, by its id.
        attachments: finds the files of calls.
    """
    engine, store, clock = opened.engine, opened.store, opened.clock
    channels = Channels(store, engine.recorder, clock, config.history_ttl_s, config.session_idle_ttl_s)
    rules = Rules(delivery_lease_s=config.delivery_lease_s, offline_after_s=config.offline_after_s)
    presence = Presence(store, engine.recorder, engine.timekeeper, mode_of, rules)
    return MessageService(
        channels,
        Conversations(channels, store, clock),
        presence,
        Courier(presence, channels, store, engine.recorder, clock, config.keyed_deadline_s, attachments),
        Post(presence, channels, engine.recorder, clock),
        ChannelAges(store, channels, clock),
    )
