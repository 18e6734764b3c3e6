"""`WS /api/v1/terminals/{c}/stream`, as a bare ASGI callable: what a terminal prints, and what is typed into it.

Binary messages are bytes of the terminal, in both directions. Text messages are JSON: to the host
`{"type": "input", "data": "…"}` and `{"type": "resize", "columns": 80, "rows": 24}`; from it, first and whenever it has
changed, `{"type": "state", "status", "exit_code", "columns", "rows", "answers"}`: how the terminal does, its size, and
whether this reader is the one who answers what programs ask of the terminal; `{"type": "live"}` after all that had been
printed before; `{"type": "reset"}`, when some output was too long ago to be kept; and
`{"type": "error", "code": "…", "message": "…"}`.
"""

import logging
from collections.abc import MutableMapping
from typing import Any, Final, TypeAlias

import anyio
import msgspec
from anyio.abc import TaskGroup
from msgspec import Struct

from toolwire.canvas.identity import Directory, Visitor
from toolwire.canvas.terminal.kept import Look
from toolwire.canvas.terminal.tail import Piece
from toolwire.canvas.terminals import Terminals
from toolwire.canvas.workspaces import Workspace, Workspaces
from toolwire.core.board import Card
from toolwire.core.errors import CardNotFound, Forbidden, InvalidRequest, ToolwireError
from toolwire.surfaces.limits import credentials_in
from toolwire.surfaces.web_sockets import POLICY, Receive, Send, refuse_handshake

logger = logging.getLogger("toolwire.canvas")

PREFIX: Final = "/api/v1/terminals/"
SUFFIX: Final = "/stream"
GONE: Final = 1000
FAILED: Final = 1011


class Input(Struct, frozen=True, tag="input", forbid_unknown_fields=True):
    """Characters, as if typed."""

    data: str


class Resize(Struct, frozen=True, tag="resize", forbid_unknown_fields=True):
    """The window has another size, in characters."""

    columns: int
    rows: int


Message: TypeAlias = Input | Resize
_decode = msgspec.json.Decoder(Message).decode
_encode = msgspec.json.Encoder().encode


class TerminalStreams:
    """Serves the streams.

    Args:
        directory: knows owners.
        workspaces: where cards stand.
        terminals: all terminals.
    """

    def __init__(self, directory: Directory, workspaces: Workspaces, terminals: Terminals) -> None:
        self._directory = directory
        self._workspaces = workspaces
        self._terminals = terminals

    def serves(self, path: str) -> bool:
        """Whether a path is one of a stream."""
        return path.startswith(PREFIX) and path.endswith(SUFFIX) and len(path) > len(PREFIX) + len(SUFFIX)

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Serve one WebSocket from its handshake to its end."""
        if (await receive())["type"] != "websocket.connect":
            return
        try:
            visitor, workspace, card = self._admit(scope)
            look = await self._terminals.look(workspace, card)
        except ToolwireError as error:
            await refuse_handshake(scope, send, error)
            return
        try:
            await send({"type": "websocket.accept"})
            serving = self._serve(look, workspace, card, receive, send)
            if await self._directory.held_open.of(visitor.key_id).is_ended_during(serving):
                await _close(send, POLICY, "its key was revoked")
        except Exception:
            logger.exception("the stream of terminal %s failed inside the server", card.id)
            await _close(send, FAILED, "internal_error")
        finally:
            look.end()

    async def _serve(self, look: Look, workspace: Workspace, card: Card, receive: Receive, send: Send) -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._write, look, send, tasks)
            await self._read(workspace, card, receive, send)
            tasks.cancel_scope.cancel()

    def _admit(self, scope: MutableMapping[str, Any]) -> tuple[Visitor, Workspace, Card]:
        visitor = self._directory.visitor(credentials_in(scope["headers"]))
        if visitor.agent_id is not None:
            raise Forbidden("an agent's key opens its toolbox alone; use an oag_ key")
        card_id = str(scope["path"])[len(PREFIX) : -len(SUFFIX)]
        if "/" in card_id:
            raise CardNotFound(f"there is no card {card_id!r} in any workspace")
        return visitor, *self._workspaces.find_card(visitor.owner, card_id)

    async def _read(self, workspace: Workspace, card: Card, receive: Receive, send: Send) -> None:
        """Take what is typed until the reader is gone."""
        while (event := await receive())["type"] == "websocket.receive":
            try:
                await self._take(workspace, card, event)
            except ToolwireError as error:
                told = {"type": "error", "code": error.code, "message": error.told}
                await _say(send, told)

    async def _take(self, workspace: Workspace, card: Card, event: MutableMapping[str, Any]) -> None:
        data = event.get("bytes")
        if data is not None:
            await self._terminals.write(workspace, card, bytes(data).decode("utf-8", "surrogateescape"))
            return
        try:
            message = _decode(event.get("text") or "")
        except (msgspec.DecodeError, RecursionError) as error:
            raise InvalidRequest(f"the message does not fit: {error}; send input or resize") from None
        match message:
            case Input(data):
                await self._terminals.write(workspace, card, data)
            case Resize(columns, rows):
                await self._terminals.resize(workspace, card, columns, rows)

    async def _write(self, look: Look, send: Send, tasks: TaskGroup) -> None:
        """Send what is printed, and how the terminal does, until it is gone."""
        await _say(send, await look.state())
        if look.pieces.is_behind and (past := await look.pieces.next()) is not None:
            await _show(send, past)
        await _say(send, {"type": "live"})
        tasks.start_soon(self._tell_states, look, send)
        while (piece := await look.pieces.next()) is not None:
            await _show(send, piece)
        await _close(send, GONE, "the terminal's card was removed")
        tasks.cancel_scope.cancel()

    async def _tell_states(self, look: Look, send: Send) -> None:
        while True:
            await _say(send, await look.state())


async def _show(send: Send, piece: Piece) -> None:
    if piece.missed:
        await _say(send, {"type": "reset"})
    await _post(send, {"type": "websocket.send", "bytes": piece.data})


async def _say(send: Send, told: Any) -> None:
    await _post(send, {"type": "websocket.send", "text": _encode(told).decode()})


async def _post(send: Send, message: MutableMapping[str, Any]) -> None:
    try:
        await send(message)
    except (OSError, RuntimeError):  # it is gone: the reader notices
        return


async def _close(send: Send, code: int, reason: str) -> None:
    await _post(send, {"type": "websocket.close", "code": code, "reason": reason})
