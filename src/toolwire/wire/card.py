"""What a card and its host say to each other, as bytes and values; it does not carry them anywhere.

A card runs in a process of its own and speaks over `WS /api/v1/cards/link`, or in a frame of the canvas page and speaks
over a `MessagePort`; the messages are the same, each one JSON text (one structured-clone object on a port). There are
three kinds, told apart by what they have:

* a request `{"id", "method", "params"}`, from the card; `id` is a whole number, new with every request;
* its response `{"id", "result"}` or `{"id", "error": {"code", "message", "retryAfterMs"?}}`, from the host;
* an event `{"event", "data"}`, from the host, which nobody answers.

The first request is `host.ready`; what comes before it is refused. The host answers with `Ready`, the whole context,
and sends nothing before that. `card_messages` has the shape of every method and event. One connection may serve several
copies of a package.
"""

from typing import Final

import msgspec
from msgspec import UNSET, Struct, UnsetType

from toolwire.core.errors import InvalidRequest
from toolwire.core.jsontypes import MAX_DEPTH, is_too_deep, may_be_deep
from toolwire.wire.card_messages import PARAMS, Fault

REPLACED: Final = 4001
"""The code with which the host closes a connection because another one speaks for the card now. A card that came back
would only drive that one away, so it does not."""


class Request(Struct, frozen=True):
    """A request as it comes; `params` are read by `read_params` once the method is known to be one."""

    id: int
    method: str
    params: msgspec.Raw = msgspec.Raw(b"{}")


class Response(Struct, frozen=True):
    """A response as it comes to a card."""

    id: int
    result: msgspec.Raw | UnsetType = UNSET
    error: Fault | UnsetType = UNSET


class Event(Struct, frozen=True):
    """An event as it comes to a card."""

    event: str
    data: msgspec.Raw = msgspec.Raw(b"{}")


_decode_request = msgspec.json.Decoder(Request).decode
_decode_response = msgspec.json.Decoder(Response).decode
_decode_event = msgspec.json.Decoder(Event).decode
_encode = msgspec.json.Encoder().encode


def read_request(text: bytes | str) -> Request:
    """A card's message.

    Raises:
        InvalidRequest: it is no request.
    """
    _check_depth(text)
    try:
        return _decode_request(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise InvalidRequest(f"a card sent what is no request: {error}") from None


def read_params(request: Request) -> Struct:
    """The params of a request, as `PARAMS` has them.

    Raises:
        InvalidRequest: there is no such method, or they do not fit it.
    """
    type_ = PARAMS.get(request.method)
    if type_ is None:
        raise InvalidRequest(f"there is no method {request.method!r}")
    try:
        return msgspec.json.decode(request.params, type=type_)
    except (msgspec.DecodeError, UnicodeError) as error:
        raise InvalidRequest(f"the params of {request.method!r} do not fit: {error}") from None


def read_from_host(text: bytes | str) -> Response | Event:
    """The host's message, as a card reads it.

    Raises:
        InvalidRequest: it is neither a response nor an event.
    """
    _check_depth(text)
    try:
        return _decode_event(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        pass
    try:
        return _decode_response(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise InvalidRequest(f"the host sent what is neither a response nor an event: {error}") from None


def request_body(id_: int, method: str, params: Struct) -> bytes:
    """A request as a card sends it."""
    return _encode({"id": id_, "method": method, "params": params})


def response_body(id_: int, result: Struct) -> bytes:
    """A good answer."""
    return _encode({"id": id_, "result": result})


def fault_body(id_: int, fault: Fault) -> bytes:
    """A refusal."""
    return _encode({"id": id_, "error": fault})


def event_body(event: str, data: Struct) -> bytes:
    """An event."""
    return _encode({"event": event, "data": data})


def _check_depth(text: bytes | str) -> None:
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    try:
        too_deep = may_be_deep(data) and is_too_deep(msgspec.json.decode(data))
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return  # the decoder of the message says it better
    if too_deep:
        raise InvalidRequest(f"a message is nested too deeply; {MAX_DEPTH} levels are taken")
