"""What all WebSockets of ours share: how a handshake is refused; it accepts none."""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Final, TypeAlias

from toolwire.core.errors import ToolwireError
from toolwire.wire.rest import failure

Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]

POLICY: Final = 1008
"""Close code: it may not be here, or breaks the rules."""


async def refuse_handshake(scope: MutableMapping[str, Any], send: Send, error: ToolwireError) -> None:
    """Answer the handshake with an HTTP status where the server can, else with a close."""
    if "websocket.http.response" not in (scope.get("extensions") or {}):
        await send({"type": "websocket.close", "code": POLICY, "reason": error.code})
        return
    status, body = failure(error)
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "websocket.http.response.start", "status": status, "headers": headers})
    await send({"type": "websocket.http.response.body", "body": body})
