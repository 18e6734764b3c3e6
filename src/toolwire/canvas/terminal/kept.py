"""One card's terminal: what it shows, the program in it, and who looks at it; it starts and ends none.

Several may look at once. The size is what one of them said last, and the oldest alone answers what programs ask of the
terminal, because a second answer would be taken for something typed.
"""

from typing import Final

import anyio
from msgspec import Struct

from toolwire.canvas.peers import Status
from toolwire.canvas.terminal.program import Program
from toolwire.canvas.terminal.tail import Tail

COLUMNS: Final = 120
ROWS: Final = 32
AFRESH: Final = b"\x1b[?1047l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?2004l\x1b[?1l\x1b>\x1b[!p"
"""Ends what a program that was killed has left on: another screen, reports of the mouse, its own keys and colours."""


class Seen(Struct, frozen=True, tag="state"):
    """How a terminal does, as somebody who looks at it is told; `answers` says whether they answer programs."""

    status: Status
    exit_code: int | None
    columns: int
    rows: int
    answers: bool


class Terminal:
    """One card's terminal: what it shows outlives the programs in it."""

    def __init__(self, owner: str, workspace_id: str) -> None:
        self.owner = owner
        self.workspace_id = workspace_id
        self.tail = Tail()
        self.program: Program | None = None
        self.starting = anyio.Lock()
        self.columns = COLUMNS
        self.rows = ROWS
        self.wanted = True
        self.plain = False
        self.told: tuple[Status, int | None] = ("idle", None)
        self.looks: list[Look] = []
        self.news = anyio.Event()

    @property
    def running(self) -> Program | None:
        """The program in it, while that has not ended."""
        return self.program if self.program is not None and self.program.exit_code is None else None

    @property
    def status(self) -> Status:
        """How it does."""
        if self.program is None:
            return "idle"
        if self.program.exit_code is not None:
            return "exited"
        return "working" if self.program.is_busy else "idle"

    @property
    def exit_code(self) -> int | None:
        """How the program in it has ended, if it has."""
        return None if self.program is None else self.program.exit_code

    def begin_afresh(self) -> None:
        """Another program begins after what was there before."""
        if self.tail.end:
            self.tail.append(AFRESH if self.tail.latest().endswith(b"\n") else AFRESH + b"\r\n")

    def resize(self, columns: int, rows: int) -> None:
        """Its window has another size."""
        self.columns, self.rows = columns, rows
        if self.running is not None:
            self.running.pty.resize(columns, rows)
        self.tell()

    def tell(self) -> None:
        """Those who look may see it otherwise."""
        self.news.set()
        self.news = anyio.Event()


class Look:
    """Somebody looks at a terminal, from what is kept of its past on, until `end`."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal
        self._told: Seen | None = None
        self.pieces = terminal.tail.follow()
        terminal.looks.append(self)

    async def state(self) -> Seen:
        """How it does, as soon as that is not what was told last; the first time at once."""
        while (seen := self._seen()) == self._told:
            await self._terminal.news.wait()
        self._told = seen
        return seen

    def end(self) -> None:
        """Look no more."""
        self._terminal.looks.remove(self)
        self._terminal.tell()

    def _seen(self) -> Seen:
        terminal = self._terminal
        answers = terminal.looks[:1] == [self]
        return Seen(terminal.status, terminal.exit_code, terminal.columns, terminal.rows, answers)
