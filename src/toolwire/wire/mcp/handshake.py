"""What a server says of itself: `initialize` and `server/discover`; it keeps no session.

Spec: MCP 2025-11-25 basic/lifecycle#initialization; MCP 2026-07-28 server/discover.
"""

from typing import Final

from msgspec import Struct

from toolwire.core.errors import InvalidParam
from toolwire.core.jsontypes import JsonObject
from toolwire.wire.jsonrpc import Message
from toolwire.wire.mcp.versions import MODERN, negotiate

TASKS: Final = "io.modelcontextprotocol/tasks"
"""The name of the tasks extension, where it is declared and where it is advertised; every endpoint serves it."""


class ServerInfo(Struct, frozen=True):
    """Name and version shown to clients, and words for the model that reads the tools."""

    name: str
    version: str
    title: str | None = None
    instructions: str | None = None

    def implementation(self) -> JsonObject:
        """MCP's `Implementation` object."""
        shown: JsonObject = {"name": self.name, "version": self.version or "0"}
        if self.title:
            shown["title"] = self.title
        return shown


class Features(Struct, frozen=True):
    """What is served beside tools; advertised is what has a handler (mcp.md S36).

    `changes` says that clients are told when something of this changes.
    """

    resources: bool = False
    prompts: bool = False
    completions: bool = False
    logging: bool = False
    changes: bool = False


TOOLS_ALONE = Features()


def capabilities(features: Features = TOOLS_ALONE) -> JsonObject:
    """What is served, on either wire."""
    served = {
        "tools": True,
        "resources": features.resources,
        "prompts": features.prompts,
        "completions": features.completions,
        "logging": features.logging,
    }
    shown: JsonObject = {name: {} for name, is_served in served.items() if is_served}
    if features.changes:
        for name in ("tools", "resources", "prompts"):
            if name in shown:
                shown[name] = {"listChanged": True}
        if features.resources:
            shown["resources"]["subscribe"] = True
    return shown


def initialize_result(message: Message, info: ServerInfo, features: Features = TOOLS_ALONE) -> JsonObject:
    """The answer to `initialize`.

    Raises:
        InvalidParam: `protocolVersion` is missing or not a string.
    """
    requested = message.params.get("protocolVersion")
    if not isinstance(requested, str):
        raise InvalidParam("params.protocolVersion must be a string such as '2025-11-25'", param="protocolVersion")
    result: JsonObject = {
        "protocolVersion": negotiate(requested),
        "capabilities": capabilities(features),
        "serverInfo": info.implementation(),
    }
    if info.instructions:
        result["instructions"] = info.instructions
    return result


def discover_result(info: ServerInfo, features: Features = TOOLS_ALONE) -> JsonObject:
    """The answer to `server/discover`, before the result envelope."""
    served: JsonObject = {**capabilities(features), "extensions": {TASKS: {}}}
    result: JsonObject = {"supportedVersions": list(MODERN), "capabilities": served}
    if info.instructions:
        result["instructions"] = info.instructions
    return result
