"""How channels lie in the store: what writes them and what reads them back; it commits nothing itself.

A conversation is a record `channel` and a stream of rows; the channel of one call is a record `transcript` with its
rows inside, which expires by itself.
"""

from collections.abc import Sequence
from typing import Final

import msgspec
from msgspec import Struct

from toolwire.core.jsontypes import JsonObject
from toolwire.core.ports import Append, Clock, Del, Drop, Enqueue, Op, Put, Store
from toolwire.gateway.channel import Channel
from toolwire.wire.link import Message

AGES_QUEUE: Final = "channel_ages"
"""Conversations, each due when to look whether it is idle or may be forgotten."""

MAX_HISTORY: Final = 500
"""Rows that are read at once."""

MAX_TRANSCRIPT_BYTES: Final = 1024 * 1024
"""A plain call's transcript beyond this is kept without what the agent said: the call's record has the result."""


class ChannelRecord(Struct, frozen=True, omit_defaults=True):
    """A channel as it is stored. Times are Unix seconds, UTC. `rows` are those of the channel of one call."""

    channel_id: str
    owner: str
    principal: str
    participants: tuple[str, ...]
    created_at: float
    closed_at: float | None = None
    deadline: float | None = None
    single_shot: bool = False
    metadata: JsonObject | None = None
    rows: tuple[Message, ...] = ()


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(ChannelRecord).decode
_decode_row = msgspec.msgpack.Decoder(Message).decode


class ChannelShelf:
    """Writes and reads channels.

    Args:
        store: where they are.
        clock: wall time.
        history_ttl_s: for how many seconds a channel is kept after it was closed.
        idle_ttl_s: after how many seconds without a message a conversation is closed.
    """

    def __init__(self, store: Store, clock: Clock, history_ttl_s: float, idle_ttl_s: float) -> None:
        self._store = store
        self._clock = clock
        self.history_ttl_s = history_ttl_s
        self.idle_ttl_s = idle_ttl_s

    def opening_ops(self, channel: Channel) -> list[Op]:
        """What stores a channel for the first time, with the rows that it has already."""
        ops: list[Op] = [self.record_op(channel)]
        if channel.kept_in_stream:
            due = self._clock.now() + self.idle_ttl_s if channel.deadline is None else channel.deadline
            ops.append(Enqueue(AGES_QUEUE, channel.id, due, b""))
            ops += [row_op(row) for row in channel.backlog]
        return ops

    def record_op(self, channel: Channel, closed_at: float | None = None) -> Put:
        """The record of a channel, closed at `closed_at` or as it is; with its rows when it keeps them itself."""
        closed_at = channel.closed_at if closed_at is None else closed_at
        record = ChannelRecord(
            channel.id,
            channel.owner,
            channel.principal,
            channel.participants,
            channel.created_at,
            closed_at,
            channel.deadline,
            channel.single_shot,
            channel.metadata,
            tuple(channel.rows),
        )
        if channel.kept_in_stream:
            return Put("channel", "", channel.id, _encode(record))
        ends = (closed_at or self._clock.now()) + self.history_ttl_s
        return Put("transcript", "", channel.id, _encode(record), expires_at=ends)

    def transcript_op(self, channel: Channel) -> Put:
        """The record of a plain call's channel, not larger than it may be."""
        op = self.record_op(channel)
        if len(op.value) <= MAX_TRANSCRIPT_BYTES:
            return op
        channel.rows = [_shortened(row) for row in channel.rows]
        return self.record_op(channel)

    async def channel(self, channel_id: str) -> Channel | None:
        """A channel with what must be remembered of its rows, or `None`.

        Raises:
            StoreUnavailable: the store cannot be read.
        """
        conversation = await self._store.get("channel", "", channel_id)
        stored = conversation or await self._store.get("transcript", "", channel_id)
        if stored is None:
            return None
        record = _decode(stored.value)
        channel = Channel(record.channel_id, record.owner, record.principal, record.participants, record.created_at)
        if conversation is None:
            channel.durable = channel.stored = True
            channel.rows = list(record.rows)
            channel.last = channel.rows[-1].offset if channel.rows else 0
        else:
            channel.keep_in_stream()
            channel.opened()
            while page := await self.rows(channel_id, channel.last):
                for row in page:
                    channel.remember(row)
        channel.closed_at, channel.deadline = record.closed_at, record.deadline
        channel.single_shot, channel.metadata = record.single_shot, record.metadata
        channel.last_used = self._clock.now()
        return channel

    async def rows(self, channel_id: str, after: int) -> Sequence[Message]:
        """The next rows of a conversation after an offset, at most `MAX_HISTORY`.

        Raises:
            StoreUnavailable: the store cannot be read.
        """
        page = await self._store.read(_stream(channel_id), after, MAX_HISTORY)
        return [_decode_row(stored.value) for stored in page]


def row_op(message: Message) -> Op:
    """What adds a row to the stream of its conversation."""
    return Append(_stream(message.channel_id), _encode(message), message.offset)


def forgetting_ops(channel_id: str) -> list[Op]:
    """What removes a conversation and everything on it."""
    return [Del("channel", "", channel_id), Drop(_stream(channel_id))]


def _stream(channel_id: str) -> str:
    return f"channel/{channel_id}"


def _shortened(row: Message) -> Message:
    if row.in_reply_to is None:
        return row
    return msgspec.structs.replace(row, payload={"left_out_bytes": len(_encode(row.payload))})
