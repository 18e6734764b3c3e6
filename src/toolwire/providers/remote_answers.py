"""What the official MCP client raises, in our errors; it sends nothing."""

from typing import Any, cast

import pydantic
from mcp import MCPError, types

from toolwire.core.errors import (
    ERRORS,
    AgentLost,
    InternalError,
    InvalidAgentResponse,
    InvalidParam,
    MethodNotFound,
    MissingCapability,
    ResourceNotFound,
    ServiceUnavailable,
    ToolwireError,
)
from toolwire.core.jsontypes import JsonObject
from toolwire.core.result import TOOL_FAILED, Result, failed
from toolwire.providers.remote_http import LOST, MARK, NO_SESSION, REFUSED, UNREACHABLE
from toolwire.providers.remote_server import SessionGone

MAX_WORDS = 2000

RESOURCE_NOT_FOUND = -32002
_CODES = {
    types.METHOD_NOT_FOUND: "tool_not_found",
    types.INVALID_PARAMS: "invalid_param",
    types.INTERNAL_ERROR: "internal_error",
    types.MISSING_REQUIRED_CLIENT_CAPABILITY: "missing_client_capability",
}
_RAISED: dict[int, type[ToolwireError]] = {
    types.METHOD_NOT_FOUND: MethodNotFound,
    types.INVALID_PARAMS: InvalidParam,
    types.MISSING_REQUIRED_CLIENT_CAPABILITY: MissingCapability,
}
_KEPT_DATA = ("requiredCapabilities", "retryable", "retry_after_ms", "param", "violations")

UNSENT = (UNREACHABLE, REFUSED)
LIST_IS_OLD = (types.METHOD_NOT_FOUND, types.INVALID_PARAMS)
"""Codes with which a server may say that it has no such tool any more."""


def mark_of(error: MCPError) -> str | None:
    """What our own transport says has happened, or that the connection is at its end; `None` for a server's answer."""
    given: object = error.data
    mark = cast("JsonObject", given).get(MARK) if isinstance(given, dict) else None
    if isinstance(mark, str):
        return mark
    if error.code == types.UNSUPPORTED_PROTOCOL_VERSION:  # another server answers there now
        return NO_SESSION
    return LOST if error.code == types.CONNECTION_CLOSED else None


def call_ended(error: Exception, name: str, words: str) -> Result:
    """The result of a call that the client raised `error` for; `words` say why the connection ended, if it did.

    Raises:
        SessionGone: begin anew and send it once more.
        ToolwireError: the server has not answered, or with something that is no result.
    """
    match error:
        case MCPError():
            mark = mark_of(error)
            if mark is None:
                return failed(error.message[:MAX_WORDS] or "refused", code_of(error), _data_of(error))
            raise _lost(mark, name, words or error.message)
        case pydantic.ValidationError():
            raise InvalidAgentResponse(f"{name} answered with something that is no result: {_first(error)}")
        case RuntimeError():  # the content does not fit the tool's output schema, or it asks for input without end
            return failed(str(error)[:MAX_WORDS])
        case _:
            raise error


def code_of(error: MCPError) -> str:
    """Our code for what a server has answered: the one that it names, as our own hosts do, or its number's."""
    given: object = error.data
    named = cast("JsonObject", given).get("code") if isinstance(given, dict) else None
    if isinstance(named, str) and named in ERRORS:
        return named
    return _CODES.get(error.code, TOOL_FAILED)


def _data_of(error: MCPError) -> JsonObject:
    """What of an error a program may want to know; the rest is between the server and this connection."""
    given: object = error.data
    data = cast("JsonObject", given) if isinstance(given, dict) else {}
    return {"jsonrpc": error.code, **{key: data[key] for key in _KEPT_DATA if key in data}}


def request_ended(error: Exception, name: str, words: str) -> Exception:
    """What to raise when the client raised `error` for a resource, a prompt or a completion."""
    match error:
        case MCPError():
            mark = mark_of(error)
            if mark is not None:
                return _lost(mark, name, words or error.message)
            given: object = error.data
            data = cast("JsonObject", given) if isinstance(given, dict) else {}
            message = error.message[:MAX_WORDS] or "refused"
            if error.code == RESOURCE_NOT_FOUND or (error.code == types.INVALID_PARAMS and "uri" in data):
                return ResourceNotFound(message, **({"uri": data["uri"]} if "uri" in data else {}))
            return _RAISED.get(error.code, InternalError)(message, **_data_of(error))
        case pydantic.ValidationError():
            return InvalidAgentResponse(f"{name} answered with something that MCP does not know: {_first(error)}")
        case _:
            return InternalError(f"{name}: {str(error)[:MAX_WORDS]}")


def list_ended(error: Exception, name: str, listing: str, words: str) -> Exception:
    """What to raise when the client raised `error` for a list."""
    match error:
        case MCPError():
            mark = mark_of(error)
            if mark == NO_SESSION:
                return SessionGone()
            return ServiceUnavailable(f"{name} does not list its {listing}: {words or error.message}")
        case TimeoutError():
            return ServiceUnavailable(f"{name} does not list its {listing}: it did not answer in time")
        case pydantic.ValidationError():
            return ServiceUnavailable(f"{name} does not list its {listing} as MCP does: {_first(error)}")
        case _:
            return ServiceUnavailable(f"{name} does not list its {listing}: {error}")


def _lost(mark: str, name: str, words: str) -> ToolwireError | SessionGone:
    if mark == NO_SESSION:
        return SessionGone()
    if mark in UNSENT:
        return ServiceUnavailable(f"{name} is not available: {words}")
    return AgentLost(f"{name} did not answer, and whether the call took effect is not known: {words}")


def _first(error: pydantic.ValidationError) -> str:
    """The first thing wrong, without the value."""
    details: Any = error.errors(include_url=False, include_input=False, include_context=False)[0]
    return f"{'.'.join(map(str, details['loc']))}: {details['msg']}"[:300]
