"""Puts the gateway's surfaces on one port and REST errors into one envelope; it has no route of its own.

The order is that of use: MCP paths first and without a router, then the agents' link, then everything else.
"""

import logging
from collections.abc import Callable, Sequence

from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.routing import BaseRoute, Match, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from toolwire.core.errors import InternalError, MethodNotAllowed, RouteNotFound, ToolwireError
from toolwire.core.ids import new_id
from toolwire.surfaces.limits import Disconnected, Guard, map_headers
from toolwire.wire.rest import failure

logger = logging.getLogger("toolwire.gateway")

PREFIX = "/api/v1"
LINK_PATH = "/api/v1/agents/link"
ALIAS = "/channels"
"""This path, and what is below it, stands for the same under `PREFIX` too (gateway.md §6, REST)."""

_SHARED_HEADERS = ((b"cache-control", b"no-store"), (b"x-content-type-options", b"nosniff"))


class RestApp:
    """The REST surface: routes between the checks before and the envelope after them.

    Args:
        routes: all routes; the first that matches path and method answers.
        guard: tells our own Host and Origin from others'.
        challenge: the value of `WWW-Authenticate` on a 401.
    """

    def __init__(self, routes: Sequence[BaseRoute], guard: Guard, challenge: Callable[[], str]) -> None:
        self._routes = list(routes)
        self._guard = guard
        self._challenge = challenge

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
        if path == ALIAS or path.startswith(f"{ALIAS}/"):
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


def gateway_app(mcp: ASGIApp, serves: Callable[[str], bool], rest: ASGIApp, link: ASGIApp, guard: Guard) -> ASGIApp:
    """Everything on one port, as one ASGI application. It answers no lifespan: who composes it owns that.

    Args:
        mcp: the MCP endpoints.
        serves: whether a path is one of them.
        rest: everything else over HTTP.
        link: the agents' WebSocket at `LINK_PATH`.
        guard: tells our own Host and Origin from others' on WebSockets; over HTTP each surface asks it by itself.
    """

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        kind = scope["type"]
        if kind == "http":
            path: str = scope["path"]
            if path.endswith("/mcp") and serves(path):
                await mcp(scope, receive, send)
            else:
                await rest(scope, receive, send)
        elif kind == "websocket":
            if _may_link(scope, guard):
                await link(scope, receive, send)
            else:
                await receive()
                await send({"type": "websocket.close", "code": 1008, "reason": "not here"})

    return app


def _may_link(scope: Scope, guard: Guard) -> bool:
    try:
        guard.check(map_headers(scope["headers"]))
    except ToolwireError:
        return False
    return scope["path"] == LINK_PATH
