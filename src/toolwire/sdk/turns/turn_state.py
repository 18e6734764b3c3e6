"""What a turn has at hand: task, agent, host and what was said for this turn alone; it runs nothing."""

from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

import toolwire.sdk.payloads as p
from toolwire.core.jsontypes import JsonObject
from toolwire.providers.schema import Validator
from toolwire.sdk.guards import GuardContext
from toolwire.sdk.hosting.host import Host
from toolwire.sdk.hosting.task import Task
from toolwire.sdk.messages import Message, Provider, TextBlock, ToolUseBlock
from toolwire.sdk.options import BudgetSpec, CanUseTool, Options, RemoteTools
from toolwire.sdk.turns.mounted import Mounts
from toolwire.sdk.turns.offload import read_output
from toolwire.sdk.turns.permission import Permission

MAX_RECENT_CALLS = 20
JSON = "application/json"


class Agent(Struct, frozen=True):
    """`Options` made ready to run on one host.

    Attributes:
        options: what it was made of.
        digest: stands for the prompt and the tools.
        provider: the model.
        model: the model's name.
        permission: its rules.
        resolver: who is asked about a gated call; `None` for a person, later.
        mounts: its tools, the remote ones aside.
        tools_ref: the hash of what the model is told of its tools.
        one_shot: whether a task ends with its first answer.
        workspace_dir: where it works.
        budget: what one turn may use up.
        max_requests: how often one turn may ask the model; and what its end is called.
    """

    options: Options
    digest: str
    provider: Provider
    model: str
    permission: Permission
    resolver: CanUseTool | None
    mounts: Mounts
    one_shot: bool
    workspace_dir: Path
    budget: BudgetSpec
    max_requests: tuple[int, str] | None


class Turn:
    """One drive of a task, from a goal or an approval to its rest."""

    def __init__(self, task: Task, agent: Agent, host: Host) -> None:
        self.task = task
        self.agent = agent
        self.host = host
        self.options = task.options
        self.mounts = agent.mounts
        self.spent: str | None = None
        self.readable = False
        self.validator: Validator | None = None
        self.system_ref = ""
        self.remote: RemoteTools | None = None

    @property
    def mode(self) -> str:
        """The permission mode of this turn."""
        return self.options.permission_mode or self.agent.options.permission_mode

    @property
    def model(self) -> str:
        """The model of this turn."""
        return self.options.model or self.task.model or self.agent.model

    def see_cut_outputs(self) -> None:
        """Give the task `ReadOutput` once there is something to read with it."""
        if self.task.cut and not self.readable:
            self.readable = True
            limit = self.host.config.tool_output_inline_limit
            self.mounts = self.mounts.with_more([read_output(self.task, self.host.contents, limit)])

    def guard_context(self) -> GuardContext:
        """What guards may know."""
        return GuardContext(
            task_id=self.task.id,
            governance={"permission_mode": self.mode},
            metadata=dict(self.agent.options.metadata),
            subtask_depth=self.task.depth,
            recent_tool_calls=tuple(self._recent()),
        )

    def _recent(self) -> list[ToolUseBlock]:
        found: list[ToolUseBlock] = []
        for message in reversed(self.task.messages[-2 * MAX_RECENT_CALLS :]):
            found += [block for block in reversed(message.content) if isinstance(block, ToolUseBlock)]
            if len(found) >= MAX_RECENT_CALLS:
                break
        return found[MAX_RECENT_CALLS - 1 :: -1] if len(found) >= MAX_RECENT_CALLS else found[::-1]

    def notice(self, text: str, origin: str) -> None:
        """Tell the model something that nobody said."""
        message = Message("user", [TextBlock(f"<notice>{text}</notice>")], origin)
        self.task.say([message], self.host.contents)

    def snapshot(self) -> None:
        """Record counters and sums."""
        task = self.task
        state: JsonObject = {
            "messages": len(task.messages),
            "usage": msgspec.to_builtins(task.usage),
            "requests": task.turn.requests,
            "tool_calls": task.turn.tool_calls,
        }
        self.task.record(p.TaskSnapshot(self.host.contents.put(msgspec.json.encode(state), JSON)))


def fitted(value: Any, turn: Turn, most: int = 2048) -> tuple[Any, Any]:
    """`value` as it stands in a payload, or nothing and a reference when its JSON is longer than `most` bytes."""
    if value is None or (type(value) is str and len(value) * 6 <= most):
        return value, None
    body = msgspec.json.encode(value)
    return (value, None) if len(body) <= most else (None, turn.host.contents.put(body, JSON))


def clipped(text: str, most: int = 1000) -> str:
    """`text` for a payload: at most `most` bytes as JSON."""
    if len(text) * 6 <= most:
        return text
    while len(msgspec.json.encode(text)) > most:
        text = text[: max(1, min(len(text) * 3 // 4, most))] + "…" if len(text) > 1 else ""
    return text
