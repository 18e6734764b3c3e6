"""What every REST route needs: who asks, about which agent, the body as a value, and the answer; it has no route.

Errors are raised; `app.RestApp` puts them into the envelope, in one place.
"""

import re
from typing import Any, TypeVar

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from toolwire.core.errors import Forbidden, InvalidParam, ParseError
from toolwire.core.jsontypes import MAX_DEPTH, is_too_deep, may_be_deep
from toolwire.gateway.agents import AgentRecord, Agents
from toolwire.gateway.auth import Auth, Identity
from toolwire.gateway.keys import KeyKind
from toolwire.surfaces.limits import REQUEST_LIMIT_BYTES, check_json, credentials_in, map_headers, read_body
from toolwire.wire.rest import success

T = TypeVar("T")

_AT_PATH = re.compile(r" - at `\$\.?(?P<path>[^`]*)`$")


class Reader:
    """Reads requests for the routes.

    Args:
        auth: finds out who is asking.
        agents: all agents.
        max_bytes: the largest body, unless a route takes larger ones.
    """

    def __init__(self, auth: Auth, agents: Agents, max_bytes: int = REQUEST_LIMIT_BYTES) -> None:
        self._auth = auth
        self._agents = agents
        self._max_bytes = max_bytes

    def identify(self, request: Request, *kinds: KeyKind) -> Identity:
        """Who is asking, by a key of one of `kinds`.

        Raises:
            Unauthorized: no key, an unknown or revoked one, or two that differ.
            Forbidden: a key of another kind.
        """
        return self._auth.identify_as(credentials_in(request.scope["headers"]), *kinds)

    def agent(self, request: Request, identity: Identity) -> AgentRecord:
        """The agent in the path, by its id or, for its owner, by its name.

        Raises:
            AgentNotFound: there is none that this identity may see; for an `agk` or `bak`, none but its own.
        """
        named = str(request.path_params["agent"])
        record = self._agents.find(identity.owner, named)
        if identity.agent_id is not None and record.agent_id != identity.agent_id:
            raise Forbidden(f"this {identity.kind}_ key is bound to another agent than {named!r}")
        return record

    def own_agent(self, request: Request, identity: Identity) -> AgentRecord:
        """The agent in the path, for one who may change it.

        Raises:
            AgentNotFound: there is none that this identity may see.
            Forbidden: it may see it, and it belongs to another owner, or the key to another agent.
        """
        record = self.agent(request, identity)
        if record.owner != identity.owner:
            raise Forbidden(f"agent {record.agent_id!r} belongs to another owner")
        return record

    async def body(self, request: Request, type_: type[T], max_bytes: int | None = None) -> T:
        """The JSON body as a value.

        Args:
            request: the request.
            type_: what it must be.
            max_bytes: the largest body of this route; `None` for the usual limit.

        Raises:
            UnsupportedMediaType: it is not declared as JSON.
            PayloadTooLarge: it is larger than the limit.
            ParseError: it is not JSON.
            InvalidParam: it is JSON of another shape; `param` says where.
        """
        headers = map_headers(request.scope["headers"])
        check_json(headers)
        limit = self._max_bytes if max_bytes is None else max_bytes
        return decode_body(await read_body(request.receive, headers, limit), type_)


def decode_body(data: bytes, type_: type[T]) -> T:
    """A JSON body as a value of `type_`.

    Raises:
        ParseError: it is not JSON.
        InvalidParam: it is JSON of another shape; `param` says where.
    """
    try:
        if may_be_deep(data) and is_too_deep(msgspec.json.decode(data)):
            raise ParseError(f"the body is nested too deeply; {MAX_DEPTH} levels are taken")
        return msgspec.json.decode(data, type=type_)
    except msgspec.ValidationError as error:
        _check_json_text(data)
        found = _AT_PATH.search(str(error))
        path = found["path"] if found else ""
        raise InvalidParam(f"the body does not fit: {error}", param=path) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        _check_json_text(data)
        raise ParseError("the body is not JSON") from None


def _check_json_text(data: bytes) -> None:
    """A typed decoder stops at the first value of a wrong type; what comes after may not even be JSON."""
    try:
        msgspec.json.decode(data)
    except RecursionError:
        raise ParseError("the body is nested too deep") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ParseError(f"the body is not JSON: {error}") from None


def query_number(request: Request, name: str, default: int, least: int, most: int) -> int:
    """A whole number of the query string.

    Raises:
        InvalidParam: it is no whole number between `least` and `most`.
    """
    text = request.query_params.get(name)
    if text is None:
        return default
    if not (text.isascii() and text.isdigit() and len(text) < 20 and least <= int(text) <= most):
        raise InvalidParam(f"{name} must be a whole number from {least} to {most}, not {text!r}", param=name)
    return int(text)


def answer(data: Any, status: int = 200) -> Response:
    """A good answer in the envelope."""
    return Response(success(data), status, media_type="application/json")


def done() -> Response:
    """A good answer with nothing to say: 204."""
    return Response(status_code=204)
