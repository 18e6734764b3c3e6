"""Where a browser may be sent with a code: which addresses a client may name, and when one is that address.

It sends nobody anywhere. Spec: OAuth 2.1, 2.3 and 7.5; RFC 8252, 7.1 and 7.3; RFC 9700, 4.1.3.
"""

import re
from collections.abc import Iterable
from urllib.parse import SplitResult, urlsplit

import msgspec

from toolwire.gateway.oauth.refused import Refused
from toolwire.gateway.places import is_loopback

MAX_URI_LEN = 512
MAX_URIS = 10

_SAFE = re.compile(r"[A-Za-z0-9\-._~:/?\[\]@!$&'()*+,;=%]+")
"""The characters of a URI but `#`: a code must not end up in a fragment."""
_HOST = re.compile(r"[A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\]")
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*")
_NOT_OF_APPS = frozenset(
    "about blob chrome chrome-extension content data devtools file filesystem ftp intent jar javascript mailto "
    "ms-appinstaller resource sms tel vbscript view-source ws wss".split()
)
"""Schemes that browsers or systems act upon themselves; an app's own scheme (RFC 8252, 7.1) is none of them."""


def check_redirect_uri(uri: str) -> str:
    """An address that a client may register.

    That is https, http on this machine, or a scheme of an app; without fragment, user name or odd characters.

    Raises:
        Refused: `invalid_redirect_uri`.
    """
    if not 0 < len(uri) <= MAX_URI_LEN or not _SAFE.fullmatch(uri):
        raise _refused(f"a redirect URI has up to {MAX_URI_LEN} characters of a URI and no fragment")
    parts = _split(uri)
    if parts is None or not _SCHEME.fullmatch(parts.scheme):
        raise _refused("a redirect URI is absolute")
    if parts.scheme in ("http", "https"):
        if not parts.hostname or not _HOST.fullmatch(parts.netloc.rsplit(":", 1)[0] if parts.port else parts.netloc):
            raise _refused("a redirect URI names a plain host and no user")
        if parts.scheme == "http" and not is_loopback(parts.hostname):
            raise _refused("a redirect URI is https, unless it is on this machine")
    elif parts.scheme in _NOT_OF_APPS or not uri[len(parts.scheme) + 1 :].strip("/"):
        raise _refused("a redirect URI is https, http on this machine, or of the app's own scheme")
    elif "@" in parts.netloc:
        raise _refused("a redirect URI names no user")
    return uri


def check_redirect_uris(uris: object) -> tuple[str, ...]:
    """The addresses that a client registers.

    Raises:
        Refused: `invalid_redirect_uri`.
    """
    try:
        listed = msgspec.convert(uris, list[str])
    except msgspec.ValidationError:
        listed = []
    if not 0 < len(listed) <= MAX_URIS:
        raise _refused(f"redirect_uris is a list of 1 to {MAX_URIS} addresses")
    return tuple(check_redirect_uri(uri) for uri in listed)


def is_registered(uri: str, registered: Iterable[str]) -> bool:
    """Whether `uri` is one of these, character by character; on loopback with any port (RFC 8252, 7.3)."""
    known = set(registered)
    if uri in known:
        return True
    plain = _without_port(uri)
    return plain is not None and plain in {_without_port(each) for each in known}


def shown_host(uri: str) -> str:
    """Where `uri` leads, for people: a host, or an app's scheme."""
    parts = urlsplit(uri)
    if parts.scheme in ("http", "https"):
        return parts.netloc
    return f"{parts.scheme}:"


def is_local(uri: str) -> bool:
    """Whether `uri` leads to a program on this machine: by loopback."""
    parts = urlsplit(uri)
    return parts.scheme == "http" and is_loopback(parts.hostname or "")


def form_source(uri: str) -> str:
    """What `form-action` of a content security policy must let through for a browser to be sent to `uri`."""
    parts = urlsplit(uri)
    return f"{parts.scheme}://{parts.netloc}" if parts.scheme in ("http", "https") else f"{parts.scheme}:"


def _without_port(uri: str) -> tuple[str | None, str, str] | None:
    """A loopback address without its port; `None` for any other."""
    if not _SAFE.fullmatch(uri) or (parts := _split(uri)) is None or "@" in parts.netloc:
        return None
    if parts.scheme != "http" or not is_loopback(parts.hostname or ""):
        return None
    return parts.hostname, parts.path, parts.query


def _split(uri: str) -> SplitResult | None:
    try:
        parts = urlsplit(uri)
        return parts if parts.port is None or parts.port > 0 else None
    except ValueError:  # no such port, or half an address
        return None


def _refused(description: str) -> Refused:
    return Refused("invalid_redirect_uri", description)
