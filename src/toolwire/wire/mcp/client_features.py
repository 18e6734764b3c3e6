"""What a client has declared that it can do, as a byte that a session id can carry; it asks nothing of the client.

Spec: MCP 2025-11-25 basic/lifecycle#capability-negotiation; on 2026-07-28 each request says it anew (mcp.md 1.2).
"""

from typing import Any

from toolwire.core.jsontypes import JsonObject, as_object

_BITS: tuple[tuple[str, ...], ...] = (
    ("sampling",),
    ("sampling", "tools"),
    ("sampling", "context"),
    ("elicitation",),
    ("elicitation", "form"),
    ("elicitation", "url"),
    ("roots",),
    ("roots", "listChanged"),
)
"""The place of each capability in the byte: where it stands among the capabilities."""


def pack_capabilities(declared: Any) -> int:
    """What `initialize` declared as a number below 256; what has no bit is left out."""
    return sum(1 << bit for bit, path in enumerate(_BITS) if _is_declared(declared, path))


def unpack_capabilities(packed: int) -> JsonObject:
    """The capabilities that stand for the byte."""
    found: JsonObject = {}
    for bit, path in enumerate(_BITS):
        if packed >> bit & 1:
            holder = found
            for name in path:
                holder = holder.setdefault(name, {})
    return found


def _is_declared(declared: Any, path: tuple[str, ...]) -> bool:
    for name in path:
        holder = as_object(declared)
        declared = None if holder is None else holder.get(name)
    return declared is not None and declared is not False
