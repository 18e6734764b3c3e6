"""What an agent is (`Options`) and what it stands on (`HostConfig`); it opens and starts nothing.

The seams to the parts that live elsewhere:

* built-in tools: a client calls `toolwire.sdk.builtin.builtin_tools(workspace, services)` once and mounts those of its
  selection; `BUILTIN_NAMES` there, and `BUILTIN_TOOLS` here, name them in their order;
* remote tools: `HostConfig.remote_tools`, or what `toolwire.sdk.remote.servers` makes of `mcp_server_resolver` and
  `Options.toolbox`, is a `RemoteTools`: it is asked at the start of each turn for the tools of that turn.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias, cast, get_args

from msgspec import Struct

from toolwire.core.jsontypes import JsonObject
from toolwire.sdk.bundle import SdkMcpServer
from toolwire.sdk.events import EventEnvelope
from toolwire.sdk.messages import Provider, TaskDelta
from toolwire.sdk.tool import DecoratedTool

PermissionMode: TypeAlias = Literal["default", "acceptEdits", "bypassPermissions"]
Effort: TypeAlias = Literal["low", "medium", "high", "xhigh", "max"]
Thinking: TypeAlias = Literal["off", "adaptive", "on"]

BUILTIN_TOOLS = (
    "Read",
    "Glob",
    "Grep",
    "Edit",
    "Write",
    "Bash",
    "BashOutput",
    "KillShell",
    "WebFetch",
    "WebSearch",
)
"""The names that `allowed_tools=None` selects, in the order in which the model sees them (sdk.md 21)."""

TOOL_GROUPS = {"fs": BUILTIN_TOOLS[:8], "web": BUILTIN_TOOLS[8:]}

NEXT_GOAL_WAKE_HANDLE = "next-goal"
"""What a conversation at rest waits for."""

CanUseTool: TypeAlias = Callable[[str, JsonObject], Any]
"""`(tool_name, arguments) -> bool`, synchronous or asynchronous; only `True` is a yes (sdk.md 39)."""

Observer: TypeAlias = Callable[[EventEnvelope], object]
OnTaskDelta: TypeAlias = Callable[[str, TaskDelta], object]
"""`(task_id, delta)`: parts of the model's answer and tools' progress, as they come."""


def permission_modes() -> tuple[str, ...]:
    """The values of `permission_mode`, the most careful first."""
    return get_args(PermissionMode)


def effort_modes() -> tuple[str, ...]:
    """The values of `effort`, the least first."""
    return get_args(Effort)


def checked_mode(mode: str) -> PermissionMode:
    """`mode`, if it is one.

    Raises:
        ValueError: it is none; the message lists them.
    """
    if mode not in permission_modes():
        raise ValueError(f"Invalid permission_mode {mode!r}. Must be one of: {', '.join(permission_modes())}.")
    return cast("PermissionMode", mode)


def checked_effort(effort: str | None) -> str | None:
    """`effort`, if it is one, or `None`.

    Raises:
        ValueError: it is none; the message lists them.
    """
    if effort is not None and effort not in effort_modes():
        raise ValueError(f"Invalid effort {effort!r}. Must be one of: {', '.join(effort_modes())}.")
    return effort


@dataclass(frozen=True)
class BudgetSpec:
    """What one turn may use up; `None` for no limit. The turn that would go beyond it ends (sdk.md §4.6).

    Attributes:
        max_iterations: requests to the model.
        max_tool_calls: calls of tools.
        max_cost_usd: US dollars, as far as prices are known.
        max_spawned_subtasks: tasks handed to other agents.
        max_subtask_depth: how deep those may hand on.
    """

    max_iterations: int | None = None
    max_tool_calls: int | None = None
    max_cost_usd: float | None = None
    max_spawned_subtasks: int | None = None
    max_subtask_depth: int | None = None

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value) or value < 0:
                raise ValueError(f"BudgetSpec({name}) must be a number from 0 on, or None; got {value!r}")


@dataclass(frozen=True)
class AgentDefinition:
    """An agent that the main one may hand a part of its task to.

    `tools=None` gives it the main agent's selection; `model=None` the main agent's model.
    """

    description: str
    prompt: str
    tools: tuple[str | DecoratedTool, ...] | None = None
    model: str | None = None
    metadata: Mapping[str, str] = field(default_factory=dict[str, str])


class ToolPlace(Struct, frozen=True):
    """For whom and where tools are asked for: the task and its workspace."""

    task_id: str
    workspace_dir: Path
    enabled_mcp: tuple[str, ...] = ()


class Skipped(Struct, frozen=True):
    """A remote server that is not there this turn, and why; no credentials in it."""

    alias: str
    reason: str


class RemoteTool(Struct, frozen=True):
    """A tool of a remote server, under its full name `mcp__{alias}__{tool}`.

    `tool.tool.risk_level` is its grade (sdk.md §3.7); `source` names the server in errors and decisions.
    """

    tool: DecoratedTool
    source: str


class RemoteTurn(Struct, frozen=True):
    """The remote tools of one turn, the servers that are missing, and what is recorded about the others."""

    tools: Sequence[RemoteTool] = ()
    skipped: Sequence[Skipped] = ()
    servers: Sequence[JsonObject] = ()


class RemoteTools(Protocol):
    """Where the tools of remote servers come from; asked once at the start of each turn."""

    async def turn(self, place: ToolPlace) -> RemoteTurn:
        """The tools of this turn. A server that fails is `skipped`, not raised."""
        ...

    async def aclose(self) -> None:
        """Let go of all connections."""
        ...


@dataclass(frozen=True)
class Options:
    """What an agent is told, may use and must ask for. Only `system_prompt` is needed (sdk.md 56, 57).

    Attributes:
        system_prompt: the standing instructions.
        name: the agent's name, in records.
        budget: what one turn may use up.
        plugins: which groups of built-in tools there are at all: "fs", "web".
        agents: agents that parts can be handed to, by name.
        allowed_tools: the selection, names of built-ins and tools side by side; `None` for all built-ins and nothing
            else, `()` for none (sdk.md 20-28).
        disallowed_tools: names taken out of the selection again.
        permission_mode: "default", "acceptEdits" or "bypassPermissions" (sdk.md 29-33).
        max_turns: requests to the model in one turn; the same as `budget.max_iterations`.
        mcp_servers: bundles of tools, mounted under their bare names.
        model: the model's name, unless the client has one.
        webfetch_model: the model that `WebFetch` asks about a page.
        metadata: goes along with every request to the provider.
        provider: the model, unless the client has one.
        cwd: the workspace, unless the client has one.
        can_use_tool: asked about each call that needs a yes.
        output_schema: what the final answer must fit.
        thinking, effort: how hard the model shall think.
        guards: look at each call, and at the end, before it happens (sdk.md 41-44).
        observers: are told each event after it was recorded.
        toolbox: the agent's toolbox on a Toolwire host: a `Toolbox` or its URL.
        temperature, max_tokens: as the provider takes them.
    """

    system_prompt: str
    name: str = "main"
    budget: BudgetSpec | None = field(default=None)
    plugins: tuple[str, ...] = ("fs", "web")
    agents: Mapping[str, AgentDefinition] = field(default_factory=dict[str, AgentDefinition])
    allowed_tools: tuple[str | DecoratedTool, ...] | None = None
    disallowed_tools: tuple[str, ...] = ()
    permission_mode: str = "default"
    max_turns: int | None = None
    mcp_servers: tuple[SdkMcpServer, ...] = ()
    model: str | None = field(default=None, compare=False)
    webfetch_model: str | None = field(default=None, compare=False)
    metadata: Mapping[str, str] = field(default_factory=dict[str, str], compare=False)
    provider: Provider | None = field(default=None, compare=False)
    cwd: str | Path | None = field(default=None, compare=False)
    can_use_tool: CanUseTool | None = field(default=None, compare=False)
    output_schema: Mapping[str, Any] | None = field(default=None, compare=False)
    thinking: str | None = field(default=None, compare=False)
    effort: str | None = field(default=None, compare=False)
    guards: tuple[Any, ...] = field(default=(), compare=False)
    observers: tuple[Observer, ...] = field(default=(), compare=False)
    toolbox: Any = field(default=None, compare=False)
    temperature: float | None = field(default=None, compare=False)
    max_tokens: int | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.system_prompt, str):  # pyright: ignore[reportUnnecessaryIsInstance] -- not all check types
            raise TypeError(f"Options(system_prompt) must be a text, got {type(self.system_prompt).__name__}")
        checked_mode(self.permission_mode)
        checked_effort(self.effort)
        if self.thinking is not None and self.thinking not in get_args(Thinking):
            raise ValueError(f"Invalid thinking {self.thinking!r}. Must be one of: {', '.join(get_args(Thinking))}.")
        for name in self.plugins:
            if name not in TOOL_GROUPS:
                raise ValueError(f"unknown plugin {name!r}; there are: {', '.join(TOOL_GROUPS)}")
        self._check_limits()
        self._check_agents()
        if self.can_use_tool is not None and not callable(self.can_use_tool):
            raise TypeError(f"Options(can_use_tool) must be callable, got {self.can_use_tool!r}")

    def _check_limits(self) -> None:
        if self.max_turns is None:
            return
        if self.budget is not None and self.budget.max_iterations is not None:
            raise ValueError("max_turns and budget.max_iterations say the same; give one of them")
        if isinstance(self.max_turns, bool) or not isinstance(self.max_turns, int) or self.max_turns < 1:  # pyright: ignore[reportUnnecessaryIsInstance] -- not all check types
            raise ValueError(f"max_turns must be a whole number from 1 on, got {self.max_turns!r}")

    def _check_agents(self) -> None:
        for name, definition in self.agents.items():
            if name == self.name:
                raise ValueError(f"agents: {name!r} is the main agent's own name; choose another")
            if not definition.description.strip():
                raise ValueError(f"agents: {name!r} needs a description, by which the main agent chooses it")


@dataclass(frozen=True)
class HostConfig:
    """What a client stands on, beside the agent itself; everything has a default.

    Attributes:
        storage_path: a SQLite file in which tasks survive the process; `None` keeps them in memory.
        lease_s: seconds after which the work of an owner that gave no sign of life may be taken over.
        tool_output_inline_limit: characters of an output that the model is shown at once; `None` for all.
        tool_timeout_s: seconds a call may take whose tool has no time-out of its own; `None` for no limit.
        approval_ttl_s: seconds after which an unanswered approval is a no; `None` for never.
        llm_max_retries: how often the provider is asked again after an error that may pass.
        max_parallel_calls: calls of one response that run at once.
        repetition_warning, repetition_limit: the same call with the same result so often in a row is told to the
            model, and ends the turn; `repetition_limit=None` switches the guard off.
        hooks: rules about calls (`HooksConfig`).
        mcp_server_resolver: `alias -> McpServerSpec | McpHttpServerSpec | None`, for `enabled_mcp`.
        remote_tools: another source of remote tools, instead of the one made of `mcp_server_resolver`.
        web_search_url, web_search_key: the endpoint that `WebSearch` asks.
        webfetch_private_hosts: private hosts that `WebFetch` may reach all the same.
        shell_env: more environment variables for `Bash`.
        delta_sink: told the parts of every answer, as `(task_id, delta)`.
    """

    storage_path: str | Path | None = None
    lease_s: float = 30.0
    tool_output_inline_limit: int | None = 50_000
    tool_timeout_s: float | None = None
    approval_ttl_s: float | None = None
    llm_max_retries: int = 2
    max_parallel_calls: int = 16
    repetition_warning: int = 3
    repetition_limit: int | None = 5
    hooks: Any = None
    mcp_server_resolver: Callable[[str], Any] | None = None
    remote_tools: RemoteTools | None = None
    web_search_url: str | None = None
    web_search_key: str | None = field(default=None, repr=False)
    webfetch_private_hosts: tuple[str, ...] = ()
    shell_env: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    delta_sink: OnTaskDelta | None = None
