"""JSON-RPC 2.0 messages as bytes and values; it knows no method.

A request's `id` is kept as the bytes it came in, so that the reply repeats it exactly. Spec: JSON-RPC 2.0, sections
4-6; MCP narrows it: no batches (since 2025-06-18), no null ids.
"""

from typing import Any

import msgspec
from msgspec import Raw, Struct

from toolwire.core.error_rows import ErrorRow
from toolwire.core.errors import InvalidRequest, ParseError, ToolwireError, shortened
from toolwire.core.jsontypes import MAX_DEPTH, JsonObject, as_object, is_too_deep, may_be_deep

NO_ID = b"null"


class Message(Struct, frozen=True):
    """What one body holds. `id` is its JSON text, `NO_ID` for a notification."""

    method: str
    params: JsonObject
    id: bytes = NO_ID

    @property
    def is_request(self) -> bool:
        """Whether an answer is owed."""
        return self.id is not NO_ID

    @property
    def id_value(self) -> int | str:
        """The id of a request as others name it, however it was spelled."""
        return _decode_id(self.id)


class Posted(Struct, frozen=True):
    """A response that the peer sent to a request of ours: exactly one of `result` and `error` is set."""

    id: Any
    result: JsonObject | None = None
    error: JsonObject | None = None


class _Envelope(Struct):
    jsonrpc: str = ""
    method: str | None = None
    id: Raw = Raw(b"")
    params: dict[str, Any] | None = None
    result: Raw = Raw(b"")
    error: Raw = Raw(b"")


class _JustId(Struct):
    id: Raw = Raw(b"")


_decode_envelope = msgspec.json.Decoder(_Envelope).decode
_decode_id = msgspec.json.Decoder(int | str).decode
_decode_just_id = msgspec.json.Decoder(_JustId).decode
_encode = msgspec.json.Encoder().encode


def decode(body: bytes) -> Message | Posted:
    """One message from one body.

    Raises:
        ParseError: not JSON.
        InvalidRequest: JSON, but not one message as MCP has them; `raw_id` in its data is the id to answer to, if
            one could be read.
    """
    try:
        envelope = _decode_envelope(body)
    except (msgspec.DecodeError, RecursionError) as error:
        raise _diagnose(body, error) from None
    if may_be_deep(body) and is_too_deep(envelope.params):
        raise _too_deep()
    if envelope.jsonrpc != "2.0":
        is_answer = envelope.method is None and (envelope.result or envelope.error)
        raise InvalidRequest('jsonrpc must be "2.0"', raw_id=None if is_answer else _usable_id(bytes(envelope.id)))
    if envelope.method is None:
        return _posted(envelope)
    if not envelope.id:
        return Message(envelope.method, envelope.params or {})
    raw = bytes(envelope.id)
    try:
        _decode_id(raw)
    except msgspec.DecodeError:
        raise InvalidRequest("id must be a string or an integer") from None
    return Message(envelope.method, envelope.params or {}, raw)


def _posted(envelope: _Envelope) -> Posted:
    raw = bytes(envelope.id)
    if not envelope.result and not envelope.error:
        raise InvalidRequest("method is missing", raw_id=_usable_id(raw))
    try:
        id_ = _decode_id(raw)
        result = msgspec.json.decode(envelope.result, type=dict[str, Any]) if envelope.result else None
        error = msgspec.json.decode(envelope.error, type=dict[str, Any]) if envelope.error else None
    except msgspec.DecodeError:
        raise InvalidRequest("a response needs an id and an object as its result or error") from None
    if (result is None) == (error is None):
        raise InvalidRequest("a response has either a result or an error")
    return Posted(id_, result, error)


def _diagnose(body: bytes, error: Exception) -> ToolwireError:
    """Tell bad JSON from a bad message; only the unlucky path pays for reading twice."""
    try:
        value: Any = msgspec.json.decode(body)
    except RecursionError:
        return _too_deep()
    except msgspec.DecodeError as plain:
        return ParseError(f"the body is not JSON: {plain}")
    if isinstance(value, list):
        return InvalidRequest("batches are not part of MCP; send one message a request")
    found = as_object(value)
    if found is None:
        return InvalidRequest("the body must be one JSON object")
    # The id of an answer is one of ours; an error under it would look like an answer to a request of theirs.
    is_answer = "method" not in found and not {"result", "error"}.isdisjoint(found)
    raw_id = None if is_answer else _usable_id(bytes(_decode_just_id(body).id))
    return InvalidRequest(f"not a JSON-RPC message: {error}", raw_id=raw_id)


def _too_deep() -> ParseError:
    return ParseError(f"the JSON is nested too deeply; {MAX_DEPTH} levels are taken")


def _usable_id(raw: bytes) -> str | None:
    try:
        _decode_id(raw)
    except msgspec.DecodeError:
        return None
    return raw.decode()


def result_body(id_: bytes, result: bytes) -> bytes:
    """A response with an encoded result."""
    return b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (id_, result)


def error_body(id_: bytes, row: ErrorRow, code: str, message: str, data: JsonObject) -> bytes:
    """A response with an error; see `error_object`."""
    return b'{"jsonrpc":"2.0","id":%b,"error":%b}' % (id_, _encode(error_object(row, code, message, data)))


def error_object(row: ErrorRow, code: str, message: str, data: JsonObject) -> JsonObject:
    """An error; `error.data.code` is our stable code (gateway.md D16).

    `data` goes into the error's `data`; a `retryable` there wins over the row's.
    """
    shown: JsonObject = {"code": code, "retryable": row.retryable, **data}
    shown.pop("raw_id", None)
    return {"code": row.jsonrpc, "message": shortened(message), "data": shown}


def notification_body(method: str, params: JsonObject) -> bytes:
    """A notification."""
    return _encode({"jsonrpc": "2.0", "method": method, "params": params})
