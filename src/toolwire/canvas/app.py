"""Puts the canvas' surfaces on one port; it has no route of its own."""

from collections.abc import Callable

from starlette.types import ASGIApp, Receive, Scope, Send

from toolwire.canvas.card_frames import CardFrames
from toolwire.core.errors import ToolwireError
from toolwire.surfaces.cors import with_cors
from toolwire.surfaces.limits import Guard, map_headers
from toolwire.surfaces.web_sockets import POLICY

PREFIXES = ("/api/v1/workspaces", "/api/v1/card-packages", "/api/v1/terminals", "/api/v1/cards")
"""REST paths and WebSockets of the canvas, and what lies below them."""
_BELOW = tuple(f"{prefix}/" for prefix in PREFIXES)


class CanvasApp:
    """Everything of the canvas, as one ASGI application. It answers no lifespan.

    Args:
        mcp: the toolboxes.
        is_toolbox: whether a path is one of them.
        rest: everything else over HTTP.
        sockets: the WebSockets, by path.
        frames: the files of cards, which pages of other origins ask for, too.
        guard: tells our own Host and Origin from others' on WebSockets; over HTTP each surface asks it by itself.
    """

    def __init__(
        self,
        mcp: ASGIApp,
        is_toolbox: Callable[[str], bool],
        rest: ASGIApp,
        sockets: Callable[[str], ASGIApp | None],
        frames: CardFrames,
        guard: Guard,
    ) -> None:
        self._mcp = mcp
        self._is_toolbox = is_toolbox
        self._rest = rest
        self._sockets = sockets
        self._frames = frames
        self._guard = guard
        self._shared: ASGIApp = with_cors(self._answer, guard)

    def serves(self, path: str) -> bool:
        """Whether a path is the canvas' own."""
        return path.startswith(_BELOW) or path in PREFIXES or self._frames.serves(path) or self._is_toolbox(path)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request or WebSocket."""
        if scope["type"] == "http" and self._frames.serves(scope["path"]):
            await self._frames(scope, receive, send)
        else:
            await self._shared(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        path: str = scope["path"]
        if scope["type"] == "http":
            await (self._mcp if self._is_toolbox(path) else self._rest)(scope, receive, send)
        elif scope["type"] == "websocket":
            socket = self._sockets(path) if self._may_connect(scope) else None
            if socket is None:
                await receive()
                await send({"type": "websocket.close", "code": POLICY, "reason": "not here"})
            else:
                await socket(scope, receive, send)

    def _may_connect(self, scope: Scope) -> bool:
        try:
            self._guard.check(map_headers(scope["headers"]))
        except ToolwireError:
            return False
        return True
