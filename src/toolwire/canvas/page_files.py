"""Serves the built page of the canvas: one document for all its addresses, and its assets; it knows no board.

The document holds nothing of anybody, so what matters of a sign-in is only where to go first; everything it shows it
asks for by itself. `make web` makes the files; assets are named by their content, beside compressed copies.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import anyio
import anyio.to_thread
from starlette.responses import RedirectResponse, Response
from starlette.types import Receive, Scope, Send

from toolwire.core.errors import ToolwireError
from toolwire.surfaces.limits import Guard, map_headers

SIGN_IN: Final = "/sign-in"
HOME: Final = "/"
ASSETS: Final = "/assets/"
BELOW: Final = ("/w/", "/gateway/", ASSETS)
NOT_BUILT: Final = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>Toolwire</title>'
    "<h1>The page is not built yet</h1><p>Run <code>make web</code> in the folder of the sources, and load this again. "
    'The host itself is up: <a href="/docs/api">what it answers over REST</a>.</p>'
)

_ASSET = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,200}")
_CODINGS: Final = (("br", ".br"), ("gzip", ".gz"))
_TYPES: Final = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".webp": "image/webp",
    ".woff2": "font/woff2",
    ".json": "application/json",
}
_FOREVER: Final = "public, max-age=31536000, immutable"
# Style elements are let in: the terminal and the dialogs' libraries write theirs at run time. Scripts are not.
_POLICY: Final = (
    "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "media-src 'self' data: blob:; font-src 'self'; connect-src 'self'; frame-src 'self'; object-src 'none'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
_SHARED: Final = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
_DOCUMENT: Final = {
    **_SHARED,
    "content-security-policy": _POLICY,
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
    "cache-control": "no-store",
    "vary": "Cookie",
}


class PageFiles:
    """The page, as an ASGI app for the paths that `serves` names.

    Args:
        folder: where the build has put it; it may be absent, and may change while we run.
        is_signed_in: whether a browser that asks is.
        guard: tells our own Host from others'.
    """

    def __init__(self, folder: Path, is_signed_in: Callable[[Scope], bool], guard: Guard) -> None:
        self._folder = folder
        self._is_signed_in = is_signed_in
        self._guard = guard

    def serves(self, path: str) -> bool:
        """Whether a path is one of the page's."""
        return path == HOME or (path.startswith(BELOW) and not path.endswith("/mcp"))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One HTTP request."""
        await (await self._answer(scope))(scope, receive, send)

    async def _answer(self, scope: Scope) -> Response:
        headers = map_headers(scope["headers"])
        try:
            self._guard.check(headers)
        except ToolwireError as error:
            return _told(error.told, 421 if error.code == "host_not_allowed" else 403)
        if scope["method"] not in ("GET", "HEAD"):
            return _told("the page is read with GET", 405, allow="GET, HEAD")
        path: str = scope["path"]
        if path.startswith(ASSETS):
            return await self._asset(path.removeprefix(ASSETS), headers.get(b"accept-encoding", b"").decode("latin-1"))
        # Who comes from another site is not asked for the cookie, which browsers keep back then; the page itself
        # asks at once, as ours.
        if headers.get(b"sec-fetch-site") != b"cross-site" and not self._is_signed_in(scope):
            onward = "" if path == HOME else f"?next={path}"
            return RedirectResponse(f"{SIGN_IN}{onward}", 303, {"cache-control": "no-store"})
        return await self._document()

    async def _document(self) -> Response:
        data = await _read(self._folder / "index.html")
        if data is None:
            return Response(NOT_BUILT, 503, _DOCUMENT, "text/html; charset=utf-8")
        return Response(data, 200, _DOCUMENT, "text/html; charset=utf-8")

    async def _asset(self, name: str, accepted: str) -> Response:
        media_type = _TYPES.get(Path(name).suffix)
        if media_type is None or not _ASSET.fullmatch(name):
            return _told("there is no such asset", 404)
        headers = {**_SHARED, "cache-control": _FOREVER, "vary": "Accept-Encoding"}
        plain = self._folder / "assets" / name
        for coding, suffix in _CODINGS:
            if _takes(accepted, coding):
                data = await _read(plain.with_name(name + suffix))
                if data is not None:
                    return Response(data, 200, {**headers, "content-encoding": coding}, media_type)
        data = await _read(plain)
        return _told("there is no such asset", 404) if data is None else Response(data, 200, headers, media_type)


async def _read(path: Path) -> bytes | None:
    try:
        return await anyio.to_thread.run_sync(path.read_bytes)
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None


def _takes(accepted: str, coding: str) -> bool:
    """Whether `Accept-Encoding` lets this coding in (RFC 9110, 12.5.3)."""
    for part in accepted.split(",")[:20]:
        name, _, weight = part.partition(";")
        if name.strip().lower() == coding:
            return weight.replace(" ", "").rstrip("0").rstrip(".") not in ("q=", "q=0")
    return False


def _told(text: str, status: int, **more: Any) -> Response:
    return Response(f"{text}\n", status, {**_SHARED, "cache-control": "no-store", **more}, "text/plain; charset=utf-8")
