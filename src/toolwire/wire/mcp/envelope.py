"""What every request and result of 2026-07-28 carries in `_meta`, and the routing headers; it dispatches nothing.

Spec: MCP 2026-07-28, basic/transports#standard-headers and basic/index#meta; the order of the checks is mcp.md 1.3.
"""

import binascii
from base64 import b64decode, b64encode
from collections.abc import Mapping

from msgspec import Struct

from toolwire.core.errors import HeaderMismatch, InvalidParam, UnsupportedVersion
from toolwire.core.jsontypes import JsonObject, as_object
from toolwire.wire.jsonrpc import Message
from toolwire.wire.mcp.versions import LEGACY, MODERN

VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"
CLIENT_INFO_KEY = "io.modelcontextprotocol/clientInfo"
SERVER_INFO_KEY = "io.modelcontextprotocol/serverInfo"
PROGRESS_KEY = "progressToken"

ROUTED_BY = {
    "tools/call": "name",
    "prompts/get": "name",
    "resources/read": "uri",
    "tasks/get": "taskId",
    "tasks/update": "taskId",
    "tasks/cancel": "taskId",
}
"""Methods whose `Mcp-Name` header repeats a parameter."""

_SENT_ONCE = (b"mcp-protocol-version", b"mcp-method")


class Meta(Struct, frozen=True):
    """What a request of 2026-07-28 says of itself."""

    version: str
    capabilities: JsonObject


def read_meta(message: Message) -> Meta:
    """The envelope of a request.

    Raises:
        InvalidParam: `_meta` or one of its two required members is missing or of the wrong type.
    """
    meta = as_object(message.params.get("_meta"))
    if meta is None:
        raise InvalidParam("params._meta must be an object on this protocol version", param="params._meta")
    version = meta.get(VERSION_KEY)
    if type(version) is not str:
        raise InvalidParam(f"params._meta must hold {VERSION_KEY!r}, a string", param=f"params._meta.{VERSION_KEY}")
    capabilities = as_object(meta.get(CAPABILITIES_KEY))
    if capabilities is None:
        raise InvalidParam(
            f"params._meta must hold {CAPABILITIES_KEY!r}, an object", param=f"params._meta.{CAPABILITIES_KEY}"
        )
    return Meta(version, capabilities)


def check_sent_once(headers: Mapping[bytes, bytes]) -> None:
    """Refuse routing headers that were sent twice: which of them holds is not ours to guess.

    No version and no method has a comma, which is what joins a header's values.

    Raises:
        HeaderMismatch: names the header.
    """
    for name in _SENT_ONCE:
        if b"," in headers.get(name, b""):
            raise HeaderMismatch(f"the header {name.decode()!r} was sent more than once; send it once")


class Routing(Struct, frozen=True):
    """Routing headers that are as they should be, for some request; the next one may have the very same headers."""

    version: str
    method: str
    name: str | None

    def fits(self, message: Message) -> bool:
        """Whether these headers and the envelope of `message` pass every check of both; if not, `check_…` say why."""
        params = message.params
        meta = as_object(params.get("_meta"))
        return (
            meta is not None
            and meta.get(VERSION_KEY) == self.version
            and as_object(meta.get(CAPABILITIES_KEY)) is not None
            and message.method == self.method
            and (self.name is None or params.get(ROUTED_BY[self.method]) == self.name)
        )


def check_routing(message: Message, headers: Mapping[bytes, bytes]) -> Routing:
    """Hold the routing headers against the envelope of a request, in the order of mcp.md 1.3.

    Raises:
        HeaderMismatch: a header is missing, doubled, or differs from the body.
        InvalidParam: see `read_meta`.
        UnsupportedVersion: header and body agree on a version that we do not speak.
    """
    check_sent_once(headers)
    meta = read_meta(message)
    check_headers(message, meta, headers)
    key = ROUTED_BY.get(message.method)
    return Routing(meta.version, message.method, None if key is None else message.params[key])


def check_headers(message: Message, meta: Meta, headers: Mapping[bytes, bytes]) -> None:
    """Hold the routing headers against the body, then the version against ours.

    Raises:
        HeaderMismatch: a header is missing, doubled, or differs from the body.
        UnsupportedVersion: header and body agree on a version that we do not speak.
    """
    header = _text(headers.get(b"mcp-protocol-version", b""))
    if header != meta.version:
        raise HeaderMismatch(
            f"MCP-Protocol-Version is {header!r} and params._meta says {meta.version!r}; send one value"
        )
    method = _text(headers.get(b"mcp-method", b""))
    if method != message.method:
        raise HeaderMismatch(f"Mcp-Method is {method!r} and the body's method {message.method!r}; send one value")
    key = ROUTED_BY.get(message.method)
    if key is not None:
        name = decode_header_value(headers.get(b"mcp-name", b""))
        if name != message.params.get(key):
            raise HeaderMismatch(f"Mcp-Name is {name!r}, which is not params.{key}; send one value")
    if meta.version not in MODERN:
        raise UnsupportedVersion(
            f"protocol version {meta.version!r} is not spoken here", supported=list(MODERN), requested=meta.version
        )


def names_version(message: Message) -> str | None:
    """The protocol version that a request's `_meta` names, if it names one."""
    meta = as_object(message.params.get("_meta"))
    version = None if meta is None else meta.get(VERSION_KEY)
    return version if isinstance(version, str) else None


def check_no_modern_meta(message: Message, header: bytes | None) -> None:
    """Refuse a request that came on the older wire while its body names the newer one (mcp.md S28).

    Raises:
        HeaderMismatch: naming both values.
    """
    version = names_version(message)
    if version is not None and version not in LEGACY:
        said = None if header is None else header.decode("latin-1")
        raise HeaderMismatch(f"MCP-Protocol-Version is {said!r} and params._meta says {version!r}; send one value")


def decode_header_value(value: bytes) -> str:
    """A routing header's value: trimmed, and `=?base64?…?=` decoded when it is canonical.

    Raises:
        HeaderMismatch: the base64 form is malformed.
    """
    text = _text(value)
    if not (text.startswith("=?base64?") and text.endswith("?=")):
        return text
    inner = text[9:-2].encode("latin-1")
    try:
        raw = b64decode(inner, validate=True)
        decoded = raw.decode()
    except (binascii.Error, UnicodeDecodeError):
        raise HeaderMismatch(f"header value {text!r} is not canonical base64 of UTF-8") from None
    if b64encode(raw) != inner:
        raise HeaderMismatch(f"header value {text!r} is not canonical base64 of UTF-8")
    return decoded


def _text(value: bytes) -> str:
    """A header's value without the white space around it."""
    return value.strip().decode("latin-1")
