"""The routes of terminals (cards.md, section 7), for owners alone; it keeps nothing."""

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta, Struct
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from toolwire.canvas.rest import OwnerReader, path_param
from toolwire.canvas.terminals import MAX_SCREEN_LINES, Terminals
from toolwire.canvas.workspaces import Workspace, Workspaces
from toolwire.core.board import Card
from toolwire.core.errors import InvalidParam
from toolwire.surfaces.described import described, query
from toolwire.surfaces.rest import answer, done, query_number
from toolwire.wire.answers.boards import CommandEnd, TerminalScreen, TerminalStatus

LEAST_MS = 100
MOST_MS = 600_000
USUAL_MS = 30_000
USUAL_LINES = 200


class CommandBody(Struct, frozen=True, forbid_unknown_fields=True):
    """The body of `POST …/run`."""

    command: str
    timeout_ms: int = USUAL_MS


class TypedBody(Struct, frozen=True, forbid_unknown_fields=True):
    """The body of `POST …/write`: characters as if typed; a carriage return is the Enter key."""

    data: str


class SizeBody(Struct, frozen=True, forbid_unknown_fields=True):
    """The body of `POST …/resize`, in characters."""

    columns: int
    rows: int


class TerminalRoutes:
    """The routes of terminals, and of the programs of agents' cards.

    Args:
        reader: reads requests.
        workspaces: where cards stand.
        terminals: all terminals.
    """

    def __init__(self, reader: OwnerReader, workspaces: Workspaces, terminals: Terminals) -> None:
        self._reader = reader
        self._workspaces = workspaces
        self._terminals = terminals

    def routes(self) -> Sequence[Route]:
        """What to mount."""
        one = "/api/v1/terminals/{c}"
        return (
            Route(one + "/run", self.run, methods=["POST"]),
            Route(one + "/write", self.write, methods=["POST"]),
            Route(one + "/resize", self.resize, methods=["POST"]),
            Route(one + "/start", self.start, methods=["POST"]),
            Route(one + "/kill", self.kill, methods=["POST"]),
            Route(one + "/screen", self.screen, methods=["GET"]),
        )

    @described("oag", CommandEnd, body=CommandBody, errors="conflict")
    async def run(self, request: Request) -> Response:
        """Run a command to its end, or to its time-out."""
        workspace, card = self._find(request)
        body = await self._reader.body(request, CommandBody)
        if not LEAST_MS <= body.timeout_ms <= MOST_MS:
            words = f"timeout_ms goes from {LEAST_MS} to {MOST_MS}, not {body.timeout_ms}"
            raise InvalidParam(words, param="timeout_ms")
        ended = await self._terminals.run(workspace, card, body.command, body.timeout_ms / 1000)
        return answer(
            {
                "exit_code": ended.exit_code,
                "output": ended.output,
                "truncated": ended.truncated,
                "timed_out": ended.timed_out,
            }
        )

    @described("oag", body=TypedBody, errors="conflict")
    async def write(self, request: Request) -> Response:
        """Send characters, as if typed."""
        workspace, card = self._find(request)
        body = await self._reader.body(request, TypedBody)
        await self._terminals.write(workspace, card, body.data)
        return done()

    @described("oag", body=SizeBody, errors="conflict")
    async def resize(self, request: Request) -> Response:
        """Give the window another size."""
        workspace, card = self._find(request)
        body = await self._reader.body(request, SizeBody)
        await self._terminals.resize(workspace, card, body.columns, body.rows)
        return done()

    @described("oag", TerminalStatus, errors="conflict")
    async def start(self, request: Request) -> Response:
        """Start the shell of a terminal that has ended, or the program of an agent's card."""
        workspace, card = self._find(request)
        await self._terminals.start(workspace, card)
        return answer({"status": self._terminals.status(card)})

    @described("oag", errors="conflict")
    async def kill(self, request: Request) -> Response:
        """End what runs, with everything that it has started."""
        workspace, card = self._find(request)
        await self._terminals.kill(workspace, card)
        return done()

    @described(
        "oag",
        TerminalScreen,
        errors="conflict",
        parameters=(query("lines", "how many", Annotated[int, Meta(ge=1, le=MAX_SCREEN_LINES)]),),
    )
    async def screen(self, request: Request) -> Response:
        """The last `lines` lines, as text."""
        workspace, card = self._find(request)
        lines = query_number(request, "lines", USUAL_LINES, 1, MAX_SCREEN_LINES)
        text = self._terminals.screen(workspace, card, lines)
        return answer({"screen": text, "status": self._terminals.status(card)})

    def _find(self, request: Request) -> tuple[Workspace, Card]:
        return self._workspaces.find_card(self._reader.owner(request).owner, path_param(request, "c"))
