"""Runs one program to its end, with everything that it starts; what it prints comes line by line. It keeps nothing.

A process has a group of its own, which ends with it: whatever it has left running holds neither its pipes nor us.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, Literal, TypeAlias

import anyio
from anyio.abc import ByteReceiveStream, Process
from anyio.streams.text import TextReceiveStream

STOP_S: Final = 3.0
"""How long a process may take to end by itself."""
DRAIN_S: Final = 1.0
"""How long what it has printed may take to come, once it has ended."""
MAX_LINE_CHARS: Final = 2_000
"""A longer line loses its beginning."""
MAX_LINES_AT_ONCE: Final = 500
"""Of what comes at once, more lines than these lose the first of them."""

Source: TypeAlias = Literal["stdout", "stderr"]
OnLine: TypeAlias = Callable[[str, Source], None]
"""Gets a line that is not empty, without its end, and where it was printed. It must not block."""


async def run_to_end(command: Sequence[str], folder: Path, environment: Mapping[str, str], on_line: OnLine) -> int:
    """Run a program; says its exit code, which is minus the signal's number if one has ended it.

    Cancellation: the process is told to end, and killed if it has not done so within `STOP_S`.

    Args:
        command: the program and its arguments.
        folder: where it works.
        environment: all that it gets of one.
        on_line: gets what it prints.

    Raises:
        OSError: it cannot be started.
    """
    process = await anyio.open_process(
        command, stdin=subprocess.DEVNULL, cwd=str(folder), env=environment, start_new_session=True
    )
    drained = anyio.Event()

    async def take_all() -> None:
        assert process.stdout is not None
        assert process.stderr is not None
        async with anyio.create_task_group() as readers:
            readers.start_soon(_take_lines, process.stdout, "stdout", on_line)
            readers.start_soon(_take_lines, process.stderr, "stderr", on_line)
        drained.set()

    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(take_all)
            await process.wait()
            _signal_group(process, _KILL)
            with anyio.move_on_after(DRAIN_S):
                await drained.wait()
            tasks.cancel_scope.cancel()
        return await process.wait()
    finally:
        with anyio.CancelScope(shield=True):
            await _end(process)


async def _take_lines(stream: ByteReceiveStream, source: Source, on_line: OnLine) -> None:
    held = ""
    with suppress(anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError):
        async for text in TextReceiveStream(stream, errors="replace"):
            *lines, held = (held + text).split("\n")
            for line in lines[-MAX_LINES_AT_ONCE:]:
                _give(line, source, on_line)
            held = held[-MAX_LINE_CHARS:]
    _give(held, source, on_line)


def _give(line: str, source: Source, on_line: OnLine) -> None:
    if line.strip():
        on_line(line[-MAX_LINE_CHARS:].rstrip("\r"), source)


async def _end(process: Process) -> None:
    """End a process with everything it has started: politely, and after a moment for good."""
    if process.returncode is None:
        _signal_group(process, signal.SIGTERM)
        with anyio.move_on_after(STOP_S):
            await process.wait()
    _signal_group(process, _KILL)
    await process.wait()
    await process.aclose()


_KILL: Final = signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL


def _signal_group(process: Process, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        if sys.platform == "win32":
            process.send_signal(number)
        else:
            os.killpg(process.pid, number)
