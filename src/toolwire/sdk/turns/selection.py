"""Which tools an agent has: `allowed_tools`, bundles and built-ins as one list without collisions; it runs nothing."""

from collections.abc import Iterable
from typing import Any, cast

from msgspec import Struct

from toolwire.core.jsontypes import JsonObject
from toolwire.core.tool import RiskLevel
from toolwire.sdk.bundle import SdkMcpServer
from toolwire.sdk.options import BUILTIN_TOOLS, TOOL_GROUPS, Options
from toolwire.sdk.tool import DecoratedTool, ToolRef, tool

BUILTIN_RISKS: dict[str, RiskLevel] = {
    "Edit": "high",
    "Write": "high",
    "Bash": "high",
    "KillShell": "high",
}
"""The others are low (sdk.md 1.12)."""

READ_OUTPUT = "ReadOutput"
"""The tool that appears once an output was cut; its name is taken like a built-in's."""
SUBTASK = "Task"
"""The tool by which an agent hands a part of its task to another one."""

_COMPANIONS = {"Bash": ("BashOutput", "KillShell")}
"""Tools that are of no use without another one, and go with it."""


class Selected(Struct, frozen=True):
    """An entry of the selection: a built-in by its name (`tool is None`) or a tool; `source` is for messages."""

    name: str
    source: str
    tool: DecoratedTool | None = None

    @property
    def ref(self) -> ToolRef:
        """The identity that the agent declares."""
        return ToolRef(self.name, "1", BUILTIN_RISKS.get(self.name, "low")) if self.tool is None else self.tool.ref


def select(options: Options) -> tuple[Selected, ...]:
    """The tools of `options`, in order: the selection, then the bundles' tools (sdk.md 20-28, 49).

    Raises:
        KeyError: a name that is no built-in tool's.
        TypeError: an entry that is neither a name nor a tool.
        ValueError: two different tools have one name, or one has a built-in's; the message names both sources.
    """
    chosen: dict[str, Selected] = {}
    for entry in _allowed(options):
        _add(chosen, _entry(entry, options, "allowed_tools"))
    for server in _servers(options.mcp_servers):
        for member in server.tools:
            _add(chosen, _entry(member, options, f"the bundle {server.name!r}"))
    for name in _disallowed(options.disallowed_tools):
        chosen.pop(name, None)
    return tuple(chosen.values())


def _allowed(options: Options) -> Iterable[Any]:
    allowed: Any = options.allowed_tools
    if allowed is None:
        return [name for name in BUILTIN_TOOLS if _offered(name, options)]
    return _entries(allowed, "allowed_tools")


def _entries(value: Any, what: str) -> Iterable[Any]:
    if isinstance(value, (str, DecoratedTool)) or not isinstance(value, Iterable):
        raise TypeError(f"{what} must be a tuple, got {value!r}; write ({value!r},) for a single entry")
    return cast("Iterable[Any]", value)


def _offered(name: str, options: Options) -> bool:
    return any(name in TOOL_GROUPS[group] for group in options.plugins)


def _entry(entry: Any, options: Options, source: str) -> Selected:
    if isinstance(entry, str):
        if entry not in BUILTIN_TOOLS or not _offered(entry, options):
            known = ", ".join(name for name in BUILTIN_TOOLS if _offered(name, options))
            raise KeyError(f"Unknown built-in tool {entry!r}. Available: {known}; pass a tool of your own as itself")
        return Selected(entry, "the built-in tools")
    made = _as_tool(entry, source)
    if made.name in (*BUILTIN_TOOLS, READ_OUTPUT) or (made.name == SUBTASK and options.agents):
        raise ValueError(
            f"tool name collision: {made!r} in {source} has the name of a built-in tool; choose another name"
        )
    return Selected(made.name, source, made)


def _as_tool(entry: Any, source: str) -> DecoratedTool:
    """A tool of another class than ours, if it has what the protocol asks for, behind one of ours (sdk.md 27)."""
    if isinstance(entry, DecoratedTool):
        return entry
    ref = getattr(entry, "ref", None)
    if isinstance(entry, type) or ref is None or not callable(getattr(entry, "invoke", None)):
        raise TypeError(
            f"Unsupported tool entry of type {type(entry).__name__!r} in {source}: expected DecoratedTool "
            "(or any object with a .ref and an .invoke) or a built-in tool name string"
        )

    def invoke(arguments: JsonObject, ctx: Any) -> Any:
        return entry.invoke(arguments, ctx)

    return tool(
        invoke,
        name=entry.name,
        version=ref.version,
        risk_level=entry.risk_level,
        description=getattr(entry, "description", ""),
        input_schema=entry.input_schema,
    )


def _add(chosen: dict[str, Selected], new: Selected) -> None:
    old = chosen.setdefault(new.name, new)
    if old is new or (old.tool is None and new.tool is None):
        return
    if old.tool is None or new.tool is None or not _same(old.tool, new.tool):
        raise ValueError(
            f"custom tool name collision: {new.name!r} is {old.tool!r} in {old.source} "
            f"and {new.tool!r} in {new.source}; rename one of them"
        )


def _same(one: DecoratedTool, other: DecoratedTool) -> bool:
    return one is other or (one.tool == other.tool and one.__wrapped__ == other.__wrapped__)


def _servers(servers: Any) -> Iterable[SdkMcpServer]:
    for server in _entries(servers, "mcp_servers"):
        if not isinstance(server, SdkMcpServer):
            raise TypeError(
                f"mcp_servers takes what create_sdk_mcp_server(…) gives, got {type(server).__name__}; "
                "remote servers are named per turn with enabled_mcp"
            )
        yield server


def _disallowed(names: Any) -> Iterable[str]:
    for entry in _entries(names, "disallowed_tools"):
        name = entry.name if isinstance(entry, DecoratedTool) else entry
        if not isinstance(name, str):
            raise TypeError(f"disallowed_tools takes names and tools, got {entry!r}")
        yield name
        yield from _COMPANIONS.get(name, ())
