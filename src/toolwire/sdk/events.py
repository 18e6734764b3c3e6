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


class _Kept(Struct, frozen=True, array_like=True):
    """What differs between the events of a step, as it is stored; the payload is read back as JSON first."""

    seq: int
    type: str
    schema_version: int
    occurred_at: float
    actor: str
    payload: Any
    origin: EventOrigin
    causation_id: str | None = None


class _KeptRaw(_Kept, frozen=True, array_like=True):
    payload: msgspec.Raw


class _Step(Struct, frozen=True, array_like=True):
    task_id: str
    trace_id: str
    correlation_id: str
    events: list[_Kept]


class _StepRaw(Struct, frozen=True, array_like=True):
    task_id: str
    trace_id: str
    correlation_id: str
    events: list[_KeptRaw]


PAYLOADS: dict[str, type[Struct]] = {kind.__name__: kind for kind in get_args(Payload)}

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(_StepRaw).decode
_decoders: dict[str, msgspec.json.Decoder[Any]] = {}


def envelope_to_dict(envelope: EventEnvelope) -> JsonObject:
    """The envelope as JSON has it, the payload a dict."""
    return msgspec.to_builtins(envelope)


def event_id(task_id: str, seq: int) -> str:
    """The id of a task's event: it follows from its place, so it needs no storing."""
    return f"evt-{task_id.removeprefix('task-')}-{seq}"


def encode_events(events: list[EventEnvelope]) -> bytes:
    """The events of one step of one task, for the store; at least one."""
    first = events[0]
    kept = [
        _Kept(
            event.seq,
            event.type,
            event.schema_version,
            event.occurred_at,
            event.actor,
            event.payload,
            event.origin,
            event.causation_id,
        )
        for event in events
    ]
    return _encode(_Step(first.task_id, first.trace_id, first.correlation_id, kept))


def decode_events(data: bytes) -> list[EventEnvelope]:
    """What `encode_events` wrote. A payload of a type that is not known here stays a dict.

    Raises:
        msgspec.DecodeError: it was not written by `encode_events`.
    """
    step = _decode(data)
    return [_opened(step, kept) for kept in step.events]


def _opened(step: _StepRaw, kept: _KeptRaw) -> EventEnvelope:
    decoder = _decoders.get(kept.type)
    if decoder is None:
        decoder = _decoders[kept.type] = msgspec.json.Decoder(PAYLOADS.get(kept.type, dict[str, Any]))
    return EventEnvelope(
        event_id(step.task_id, kept.seq),
        step.task_id,
        kept.seq,
        kept.type,
        kept.schema_version,
        kept.occurred_at,
        kept.actor,
        step.trace_id,
        step.correlation_id,
        kept.causation_id,
        decoder.decode(kept.payload),
        kept.origin,
    )


def payload_size(payload: Struct) -> int:
    """Bytes of the payload's JSON, to be held against `MAX_PAYLOAD_BYTES`."""
    return len(_encode(payload))
