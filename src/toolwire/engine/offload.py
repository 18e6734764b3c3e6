"""Keeps large results out of the store's rows; it does not shorten anything."""

from typing import Any

import msgspec

from toolwire.core.ports import Blobs
from toolwire.core.result import Result
from toolwire.engine.record import CallRecord

INLINE_BYTES = 64 * 1024
"""Encoded results beyond this lie in a blob beside the record: rows stay small, so scans and commits stay fast."""

_encode_msgpack = msgspec.msgpack.Encoder().encode
_encode_json = msgspec.json.Encoder().encode
_JSON = b"{"
"""How a row in JSON begins, and none in MessagePack: there an object begins with a byte above 0x7F."""


def _encode(value: CallRecord | Result) -> bytes:
    try:
        return _encode_msgpack(value)
    except OverflowError:
        return _encode_json(value)  # an integer of more than 64 bits, which JSON has and MessagePack has not


def _decode_record(row: bytes) -> CallRecord:
    return _decode(row, CallRecord)


def _decode(row: bytes, kind: Any) -> Any:
    decode = msgspec.json.decode if row.startswith(_JSON) else msgspec.msgpack.decode
    return decode(row, type=kind)


def encode_record(record: CallRecord) -> bytes:
    """The row of a record."""
    return _encode(record)


async def pack(record: CallRecord, blobs: Blobs) -> bytes:
    """The row of a record, its result moved to a blob when it is large."""
    row = _encode(record)
    if len(row) <= INLINE_BYTES or record.result is None:
        return row
    key = f"results/{record.call.id}"
    await blobs.put(key, _encode(record.result))
    return _encode(msgspec.structs.replace(record, result=None, result_blob=key))


async def unpack(row: bytes, blobs: Blobs) -> CallRecord:
    """A record with its result, wherever that lies.

    Raises:
        BlobNotFound: the blob of a large result is gone.
    """
    record = _decode_record(row)
    if record.result_blob is None:
        return record
    data = b"".join([piece async for piece in blobs.open(record.result_blob)])
    return msgspec.structs.replace(record, result=_decode(data, Result))
