"""What an install or an update would change for agents and their user, as data and as text; it decides nothing.

Whatever a model reads of a card is compared: each tool's name, title, description, schema and read-only mark, and the
ports. So is whether it runs in the browser or as a program on this machine. A tool that goes and a time-out ask for
nothing (cards.md 25-27, decisions 18, 19).
"""

import difflib
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Literal, TypeAlias

import msgspec
from msgspec import Struct

from toolwire.card.manifest import RISKS, Manifest, Permission, ToolSpec

Kind: TypeAlias = Literal[
    "program_added",
    "tool_added",
    "tool_changed",
    "tool_removed",
    "permission_added",
    "permission_changed",
    "permission_removed",
    "ports_changed",
]

_REACH: Mapping[str, str] = {
    "agents.read": "see which agents and terminals there are and how they do",
    "agents.output": "read what agents and terminals show",
    "agents.prompt": "send prompts to other agents",
    "terminals.write": "run commands in connected terminals",
    "cards.connected": "change connected notes and lists",
    "network": "send data to the named hosts",
    "network.local": "reach services on this machine and its network",
    "fs.read": "read the workspace's files",
    "fs.write": "change the workspace's files",
    "clipboard.write": "put text on your clipboard",
    "canvas.spawn": "add cards to the canvas",
    "background": "go on while nobody looks",
    "usage.read": "see what agents have cost",
}
"""What a card with a permission can do for any agent that is connected to it (decision 19)."""
PROGRAM: Final = "program"
"""What a card that is a program may do, as if it were a permission."""
_PROGRAM_REACH = "do what any program of yours can do on this machine"


class Change(Struct, frozen=True, omit_defaults=True):
    """One thing that would be different. `text` is a unified diff where there is a before and an after."""

    change: Kind
    name: str
    text: str
    asks: bool


def changes(before: Manifest | None, after: Manifest) -> list[Change]:
    """Everything that is different for agents and their user from what was accepted, if anything was."""
    return [
        *_program_changes(before, after),
        *_tool_changes(before, after),
        *_permission_changes(before, after),
        *_port_changes(before, after),
    ]


def asks_consent(before: Manifest | None, after: Manifest) -> bool:
    """Whether the user has to be asked; a package that nobody has accepted yet always asks."""
    return before is None or any(change.asks for change in changes(before, after))


def reach(manifest: Manifest) -> list[str]:
    """What agents that are connected to the card can do by way of it, in words, the riskiest first."""
    allowed = (one.id for one in everything_allowed(manifest) if not one.optional)
    return [_PROGRAM_REACH if one == PROGRAM else _REACH[one] for one in allowed]


def everything_allowed(manifest: Manifest) -> list[Permission]:
    """All that a card may do, or may ask for, the riskiest first: also what it does not name and has all the same."""
    order = {"high": 0, "medium": 1, "low": 2}
    found = {permission.id: permission for permission in manifest.permissions}
    for permission in manifest.permitted():
        if permission not in found or found[permission].optional:
            found[permission] = Permission(permission)
    own = [Permission(PROGRAM)] if manifest.is_python else []
    return [*own, *sorted(found.values(), key=lambda one: (order[risk_of(one.id)], one.id))]


def risk_of(permission: str) -> str:
    """How much there is to lose by a permission, or by a program."""
    return "high" if permission == PROGRAM else RISKS[permission]


def tool_digest(manifest: Manifest, tool: ToolSpec) -> str:
    """One hash over everything that a model reads of a tool."""
    read = (tool.name, tool.title, manifest.shown_description(tool), tool.input_schema, tool.read_only)
    return hashlib.sha256(msgspec.json.encode(read, order="deterministic")).hexdigest()


def _program_changes(before: Manifest | None, after: Manifest) -> Iterator[Change]:
    if after.is_python and (before is None or not before.is_python):
        words = f"runs {after.entry} on this machine, outside the browser: it can {_PROGRAM_REACH}"
        yield Change("program_added", after.entry, _diff([], [words]), asks=True)


def _port_changes(before: Manifest | None, after: Manifest) -> Iterator[Change]:
    old, new = _port_text(before), _port_text(after)
    if old != new:
        yield Change("ports_changed", "ports", _diff(old, new), asks=bool(new))


def _port_text(manifest: Manifest | None) -> list[str]:
    """What `ports_list` tells a model."""
    ports = None if manifest is None else manifest.raw.get("ports")
    if not ports:
        return []
    return msgspec.json.format(msgspec.json.encode(ports, order="deterministic"), indent=2).decode().splitlines()


def _tool_changes(before: Manifest | None, after: Manifest) -> Iterator[Change]:
    known = {} if before is None else {tool.name: tool for tool in before.tools}
    for tool in after.tools:
        old = known.pop(tool.name, None)
        new_text = _tool_text(after, tool)
        if old is None or before is None:
            yield Change("tool_added", tool.name, _diff([], new_text), asks=True)
        elif tool_digest(before, old) != tool_digest(after, tool):
            yield Change("tool_changed", tool.name, _diff(_tool_text(before, old), new_text), asks=True)
    for name, old in known.items():
        assert before is not None
        yield Change("tool_removed", name, _diff(_tool_text(before, old), []), asks=False)


def _permission_changes(before: Manifest | None, after: Manifest) -> Iterator[Change]:
    known = {} if before is None else {permission.id: permission for permission in before.permissions}
    for permission in after.permissions:
        old = known.pop(permission.id, None)
        new_text = _permission_text(permission)
        if old is None:
            yield Change("permission_added", permission.id, _diff([], new_text), asks=not permission.optional)
        elif old != permission:
            wider = not set(permission.hosts) <= set(old.hosts) or (old.optional and not permission.optional)
            yield Change("permission_changed", permission.id, _diff(_permission_text(old), new_text), asks=wider)
    for name, old in known.items():
        yield Change("permission_removed", name, _diff(_permission_text(old), []), asks=False)


def _tool_text(manifest: Manifest, tool: ToolSpec) -> list[str]:
    schema = msgspec.json.format(msgspec.json.encode(tool.input_schema, order="deterministic"), indent=2).decode()
    head = [f"tool {tool.name}", f"title: {tool.title or '(none)'}", f"read only: {'yes' if tool.read_only else 'no'}"]
    return [*head, "description:", *manifest.shown_description(tool).splitlines(), "parameters:", *schema.splitlines()]


def _permission_text(permission: Permission) -> list[str]:
    lines = [f"permission {permission.id} ({RISKS[permission.id]} risk): {_REACH[permission.id]}"]
    lines += [f"host: {host}" for host in permission.hosts]
    if permission.reason:
        lines.append(f"reason: {permission.reason}")
    return [*lines, "asked for when needed"] if permission.optional else lines


def _diff(before: Sequence[str], after: Sequence[str]) -> str:
    lines = difflib.unified_diff(
        before, after, "accepted" if before else "(nothing)", "new" if after else "(nothing)", lineterm=""
    )
    return "\n".join(lines)
