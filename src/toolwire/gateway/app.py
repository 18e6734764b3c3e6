"""Puts the gateway's surfaces on one port; it has no route of its own.

The order is that of use: MCP paths first and without a router, then the agents' link, then everything else.
"""

from collections.abc import Callable

from starlette.types import ASGIApp, Receive, Scope, Send

from toolwire.core.errors import ToolwireError
from toolwire.surfaces.limits import Guard, map_headers

LINK_PATH = "/api/v1/agents/link"
ALIAS = "/channels"
"""This path, and what is below it, stands for the same under `/api/v1` too (gateway.md §6, REST)."""


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
