"""A program in a terminal: what it prints goes to those who look, until it ends; it runs no commands."""

from collections.abc import Callable
from typing import Final

import anyio

from toolwire.canvas.terminal.pty_process import PtyProcess
from toolwire.canvas.terminal.tail import Tail

LINGER_S: Final = 0.05
"""How long what a program printed last is waited for when it has ended."""


class Program:
    """A program that runs or has ended.

    Attributes:
        on_changed: is called when it may be busy that was not, or the other way round, and at its end.
        exited: it has ended, with everything that it started.
        exit_code: how, once that is known; 128 and more when a signal ended it.
    """

    def __init__(self, pty: PtyProcess, tail: Tail) -> None:
        self.pty = pty
        self.tail = tail
        self.exited = anyio.Event()
        self.exit_code: int | None = None
        self.on_changed: Callable[[], None] = _nothing

    @property
    def is_busy(self) -> bool:
        """Whether it does something now."""
        return self.exit_code is None

    async def keep(self) -> None:
        """Take what it prints until it ends; end it when cancelled."""
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._end_after_exit)
                while data := await self.pty.read():
                    self.take(data)
                tasks.cancel_scope.cancel()
        finally:
            self.exit_code = await self.pty.end()
            self.over()
            self.exited.set()
            self.on_changed()

    async def _end_after_exit(self) -> None:
        """What it has left in the background may keep the terminal open for ever."""
        await self.pty.exited()
        await anyio.sleep(LINGER_S)
        await self.pty.end()

    def take(self, data: bytes) -> None:
        """It has printed something."""
        self.tail.append(data)

    def over(self) -> None:
        """It has ended."""

    async def write(self, data: bytes) -> None:
        """Type.

        Raises:
            AgentBusy: it does not read.
        """
        await self.pty.write(data)


def _nothing() -> None:
    """Nobody wants to know."""
