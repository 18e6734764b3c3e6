"""The terminals of all boards: shells of terminal cards, and the programs that agents' cards run, owned by the host.

A shell starts when somebody first uses it. All of it ends when its card is removed, or the host stops. Only an owner
whom the host trusts has terminals at all. Contract: cards.md 73, §4, §7.
"""

import logging
import os
import shutil
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Final, TypeAlias

import anyio
import anyio.to_thread
from anyio.abc import TaskGroup
from msgspec.structs import replace

from toolwire.canvas.identity import Directory, check_trust
from toolwire.canvas.peers import Status
from toolwire.canvas.terminal.kept import Look, Terminal
from toolwire.canvas.terminal.program import Program
from toolwire.canvas.terminal.pty_process import PtyProcess
from toolwire.canvas.terminal.shell import Place, Shell
from toolwire.canvas.terminal.text import rendered
from toolwire.canvas.workspaces import Workspace, Workspaces
from toolwire.core.board import Card
from toolwire.core.errors import Conflict, InvalidParam, ServiceUnavailable, ToolwireError
from toolwire.core.ids import new_id
from toolwire.sdk.builtin.processes import kill_marked
from toolwire.surfaces.feed import Feed
from toolwire.wire.card_messages import CommandResult

logger = logging.getLogger("toolwire.canvas")

MAX_COLUMNS: Final = 1_000
MAX_RUNNING: Final = 100
"""Programs of all terminals together."""
MAX_TYPED_BYTES: Final = 64 * 1024
MAX_SCREEN_LINES: Final = 2_000
MAX_TOLD_CHARS: Final = 200
"""Of a card's content in a message."""
URL_VARIABLE: Final = "TOOLWIRE_TOOLBOX_URL"
KEY_VARIABLE: Final = "TOOLWIRE_AGENT_KEY"

_Remove: TypeAlias = Callable[[], Awaitable[None]]

_INHERITED: Final = frozenset(
    "PATH HOME USER LOGNAME SHELL LANG LANGUAGE TZ TMPDIR DISPLAY WAYLAND_DISPLAY SSH_AUTH_SOCK EDITOR VISUAL"
    " DBUS_SESSION_BUS_ADDRESS VIRTUAL_ENV NVM_DIR PYENV_ROOT JAVA_HOME GOPATH CARGO_HOME RUSTUP_HOME SSL_CERT_FILE"
    " SSL_CERT_DIR NODE_EXTRA_CA_CERTS http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY".split()
)
_INHERITED_PREFIXES: Final = ("LC_", "XDG_")


class Terminals:
    """All terminals; see `card_methods.CommandTerminals`.

    Args:
        folder: for the files of shells, and for the folders that workspaces have by themselves.
        workspaces: where cards stand.
        directory: says whom the host trusts, and makes agents' keys.
        feed: is told how they do.
        toolbox_url: the address of an agent's toolbox.
    """

    def __init__(
        self,
        folder: Path,
        workspaces: Workspaces,
        directory: Directory,
        feed: Feed,
        toolbox_url: Callable[[str], str],
    ) -> None:
        self._folder = folder
        self._rooms = folder / "terminals"
        self._workspaces = workspaces
        self._directory = directory
        self._feed = feed
        self._toolbox_url = toolbox_url
        self._terminals: dict[str, Terminal] = {}
        self._tasks: TaskGroup | None = None
        workspaces.on_changed(self._on_workspace)

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Own the programs until the block ends; then end them. First, end what a host has left that was killed."""
        await anyio.to_thread.run_sync(_end_left, self._rooms)
        async with anyio.create_task_group() as tasks:
            self._tasks = tasks
            try:
                yield
            finally:
                self._tasks = None
                tasks.cancel_scope.cancel()

    async def run(self, workspace: Workspace, terminal: Card, command: str, timeout_s: float) -> CommandResult:
        """Run a command to its end, or to its time-out, when it is interrupted.

        Raises:
            Forbidden, Conflict, InvalidParam, ServiceUnavailable, ToolwireError: it cannot be started; as `_place`.
            InvalidParam, AgentBusy, AgentLost: as `terminal.shell.Shell.run`.
        """
        shell = await self._shell(workspace, terminal)
        return await shell.run(command, timeout_s)

    async def write(self, workspace: Workspace, terminal: Card, data: str) -> None:
        """Send characters, as if typed; a carriage return is the Enter key.

        Raises:
            AgentBusy: what runs does not read.
            InvalidParam: they are too many.
            Forbidden, Conflict, ServiceUnavailable: it cannot be started.
        """
        typed = data.encode("utf-8", "surrogateescape")
        if len(typed) > MAX_TYPED_BYTES:
            raise InvalidParam(f"at most {MAX_TYPED_BYTES} bytes are typed at once", param="data")
        program = await self._program(workspace, terminal)
        await program.write(typed)

    async def resize(self, workspace: Workspace, terminal: Card, columns: int, rows: int) -> None:
        """Give the window another size, now and for what is started later.

        Raises:
            InvalidParam: it is no size of a window.
        """
        if not (2 <= columns <= MAX_COLUMNS and 2 <= rows <= MAX_COLUMNS):
            raise InvalidParam(f"columns and rows go from 2 to {MAX_COLUMNS}", param="columns")
        self._of(workspace, terminal).resize(columns, rows)

    async def kill(self, workspace: Workspace, terminal: Card) -> None:
        """End what runs in a terminal, with everything that it has started; a shell starts anew when it is used."""
        running = self._of(workspace, terminal).running
        if running is not None:
            await running.pty.end()
            await running.exited.wait()

    def screen(self, workspace: Workspace, terminal: Card, lines: int) -> str:
        """The last lines that a terminal shows, as text."""
        text = rendered(self._of(workspace, terminal).tail.latest()).rstrip()
        return "\n".join(text.split("\n")[-lines:])

    async def look(self, workspace: Workspace, terminal: Card) -> Look:
        """Look at what a terminal shows, byte for byte; its first shell is started for that, a later one is not.

        Raises:
            Forbidden, Conflict, ServiceUnavailable: it cannot be started.
        """
        kept = self._of(workspace, terminal)
        if terminal.kind == "terminal" and kept.program is None:
            await self._shell(workspace, terminal)
        return Look(kept)

    async def start(self, workspace: Workspace, card: Card) -> None:
        """Start a terminal's shell, or the program of an agent's card.

        Raises:
            Conflict: it runs already, or the card has no program.
            Forbidden, ServiceUnavailable: it cannot be started.
        """
        if card.kind != "terminal":
            await self._start_agent(workspace, card)
        elif self._of(workspace, card).running is not None:
            raise Conflict("the terminal's shell is running already; end it first")
        else:
            await self._shell(workspace, card)

    async def _start_agent(self, workspace: Workspace, card: Card) -> None:
        """Start the program in the content of an agent's card, with its toolbox in the environment."""
        kept = self._of(workspace, card)
        async with kept.starting:
            if kept.running is not None:
                raise Conflict("the agent's program is running already; stop it first")
            command = card.content.get("command")
            if card.agent_id is None or not isinstance(command, str) or not command.strip() or "\0" in command:
                raise Conflict('this card runs no program; give an agent\'s card the content {"command": "…"}')
            place = await self._place(workspace, card, kept)
            label = f"terminal {card.id}"
            revoke = partial(self._directory.revoke_agent_keys, workspace.owner, card.agent_id, label)
            async with _removing_on_failure(at_end := (partial(_remove_folder, place.room), revoke)):
                await revoke()
                key = await self._directory.new_agent_key(workspace.owner, card.agent_id, label)
                environment = {
                    **place.environment,
                    URL_VARIABLE: self._toolbox_url(card.agent_id),
                    KEY_VARIABLE: key,
                }
                shell = shutil.which("bash", path=environment.get("PATH")) or "/bin/sh"
                program = (shell, "-c", command)
                kept.begin_afresh()
                pty = await PtyProcess.start(
                    program, place.cwd, environment, place.columns, place.rows, place.room.name
                )
                await self._keep(card.id, kept, Program(pty, kept.tail), at_end)

    def status(self, card: Card) -> Status:
        """How a terminal does; see `peers.StatusOf`."""
        kept = self._terminals.get(card.id)
        return "idle" if kept is None else kept.status

    def is_running(self, card_id: str) -> bool:
        """Whether a program runs in a card's terminal."""
        kept = self._terminals.get(card_id)
        return kept is not None and kept.running is not None

    def _of(self, workspace: Workspace, card: Card) -> Terminal:
        """The terminal of a card.

        Raises:
            Conflict: it is of a kind that has none.
            Forbidden: the host does not trust its owner.
            WorkspaceNotFound, CardNotFound: it was just removed.
        """
        if card.kind not in ("terminal", "agent"):
            raise Conflict(f"card {card.id!r} is a {card.kind}, not a terminal; use a card of kind 'terminal'")
        check_trust(self._directory, workspace.owner)
        self._workspaces.get(workspace.owner, workspace.id).card(card.id)
        kept = self._terminals.get(card.id)
        if kept is None:
            kept = self._terminals[card.id] = Terminal(workspace.owner, workspace.id)
        return kept

    async def _program(self, workspace: Workspace, card: Card) -> Program:
        if card.kind == "terminal":
            return await self._shell(workspace, card)
        running = self._of(workspace, card).running
        if running is None:
            raise Conflict("the agent's program is not running; start it first")
        return running

    async def _shell(self, workspace: Workspace, card: Card) -> Shell:
        """The shell of a card, which is started first if it has to be."""
        if card.kind != "terminal":
            raise Conflict(f"card {card.id!r} is a {card.kind}, not a terminal; use a card of kind 'terminal'")
        kept = self._of(workspace, card)
        async with kept.starting:
            running = kept.running
            if not isinstance(running, Shell):
                place = await self._place(workspace, card, kept)
                kept.plain = kept.plain or (isinstance(kept.program, Shell) and not kept.program.has_begun)
                place = replace(place, plain=kept.plain)
                async with _removing_on_failure(at_end := (partial(_remove_folder, place.room),)):
                    kept.begin_afresh()
                    running = await Shell.start(place, kept.tail)
                    await self._keep(card.id, kept, running, at_end)
            return running

    async def _place(self, workspace: Workspace, card: Card, kept: Terminal) -> Place:
        """Where a program of a card begins: the folder that the card's content names, or the workspace's own."""
        self._check_room()
        named = card.content.get("cwd")
        if isinstance(named, str) and named:
            cwd = await _folder_named(named)
            if cwd is None:
                words = f"the terminal's folder {named[:MAX_TOLD_CHARS]!r} is not there"
                raise Conflict(f"{words}; give the card's content another cwd")
        else:
            cwd = anyio.Path(self._folder / "workspaces" / workspace.id)
            await cwd.mkdir(parents=True, exist_ok=True)
        room = self._rooms.absolute() / new_id("room")
        await anyio.Path(room).mkdir(0o700, parents=True)
        return Place(str(await cwd.absolute()), environment_for(os.environ), room, kept.columns, kept.rows)

    async def _keep(self, card_id: str, kept: Terminal, program: Program, at_end: Sequence[_Remove]) -> None:
        kept.program = program
        program.on_changed = partial(self._tell, card_id, kept)
        if self._tasks is None or not kept.wanted:
            await program.pty.end()
            raise ServiceUnavailable("the host is stopping, or the card was just removed; nothing is started any more")
        self._tasks.start_soon(self._keep_program, program, at_end)
        program.on_changed()

    async def _keep_program(self, program: Program, at_end: Sequence[_Remove]) -> None:
        try:
            await program.keep()
        finally:
            await _remove_all(at_end)

    def _tell(self, card_id: str, kept: Terminal) -> None:
        """Tell those who look at the board how a terminal does, where that is news."""
        kept.tell()
        state = (kept.status, kept.exit_code)
        if kept.wanted and state != kept.told:
            kept.told = state
            moment = {"card": card_id, "status": state[0], "exit_code": state[1]}
            self._feed.tell(kept.workspace_id, "terminal", moment)

    def _check_room(self) -> None:
        taken = sum(kept.running is not None or kept.starting.locked() for kept in self._terminals.values())
        if taken > MAX_RUNNING:  # the one that is to be started is among them
            raise Conflict(f"{MAX_RUNNING} terminals are running, and more are not; end one that is not needed")

    def _on_workspace(self, before: Workspace | None, after: Workspace | None) -> None:
        """End what has lost its card."""
        if before is None:
            return
        for card_id, kept in tuple(self._terminals.items()):
            if kept.workspace_id == before.id and (after is None or card_id not in after.board.cards):
                del self._terminals[card_id]
                kept.wanted = False
                kept.tail.close()
                if kept.running is not None and self._tasks is not None:
                    self._tasks.start_soon(kept.running.pty.end)


def environment_for(own: Mapping[str, str]) -> dict[str, str]:
    """A normal user's environment: nothing of the host's own that could be a secret."""
    kept = {name: value for name, value in own.items() if name in _INHERITED or name.startswith(_INHERITED_PREFIXES)}
    if not any(name.startswith(("LC_", "LANG")) for name in kept):
        kept["LANG"] = "C.UTF-8"
    return {**kept, "TERM": "xterm-256color", "COLORTERM": "truecolor", "PAGER": "cat", "GIT_PAGER": "cat"}


async def _folder_named(text: str) -> anyio.Path | None:
    """The folder that somebody has written down, if it is there."""
    try:
        folder = await anyio.Path(text).expanduser()
        return folder if folder.is_absolute() and await folder.is_dir() else None
    except (OSError, RuntimeError, ValueError):  # too long, of nobody's home, or no path at all
        return None


@asynccontextmanager
async def _removing_on_failure(left: Sequence[_Remove]) -> AsyncGenerator[None]:
    """Remove what was made for a program that does not start."""
    try:
        yield
    except BaseException:
        await _remove_all(left)
        raise


async def _remove_all(left: Sequence[_Remove]) -> None:
    with anyio.CancelScope(shield=True):
        for remove in left:
            try:
                await remove()
            except ToolwireError as error:
                logger.warning("what a terminal has left could not be removed: %s", error)


async def _remove_folder(folder: Path) -> None:
    await anyio.to_thread.run_sync(lambda: shutil.rmtree(folder, ignore_errors=True))


def _end_left(rooms: Path) -> None:
    """End the processes that are marked by these folders, and remove the folders."""
    for room in rooms.iterdir() if rooms.is_dir() else ():
        kill_marked(room.name)
    shutil.rmtree(rooms, ignore_errors=True)
