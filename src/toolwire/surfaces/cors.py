"""CORS for browser pages of other origins that may ask: it answers their preflights and lets them read answers.

It lets nobody in: `Guard` decides who may ask and the surface behind it checks keys. Cookies are never shared, so no
answer allows credentials. Spec: Fetch, 3.2 (CORS protocol); contract mcp.md S30.
"""

from collections.abc import Sequence
from typing import Any, Final

from toolwire.core.errors import ToolwireError
from toolwire.surfaces.exchange import WHOLE, RawHeader, Receive, Send
from toolwire.surfaces.limits import Guard, map_headers

METHODS: Final = b"GET, POST, PUT, PATCH, DELETE"
REQUEST_HEADERS: Final = (
    "accept",
    "authorization",
    "content-type",
    "idempotency-key",
    "last-event-id",
    "mcp-method",
    "mcp-name",
    "mcp-protocol-version",
    "mcp-session-id",
    "traceparent",
    "tracestate",
    "x-agent-api-key",
)
"""What a page may send, in addition to every header that begins with `PARAM_HEADER`."""
PARAM_HEADER: Final = "mcp-param-"
READ_HEADERS: Final = b"Mcp-Session-Id, Mcp-Protocol-Version, Idempotency-Replayed, Retry-After, WWW-Authenticate"
"""What a page may read of an answer, in addition to what every page may."""
REMEMBERED_S: Final = 600
"""How long a browser need not ask again; browsers cap it anyway, Chromium at two hours."""
MAX_ASKED_HEADERS: Final = 100


def with_cors(app: Any, guard: Guard) -> Any:
    """`app` for the pages that `guard` names, or `app` itself when it names none.

    Args:
        app: an ASGI app.
        guard: its `origins` are the pages that may ask.
    """
    if not guard.names_pages:
        return app

    async def shared(scope: Any, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not any(name == b"origin" for name, _ in scope["headers"]):
            await app(scope, receive, send)
            return
        headers = map_headers(scope["headers"])
        origin = headers[b"origin"]
        if not guard.is_named_page(origin):
            await app(scope, receive, send)
            return
        if scope["method"] == "OPTIONS" and b"access-control-request-method" in headers and _is_ours(guard, headers):
            await _answer_preflight(origin, headers, send)
            return

        async def send_shared(message: Any) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": _added(message.get("headers", ()), _let_read(origin))}
            await send(message)

        await app(_without_short_way(scope), receive, send_shared)

    return shared


def _is_ours(guard: Guard, headers: dict[bytes, bytes]) -> bool:
    """A preflight for a Host that is not ours is for the app to refuse, as any request of that kind."""
    try:
        guard.check(headers)
    except ToolwireError:
        return False
    return True


def _without_short_way(scope: Any) -> Any:
    """The short way of `Whole` has no room for headers of ours."""
    extensions = scope.get("extensions")
    if not extensions or WHOLE not in extensions:
        return scope
    return {**scope, "extensions": {name: value for name, value in extensions.items() if name != WHOLE}}


def _let_read(origin: bytes) -> list[RawHeader]:
    return [(b"access-control-allow-origin", origin), (b"access-control-expose-headers", READ_HEADERS)]


def _added(headers: Sequence[RawHeader], more: Sequence[RawHeader]) -> list[RawHeader]:
    """What an answer says beside what is said of its page; caches must keep the answers to different pages apart."""
    vary = [value for name, value in headers if name.lower() == b"vary"]
    kept = [header for header in headers if header[0].lower() != b"vary"]
    return [*kept, *more, (b"vary", b", ".join([*vary, b"Origin"]))]


async def _answer_preflight(origin: bytes, headers: dict[bytes, bytes], send: Send) -> None:
    more: list[RawHeader] = [
        (b"access-control-allow-origin", origin),
        (b"access-control-allow-methods", METHODS),
        (b"access-control-allow-headers", _allowed(headers.get(b"access-control-request-headers", b""))),
        (b"access-control-max-age", b"%d" % REMEMBERED_S),
        (b"vary", b"Origin, Access-Control-Request-Headers, Access-Control-Request-Private-Network"),
    ]
    if headers.get(b"access-control-request-private-network") == b"true":
        more.append((b"access-control-allow-private-network", b"true"))
    try:
        await send({"type": "http.response.start", "status": 204, "headers": more})
        await send({"type": "http.response.body", "body": b""})
    except OSError:
        return


def _allowed(asked: bytes) -> bytes:
    """All that pages may send, with those of the asked names that only a tool's schema tells: `Mcp-Param-…`."""
    names = [name.strip().lower() for name in asked.decode("latin-1").split(",")[:MAX_ASKED_HEADERS]]
    params = [name for name in names if name.startswith(PARAM_HEADER) and _is_token(name)]
    return ", ".join([*REQUEST_HEADERS, *params]).encode("latin-1")


def _is_token(name: str) -> bool:
    """Whether a header may be called so (RFC 9110, 5.6.2)."""
    return name.isascii() and all(character.isalnum() or character in "!#$%&'*+-.^_`|~" for character in name)
