"""A REST surface: the checks before its routes, the bodies they read, and the one envelope that every answer is in.

It knows no route and no key. Routes raise `ToolwireError`; `RestApp` answers them, in one place.
"""

import logging
import re
from collections.abc import AsyncGenerator, Callable, Sequence
from typing import Any, TypeVar

import msgspec
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Match, Route
from starlette.types import Message, Receive, Scope, Send

from toolwire.core.errors import InternalError, InvalidParam, MethodNotAllowed, ParseError, RouteNotFound, ToolwireError
from toolwire.core.ids import new_id
from toolwire.core.jsontypes import MAX_DEPTH, is_too_deep, may_be_deep
from toolwire.surfaces.limits import Disconnected, Guard, check_json, map_headers, read_body
from toolwire.wire.rest import failure, success

logger = logging.getLogger("toolwire.rest")

T = TypeVar("T")

PREFIX = "/api/v1"

_SHARED_HEADERS = ((b"cache-control", b"no-store"), (b"x-content-type-options", b"nosniff"))
_AT_PATH = re.compile(r" - at `\$\.?(?P<path>[^`]*)`$")


class RestApp:
    """The REST surface: routes between the checks before and the envelope after them.

    Args:
        routes: all routes; the first that matches path and method answers.
        guard: tells our own Host and Origin from others'.
        challenge: the value of `WWW-Authenticate` on a 401.
        alias: this path, and what is below it, stands for the same under `PREFIX` too.
    """

    def __init__(
        self, routes: Sequence[BaseRoute], guard: Guard, challenge: Callable[[], str], alias: str | None = None
    ) -> None:
        self._routes = list(routes)
        self._guard = guard
        self._challenge = challenge
        self._alias = alias

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One HTTP request."""
        exchange = _Exchange(send)
        try:
            self._guard.check(map_headers(scope["headers"]))
            await self._dispatch(scope, receive, exchange.send)
        except ToolwireError as error:
            await self._refuse(exchange, scope, receive, error)
        except (Disconnected, ClientDisconnect):
            return
        except Exception:
            logger.exception("request %s failed inside the server", exchange.request_id)
            await self._refuse(
                exchange, scope, receive, InternalError("a mistake of ours; the log has it under the request id")
            )

    async def _dispatch(self, scope: Scope, receive: Receive, send: Send) -> None:
        path: str = scope["path"]
        alias = self._alias
        if alias is not None and (path == alias or path.startswith(f"{alias}/")):
            scope = {**scope, "path": PREFIX + path}
        allowed: set[str] = set()
        for route in self._routes:
            match, found = route.matches(scope)
            if match is Match.FULL:
                await route.handle({**scope, **found}, receive, send)
                return
            if match is Match.PARTIAL and isinstance(route, Route):
                allowed |= route.methods or set()
        if allowed:
            allow = ", ".join(sorted(allowed))
            raise MethodNotAllowed(f"{scope['method']} is not used here; use {allow}", allow=allow)
        raise RouteNotFound(f"there is nothing at {path!r}")

    async def _refuse(self, exchange: "_Exchange", scope: Scope, receive: Receive, error: ToolwireError) -> None:
        if exchange.started:
            return
        if error.told != error.message:
            logger.error("request %s was refused: %s", exchange.request_id, error.message)
        status, body = failure(error, exchange.request_id)
        headers: dict[str, str] = {}
        if error.code == "unauthorized":
            headers["www-authenticate"] = self._challenge()
        if error.code == "method_not_allowed":
            headers["allow"] = str(error.data.get("allow", ""))
        if "retry_after_ms" in error.data:
            headers["retry-after"] = str(max(1, -(-int(error.data["retry_after_ms"]) // 1000)))
        response = Response(body, status, headers, "application/json")
        await response(scope, receive, exchange.send)


class _Exchange:
    """One answer on its way out: whether it has begun, and what every answer carries."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.started = False
        self.request_id = new_id("req")

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.started = True
            own = (b"x-request-id", self.request_id.encode())
            message["headers"] = [*message.get("headers", ()), *_SHARED_HEADERS, own]
        await self._send(message)


async def read_json(request: Request, type_: type[T], max_bytes: int) -> T:
    """The JSON body of a request as a value of `type_`.

    Raises:
        UnsupportedMediaType: it is not declared as JSON.
        PayloadTooLarge: it is larger than `max_bytes`.
        ParseError: it is not JSON.
        InvalidParam: it is JSON of another shape; `param` says where.
    """
    headers = map_headers(request.scope["headers"])
    check_json(headers)
    return decode_body(await read_body(request.receive, headers, max_bytes), type_)


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


async def body_pieces(request: Request) -> AsyncGenerator[bytes]:
    """The body in pieces as they come.

    Raises:
        Disconnected: the client went away before its end.
    """
    while True:
        message = await request.receive()
        if message["type"] != "http.request":
            raise Disconnected
        yield message.get("body", b"")
        if not message.get("more_body", False):
            return
