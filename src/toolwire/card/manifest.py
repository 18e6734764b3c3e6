"""A card's manifest, `toolwire-card.json`, as a value, and everything that can be wrong with one, in words.

It reads bytes alone: whether the files that a manifest names are there is for whoever has the package. The rules are in
`manifest_rules`, and its shape in `manifest.schema.json`. Contract: cards.md §2.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec
from msgspec import Struct

from toolwire.card.manifest_rules import DEFAULT_SIZE, Finding, english, errors_in, hosts_of, warnings_in
from toolwire.card.names import shown_description
from toolwire.core.errors import InvalidParam
from toolwire.core.jsontypes import MAX_DEPTH, JsonObject, as_object, is_too_deep, may_be_deep

MANIFEST_NAMES = ("toolwire-card.json", "neurosquad-card.json")
"""What a manifest may be called, in the order in which they are looked for."""
MAX_MANIFEST_BYTES = 256 * 1024
DEFAULT_ENTRY = "index.html"
DEFAULT_TIMEOUT_MS = 30_000

IMPLIED = {
    "agents.output": "agents.read",
    "agents.prompt": "agents.read",
    "terminals.write": "agents.read",
    "fs.write": "fs.read",
}
"""A permission, and the one that it brings along."""
RISKS: Mapping[str, Literal["low", "medium", "high"]] = {
    "agents.read": "low",
    "agents.output": "high",
    "agents.prompt": "high",
    "terminals.write": "high",
    "cards.connected": "medium",
    "network": "medium",
    "network.local": "high",
    "fs.read": "high",
    "fs.write": "high",
    "clipboard.write": "low",
    "canvas.spawn": "low",
    "background": "low",
    "usage.read": "low",
}


class ToolSpec(Struct, frozen=True, omit_defaults=True):
    """A tool as its card declares it. `timeout_ms` counts from the moment at which a ready card has the call."""

    name: str
    description: str
    input_schema: JsonObject
    title: str | None = None
    read_only: bool = False
    timeout_ms: int = DEFAULT_TIMEOUT_MS
    concurrency: int = 16


class Permission(Struct, frozen=True, omit_defaults=True):
    """Something that a card may do. `hosts` are those of "network"; an `optional` one is asked for when needed."""

    id: str
    hosts: tuple[str, ...] = ()
    reason: str = ""
    optional: bool = False


class Manifest(Struct, frozen=True, omit_defaults=True):
    """A manifest that has no errors. Texts are the English ones (decision 12); `raw` has all that was written."""

    name: str
    display_name: str
    version: str
    author: str | None = None
    description: str = ""
    entry: str = DEFAULT_ENTRY
    icon: str | None = None
    size: tuple[int, int] = DEFAULT_SIZE
    permissions: tuple[Permission, ...] = ()
    tools: tuple[ToolSpec, ...] = ()
    raw: JsonObject = {}

    def tool(self, name: str) -> ToolSpec | None:
        """The tool of that name."""
        return next((tool for tool in self.tools if tool.name == name), None)

    def shown_description(self, tool: ToolSpec) -> str:
        """What a model reads of a tool (cards.md 18)."""
        return shown_description(self.display_name, self.author, tool.description)

    @property
    def is_python(self) -> bool:
        """Whether the card is a process of its own (cards.md §7)."""
        return self.entry.endswith(".py")

    def permitted(self) -> frozenset[str]:
        """The permissions that it has once it is accepted, implied ones too; optional ones are asked for."""
        asked = {permission.id for permission in self.permissions if not permission.optional}
        return frozenset(asked | {IMPLIED[one] for one in asked if one in IMPLIED})


class Report(Struct, frozen=True):
    """What there is to say about a manifest."""

    errors: tuple[Finding, ...]
    warnings: tuple[Finding, ...]
    manifest: Manifest | None

    @property
    def ok(self) -> bool:
        """Whether it can be installed."""
        return not self.errors


def read_manifest(data: bytes) -> Manifest:
    """A manifest that can be installed.

    Raises:
        InvalidParam: it cannot; `errors` in the data are all findings, as `{"path", "code", "message"}`.
    """
    report = check_manifest(data)
    if report.manifest is None:
        first = report.errors[0]
        more = f" (and {len(report.errors) - 1} more)" if len(report.errors) > 1 else ""
        errors = [msgspec.structs.asdict(finding) for finding in report.errors]
        raise InvalidParam(
            f"the manifest cannot be used: {first.path or '(all)'}: {first.message}{more}", errors=errors
        )
    return report.manifest


def check_manifest(data: bytes) -> Report:
    """Everything that there is to say about the bytes of a manifest; no input raises."""
    try:
        decoded = _decoded(data)
    except ValueError as error:
        return Report((Finding("", "manifest_unreadable", str(error)),), (), None)
    errors = errors_in(decoded)
    if errors:
        return Report(tuple(errors), (), None)
    return Report((), tuple(warnings_in(decoded)), _manifest(decoded))


def _decoded(data: bytes) -> JsonObject:
    if len(data) > MAX_MANIFEST_BYTES:
        raise ValueError(f"it has {len(data)} bytes; {MAX_MANIFEST_BYTES} are taken")
    try:
        decoded = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(f"it is not JSON: {error}") from None
    if may_be_deep(data) and is_too_deep(decoded):
        raise ValueError(f"it is nested deeper than {MAX_DEPTH}")
    found = as_object(decoded)
    if found is None:
        raise ValueError("it must be a JSON object")
    return found


def _manifest(raw: JsonObject) -> Manifest:
    author = as_object(raw.get("author"))
    size = (as_object(raw.get("card")) or {}).get("defaultSize")
    return Manifest(
        name=raw["name"],
        display_name=english(raw["displayName"]),
        version=raw["version"],
        author=None if author is None else author["name"],
        description=english(raw.get("description", "")),
        entry=raw.get("entry", DEFAULT_ENTRY),
        icon=raw.get("icon"),
        size=DEFAULT_SIZE if size is None else (size["w"], size["h"]),
        permissions=_permissions(raw.get("permissions", [])),
        tools=tuple(_tool(tool) for tool in raw.get("tools", [])),
        raw=raw,
    )


def _tool(raw: JsonObject) -> ToolSpec:
    return ToolSpec(
        raw["name"],
        raw["description"],
        raw["inputSchema"],
        raw.get("title"),
        raw.get("readOnly", False),
        raw.get("timeoutMs", DEFAULT_TIMEOUT_MS),
        raw.get("concurrency", 16),
    )


def _permissions(raw: Sequence[Any]) -> tuple[Permission, ...]:
    """Each once: what is asked for twice is merged, and optional only if it is so each time."""
    merged: dict[str, Permission] = {}
    for one in raw:
        entry = as_object(one) or {"id": one}
        asked = Permission(entry["id"], hosts_of(one), english(entry.get("reason", "")), entry.get("optional", False))
        before = merged.get(asked.id)
        if before is not None:
            hosts = tuple(dict.fromkeys((*before.hosts, *asked.hosts)))
            optional = before.optional and asked.optional
            asked = Permission(asked.id, hosts, before.reason or asked.reason, optional)
        merged[asked.id] = asked
    return tuple(merged.values())
