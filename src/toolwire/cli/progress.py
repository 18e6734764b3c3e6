"""Shows on stderr that a call is being waited for: one live line on a terminal, a line for each message elsewhere.

It does not wait itself.
"""

import shutil
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TextIO

import anyio

REDRAW_S = 0.1
_WHEEL = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_CLEAR = "\r\x1b[K"


class ProgressLine:
    """What is known of the call, and where it is shown.

    Args:
        label: what is being waited for.
        out: where to write; lines are redrawn in place if it is a terminal.
    """

    def __init__(self, label: str, out: TextIO | None = None) -> None:
        self._label = label
        self._out = out or sys.stderr
        self._live = self._out.isatty()
        self._message = ""
        self._share = ""
        self._began = 0.0

    async def update(self, progress: float, total: float | None, message: str | None) -> None:
        """Take what the tool tells of itself; what the MCP client wants as a progress callback."""
        self._share = f" {progress:g}/{total:g}" if total else ""
        if message:
            self._message = " ".join(message.split())
            if not self._live:
                self._write(f"{self._label}{self._share}: {self._message}\n")

    @asynccontextmanager
    async def shown(self) -> AsyncGenerator[None]:
        """Show it while the block lasts; nothing stays on a terminal."""
        if not self._live:
            yield
            return
        self._began = anyio.current_time()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._redraw)
            try:
                yield
            finally:
                tasks.cancel_scope.cancel("the call has ended")
                self._write(_CLEAR)

    async def _redraw(self) -> None:
        turn = 0
        while True:
            elapsed = anyio.current_time() - self._began
            text = f"{_WHEEL[turn % len(_WHEEL)]} {self._label}{self._share} {elapsed:.0f} s  {self._message}"
            self._write(_CLEAR + text[: max(10, shutil.get_terminal_size().columns - 1)])
            turn += 1
            await anyio.sleep(REDRAW_S)

    def _write(self, text: str) -> None:
        self._out.write(text)
        self._out.flush()
