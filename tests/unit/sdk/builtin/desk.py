"""A workspace with the built-in tools over it, called as a runtime calls them; it asserts nothing."""

import os
import time
from pathlib import Path
from typing import Any

import anyio

from toolwire.sdk.builtin import BUILTIN_NAMES, Services, Workspace, builtin_tools
from toolwire.sdk.content import MemoryContentStore
from toolwire.sdk.context import ToolContext
from toolwire.sdk.result import ToolResult
from toolwire.sdk.tool import DecoratedTool


class Desk:
    """The ten tools over the directory `root`, for the task `task_id` unless a call says otherwise."""

    def __init__(self, root: Path, **settings: Any) -> None:
        self.root = root
        self.services = Services(**settings)
        self.workspace = Workspace(root)
        made = builtin_tools(self.workspace, self.services)
        self.tools: dict[str, DecoratedTool] = dict(zip(BUILTIN_NAMES, made, strict=True))
        self.store = MemoryContentStore()

    def context(self, task_id: str = "task-1") -> ToolContext:
        """The context of a call."""
        return ToolContext(self.store, {"task_id": task_id, "tool_use_id": "call-1"})

    async def call(self, name: str, arguments: dict[str, Any], task_id: str = "task-1") -> ToolResult:
        """What the tool answers."""
        answer = self.tools[name].invoke(arguments, self.context(task_id))
        return await answer if hasattr(answer, "__await__") else answer

    async def good(self, name: str, **arguments: Any) -> str:
        """The output of a call that must succeed."""
        result = await self.call(name, arguments)
        assert result.success, result.summary
        return result.output

    async def bad(self, name: str, **arguments: Any) -> str:
        """What the model is told of a call that must fail."""
        result = await self.call(name, arguments)
        assert not result.success, result.output
        return result.summary

    def put(self, path: str, content: str | bytes = "") -> Path:
        """A file in the workspace."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        return file


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that has ended and that nobody has waited for does not."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return status.rpartition(")")[2].split()[0] not in ("Z", "X")


async def gone(pid: int) -> None:
    """Return when the process has ended."""
    with anyio.fail_after(5):
        while is_alive(pid):
            await anyio.lowlevel.checkpoint()


async def number_in(file: Path) -> int:
    """The number in a file, once it is there."""
    there = anyio.Path(file)
    with anyio.fail_after(5):
        while not await there.exists():
            await anyio.lowlevel.checkpoint()
        return int(await there.read_text())


def set_changed(path: Path, seconds_ago: float) -> None:
    """Let a file look as if it was changed that long ago."""
    then = time.time() - seconds_ago
    os.utime(path, (then, then))
