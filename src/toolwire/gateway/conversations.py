"""Who may go on in which conversation, and how one ends with its session; it does not publish or read messages.

Spec: gateway.md 39-41, D12.
"""

import anyio

from toolwire.core.call import Caller
from toolwire.core.ports import Clock, Store
from toolwire.gateway.channel import Channel
from toolwire.gateway.channels import Channels


class Conversations:
    """What callers name by a `context_id`: the channels of sessions, and those of calls that are continued.

    Args:
        channels: the message service.
        store: where conversations are opened.
        clock: wall time.
    """

    def __init__(self, channels: Channels, store: Store, clock: Clock) -> None:
        self._channels = channels
        self._store = store
        self._clock = clock
        self._opening: dict[str, anyio.Event] = {}

    async def owns(self, agent_id: str, caller: Caller, context_id: str) -> bool:
        """Whether `caller` may go on in a conversation with this agent; it is in memory then.

        A session's channel that does not exist yet is the session's to create. The channel of one call becomes a
        conversation here, before anybody claims a call in it: many may go on in it at the same moment.

        Raises:
            StoreUnavailable: the store cannot be read, or the conversation cannot be stored.
        """
        channel = await self._channels.fetch(context_id)
        if channel is None:
            return caller.session_id is not None
        channel.last_used = self._clock.now()
        if channel.kept_in_stream and channel.is_closed(self._clock.now()):
            return False
        mine = channel.principal == caller.principal and channel.owner == caller.owner
        if not mine or agent_id not in channel.participants:
            return False
        if caller.session_id is None or not channel.kept_in_stream:
            await self._open(channel)
        return True

    async def end(self, context_id: str) -> None:
        """A session has ended, and with it its conversation, if there was one. Calls under way are still answered.

        Raises:
            StoreUnavailable: it could not be stored.
        """
        channel = await self._channels.fetch(context_id)
        if channel is not None:
            await self._channels.close(channel)

    async def _open(self, channel: Channel) -> None:
        while (underway := self._opening.get(channel.id)) is not None:
            await underway.wait()
        if channel.kept_in_stream and channel.stored:
            return
        done = self._opening[channel.id] = anyio.Event()
        try:
            if not channel.kept_in_stream:
                channel.keep_in_stream()
            with anyio.CancelScope(shield=True):  # that it is stored and that we know it go together
                await self._store.tx(self._channels.shelf.opening_ops(channel))
                channel.opened()
        finally:
            del self._opening[channel.id]
            done.set()
