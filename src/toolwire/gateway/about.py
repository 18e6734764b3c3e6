"""The resources by which every agent tells of itself (gateway.md 51, §6); it reads no other resource.

Each is at `toolwire://agent/…` and, for programs that know it so, at `beeos://agent/…`.
"""

from typing import Final

import msgspec
from msgspec import Raw

from toolwire.core.jsontypes import JsonObject
from toolwire.core.resource import Resource
from toolwire.core.result import ResourceContents
from toolwire.engine.catalog import Catalog

_JSON: Final = "application/json"
_SCHEMES: Final = ("toolwire", "beeos")
_TOLD: Final = {
    "config": ("Agent configuration", "Who this agent is and how it takes calls, as JSON."),
    "skills": ("Agent skills", "What this agent can be called for, as JSON: the tools with their schemas."),
}

OWN_RESOURCES: Final = tuple(
    Resource(f"{scheme}://agent/{name}", name, title, description, _JSON)
    for scheme in _SCHEMES
    for name, (title, description) in _TOLD.items()
)
OWN_URIS: Final = frozenset(resource.uri for resource in OWN_RESOURCES)
CONFIG_URIS: Final = tuple(f"{scheme}://agent/config" for scheme in _SCHEMES)
SKILLS_URIS: Final = tuple(f"{scheme}://agent/skills" for scheme in _SCHEMES)

_encode = msgspec.json.Encoder().encode


def about(uri: str, config: JsonObject, catalog: Catalog) -> ResourceContents | None:
    """The contents of one of `OWN_URIS`; `None` for any other URI.

    Args:
        uri: as the client spelled it; it is repeated.
        config: what `config` tells.
        catalog: the agent's tools.
    """
    if uri in CONFIG_URIS:
        return ResourceContents(uri, _JSON, _encode(config).decode())
    if uri in SKILLS_URIS:
        return ResourceContents(uri, _JSON, _encode({"skills": Raw(catalog.listing())}).decode())
    return None
