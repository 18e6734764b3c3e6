"""The tools of a turn, ready to run: name, risk, handler and what the model is told of each; it decides nothing."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from msgspec import Struct

from toolwire.core.call import Call
from toolwire.core.handler import Emit, Handler
from toolwire.core.jsontypes import JsonObject
from toolwire.core.tool import RiskLevel
from toolwire.sdk.context import ToolContext
from toolwire.sdk.tool import DecoratedTool
from toolwire.sdk.turns.outcome import ENDS

EDIT_TOOLS = ("Edit", "Write")
"""What `acceptEdits` lets through (sdk.md 30)."""
POLLING_TOOLS = ("BashOutput",)
"""Asking these again and again is what they are for, so the repetition guard leaves them alone."""


class Mounted(Struct, frozen=True):
    """One tool of a turn.

    Attributes:
        name: what the model calls it.
        risk_level: its grade in the permission table.
        handler: runs a call.
        entry: what the provider is told.
        source: where it comes from, for decisions and errors.
        builtin: whether it is one of ours, so that `acceptEdits` may mean it.
        overlaps: whether its calls may run beside others of the same response.
        timeout_s: its own time-out, in seconds.
        repeatable: running it twice does no harm.
        misfit: why arguments would be refused, or `None`.
    """

    name: str
    risk_level: RiskLevel
    handler: Handler
    entry: JsonObject
    source: str
    builtin: bool
    overlaps: bool
    timeout_s: float | None
    repeatable: bool
    misfit: Callable[[Any], str | None]


class Mounts:
    """The tools of a turn by name, and what the model is told of all of them."""

    def __init__(self, tools: Iterable[Mounted]) -> None:
        """Take the tools.

        Raises:
            ValueError: two have one name; the message names both sources.
        """
        self.by_name: dict[str, Mounted] = {}
        for mounted in tools:
            old = self.by_name.setdefault(mounted.name, mounted)
            if old is not mounted:
                raise ValueError(
                    f"tool name collision: {mounted.name!r} comes from {old.source} and from {mounted.source}"
                )
        self.entries: tuple[JsonObject, ...] = tuple(mounted.entry for mounted in self.by_name.values())

    def with_more(self, tools: Sequence[Mounted]) -> "Mounts":
        """These tools and more."""
        return Mounts((*self.by_name.values(), *tools)) if tools else self

    def get(self, name: str) -> Mounted | None:
        """The tool of that name, if there is one."""
        return self.by_name.get(name)


def mount(tool: DecoratedTool, context_for: Callable[[Call, Emit], ToolContext], source: str, builtin: bool) -> Mounted:
    """`tool`, with contexts made by `context_for`."""
    definition = tool.tool
    return Mounted(
        name=definition.name,
        risk_level=definition.risk_level,
        handler=tool.bind(context_for, ENDS),
        entry=provider_entry(definition.name, definition.description, definition.input_schema),
        source=source,
        builtin=builtin,
        overlaps=tool.concurrency_safe or definition.risk_level == "low",
        timeout_s=definition.timeout_s,
        repeatable=definition.repeatable,
        misfit=tool.misfit,
    )


def provider_entry(name: str, description: str, schema: JsonObject) -> JsonObject:
    """A tool as providers are told of it (sdk.md 6)."""
    return {"type": "function", "function": {"name": name, "description": description, "parameters": schema}}
