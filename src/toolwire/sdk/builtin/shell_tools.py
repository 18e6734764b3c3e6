"""`Bash`, `BashOutput` and `KillShell`: what they are asked and how they answer; the processes are elsewhere."""

import os
from typing import Any

import anyio

from toolwire.sdk.builtin.isolated.request import FilterRequest
from toolwire.sdk.builtin.search_tools import asked
from toolwire.sdk.builtin.services import Services, TaskState, task_of
from toolwire.sdk.builtin.shell import GRACE_S, LINGER_S, Shell
from toolwire.sdk.builtin.specs import BASH, BASH_OUTPUT, KILL_SHELL
from toolwire.sdk.builtin.workspace import Workspace
from toolwire.sdk.context import ToolContext
from toolwire.sdk.result import ToolError, ToolResult
from toolwire.sdk.tool import tool

TIMEOUT_MS = 120_000
BLOCK_MS = 30_000
PROGRESS_S = 1.0
"""How often the last line of a command under way is shown as progress."""


class ShellTools:
    """The three tools over one workspace."""

    def __init__(self, workspace: Workspace, services: Services) -> None:
        self._workspace = workspace
        self._services = services

    @tool(**BASH)
    async def bash(self, arguments: dict[str, Any], ctx: ToolContext) -> ToolResult:
        """Run a command."""
        command = _checked(arguments["command"])
        state = self._services.task(ctx)
        cwd, note = self._start_in(state)
        shells = self._services.shells
        try:
            shell = shells.start(command, cwd, task_of(ctx))
        except ToolError as error:
            raise ToolError(f"Bash: {error}") from None
        if arguments.get("run_in_background", False):
            told = f"running in the background as {shell.id}: BashOutput reads its output, KillShell stops it"
            return ToolResult(success=True, output=told)
        timeout_ms = arguments.get("timeout", TIMEOUT_MS)
        in_time = await _finished(shell, timeout_ms / 1000, ctx)
        if shell.error is not None:
            shells.forget(shell)
            raise ToolError(f"Bash: {shell.error}")
        if shell.ended.is_set():
            shells.forget(shell)
        if shell.report is not None:
            state.cwd = shell.report.cwd or state.cwd
        notes = [note] if note else []
        if in_time and not shell.ended.is_set():
            notes.append(
                f"(what the command left running in the background is {shell.id} now: BashOutput reads its output, "
                "KillShell stops it)"
            )
        text = "\n".join(part for part in (shell.output.take(final=shell.ended.is_set()).rstrip("\n"), *notes) if part)
        return _bash_result(shell, text, None if in_time else timeout_ms)

    @tool(**BASH_OUTPUT)
    async def bash_output(self, arguments: dict[str, Any], ctx: ToolContext) -> ToolResult:
        """Read what a background shell has printed."""
        try:
            shell = self._services.shells.find(arguments["bash_id"], task_of(ctx))
            pattern = arguments.get("filter")
            if pattern is not None:
                await asked(FilterRequest(pattern, []))  # a wrong pattern must not cost the output
            if arguments.get("block", False):
                with anyio.move_on_after(arguments.get("timeout", BLOCK_MS) / 1000):
                    await shell.ended.wait()
            ended = shell.ended.is_set()
            text = shell.output.take(final=ended).rstrip("\n")
            if pattern is not None and text:
                text = "\n".join((await asked(FilterRequest(pattern, text.split("\n")))).lines)
        except ToolError as error:
            raise ToolError(f"BashOutput: {error}") from None
        return ToolResult(success=True, output=f"{text or '(no new output)'}\n({shell.id} {_state(shell)})")

    @tool(**KILL_SHELL)
    async def kill_shell(self, arguments: dict[str, Any], ctx: ToolContext) -> ToolResult:
        """Stop a background shell."""
        try:
            shell = self._services.shells.find(arguments["shell_id"], task_of(ctx))
        except ToolError as error:
            raise ToolError(f"KillShell: {error}") from None
        if shell.ended.is_set():
            return ToolResult(success=True, output=f"{shell.id} had ended before: it {_state(shell)}")
        shell.stop()
        with anyio.move_on_after(GRACE_S + 2):
            await shell.ended.wait()
        if not shell.ended.is_set():
            raise ToolError(f"KillShell: {shell.id} was told to end and has not ended yet; look again with BashOutput")
        return ToolResult(success=True, output=f"{shell.id} was stopped, with everything it had started")

    def _start_in(self, state: TaskState) -> tuple[str, str]:
        """Where the next command starts, and what to say when that is not where the last one ended."""
        cwd = state.cwd
        if cwd is None:
            return self._workspace.root, ""
        if not self._workspace.contains(os.path.realpath(cwd)):
            state.cwd = None
            return (
                self._workspace.root,
                f"(this command started in {self._workspace.root}: the last one left the workspace)",
            )
        if not os.path.isdir(cwd):
            state.cwd = None
            return self._workspace.root, f"(this command started in {self._workspace.root}: {cwd!r} is gone)"
        return cwd, ""


def _checked(command: str) -> str:
    if not command.strip():
        raise ToolError("Bash: the command is empty")
    if "\0" in command:
        raise ToolError("Bash: the command has a NUL character in it; remove it")
    try:
        command.encode()
    except UnicodeEncodeError:
        raise ToolError("Bash: the command has characters that cannot be passed on (lone surrogates)") from None
    return command


async def _finished(shell: Shell, timeout_s: float, ctx: ToolContext) -> bool:
    """Whether the command has ended in time; when it has not, or nobody waits any more, everything is stopped."""
    settled = False
    try:
        with anyio.move_on_after(timeout_s):
            while not shell.reported.is_set():
                with anyio.move_on_after(PROGRESS_S):
                    await shell.reported.wait()
                if not shell.reported.is_set() and shell.output.last_line:
                    ctx.progress(shell.output.last_line)
        if shell.reported.is_set():
            with anyio.move_on_after(2 * LINGER_S):
                await shell.ended.wait()
            settled = True
        return settled
    finally:
        if not settled:
            shell.stop()
            with anyio.move_on_after(GRACE_S + 2, shield=True):
                await shell.ended.wait()


def _bash_result(shell: Shell, text: str, timeout_ms: float | None) -> ToolResult:
    if timeout_ms is not None:
        summary = (
            f"the command did not end within {timeout_ms:g} ms and was stopped with everything it had started; give a "
            "longer timeout (at most 600000), or use run_in_background"
        )
        return ToolResult(success=False, output=text, summary=summary)
    status = 0 if shell.report is None else shell.report.status
    if status == 0:
        return ToolResult(success=True, output=text or "(no output)")
    return ToolResult(success=False, output=text, summary=f"Exit code {status}")


def _state(shell: Shell) -> str:
    if not shell.ended.is_set():
        return "is still running"
    if shell.error is not None:
        return f"did not start: {shell.error}"
    if shell.stopped:
        return "was stopped"
    return f"ended with exit code {0 if shell.report is None else shell.report.status}"
