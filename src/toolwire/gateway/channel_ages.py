"""Closes idle conversations, forgets old ones, and keeps the memory to what is in use; it serves nobody."""

import logging
from datetime import datetime
from typing import Final

import anyio

from toolwire.core.errors import StoreConflict, StoreUnavailable
from toolwire.core.ports import Ack, Clock, Nack, Op, Store
from toolwire.gateway.channel import Channel
from toolwire.gateway.channel_shelf import AGES_QUEUE, forgetting_ops
from toolwire.gateway.channels import Channels

logger = logging.getLogger("toolwire.gateway")

LOOK_EVERY_S: Final = 60.0
UNUSED_S: Final = 300.0
"""For how long a channel that nobody uses stays in memory."""
BATCH: Final = 100


class ChannelAges:
    """Looks after the age of channels.

    Args:
        store: where they are kept.
        channels: the message service.
        clock: wall time.
    """

    def __init__(self, store: Store, channels: Channels, clock: Clock) -> None:
        self._store = store
        self._channels = channels
        self._clock = clock

    async def keep(self) -> None:
        """Look now and then until cancelled; a store that fails is left alone until the next time."""
        while True:
            await anyio.sleep(LOOK_EVERY_S)
            try:
                await self.look()
            except (StoreUnavailable, StoreConflict) as error:
                logger.warning("cannot look after old channels: %s", error.message)

    async def look(self) -> None:
        """Do what is due now.

        Raises:
            StoreUnavailable: the store cannot be read or written.
        """
        unused_since = self._clock.now() - UNUSED_S
        for channel in self._channels.in_use():
            if channel.last_used < unused_since:
                self._channels.forget(channel)
        while due := await self._store.claim(AGES_QUEUE, "channels", BATCH, LOOK_EVERY_S):
            for leased in due:
                await self._store.tx(await self._ops(leased.id))

    async def _ops(self, channel_id: str) -> list[Op]:
        now = self._clock.now()
        shelf = self._channels.shelf
        channel = self._channels.get(channel_id) or await shelf.channel(channel_id)
        if channel is None or not channel.kept_in_stream:
            return [Ack(AGES_QUEUE, channel_id)]
        if channel.closed_at is None and channel.is_closed(now):
            await self._channels.close(channel)
        if channel.closed_at is not None:
            forget_at = channel.closed_at + shelf.history_ttl_s
            if forget_at <= now:
                self._channels.forget(channel)
                return [*forgetting_ops(channel_id), Ack(AGES_QUEUE, channel_id)]
            return [Nack(AGES_QUEUE, channel_id, forget_at)]
        idle_at = await self._last_used(channel) + shelf.idle_ttl_s
        if idle_at > now or channel.expected:
            return [Nack(AGES_QUEUE, channel_id, max(idle_at, now + LOOK_EVERY_S))]
        await self._channels.close(channel)
        return [Nack(AGES_QUEUE, channel_id, now + shelf.history_ttl_s)]

    async def _last_used(self, channel: Channel) -> float:
        """When the last message came; a channel that was only looked at is not kept for that."""
        last = channel.created_at
        for row in await self._channels.shelf.rows(channel.id, channel.last - 1):
            last = datetime.fromisoformat(row.created_at).timestamp()
        return last
