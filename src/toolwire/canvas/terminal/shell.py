"""A shell in a terminal that people and agents share: it runs commands one after the other, and knows how each ended.

A command is typed as one line that has the shell read it from a file, so what a command holds is never typed. Marks
around its output tell where that begins and ends; see `marks`.
"""

import secrets
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import anyio
from msgspec import Struct

from toolwire.canvas.terminal.marks import LINE, Mark, MarkReader, startup_script
from toolwire.canvas.terminal.program import Program
from toolwire.canvas.terminal.pty_process import GRACE_S, PtyProcess
from toolwire.canvas.terminal.tail import Tail
from toolwire.canvas.terminal.text import Kept
from toolwire.core.errors import AgentBusy, AgentLost, InvalidParam, ServiceUnavailable
from toolwire.wire.card_messages import CommandResult

START_S: Final = 10.0
"""How long a shell may take to its first prompt."""
BUSY_S: Final = 5.0
"""How long a command waits for what somebody else has started by hand."""
MAX_OUTPUT_BYTES: Final = 200_000
"""Of a command's output that is kept: half of it from the beginning, half from the end."""
MAX_COMMAND_CHARS: Final = 100_000
MAX_TRIES: Final = 3
SETTLE_S: Final = 0.1
_INTERRUPT: Final = b"\x03"


class _Command:
    """A command under way."""

    def __init__(self, text: str) -> None:
        self.secret = secrets.token_hex(8)
        self.text = text
        self.kept = Kept(MAX_OUTPUT_BYTES)
        self.begun = False
        self.lost = False
        self.ended = anyio.Event()
        self.status: int | None = None

    def end(self, status: int) -> None:
        if not self.ended.is_set():
            self.status = status
            self.ended.set()


class Place(Struct, frozen=True):
    """Where a shell begins: its folder, its environment, the size of its window, and a folder for files of ours.

    The folder is there, and its name, which is nobody else's, marks the processes. A `plain` shell does not read the
    user's own settings.
    """

    cwd: str
    environment: Mapping[str, str]
    room: Path
    columns: int
    rows: int
    plain: bool = False


class Shell(Program):
    """A shell that waits at its prompt, or does something.

    Attributes:
        has_begun: it has come to a prompt at least once.
    """

    def __init__(self, pty: PtyProcess, tail: Tail, command_file: Path, secret: str) -> None:
        super().__init__(pty, tail)
        self._marks = MarkReader()
        self._command_file = command_file
        self._secret = secret
        self._turn = anyio.Lock()
        self._command: _Command | None = None
        self.has_begun = False
        self._at_prompt = False
        self._half_typed = False
        self._typed_ahead = False
        self._returning = True
        self._hushed = False
        self._changed = anyio.Event()

    @classmethod
    async def start(cls, place: Place, tail: Tail) -> "Shell":
        """Start a shell; `keep` it in a task, and its prompt will come.

        Raises:
            ServiceUnavailable: there is no bash, or it cannot be started there.
        """
        bash = shutil.which("bash", path=place.environment.get("PATH"))
        if bash is None:
            raise ServiceUnavailable("terminals need bash; install it on the host's machine")
        secret, room = secrets.token_hex(8), anyio.Path(place.room)
        script, command_file = room / "startup", room / "command"
        await script.write_text(startup_script(Path(command_file), secret, place.plain))
        command = (bash, "--noprofile", "--rcfile", str(script), "-i")
        pty = await PtyProcess.start(command, place.cwd, place.environment, place.columns, place.rows, place.room.name)
        return cls(pty, tail, Path(command_file), secret)

    @property
    def is_busy(self) -> bool:
        """Whether it does something now."""
        return self.exit_code is None and not self._at_prompt

    async def run(self, text: str, timeout_s: float) -> CommandResult:
        """Run a command to its end; one that is not over in time, or that nobody wants any more, is interrupted.

        Raises:
            InvalidParam: it is no command.
            AgentBusy: something else is running.
            AgentLost: the shell ended before the command began.
        """
        _check(text)
        with anyio.move_on_after(timeout_s) as waiting:
            await self._turn.acquire()
        if waiting.cancelled_caught:
            raise AgentBusy("other commands are still running in this terminal; try again later")
        try:
            await self._come_to_prompt()
            return await self._run(_Command(text), timeout_s)
        finally:
            self._turn.release()

    async def write(self, data: bytes) -> None:
        """Type, as a person does.

        Raises:
            AgentBusy: what runs does not read.
        """
        if self._returning:
            await self._wait_for_prompt(START_S if self._command is None else GRACE_S)
        ends_line = b"\r" in data or b"\n" in data
        if self._at_prompt and data:
            self._half_typed, self._at_prompt = not ends_line, not ends_line
        self._typed_ahead = self._typed_ahead or ends_line
        await super().write(data)

    def take(self, data: bytes) -> None:
        """It has printed something: output, and marks."""
        for piece in self._marks.feed(data):
            if isinstance(piece, bytes):
                self._show(piece)
            elif not self._heed(piece):
                self._show(piece.raw)

    def over(self) -> None:
        """It has ended, and a command with it."""
        self._hushed = False
        self._show(self._marks.rest())
        if self._command is not None:
            self._command.end(self.exit_code or 0)
        self._at_prompt = False
        self._tell()

    def _show(self, data: bytes) -> None:
        if self._hushed or not data:
            return
        self.tail.append(data)
        command = self._command
        if command is not None and command.begun and not command.ended.is_set():
            command.kept.append(data)

    def _heed(self, mark: Mark) -> bool:
        """Whether a mark is one of ours."""
        command = self._command
        mine = command is not None and mark.secret == command.secret
        match mark.kind:
            case "begin" if mine and command is not None and not command.begun:
                command.begun, self._hushed = True, False
                self.tail.append(command.text.replace("\n", "\r\n").encode() + b"\r\n")
            case "end" if mine and command is not None:
                command.end(mark.status)
                self._returning = True
            case "prompt":
                if command is not None and command.begun:  # it was interrupted, or has broken the line off
                    command.end(mark.status)
                elif command is not None:
                    command.lost = True
                self._hushed, self._returning = False, True
            case "busy" if mark.secret == self._secret:
                self._at_prompt = False
            case "ready" if mark.secret == self._secret:
                if command is None or command.lost or command.ended.is_set():
                    self._returning, self.has_begun = False, True
                    self._at_prompt, self._half_typed = True, False
            case _:
                return False
        self._tell()
        return True

    def _tell(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()
        self.on_changed()

    async def _come_to_prompt(self) -> None:
        if self._half_typed:
            self._half_typed = self._at_prompt = False
            await self.pty.write(_INTERRUPT)
        if self._typed_ahead:  # a prompt may be about to read a line that waits for it
            self._typed_ahead = False
            await anyio.sleep(SETTLE_S)
        await self._wait_for_prompt(BUSY_S if self.has_begun else START_S)
        if not self.has_begun:
            await self.pty.end()
            raise AgentLost("the shell has not come to its prompt; try again: ~/.bashrc is left out then")
        if self.exit_code is not None:
            raise AgentLost("the terminal's shell has ended; try again")
        if not self._at_prompt:
            raise AgentBusy(
                "the terminal is busy with a program that was started in it by hand; read its screen and end that first"
            )

    async def _wait_for_prompt(self, within_s: float) -> bool:
        with anyio.move_on_after(within_s):
            while not self._at_prompt and self.exit_code is None:
                await self._changed.wait()
        return self._at_prompt

    async def _run(self, command: _Command, timeout_s: float) -> CommandResult:
        written = anyio.Path(self._command_file.with_suffix(".new"))
        await written.write_text(f"{command.secret}\n{command.text}", encoding="utf-8", errors="surrogateescape")
        await written.replace(self._command_file)  # a line that was typed before may be about to read it
        self._command = command
        try:
            with anyio.move_on_after(timeout_s):
                await self._type(command)
                await command.ended.wait()
            truncated, status = command.kept.left_out > 0, command.status
            output = command.kept.text()
            truncated = truncated or command.kept.left_out > 0
            return CommandResult(status, output, truncated, not command.ended.is_set())
        finally:
            if not command.ended.is_set():
                await self._stop(command)

    async def _type(self, command: _Command) -> None:
        """Have the shell begin with a command. Bash forgets a line that comes right after a syntax error."""
        for _ in range(MAX_TRIES):
            self._at_prompt, self._hushed, command.lost = False, True, False
            await super().write(LINE)
            while not (command.begun or command.lost or command.ended.is_set()):
                await self._changed.wait()
            if not command.lost:
                return
            await self._wait_for_prompt(START_S)
        command.end(128 + 2)

    async def _stop(self, command: _Command) -> None:
        """See to it that a command ends: it is interrupted, then killed; at last the whole shell ends."""
        with anyio.CancelScope(shield=True):
            if not command.begun:
                await anyio.Path(self._command_file).unlink(missing_ok=True)
            for stop in (self.pty.interrupt, self.pty.kill_foreground):
                stop()
                if await self._wait_for_prompt(GRACE_S) or self.exit_code is not None:
                    return
            command.end(128 + 9)
            await self.pty.end()


def _check(text: str) -> None:
    if not text.strip() or len(text) > MAX_COMMAND_CHARS:
        raise InvalidParam(f"a command has 1 to {MAX_COMMAND_CHARS} characters", param="command")
    if "\0" in text:
        raise InvalidParam("a command cannot have a zero character; write the bytes to a file instead", param="command")
