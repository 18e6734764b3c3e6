"""`WS /api/v1/terminals/{c}/stream`, as a bare ASGI callable: what a terminal prints, and what is typed into it.

Binary messages are bytes of the terminal, in both directions. Text messages are JSON: to the host
`{"type": "input", "data": "…"}` and `{"type": "resize", "columns": 80, "rows": 24}`; from it `{"type": "reset"}`, when
some output was too long ago to be kept, and `{"type": "error", "code": "…", "message": "…"}`.
"""

import logging
from collections.abc import MutableMapping
from typing import Any, Final, TypeAlias

import anyio
import msgspec
from anyio.abc import TaskGroup
from msgspec import Struct

from toolwire.canvas.held_open import HeldOpen
from toolwire.canvas.identity import Directory, Visitor
from toolwire.canvas.terminal.tail import Follower
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
        held: ends what a revoked key holds open.
    """

    def __init__(self, directory: Directory, workspaces: Workspaces, terminals: Terminals, held: HeldOpen) -> None:
        self._directory = directory
        self._held = held
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
            follower = await self._terminals.follow(workspace, card)
        except ToolwireError as error:
            await refuse_handshake(scope, send, error)
            return
        await send({"type": "websocket.accept"})
        try:
            serving = self._serve(follower, workspace, card, receive, send)
            if await self._held.is_revoked_during(visitor.key_id, serving):
                await _close(send, POLICY, "its key was revoked")
        except Exception:
            logger.exception("the stream of terminal %s failed inside the server", card.id)
            await _close(send, FAILED, "internal_error")

    async def _serve(self, follower: Follower, workspace: Workspace, card: Card, receive: Receive, send: Send) -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._write, follower, send, tasks)
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
                await _post(send, {"type": "websocket.send", "text": _encode(told).decode()})

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

    async def _write(self, follower: Follower, send: Send, tasks: TaskGroup) -> None:
        """Send what is printed until the terminal is gone."""
        while (piece := await follower.next()) is not None:
            if piece.missed:
                await _post(send, {"type": "websocket.send", "text": '{"type":"reset"}'})
            await _post(send, {"type": "websocket.send", "bytes": piece.data})
        await _close(send, GONE, "the terminal's card was removed")
        tasks.cancel_scope.cancel()


async def _post(send: Send, message: MutableMapping[str, Any]) -> None:
    try:
        await send(message)
    except (OSError, RuntimeError):  # it is gone: the reader notices
        return


async def _close(send: Send, code: int, reason: str) -> None:
    await _post(send, {"type": "websocket.close", "code": code, "reason": reason})
