"""Whether a call may run: the table of risks and modes, rules and guards, in one place for every path; runs nothing.

A deny beats an ask, and an ask beats an allow; among equals the lower priority number counts (sdk.md 29-46).
"""

import inspect
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, cast

from toolwire.core.jsontypes import JsonObject
from toolwire.sdk.authoring.coerce import deep_copy
from toolwire.sdk.authoring.threads import BodyThreads, Outcome
from toolwire.sdk.guards import (
    HOOK_PRIORITY,
    PERMISSION_PRIORITY,
    Decision,
    Guard,
    GuardContext,
    HooksConfig,
    ProposedFinish,
    ProposedToolCall,
    Verdict,
    VerdictResult,
)
from toolwire.sdk.messages import ToolUseBlock
from toolwire.sdk.options import CanUseTool
from toolwire.sdk.turns.mounted import EDIT_TOOLS, Mounted
from toolwire.sdk.turns.outcome import words_of

LOGGER = logging.getLogger("toolwire.sdk")

_VERDICTS: dict[str, Verdict] = {"allow": "allow", "deny": "deny", "require_approval": "ask"}
_THREADS = BodyThreads("permission", 64)
"""Where an author's synchronous guards and resolvers run, since they may read a file or ask a person."""


class Permission:
    """The rules of one agent. The mode may differ from turn to turn."""

    def __init__(self, guards: Sequence[Guard], hooks: HooksConfig | None) -> None:
        self._before = sorted((guard for guard in guards if guard.priority <= PERMISSION_PRIORITY), key=_priority)
        self._between = sorted(
            (guard for guard in guards if PERMISSION_PRIORITY < guard.priority <= HOOK_PRIORITY), key=_priority
        )
        self._after = sorted((guard for guard in guards if guard.priority > HOOK_PRIORITY), key=_priority)
        self._hooks = hooks
        self._plain = not guards and hooks is None

    async def decide(
        self, call: ToolUseBlock, tool: Mounted | None, mode: str, ctx: Callable[[], GuardContext]
    ) -> Decision:
        """What is to become of `call`; never raises but cancellation. `ctx` is made where a guard asks for it."""
        refusal = refused(call, tool)
        if refusal is not None or tool is None:
            return refusal or Decision("deny", "unknown_tool")
        table = by_table(tool, mode)
        if self._plain:
            return table
        asked: Decision | None = None
        for decision in await self._objections(call, table, ctx()):
            if decision.verdict == "deny":
                return decision
            asked = asked or (decision if decision.verdict == "ask" else None)
        return asked or table

    async def finish(self, answer: Any, ctx: GuardContext) -> Decision:
        """Whether the turn may end with `answer`; to ask a person is not possible here, so that is a no."""
        for guard in (*self._before, *self._between, *self._after):
            decision = await _asked_guard(guard, ProposedFinish(answer), ctx)
            if decision.verdict != "allow":
                return decision
        return Decision("allow", "no_objection")

    async def _objections(self, call: ToolUseBlock, table: Decision, ctx: GuardContext) -> list[Decision]:
        """What each says, in order, up to the first deny."""
        decisions: list[Decision] = []
        steps: list[Guard | Decision] = [*self._before, table, *self._between]
        hook = self._hooks.verdict(_copy(call)) if self._hooks is not None else None
        steps += [hook] if hook is not None else []
        for step in (*steps, *self._after):
            decision = (
                step if isinstance(step, Decision) else await _asked_guard(step, ProposedToolCall(_copy(call)), ctx)
            )
            decisions.append(decision)
            if decision.verdict == "deny":
                break
        return decisions


def refused(call: ToolUseBlock, tool: Mounted | None) -> Decision | None:
    """The refusals that no mode and no person can lift: no such tool, or arguments that cannot be."""
    if tool is None:
        return Decision("deny", "unknown_tool", f"tool {call.tool_name!r} not in allowlist")
    arguments: Any = call.arguments
    if not isinstance(arguments, dict):
        return Decision(
            "deny", "arguments", f"invalid arguments: must be a JSON object, got {type(arguments).__name__}"
        )
    try:
        misfit = tool.misfit(cast("dict[str, Any]", arguments))
    except Exception as error:  # noqa: BLE001 -- an author's hint may raise anything
        misfit = f"invalid arguments: {type(error).__name__}"
    return None if misfit is None else Decision("deny", "arguments", misfit)


def by_table(tool: Mounted, mode: str) -> Decision:
    """Risk and mode alone (sdk.md 29, 30); an unknown risk asks."""
    if tool.risk_level == "low":
        return Decision("allow", "risk:low", "low risk runs by itself in every mode")
    if mode == "bypassPermissions":
        return Decision("allow", "mode:bypassPermissions", "the mode lets every risk through")
    if mode == "acceptEdits" and tool.builtin and tool.name in EDIT_TOOLS:
        return Decision("allow", "mode:acceptEdits", "the mode lets the built-in edit tools through")
    return Decision("ask", f"risk:{tool.risk_level}", f"{tool.risk_level} risk needs a yes in the mode {mode!r}")


def check_resolver(resolver: CanUseTool) -> CanUseTool:
    """`resolver`, if it can be called with a name and arguments.

    Raises:
        TypeError: it takes other parameters.
    """
    try:
        inspect.signature(resolver).bind("name", {})
    except TypeError as error:
        raise TypeError(f"can_use_tool must take (tool_name, arguments): {error}") from None
    except ValueError:  # some built-in callables do not tell
        pass
    return resolver


def nobody(_tool_name: str, _arguments: JsonObject) -> bool:
    """The resolver where there is nobody to ask, as inside a task that another task waits for."""
    return False


async def resolve(resolver: CanUseTool, call: ToolUseBlock) -> tuple[bool, str | None]:
    """Ask the resolver: whether it said yes, and why not; never raises but cancellation (sdk.md 39)."""
    said, error = await _in_its_place(lambda: resolver(call.tool_name, deep_copy(call.arguments)), resolver)
    if error is not None:
        return False, f"can_use_tool raised {words_of(error)}"[:500]
    if said is True:
        return True, None
    if said is False:
        return False, "nobody can be asked inside a subtask" if resolver is nobody else None
    return False, f"can_use_tool returned {type(said).__name__} where only True is a yes"


async def _asked_guard(guard: Guard, action: ProposedToolCall | ProposedFinish, ctx: GuardContext) -> Decision:
    rule = f"guard:{guard.name}"
    said, error = await _in_its_place(lambda: guard.check(action, ctx), guard.check)
    if error is not None:
        return Decision("deny", rule, f"guard {guard.name!r} raised {words_of(error)}"[:500])
    if not isinstance(said, VerdictResult) or said.verdict not in _VERDICTS:
        return Decision("deny", rule, f"guard {guard.name!r} returned {type(said).__name__}, not a VerdictResult")
    verdict = _VERDICTS[said.verdict]
    return Decision(verdict, rule, str(said.reason) or ("" if verdict == "allow" else f"guard {guard.name!r}"))


async def _in_its_place(ask: Callable[[], Any], where: Any) -> Outcome:
    """Call an author's code: a coroutine function here, anything else on a thread; its exceptions are values."""
    try:
        if inspect.iscoroutinefunction(where) or inspect.iscoroutinefunction(getattr(where, "__call__", None)):  # noqa: B004 -- whether calling it gives a coroutine
            said, error = ask(), None
        else:
            said, error = await _THREADS.run(ask)
        if error is None and hasattr(said, "__await__"):
            said = await cast("Awaitable[Any]", said)
    except Exception as raised:  # noqa: BLE001 -- an author's code may raise anything
        said, error = None, raised
    if error is not None:
        LOGGER.warning("a guard or resolver raised; that counts as a no", exc_info=error)
    return said, error


def _copy(call: ToolUseBlock) -> ToolUseBlock:
    return ToolUseBlock(call.call_id, call.tool_name, deep_copy(call.arguments))


def _priority(guard: Guard) -> float:
    return guard.priority
