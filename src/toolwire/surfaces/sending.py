"""Sends the end of a request wherever its client waits for it; it makes no answer."""

from collections.abc import Sequence
from typing import Final

import anyio

from toolwire.core.errors import ServiceUnavailable
from toolwire.surfaces.asked import Asked, Reply, error_reply
from toolwire.surfaces.exchange import Exchange, RawHeader
from toolwire.surfaces.streams import Stream, Streams

LAST_WORDS_S: Final = 1.0
"""How long a request that is cancelled may take to say so to its client."""
STOPPING: Final = "the server is stopping; ask again in a moment"


def stopping() -> ServiceUnavailable:
    """Why a request is not answered when the server stops."""
    return ServiceUnavailable(STOPPING)


REPLAYED_HEADER: Final = (b"idempotency-replayed", b"true")


def headers_of(reply: Reply) -> tuple[RawHeader, ...]:
    """The headers that the reply to a call needs besides those of all."""
    return (REPLAYED_HEADER,) if reply.replayed else retry_later(reply)


def retry_later(reply: Reply) -> tuple[RawHeader, ...]:
    """The header that says when to come again, where a reply says so."""
    return ((b"retry-after", b"%d" % reply.retry_after_s),) if reply.retry_after_s else ()


async def send_reply(
    streams: Streams, exchange: Exchange, reply: Reply | None, headers: Sequence[RawHeader] = ()
) -> None:
    """Send a reply, with these headers where it is no stream; `None` ends without a message."""
    if reply is None or exchange.frames is not None:
        await finish(streams, exchange, reply)
    elif headers or not exchange.answer(reply.status, reply.body):
        await exchange.finish(reply.status, reply.body, headers)


async def finish(streams: Streams, exchange: Exchange, reply: Reply | None) -> None:
    """As `send_reply`, also of a stream that can be resumed."""
    stream = exchange.frames
    if isinstance(stream, Stream):
        await streams.finish(stream, reply)
        reply = None
    await (exchange.finish(202, None) if reply is None else exchange.finish(reply.status, reply.body))


async def part(streams: Streams, exchange: Exchange, asked: Asked) -> None:
    """The request is cancelled, so the server stops: whoever waits is told, and no stream stays open behind us."""
    with anyio.move_on_after(LAST_WORDS_S, shield=True):
        last = error_reply(asked, stopping())
        await finish(streams, exchange, Reply(asked.parting or last.body, last.status))
