"""Serves the files of web cards to the frames that they run in, at addresses that only the canvas page learns.

A card is others' code. Its frame is sandboxed and of an opaque origin, so that nothing it asks carries our cookie, and
each answer repeats that as a policy, so that an address opened by itself is no page of ours either. What it may load is
its own package, and the hosts that its owner has accepted for "network". It knows no board. ADR 0029.
"""

import hmac
import re
from base64 import urlsafe_b64encode
from pathlib import Path, PurePosixPath
from typing import Any, Final
from urllib.parse import quote, urlsplit

import anyio
import anyio.to_thread
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from toolwire.canvas.packages import Package, Packages
from toolwire.card.manifest import Manifest
from toolwire.core.errors import PackageNotFound, ToolwireError
from toolwire.surfaces.limits import Guard, map_headers

PREFIX: Final = "/card-frames/"
_PURPOSE: Final = b"card-frame\x00"
_TYPES: Final = {
    ".html": "text/html; charset=utf-8",
    ".htm": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json",
    ".txt": "text/plain; charset=utf-8",
    ".wasm": "application/wasm",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".webp": "image/webp",
    ".avif": "image/avif",
    ".ico": "image/x-icon",
    ".woff": "font/woff",
    ".woff2": "font/woff2",
    ".ttf": "font/ttf",
    ".otf": "font/otf",
    ".mp3": "audio/mpeg",
    ".ogg": "audio/ogg",
    ".wav": "audio/wav",
    ".mp4": "video/mp4",
    ".webm": "video/webm",
}
_PLACE: Final = re.compile(r"[A-Za-z0-9.-]+(:[0-9]+)?")
_PLAIN: Final = "application/octet-stream"
_DOCUMENTS: Final = (".html", ".htm", ".svg")
_SHARED: Final = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",  # an address is a secret
    "x-dns-prefetch-control": "off",
    "cross-origin-opener-policy": "same-origin",
    # A frame of an opaque origin is another origin to everything, its own files too.
    "access-control-allow-origin": "*",
    "cross-origin-resource-policy": "cross-origin",
}


class CardFrames:
    """The files of accepted web cards, as an ASGI app for the paths that `serves` names.

    Args:
        packages: all packages.
        secret: what addresses are made with.
        guard: tells our own Host from others'.
        public_url: where the host is reached from outside; `None` where that is not known.
    """

    def __init__(self, packages: Packages, secret: bytes, guard: Guard, public_url: str | None) -> None:
        self._packages = packages
        self._secret = secret
        self._guard = guard
        self._public_place = urlsplit(public_url or "").netloc

    def serves(self, path: str) -> bool:
        """Whether a path is a card's file."""
        return path.startswith(PREFIX)

    def entry(self, package: Package) -> str | None:
        """Where the page of what was accepted is; `None` where nothing was, or it has none."""
        version = package.accepted
        return None if version is None or version.manifest.is_python else self.file(package, version.manifest.entry)

    def icon(self, package: Package) -> str | None:
        """Where the picture of what was accepted is; `None` where there is none."""
        version = package.accepted
        return None if version is None or version.manifest.icon is None else self.file(package, version.manifest.icon)

    def file(self, package: Package, path: str) -> str:
        """Where a file of what was accepted is; another version's files are elsewhere."""
        return f"{self._folder(package)}{quote(path)}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One HTTP request. Keys and cookies count for nothing: the address alone does."""
        await (await self._answer(scope))(scope, receive, send)

    async def _answer(self, scope: Scope) -> Response:
        host = map_headers(scope["headers"]).get(b"host", b"")
        try:
            self._guard.check({b"host": host})  # a frame's Origin is `null`, which is nobody's
            package, path = self._named(scope["path"])
        except PackageNotFound:
            return _told("there is no such card", 404)
        except ToolwireError as error:
            return _told(error.told, 421)
        if scope["method"] not in ("GET", "HEAD"):
            return _told("a card's files are read with GET", 405, allow="GET, HEAD")
        data = await anyio.to_thread.run_sync(_read, self._packages.tree(package), path)
        if data is None:
            return _told("the card has no such file", 404)
        suffix = PurePosixPath(path).suffix.lower()
        is_document = suffix in _DOCUMENTS
        headers = {
            **_SHARED,
            "content-security-policy": self._policy(package, host.decode("latin-1")),
            # What is at an address never changes; a policy may, with the host.
            "cache-control": "no-store" if is_document else "private, max-age=31536000, immutable",
        }
        return Response(data, 200, headers, _TYPES.get(suffix, _PLAIN))

    def _folder(self, package: Package) -> str:
        return f"{PREFIX}{package.id}-{self._token(package)}/"

    def _token(self, package: Package) -> str:
        assert package.accepted is not None
        named = f"{package.id}\x00{package.accepted.digest}".encode()
        return urlsafe_b64encode(hmac.digest(self._secret, _PURPOSE + named, "sha256")).decode().rstrip("=")

    def _named(self, path: str) -> tuple[Package, str]:
        """The package and the file that a path means.

        Raises:
            PackageNotFound: it is nobody's, or an older version's.
        """
        capability, _, file = path.removeprefix(PREFIX).partition("/")
        package_id, _, token = capability.partition("-")
        package = self._packages.get(self._packages.owner_of(package_id), package_id)
        known = None if package.accepted is None else self._token(package)
        if known is None or not hmac.compare_digest(known.encode(), token.encode()):
            raise PackageNotFound("this address is of no card")
        return package, file

    def _policy(self, package: Package, host: str) -> str:
        assert package.accepted is not None
        folder = self._folder(package)
        # "http" is "https" too, there. Policies cannot name IPv6 addresses; what the host serves to all is let in then.
        places = {place if _PLACE.fullmatch(place) else "" for place in (host, self._public_place or host)}
        own = " ".join(sorted(f"http://{place}{folder}" if place else "'self'" for place in places))
        hosts = "".join(f" https://{host}" for host in _hosts(package.accepted.manifest))
        return (
            f"default-src 'none'; script-src {own} 'wasm-unsafe-eval'; style-src {own} 'unsafe-inline'; "
            f"img-src {own}{hosts} data: blob:; media-src {own}{hosts} data: blob:; font-src {own} data:; "
            f"connect-src {own}{hosts}; worker-src blob:; base-uri 'none'; form-action 'none'; "
            "frame-ancestors 'self'; sandbox allow-scripts"
        )


def _hosts(manifest: Manifest) -> list[str]:
    """What a card may ask over the network, as its owner has accepted it."""
    return [
        host
        for permission in manifest.permissions
        if permission.id == "network" and not permission.optional
        for host in permission.hosts
    ]


def _read(tree: Path, path: str) -> bytes | None:
    """A file of a tree; `None` where there is none, whatever the path tries."""
    parts = PurePosixPath(path).parts
    if not parts or path.startswith("/") or "\\" in path or "\x00" in path or ".." in parts:
        return None
    file = tree.joinpath(*parts)
    if not file.resolve().is_relative_to(tree.resolve()):
        return None
    try:
        return file.read_bytes()
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None


def _told(text: str, status: int, **more: Any) -> Response:
    headers = {"x-content-type-options": "nosniff", "cache-control": "no-store", **more}
    return Response(f"{text}\n", status, headers, "text/plain; charset=utf-8")
