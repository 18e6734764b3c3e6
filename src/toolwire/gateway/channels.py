"""The message service: channels by id, and publishing, reading and waiting on them; it delivers nothing to agents.

Two kinds of channel (gateway.md 39, 41, D29):

* The channel of one call closes with its terminal reply. Its rows are kept here and become one record of the store: at
  once where the call is durable, written behind otherwise. Deltas on it are in that record, and nowhere before.
* A conversation (a session's channel, one that is continued by its id, one created over REST) has its rows in a stream
  of the store; each is committed before it is acknowledged.

How they lie in the store is the business of channel_shelf.py, how long of channel_ages.py.
"""

import logging
from collections.abc import Collection, Sequence
from itertools import islice
from typing import Final, Protocol

import anyio
import msgspec
from msgspec import Struct

from toolwire.core.errors import ToolwireError, WaitTimeout
from toolwire.core.ids import new_id
from toolwire.core.jsontypes import JsonObject
from toolwire.core.ports import Clock, Op, Store
from toolwire.engine.recorder import Recorder
from toolwire.engine.signal import Signal
from toolwire.gateway.channel import (
    Channel,
    Draft,
    Party,
    Receipt,
    Waiter,
    channel_not_found,
    receipt_of,
)
from toolwire.gateway.channel_rules import admit
from toolwire.gateway.channel_shelf import MAX_HISTORY, ChannelShelf, row_op
from toolwire.wire.link import OWNERS_TYPES, TERMINAL_TYPES, Message

logger = logging.getLogger("toolwire.gateway")

MAX_AT_EASE: Final = 1024
"""Channels in memory from which on the ones that were not used for `QUIET_S` leave it; ages are for the others."""
QUIET_S: Final = 30.0
LOOKED_AT: Final = 2
"""Channels that are looked at for that whenever one comes: one more than comes, so that their number falls."""


class Postman(Protocol):
    """Carries messages that were published for agents."""

    def ops(self, channel: Channel, message: Message) -> Sequence[Op]:
        """What is committed together with `message`."""
        ...

    def post(self, channel: Channel, message: Message) -> Sequence[str]:
        """Deliver `message`, which is on the channel now; the agents that it goes to."""
        ...

    def unsort(self, message_id: str) -> None:
        """Forget a message that could not be committed."""
        ...

    def closed(self, channel: Channel) -> None:
        """Give up what is still to be delivered on a channel that is closed."""
        ...


class History(Struct, frozen=True):
    """Rows in order, and up to which offset this is everything."""

    messages: Sequence[Message]
    latest_offset: int


class Channels:
    """All channels of this gateway.

    Args:
        store: where they are kept.
        recorder: writes the transcripts of plain calls behind.
        clock: wall time.
        history_ttl_s: for how many seconds a channel is kept after it was closed.
        idle_ttl_s: after how many seconds without a message a conversation is closed.
    """

    def __init__(
        self,
        store: Store,
        recorder: Recorder,
        clock: Clock,
        history_ttl_s: float = 24 * 3600.0,
        idle_ttl_s: float = 24 * 3600.0,
    ) -> None:
        self._store = store
        self._recorder = recorder
        self._clock = clock
        self.shelf = ChannelShelf(store, clock, history_ttl_s, idle_ttl_s)
        self._channels: dict[str, Channel] = {}
        self._loading: dict[str, anyio.Event] = {}
        self.postman: Postman | None = None

    def now(self) -> float:
        """Wall time."""
        return self._clock.now()

    def get(self, channel_id: str) -> Channel | None:
        """A channel that is in use here; one that is not may still be in the store (`find`)."""
        return self._channels.get(channel_id)

    def keep(self, channel: Channel) -> None:
        """Find a channel here from now on; what of it is stored is the business of whoever made it."""
        self._channels[channel.id] = channel
        if len(self._channels) > MAX_AT_EASE:
            self._make_room()

    async def fetch(self, channel_id: str) -> Channel | None:
        """The channel, brought into memory if it is not there; `None` when the store has none either.

        Two who ask at once get the same one.

        Raises:
            StoreUnavailable: the store cannot be read.
        """
        if (channel := self._channels.get(channel_id)) is not None:
            channel.last_used = self._clock.now()
            return channel
        while (underway := self._loading.get(channel_id)) is not None:
            await underway.wait()
        if (channel := self._channels.get(channel_id)) is not None:
            return channel
        done = self._loading[channel_id] = anyio.Event()
        try:
            channel = await self.shelf.channel(channel_id)
            if channel is None:  # what a plain call has left may still be to be written
                await self._recorder.caught_up()
                channel = await self.shelf.channel(channel_id)
            if channel is not None:
                self.keep(channel)
            return channel
        finally:
            del self._loading[channel_id]
            done.set()

    async def create(
        self,
        owner: str,
        participants: tuple[str, ...],
        metadata: JsonObject | None = None,
        single_shot: bool = False,
        deadline: float | None = None,
    ) -> Channel:
        """Create a conversation.

        Args:
            owner: whose it is.
            participants: the agents that take part, by id.
            metadata: kept for its reader.
            single_shot: close it with the first terminal reply.
            deadline: Unix seconds at which it closes; `None` for never.

        Raises:
            StoreUnavailable: it could not be stored; there is no such channel.
        """
        channel = Channel(new_id("ch"), owner, owner, participants, self._clock.now())
        channel.keep_in_stream()
        channel.metadata, channel.single_shot, channel.deadline = metadata, single_shot, deadline
        await self._store.tx(self.shelf.opening_ops(channel))
        channel.opened()
        self.keep(channel)
        return channel

    async def find(self, channel_id: str, party: Party) -> Channel:
        """The channel, for somebody who may use it.

        Raises:
            ChannelNotFound: there is none, or it is another owner's.
            Forbidden: the agent takes no part in it.
        """
        channel = await self.fetch(channel_id)
        if channel is None:
            raise channel_not_found(channel_id)
        channel.check_member(party)
        return channel

    async def publish(self, channel: Channel, draft: Draft, party: Party) -> Receipt:
        """Put a message on a channel; the same again changes nothing and is answered like the first.

        Raises:
            Forbidden: the agent takes no part in the channel.
            ChannelClosed: nothing can be published any more.
            InvalidParam: the message id is somebody else's.
            IdempotencyKeyReused: the key stands for another message.
            StoreUnavailable: the message could not be committed and is not on the channel.
        """
        while True:
            if not channel.durable:
                return self.publish_now(channel, draft, party)
            known = admit(channel, draft, party, self._clock.now())
            if known is not None:
                return known
            underway = None if channel.pending is None else channel.pending.get(draft.message_id or "")
            if underway is None:
                return await self._commit(channel, draft, party)
            await underway.wait()

    def publish_now(self, channel: Channel, draft: Draft, party: Party) -> Receipt:
        """`publish` on the channel of a plain call, which needs no store."""
        now = self._clock.now()
        known = admit(channel, draft, party, now)
        if known is not None:
            return known
        message = channel.message(draft, party.name, now)
        channel.put(message)
        if message.type not in OWNERS_TYPES or self.postman is None:
            return receipt_of(message)
        return msgspec.structs.replace(receipt_of(message), recipients=self.postman.post(channel, message))

    async def history(
        self, channel: Channel, since: int = 0, limit: int = 100, types: Collection[str] | None = None
    ) -> History:
        """Rows with an offset above `since`, at most `limit` (and 500) of them, of these types or of any.

        Raises:
            StoreUnavailable: the store cannot be read.
        """
        limit = max(0, min(limit, MAX_HISTORY))
        found: list[Message] = []
        latest = since
        if not channel.kept_in_stream:
            for row in channel.rows:
                if row.offset > since and len(found) < limit:
                    latest = row.offset
                    if types is None or row.type in types:
                        found.append(row)
            return History(found, latest)
        while len(found) < limit:
            page = await self.shelf.rows(channel.id, latest)
            for row in page:
                if len(found) < limit:
                    latest = row.offset
                    if types is None or row.type in types:
                        found.append(row)
            if len(page) < MAX_HISTORY:
                break
        return History(found, latest)

    async def wait(
        self,
        channel: Channel,
        in_reply_to: str,
        timeout_s: float,
        since: int = 0,
        types: Collection[str] | None = None,
    ) -> Message:
        """The first reply to a message, there already or still to come; without `types` a delta is one too.

        Raises:
            WaitTimeout: none came in time.
            ChannelClosed: none came, and none can come any more.
            StoreUnavailable: the store cannot be read.
        """
        waiter = Waiter(in_reply_to, types)
        if channel.waiters is None:
            channel.waiters = []
        channel.waiters.append(waiter)
        try:
            there = await self._reply_there(channel, waiter, since)
            if there is not None:
                return there
            left = float("inf") if channel.deadline is None else channel.deadline - self._clock.now()
            if not channel.is_closed(self._clock.now()):
                with anyio.move_on_after(max(0.0, min(timeout_s, left))):
                    await waiter.event.wait()
            if waiter.message is not None:
                return waiter.message
            channel.check_open(self._clock.now())
            raise WaitTimeout(f"no reply to {in_reply_to!r} came in time; wait again", param="timeout_ms")
        finally:
            channel.waiters.remove(waiter)

    async def close(self, channel: Channel) -> None:
        """Close a channel; what is on it can be read for the time of retention. Closing twice is fine.

        Raises:
            StoreUnavailable: it could not be stored; the channel stays open.
        """
        if channel.closed_at is not None:
            return
        if channel.durable:
            await self._store.tx([self.shelf.record_op(channel, closed_at=self._clock.now())])
        self.close_now(channel)

    def close_now(self, channel: Channel) -> None:
        """Close a channel in memory; the channel of a plain call is written behind."""
        if channel.closed_at is not None:
            return
        channel.closed_at = self._clock.now()
        channel.wake_waiters()
        if self.postman is not None and channel.expected:
            self.postman.closed(channel)
        if channel.kept_in_stream:
            return
        if not channel.durable and not self._recorder.failing:
            self._write_behind(channel)
        self.forget(channel)

    def forget(self, channel: Channel) -> None:
        """Keep a channel in the store alone; one that somebody waits on stays in memory too."""
        if not channel.expected and not channel.waiters and not channel.pending:
            self._channels.pop(channel.id, None)

    def in_use(self) -> Sequence[Channel]:
        """The channels in memory."""
        return tuple(self._channels.values())

    def _make_room(self) -> None:
        """Forget the channels at the front that nobody has used for a while; the others go to the back."""
        quiet_since = self._clock.now() - QUIET_S
        for channel in tuple(islice(self._channels.values(), LOOKED_AT)):
            del self._channels[channel.id]
            self._channels[channel.id] = channel
            if channel.stored and channel.kept_in_stream and channel.last_used < quiet_since:
                self.forget(channel)

    async def _commit(self, channel: Channel, draft: Draft, party: Party) -> Receipt:
        """Mint, commit and put a message on a durable channel.

        The offset is taken and `tx` is called without a pause between, so rows reach the store in order. Who waits for
        one commit need not be woken in order, so each waits for the one before it, too.
        """
        now = self._clock.now()
        message = channel.message(draft, party.name, now)
        if channel.pending is None:
            channel.pending = {}
        before = next(reversed(channel.pending.values()), None) if channel.kept_in_stream else None
        done = channel.pending[message.message_id] = Signal()
        terminal = message.type in TERMINAL_TYPES and message.in_reply_to is not None
        closes = terminal and channel.single_shot
        try:
            ops = self.message_ops(channel, message, now if closes else None, terminal)
            if ops:
                with anyio.CancelScope(shield=True):
                    await self._store.tx(ops)
                    if before is not None and not before.is_set:
                        await before.wait()
        except ToolwireError:
            if self.postman is not None:
                self.postman.unsort(message.message_id)
            raise
        finally:
            del channel.pending[message.message_id]
            done.set()
        channel.put(message)
        if closes:
            self.close_now(channel)
        recipients = self.postman.post(channel, message) if self.postman is not None else ()
        return msgspec.structs.replace(receipt_of(message), recipients=recipients)

    def message_ops(self, channel: Channel, message: Message, closed_at: float | None, terminal: bool) -> list[Op]:
        """What is committed for `message`; `closed_at` is set when it closes the channel."""
        ops: list[Op] = []
        if terminal and channel.expected is not None and message.in_reply_to in channel.expected:
            ops += channel.expected[message.in_reply_to].answered_ops(message)
        if channel.kept_in_stream:
            ops.append(row_op(message))
            if closed_at is not None:
                ops.append(self.shelf.record_op(channel, closed_at))
            if self.postman is not None:
                ops += self.postman.ops(channel, message)
        elif terminal:
            channel.rows.append(message)
            ops.append(self.shelf.record_op(channel, closed_at))
            channel.rows.pop()
        return ops

    async def _reply_there(self, channel: Channel, waiter: Waiter, since: int) -> Message | None:
        offset = since
        while True:
            page = await self.history(channel, offset, MAX_HISTORY)
            for message in page.messages:
                if waiter.wants(message):
                    return message
            if len(page.messages) < MAX_HISTORY:
                return None
            offset = page.latest_offset

    def _write_behind(self, channel: Channel) -> None:
        """Leave the transcript of a plain call to the recorder, encoded now: see `engine.ending.Endings.note`."""
        try:
            self._recorder.add(self.shelf.transcript_op(channel))
        except Exception:  # a payload of an unforeseen kind costs its own transcript, not the answer
            logger.exception("dropped the transcript of channel %s, which cannot be encoded", channel.id)
