"""The envelope in which every event of a task is recorded, and its JSON; it does not store or send any.

A subscriber gets envelopes: `event.type` is the payload's class name, `event.payload` has its fields (sdk.md 69-73).
"""

from typing import Any, Literal, TypeAlias, get_args

import msgspec
from msgspec import Struct

from toolwire.core.jsontypes import JsonObject
from toolwire.sdk.payloads import Payload

EventOrigin: TypeAlias = Literal["engine", "llm", "observer", "tool", "system"]

SCHEMA_VERSION = 1
MAX_PAYLOAD_BYTES = 4096
"""A payload's JSON is never longer; what may be, goes to the content store (sdk.md 73)."""


class EventEnvelope(Struct, frozen=True, gc=False):
    """One event in its place.

    Attributes:
        id: unique, and the same however often the event is read.
        task_id: whose event it is.
        seq: counts the task's events from 0, without gaps.
        type: the payload's class name.
        schema_version: of the payload's fields.
        occurred_at: Unix seconds, UTC.
        actor: who did it: "engine", "llm", "tool_runtime", a client's name.
        trace_id: the same for a task and the tasks it began.
        correlation_id: the task that all this is for.
        causation_id: the event that led to this one, where that is known.
        payload: what happened; one of `toolwire.sdk.payloads`.
        origin: which part of the system says so.
    """

    id: str
    task_id: str
    seq: int
    type: str
    schema_version: int
    occurred_at: float
    actor: str
    trace_id: str
    correlation_id: str
    causation_id: str | None
    payload: Any
    origin: EventOrigin = "engine"


class _Stored(Struct, frozen=True):
    """An envelope as read back, its payload still JSON."""

    id: str
    task_id: str
    seq: int
    type: str
    schema_version: int
    occurred_at: float
    actor: str
    trace_id: str
    correlation_id: str
    causation_id: str | None
    payload: msgspec.Raw
    origin: EventOrigin = "engine"


PAYLOADS: dict[str, type[Struct]] = {kind.__name__: kind for kind in get_args(Payload)}

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(list[_Stored]).decode
_decoders: dict[str, msgspec.json.Decoder[Any]] = {}


def envelope_to_dict(envelope: EventEnvelope) -> JsonObject:
    """The envelope as JSON has it, the payload a dict."""
    return msgspec.to_builtins(envelope)


def encode_events(events: list[EventEnvelope]) -> bytes:
    """Events as one JSON list, for the store."""
    return _encode(events)


def decode_events(data: bytes) -> list[EventEnvelope]:
    """What `encode_events` wrote. A payload of a type that is not known here stays a dict.

    Raises:
        msgspec.DecodeError: it was not written by `encode_events`.
    """
    return [_opened(stored) for stored in _decode(data)]


def _opened(stored: _Stored) -> EventEnvelope:
    decoder = _decoders.get(stored.type)
    if decoder is None:
        decoder = _decoders[stored.type] = msgspec.json.Decoder(PAYLOADS.get(stored.type, dict[str, Any]))
    return EventEnvelope(
        stored.id,
        stored.task_id,
        stored.seq,
        stored.type,
        stored.schema_version,
        stored.occurred_at,
        stored.actor,
        stored.trace_id,
        stored.correlation_id,
        stored.causation_id,
        decoder.decode(stored.payload),
        stored.origin,
    )


def payload_size(payload: Struct) -> int:
    """Bytes of the payload's JSON, to be held against `MAX_PAYLOAD_BYTES`."""
    return len(_encode(payload))
