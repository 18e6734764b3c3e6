"""From `Options` to an agent ready to run: its tools, rules and digest, all checked at once; it runs nothing."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import msgspec

from toolwire.core.call import Call
from toolwire.core.handler import Emit
from toolwire.sdk.context import ToolContext
from toolwire.sdk.guards import HooksConfig, check_guard
from toolwire.sdk.hosting.host import Host
from toolwire.sdk.messages import Provider
from toolwire.sdk.options import BudgetSpec, HostConfig, Options
from toolwire.sdk.tool import DecoratedTool, ToolRef
from toolwire.sdk.turns.mounted import Mounted, Mounts, mount
from toolwire.sdk.turns.permission import Permission, check_resolver
from toolwire.sdk.turns.selection import Selected, select
from toolwire.sdk.turns.turn_state import Agent

BuiltinTools: TypeAlias = Callable[[Path, Sequence[str]], tuple[DecoratedTool, ...]]


@dataclass(frozen=True)
class AgentSpec:
    """What makes an agent the one it is; `tools` is sorted by name (sdk.md 58)."""

    name: str
    system_prompt: str
    tools: tuple[ToolRef, ...]
    permission_mode: str
    budget: BudgetSpec | None
    max_turns: int | None

    def digest(self) -> str:
        """Stands for all of it: the same in every process."""
        return hashlib.sha256(msgspec.json.encode(self, order="deterministic")).hexdigest()


def compile_options(options: Options) -> tuple[AgentSpec, tuple[AgentSpec, ...]]:
    """The agent that `options` say, and those it may hand parts to; pure.

    Raises:
        KeyError, TypeError, ValueError: the selection cannot be made (`selection.select`).
    """
    return _spec(options, select(options)), ()


def _spec(options: Options, selected: tuple[Selected, ...]) -> AgentSpec:
    refs = sorted((entry.ref for entry in selected), key=lambda ref: ref.name)
    return AgentSpec(
        options.name,
        options.system_prompt,
        tuple(refs),
        options.permission_mode,
        options.budget,
        options.max_turns,
    )


class RuntimeContext(ToolContext):
    """What a body gets inside an agent, beside what every `ToolContext` has.

    Attributes:
        workspace_dir: the directory that the agent works in.
        background_runner, file_read_registry, recorded: there for tools of other runtimes that look for them; `None`.
    """

    workspace_dir: Path | None = None
    background_runner: Any = None
    file_read_registry: Any = None
    recorded: Any = None


class Settings(msgspec.Struct, frozen=True):
    """What a client says beside `Options`: `None` for what the options say."""

    provider: Provider | None = None
    workspace_dir: str | Path | None = None
    model: str | None = None
    multi_turn: bool = True


def compile_agent(options: Options, settings: Settings, host: Host, builtin: BuiltinTools) -> Agent:
    """The agent, ready to run on `host`.

    Args:
        options: what it is.
        settings: what the client says.
        host: where it runs.
        builtin: makes the built-in tools of these names over a workspace; asked only if one is selected.

    Raises:
        KeyError, TypeError, ValueError: something in `options` cannot be.
        WorkspaceEscape: the workspace is not there.
    """
    provider = settings.provider or options.provider
    if provider is None:
        raise ValueError("a provider is required — give Client(provider=…) or Options(provider=…)")
    if not callable(getattr(provider, "complete", None)):
        raise TypeError(f"a provider needs complete(request); got {provider!r}")
    workspace_dir = _workspace_dir(settings, options)
    selected = select(options)
    budget = options.budget or BudgetSpec()
    return Agent(
        options=options,
        digest=_spec(options, selected).digest(),
        provider=provider,
        model=settings.model or options.model or "default",
        permission=Permission([check_guard(guard) for guard in options.guards], _hooks(host.config)),
        resolver=None if options.can_use_tool is None else check_resolver(options.can_use_tool),
        mounts=Mounts(_mounted(selected, host, workspace_dir, builtin)),
        one_shot=not settings.multi_turn,
        workspace_dir=workspace_dir,
        budget=budget,
        max_requests=_max_requests(options, budget),
    )


def _hooks(config: HostConfig) -> HooksConfig | None:
    if config.hooks is None or isinstance(config.hooks, HooksConfig):
        return config.hooks
    raise TypeError(f"HostConfig(hooks) must be a HooksConfig, got {config.hooks!r}")


def _max_requests(options: Options, budget: BudgetSpec) -> tuple[int, str] | None:
    if options.max_turns is not None:
        return options.max_turns, "max_turns"
    return None if budget.max_iterations is None else (budget.max_iterations, "max_iterations")


def _workspace_dir(settings: Settings, options: Options) -> Path:
    given = settings.workspace_dir if settings.workspace_dir is not None else options.cwd
    directory = Path(given if given is not None else ".").absolute()
    if not directory.is_dir():
        from toolwire.sdk.builtin.workspace import WorkspaceEscape  # noqa: PLC0415 -- loaded when used

        raise WorkspaceEscape(f"the workspace {str(given)!r} is not a directory; create it or name another one")
    return directory


def _mounted(selected: tuple[Selected, ...], host: Host, workspace_dir: Path, builtin: BuiltinTools) -> list[Mounted]:
    context_for = context_maker(host, workspace_dir)
    names = [entry.name for entry in selected if entry.tool is None]
    ours = {tool.name: tool for tool in builtin(workspace_dir, names)} if names else {}
    return [mount(entry.tool or ours[entry.name], context_for, entry.source, entry.tool is None) for entry in selected]


def context_maker(host: Host, workspace_dir: Path) -> Callable[[Call, Emit], ToolContext]:
    """Makes the contexts of calls on `host`; `call.parent` is the task's id."""

    def context_for(call: Call, emit: Emit) -> ToolContext:
        task = host.tasks.get(call.parent or "")
        metadata = {
            "task_id": call.parent or "",
            "root_task_id": call.parent or "" if task is None else task.parent or task.id,
            "trace_id": "" if task is None else task.trace_id,
            "tool_use_id": call.id,
        }
        can = call.client_capabilities
        context = RuntimeContext(
            host.contents, metadata, call.deadline, call_id=call.id, emit=emit, client_capabilities=can
        )
        context.workspace_dir = workspace_dir
        return context

    return context_for
