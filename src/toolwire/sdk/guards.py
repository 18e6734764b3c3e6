"""What stands before a call: guards, and rules written as data; it decides nothing by itself.

A guard is any object with `name`, `priority` and `check(action, ctx)`, which returns a `VerdictResult`, synchronous or
asynchronous. Guards are asked in ascending priority and can only tighten: the permission table stands at 20, rules of
`HooksConfig` at 100. What is no clear allow counts as a no (sdk.md 41-46).
"""

import re
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias, cast

from toolwire.sdk.messages import ToolUseBlock

Verdict: TypeAlias = Literal["allow", "ask", "deny"]

PERMISSION_PRIORITY = 20
HOOK_PRIORITY = 100


@dataclass(frozen=True)
class VerdictResult:
    """What a guard says: "allow", "deny" or "require_approval", and why."""

    verdict: Literal["allow", "deny", "require_approval"]
    reason: str = ""

    @classmethod
    def allow(cls) -> "VerdictResult":
        """No objection."""
        return cls("allow")

    @classmethod
    def deny(cls, reason: str) -> "VerdictResult":
        """It must not happen."""
        return cls("deny", reason)

    @classmethod
    def require_approval(cls, reason: str) -> "VerdictResult":
        """A person must say yes first."""
        return cls("require_approval", reason)


@dataclass(frozen=True)
class Decision:
    """What became of the question whether a call may run.

    Attributes:
        verdict: "allow", "ask" or "deny".
        rule: what decided: "risk:low", "mode:bypassPermissions", "guard:<name>", "hook:<n>", …
        reason: why, for people and for the model.
    """

    verdict: Verdict
    rule: str
    reason: str = ""


@dataclass(frozen=True)
class ProposedToolCall:
    """A call that the model asks for; its arguments are a copy."""

    call: ToolUseBlock


@dataclass(frozen=True)
class ProposedSpawnSubtask:
    """A part that the model wants to hand to another agent."""

    decision: Mapping[str, Any]


@dataclass(frozen=True)
class ProposedFinish:
    """The answer with which the turn would end."""

    answer: Any


ProposedAction: TypeAlias = ProposedToolCall | ProposedSpawnSubtask | ProposedFinish


@dataclass(frozen=True)
class GuardContext:
    """What a guard may know; a copy, so changing it changes nothing."""

    task_id: str
    governance: Mapping[str, Any] = field(default_factory=dict[str, Any])
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])
    active_skills: tuple[str, ...] = ()
    subtask_depth: int = 0
    recent_tool_calls: tuple[ToolUseBlock, ...] = ()


class Guard(Protocol):
    """Looks at what is about to happen."""

    name: str
    priority: int

    def check(self, action: ProposedAction, ctx: GuardContext) -> VerdictResult | Awaitable[VerdictResult]:
        """Say whether `action` may happen; raising means no."""
        ...


@dataclass(frozen=True)
class MatchArg:
    """Which argument a rule looks at: `path` is its name, with dots into objects."""

    path: str
    op: Literal["equals", "contains", "regex"] = "equals"
    value: Any = None
    pattern: str | None = None

    def __post_init__(self) -> None:
        if self.op not in ("equals", "contains", "regex"):
            raise ValueError(f"MatchArg(op) must be 'equals', 'contains' or 'regex', got {self.op!r}")
        if self.op == "regex":
            re.compile(self.pattern or str(self.value))

    def matches(self, arguments: Any) -> bool:
        """Whether the argument is there and is what the rule looks for."""
        found = arguments
        for step in self.path.split("."):
            if not isinstance(found, dict) or step not in found:
                return False
            found = cast("dict[str, Any]", found)[step]
        if self.op == "equals":
            return found == self.value
        if self.op == "contains":
            return self.value in found if isinstance(found, (str, list, dict)) else False
        return isinstance(found, str) and re.search(self.pattern or str(self.value), found) is not None


@dataclass(frozen=True)
class PreToolUseRule:
    """A rule about calls: `match_tool` is a name, or a pattern with `*`."""

    match_tool: str
    action: Literal["allow", "deny", "require_approval"]
    match_arg: MatchArg | None = None
    reason: str = ""

    def __post_init__(self) -> None:
        if self.action not in ("allow", "deny", "require_approval"):
            raise ValueError(
                f"PreToolUseRule(action) must be 'allow', 'deny' or 'require_approval', got {self.action!r}"
            )

    def matches(self, call: ToolUseBlock) -> bool:
        """Whether the rule is about this call."""
        pattern = "".join(".*" if part == "*" else re.escape(part) for part in re.split(r"(\*)", self.match_tool))
        if re.fullmatch(pattern, call.tool_name) is None:
            return False
        return self.match_arg is None or self.match_arg.matches(call.arguments)


@dataclass(frozen=True)
class HooksConfig:
    """Rules about calls; the first that matches counts, and `allow` ends the search without loosening anything."""

    pre_tool_use: tuple[PreToolUseRule, ...] = ()

    def verdict(self, call: ToolUseBlock) -> Decision | None:
        """What the rules say about `call`; `None` when they have no objection."""
        for number, rule in enumerate(self.pre_tool_use):
            if not rule.matches(call):
                continue
            if rule.action == "allow":
                return None
            reason = rule.reason or f"a rule about {rule.match_tool!r}"
            return Decision("deny" if rule.action == "deny" else "ask", f"hook:{number}", reason)
        return None


def check_guard(guard: Any) -> Guard:
    """`guard`, if it is one.

    Raises:
        TypeError: it lacks a name, a priority or a check.
    """
    if not isinstance(getattr(guard, "name", None), str) or not callable(getattr(guard, "check", None)):
        raise TypeError(f"a guard needs a name, a priority and check(action, ctx); got {guard!r}")
    priority = getattr(guard, "priority", None)
    if isinstance(priority, bool) or not isinstance(priority, (int, float)):
        raise TypeError(f"guard {guard.name!r} needs a number as its priority, got {priority!r}")
    return cast("Guard", guard)
