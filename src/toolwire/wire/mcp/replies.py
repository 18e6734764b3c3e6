"""Results as MCP's JSON, for either revision; it decides no status and sends nothing.

Spec: MCP 2025-11-25 and 2026-07-28, server/tools#tool-result; envelope keys of 2026-07-28: basic/index#meta.
"""

from typing import Any

import msgspec
from msgspec import UNSET

from toolwire.core.event import Progress
from toolwire.core.jsontypes import JsonObject
from toolwire.core.result import Content, Embedded, Link, ResourceContents, Result
from toolwire.wire.mcp.envelope import SERVER_INFO_KEY
from toolwire.wire.mcp.handshake import ServerInfo
from toolwire.wire.mcp.versions import has_resource_links

_encode = msgspec.json.Encoder().encode


class Stamp:
    """What an endpoint adds to every result of 2026-07-28, encoded once."""

    __slots__ = ("complete", "server_info")

    def __init__(self, info: ServerInfo) -> None:
        self.server_info = _encode(info.implementation())
        meta = b'"_meta":{"%b":%b}' % (SERVER_INFO_KEY.encode(), self.server_info)
        self.complete = b'"resultType":"complete",' + meta


def plain_result(members: JsonObject) -> bytes:
    """A result of the older wire."""
    return _encode(members)


def modern_result(members: JsonObject, stamp: Stamp) -> bytes:
    """A result of 2026-07-28 without a `_meta` of its own."""
    inner = _encode(members)[1:-1]
    return b"{%b%b%b}" % (inner, b"," if inner else b"", stamp.complete)


CACHED_PRIVATELY: JsonObject = {"ttlMs": 0, "cacheScope": "private"}
"""Caching hints that every list must carry on 2026-07-28: ask again, and share with nobody."""


def tools_list_result(listing: bytes, stamp: Stamp | None) -> bytes:
    """`tools/list`; `stamp` on 2026-07-28 only."""
    if stamp is None:
        return b'{"tools":%b}' % listing
    return b'{"tools":%b,"ttlMs":0,"cacheScope":"private",%b}' % (listing, stamp.complete)


def tool_result(result: Result, meta: JsonObject | None, stamp: Stamp | None, version: str) -> bytes:
    """`tools/call`. Members that are not set are left out; `meta` joins the tool's own `_meta`.

    The older wire takes objects alone as structured content: what is none stands in the content already.
    """
    content = result.content
    if not has_resource_links(version):
        content = tuple(without_links(block) for block in content)
    parts = [b'{"content":', _encode(content)]
    if result.structured is not UNSET:
        structured = _encode(result.structured)
        if stamp is not None or structured.startswith(b"{"):
            parts += (b',"structuredContent":', structured)
    if result.error is not None:
        parts.append(b',"isError":true')
    if result.meta:
        meta = {**result.meta, **(meta or {})}
        meta.pop(SERVER_INFO_KEY, None)  # who we are is not a tool's to say
    if stamp is not None:
        if meta:
            inner = _encode(meta)[1:-1]
            parts += (b',"resultType":"complete","_meta":{', inner, b',"', SERVER_INFO_KEY.encode(), b'":')
            parts += (stamp.server_info, b"}")
        else:
            parts += (b",", stamp.complete)
    elif meta:
        parts += (b',"_meta":', _encode(meta))
    parts.append(b"}")
    return b"".join(parts)


def progress_body(token: bytes, progress: Progress) -> bytes:
    """`notifications/progress` for the request that gave `token`."""
    params: dict[str, Any] = {"progressToken": msgspec.Raw(token), "progress": progress.progress}
    if progress.total is not None:
        params["total"] = progress.total
    if progress.message is not None:
        params["message"] = progress.message
    return _encode({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})


def without_links(block: Content) -> Content:
    """A link for a client that does not know the block: its URI as an embedded text (gateway.md D17)."""
    if isinstance(block, Link):
        return Embedded(ResourceContents(block.uri, "text/uri-list", block.uri))
    return block
