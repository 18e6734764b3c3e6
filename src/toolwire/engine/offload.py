"""How records lie in the store, large results beside it; it does not shorten anything.

A row is JSON, not MessagePack: a tool may be given, and may give, integers beyond 64 bits.
"""

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from toolwire.core.errors import BlobNotFound
from toolwire.core.ports import Blobs, Enqueue, Op, Put
from toolwire.core.result import Result, failed
from toolwire.engine.claims import at_rest
from toolwire.engine.record import CallRecord, status_of

INLINE_BYTES = 64 * 1024
"""Encoded results beyond this lie in a blob beside the record: rows stay small, so scans and commits stay fast."""
EXPIRING_BLOBS = "expiring_blobs"
"""The queue of blobs to be deleted, each due when its record expires."""

_encode = msgspec.json.Encoder().encode
decode_record = msgspec.json.Decoder(CallRecord).decode
_decode_result = msgspec.json.Decoder(Result).decode


def encode_record(record: CallRecord) -> bytes:
    """The row of a record.

    Raises:
        TypeError: arguments or result are of a kind that JSON does not have.
        ValueError: a text in them is not Unicode.
        RecursionError: they are nested too deeply.
    """
    return _encode(_at_rest(record))


async def pack(record: CallRecord, blobs: Blobs, expires_at: float) -> Sequence[Op]:
    """What writes an ended record, until `expires_at` (Unix seconds), its result moved to a blob when it is large.

    Raises:
        TypeError, ValueError, RecursionError: it cannot be encoded; see `encode_record`.
        StoreUnavailable: the blob cannot be written.
    """
    owner, key = record.call.caller.owner, record.call.id
    record = _at_rest(record)
    row = _encode(record)
    if len(row) > INLINE_BYTES:
        data = _encode(record.result)
        if len(data) > INLINE_BYTES:
            blob = f"results/{key}"
            await blobs.put(blob, data)
            row = _encode(replace(record, result=None, result_blob=blob))
            return (Put("call", owner, key, row, None, expires_at), Enqueue(EXPIRING_BLOBS, blob, expires_at, b""))
    return (Put("call", owner, key, row, None, expires_at),)


def _at_rest(record: CallRecord) -> CallRecord:
    call = at_rest(record.call)
    return record if call is record.call else replace(record, call=call)


async def unpack(row: bytes, blobs: Blobs) -> CallRecord:
    """A record with its result, wherever that lies; where that is lost, with a failure that says so.

    Raises:
        StoreUnavailable: the blob cannot be read.
    """
    record = decode_record(row)
    if record.result_blob is None:
        return record
    try:
        result = _decode_result(b"".join([piece async for piece in blobs.open(record.result_blob)]))
    except BlobNotFound:
        result = failed("the call has ended and its result is lost", "outcome_unknown")
        return replace(record, status=status_of(result), result=result)
    return replace(record, result=result)
