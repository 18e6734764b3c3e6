"""A tool as its reader sees it, in MCP's words; it does not run anything."""

import hashlib
from typing import Any, Literal

import msgspec
from msgspec import Struct

from toolwire.core.jsontypes import JsonObject

RiskLevel = Literal["low", "medium", "high"]
TaskMode = Literal["never", "optional", "required", "later", "maybe"]
"""Whether calls of a tool are tasks: never, where the client knows tasks, or always, so that no other client has it.
With "later", too, no other client has it, and a call becomes a task when the tool's body says so. With "maybe" it is
the same, but other clients have it, too: they wait."""
EMPTY_SCHEMA: JsonObject = {"type": "object", "properties": {}}


class Tool(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """The definition of one tool.

    `input_schema` is a JSON Schema of type object, kept as written. `timeout_s` overrides the caller's default
    time-out, in seconds. `source` names where the tool comes from ("agent:<id>", "module:<name>", …).
    `idempotent` says that running it twice does no harm, so it may be sent again after a crash.
    `strict` says that a text is never decoded where the schema wants something else (mcp.md S27).
    `task` says whether its calls are tasks, which may go on for `task_timeout_s` when their request is over.
    `meta` is `_meta` as listed, which is for programs and no part of what a model reads.
    `risk_level`, `version`, `source`, `idempotent`, `strict` and what is said of time and tasks are ours and never go
    on MCP's wire.
    """

    name: str
    description: str = ""
    input_schema: JsonObject = msgspec.field(default_factory=lambda: dict(EMPTY_SCHEMA))
    title: str | None = None
    output_schema: JsonObject | None = None
    annotations: JsonObject | None = None
    icons: list[JsonObject] | None = None
    risk_level: RiskLevel = "low"
    version: str = "1"
    timeout_s: float | None = None
    source: str = ""
    idempotent: bool = False
    strict: bool = False
    task: TaskMode = "never"
    task_timeout_s: float | None = None
    meta: JsonObject | None = msgspec.field(default=None, name="_meta")

    def definition(self) -> JsonObject:
        """What a model reads of the tool: name, description and inputSchema always, the rest only when set."""
        shown: JsonObject = {"name": self.name, "description": self.description, "inputSchema": self.input_schema}
        optional: dict[str, Any] = {
            "title": self.title,
            "outputSchema": self.output_schema,
            "annotations": self.annotations,
            "icons": self.icons,
        }
        shown.update({key: value for key, value in optional.items() if value is not None})
        return shown

    def listed(self) -> JsonObject:
        """The tool as `tools/list` shows it."""
        return self.definition() if self.meta is None else {**self.definition(), "_meta": self.meta}

    def digest(self) -> str:
        """SHA-256 (hex) over everything a model reads, independent of key order; what consent and pinning compare."""
        return hashlib.sha256(msgspec.json.encode(self.definition(), order="deterministic")).hexdigest()

    @property
    def repeatable(self) -> bool:
        """Whether a lost call may be sent again: declared idempotent or read-only (gateway.md §6)."""
        notes = self.annotations or {}
        return self.idempotent or notes.get("idempotentHint") is True or notes.get("readOnlyHint") is True
