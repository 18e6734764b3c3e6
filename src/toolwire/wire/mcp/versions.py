"""The protocol versions and how one endpoint tells the two wires apart; it reads no body.

Spec: contract mcp.md 1.1; MCP 2025-11-25 basic/lifecycle; MCP 2026-07-28 basic/versioning.
"""

LEGACY = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
"""Versions with the initialize handshake, oldest first."""
MODERN = ("2026-07-28",)
"""Versions whose requests stand alone."""
LATEST_LEGACY = LEGACY[-1]
LATEST_MODERN = MODERN[-1]
ASSUMED = "2025-03-26"
"""What a request speaks that names no version."""

_LEGACY_HEADERS = {version.encode(): version for version in LEGACY}


def legacy_version(header: bytes | None) -> str | None:
    """The version of the initialize wire that a request with this `MCP-Protocol-Version` (or none) speaks.

    `None` says that it takes the other wire, which answers for every version that is not ours.
    """
    if header is None:
        return ASSUMED
    return _LEGACY_HEADERS.get(header) or _LEGACY_HEADERS.get(header.strip())


def is_legacy(header: bytes | None) -> bool:
    """Whether a request with this `MCP-Protocol-Version` (or none) takes the initialize wire."""
    return legacy_version(header) is not None


def negotiate(requested: object) -> str:
    """The version to answer an `initialize` with: the requested one if we speak it there, else our latest."""
    return requested if isinstance(requested, str) and requested in LEGACY else LATEST_LEGACY


def has_resource_links(version: str) -> bool:
    """Whether a result may hold `resource_link` blocks (since 2025-06-18; versions are dates, so they compare)."""
    return version >= "2025-06-18"
