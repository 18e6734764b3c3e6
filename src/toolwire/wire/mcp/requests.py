"""The parameters of the methods we serve, as values; it does not act on them."""

import msgspec
from msgspec import Struct

from toolwire.core.errors import InvalidParam
from toolwire.core.jsontypes import JsonObject, as_object
from toolwire.wire.jsonrpc import Message

_encode = msgspec.json.Encoder().encode


class ToolCall(Struct, frozen=True):
    """`tools/call` as sent. `progress_token` is JSON text, repeated exactly on every progress notification."""

    name: str
    arguments: JsonObject
    meta: JsonObject
    progress_token: bytes | None = None


def read_tool_call(message: Message) -> ToolCall:
    """The parameters of `tools/call`; absent or null `arguments` count as `{}` (gateway.md X10).

    Raises:
        InvalidParam: `name` is not a string, `arguments` or `_meta` not an object, or the progress token neither a
            string nor an integer.
    """
    params = message.params
    name = params.get("name")
    if type(name) is not str:
        raise InvalidParam("params.name must be a string: the tool's name", param="name")
    given = params.get("arguments")
    arguments = {} if given is None else as_object(given)
    if arguments is None:
        raise InvalidParam("params.arguments must be an object", param="arguments")
    if params.get("_meta") is None:
        return ToolCall(name, arguments, {})
    meta = as_object(params["_meta"])
    if meta is None:
        raise InvalidParam("params._meta must be an object", param="_meta")
    return ToolCall(name, arguments, meta, _progress_token(meta))


def read_meta_of(message: Message) -> tuple[JsonObject, bytes | None]:
    """The `_meta` of any request, `{}` where there is none, and its progress token as JSON text.

    Raises:
        InvalidParam: it is no object, or the token neither a string nor an integer.
    """
    given = message.params.get("_meta")
    meta = {} if given is None else as_object(given)
    if meta is None:
        raise InvalidParam("params._meta must be an object", param="_meta")
    return meta, _progress_token(meta)


def _progress_token(meta: JsonObject) -> bytes | None:
    token = meta.get("progressToken")
    if token is None:
        return None
    if type(token) is not str and type(token) is not int:
        raise InvalidParam("params._meta.progressToken must be a string or an integer", param="_meta.progressToken")
    return _encode(token)


def read_cursor(message: Message) -> None:
    """Refuse a cursor: we hand out whole lists, so no cursor is ours.

    Raises:
        InvalidParam: there is one.
    """
    if message.params.get("cursor") is not None:
        raise InvalidParam("this cursor was not issued here; list again without one", param="cursor")


def read_cancelled(message: Message) -> int | str | None:
    """The id that `notifications/cancelled` names, if it names one."""
    id_ = message.params.get("requestId")
    return id_ if type(id_) is str or type(id_) is int else None


def meta_string(meta: JsonObject, key: str) -> str | None:
    """A string of `_meta`.

    Raises:
        InvalidParam: it is there and is not a string.
    """
    value = meta.get(key)
    if value is None or isinstance(value, str):
        return value
    raise InvalidParam(f"params._meta[{key!r}] must be a string", param=f"_meta.{key}")


def meta_milliseconds(meta: JsonObject, key: str) -> int | None:
    """A positive whole number of milliseconds of `_meta`.

    Raises:
        InvalidParam: it is there and is not one.
    """
    value = meta.get(key)
    if value is None:
        return None
    if type(value) is int and value > 0:
        return value
    raise InvalidParam(f"params._meta[{key!r}] must be a positive whole number of milliseconds", param=f"_meta.{key}")
