"""What the gateway's end of the agent link reads and writes on its WebSocket; it keeps nothing.

What stands in a frame is wire/link.py's business, what to do about it link.py's.
"""

from collections.abc import MutableMapping, Sequence
from typing import Any, Final

import msgspec
from msgspec import Struct

from toolwire.core.errors import InvalidRequest
from toolwire.gateway.channel import Draft
from toolwire.wire.link import Answered, FromAgent, FromGateway, Publish, decode_from_agent

BATCH_BYTES: Final = 512 * 1024
"""About how much goes into one WebSocket message; a larger frame goes alone."""


class BadFrame(Struct, frozen=True):
    """Something that is no frame; `ref` where it has one all the same."""

    error: InvalidRequest
    ref: int | None = None


class _WithRef(Struct):
    ref: int | None = None


_encode = msgspec.json.Encoder().encode
_split = msgspec.json.Decoder(list[msgspec.Raw]).decode
_decode_ref = msgspec.json.Decoder(_WithRef).decode


def data_of(event: MutableMapping[str, Any]) -> bytes | str:
    """What a `websocket.receive` brought."""
    return event.get("bytes") or event.get("text") or b""


def sort_out(data: bytes | str, error: InvalidRequest) -> tuple[tuple[FromAgent, ...], Sequence[BadFrame]]:
    """The good frames of a message in which one is bad, and the bad ones; `error` is why it cannot be taken whole."""
    good: list[FromAgent] = []
    bad: list[BadFrame] = []
    try:
        parts = _split(data)
    except (msgspec.DecodeError, RecursionError):
        return (), (BadFrame(error, _ref_in(data)),)
    for part in parts:
        try:
            good.extend(decode_from_agent(bytes(part)))
        except InvalidRequest as refused:
            bad.append(BadFrame(refused, _ref_in(part)))
    return tuple(good), bad


def texts_of(frames: list[FromGateway]) -> list[str]:
    """The frames as WebSocket messages of bounded size."""
    data = _encode(frames)
    if len(data) <= BATCH_BYTES or len(frames) == 1:
        return [data.decode()]
    middle = len(frames) // 2
    return [*texts_of(frames[:middle]), *texts_of(frames[middle:])]


def draft_of(frame: Publish) -> Draft:
    """The message that a frame wants published."""
    return Draft(frame.type, frame.payload, frame.message_id, frame.in_reply_to)


def payload_bytes(frame: Publish | Answered) -> int:
    """How large that is what a frame brings."""
    return len(_encode(frame.payload if isinstance(frame, Publish) else frame.result))


def _ref_in(data: bytes | str | msgspec.Raw) -> int | None:
    try:
        return _decode_ref(data).ref
    except (msgspec.DecodeError, RecursionError):
        return None
