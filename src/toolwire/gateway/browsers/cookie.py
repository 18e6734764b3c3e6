"""The cookie of a browser that is signed in, and when a request may lean on it; it knows no session and no route.

Cookies know no ports, and `SameSite` takes every port of a machine for one site: a page of another server on this
machine has its requests sent with our cookie. So the cookie counts only where the browser says that our own page asks:
by `Sec-Fetch-Site`, or by an Origin that is the very place that was asked. Where it says neither (over plain HTTP to
another machine browsers tell less) our page sends a header that pages of other places cannot send unasked.
Spec: Fetch Metadata; RFC 6265bis, 5.3.7.
"""

from collections.abc import Callable
from typing import Any, Final, TypeAlias
from urllib.parse import urlsplit

from starlette.responses import Response

from toolwire.gateway.browsers.sessions import SESSION_TTL_S
from toolwire.surfaces.limits import CREDENTIAL_HEADERS, map_headers

Base: TypeAlias = Callable[[bytes, str], str]
"""Where this gateway is for one who has sent this `Host` by this scheme, without a slash at the end."""

NAME: Final = "toolwire-browser"
PAGE_HEADER: Final = b"x-toolwire-page"
"""What our page sends with each request; a page of another origin would have to ask first (CORS), and gets no yes."""
_OPENED: Final = ("/api/", "/channels")
"""Where the paths begin that a cookie opens. MCP endpoints are for programs, which have keys."""
_SECURE: Final = {"ws": "http", "wss": "https"}


class BrowserCookie:
    """Reads and writes the cookie.

    Args:
        base: see `Base`.
    """

    def __init__(self, base: Base) -> None:
        self._base = base

    def name(self, base: str) -> str:
        """What the cookie is called at `base`: two hosts on one machine, which share all cookies, have one each."""
        parts = urlsplit(base)
        name = NAME if parts.port is None else f"{NAME}-{parts.port}"
        return f"__Host-{name}" if parts.scheme == "https" else name

    def secret(self, scope: Any) -> str:
        """The secret that a request carries, whoever has made the browser send it; "" where there is none."""
        headers = map_headers(scope["headers"])
        cookies = headers.get(b"cookie", b"")
        if NAME.encode() not in cookies:
            return ""
        sent = _parsed(cookies.decode("latin-1").replace(", ", ";"))  # HTTP/2 may send a header for each
        return sent.get(self.name(self._place(scope, headers)), "")

    def keep(self, response: Response, base: str, secret: str) -> Response:
        """Let the browser at `base` remember a session; with "" forget it."""
        response.set_cookie(
            self.name(base),
            secret,
            max_age=int(SESSION_TTL_S) if secret else 0,
            path="/",
            secure=base.startswith("https://"),
            httponly=True,
            samesite="strict",
        )
        return response

    def as_key(self, scope: Any) -> Any:
        """The same request with the cookie's secret where keys stand, if it may lean on it; else as it is.

        One that carries a key goes by the key.
        """
        if not scope["path"].startswith(_OPENED) or scope["path"].endswith("/mcp"):
            return scope
        if any(name in CREDENTIAL_HEADERS for name, _ in scope["headers"]):
            return scope
        secret = self.secret(scope)
        if not secret or not self._is_our_page(scope):
            return scope
        return {**scope, "headers": [*scope["headers"], (b"authorization", b"Bearer " + secret.encode("latin-1"))]}

    def _is_our_page(self, scope: Any) -> bool:
        headers = map_headers(scope["headers"])
        site, origin = headers.get(b"sec-fetch-site"), headers.get(b"origin")
        if site is not None:
            return site == b"same-origin"
        if origin is not None:
            place = f"{_scheme(scope)}://".encode() + headers.get(b"host", b"").lower()
            return origin.lower() in (place, self._place(scope, headers).encode("latin-1"))
        return PAGE_HEADER in headers

    def _place(self, scope: Any, headers: dict[bytes, bytes]) -> str:
        return self._base(headers.get(b"host", b""), _scheme(scope))


def _scheme(scope: Any) -> str:
    scheme = str(scope.get("scheme", "http"))
    return _SECURE.get(scheme, scheme)


def _parsed(text: str) -> dict[str, str]:
    pairs = (part.partition("=") for part in text.split(";"))
    return {name.strip(): value.strip() for name, _, value in pairs}
