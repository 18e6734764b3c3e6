"""`WS /api/v1/cards/link`, as a bare ASGI callable: lets cards in and carries what they and the host say.

What a request does is `card_requests`' business. A child process of the host's comes in with the token that it was
given; a card that its author runs, with the owner's key and `?package=pkg_…`. Protocol: wire/card.py.
"""

import logging
from collections.abc import MutableMapping
from typing import Any, Final
from urllib.parse import parse_qs

import anyio
from anyio.abc import TaskGroup
from msgspec import Struct

from toolwire.canvas.card_connections import CardConnection, CardConnections
from toolwire.canvas.card_pace import Pace
from toolwire.canvas.card_requests import CardFault, CardRequests
from toolwire.canvas.card_tokens import TOKEN_PREFIX, CardTokens
from toolwire.canvas.identity import Directory
from toolwire.canvas.packages import Package, Packages
from toolwire.core.errors import Forbidden, InvalidRequest, ToolwireError, Unauthorized
from toolwire.surfaces.limits import credentials_in
from toolwire.surfaces.web_sockets import POLICY, Receive, Send, refuse_handshake
from toolwire.wire.card import Request, fault_body, read_params, read_request, response_body
from toolwire.wire.card_messages import MAX_MESSAGE_BYTES, Fault, ReadyParams

logger = logging.getLogger("toolwire.canvas")

PATH: Final = "/api/v1/cards/link"
READY_S: Final = 10.0
CLOSE_S: Final = 2.0
"""How long a card may take to read what is left for it, once its connection is to be closed."""
MAX_IN_FLIGHT: Final = 64
"""Requests of one card that are being worked on (cards.md §3)."""
FAILED: Final = 1011
ENDED: Final = "its connection ended"


class CardLinks:
    """Serves the link.

    Args:
        directory: knows owners.
        tokens: of the host's child processes.
        packages: all packages.
        connections: the cards that are there.
        requests: what cards may ask.
        held: ends what a revoked key holds open.
    """

    def __init__(
        self,
        directory: Directory,
        tokens: CardTokens,
        packages: Packages,
        connections: CardConnections,
        requests: CardRequests,
    ) -> None:
        self._directory = directory
        self._tokens = tokens
        self._packages = packages
        self._connections = connections
        self._requests = requests

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Serve one WebSocket from its handshake to its end."""
        if (await receive())["type"] != "websocket.connect":
            return
        try:
            admitted = self._admit(scope)
        except ToolwireError as error:
            await refuse_handshake(scope, send, error)
            return
        await send({"type": "websocket.accept"})
        try:
            serving = self._serve(admitted, receive, send)
            if await self._directory.held_open.of(admitted.key_id).is_ended_during(serving):
                await _close(send, POLICY, "its key was revoked")
        except Exception:
            logger.exception("the link of package %s failed inside the server", admitted.package.id)
            await _close(send, FAILED, "internal_error")

    def _admit(self, scope: MutableMapping[str, Any]) -> "_Admitted":
        """The card that comes in.

        Raises:
            Unauthorized: it brings no credential that opens this.
            Forbidden: a key that opens nothing here.
            PackageNotFound: the owner has no such package.
            ConsentRequired: it was never accepted.
        """
        credentials = credentials_in(scope["headers"])
        for credential in credentials:
            secret = credential.strip().removeprefix(b"Bearer ").strip()
            if secret.startswith(TOKEN_PREFIX):
                package_id = self._tokens.take(secret)
                if package_id is None:
                    words = "the card's token opens nothing any more; the host gives a new one at each start"
                    raise Unauthorized(words)
                return _Admitted(self._accepted(self._packages.owner_of(package_id), package_id), is_child=True)
        visitor = self._directory.visitor(credentials)
        if visitor.agent_id is not None:
            raise Forbidden("an agent's key opens its toolbox alone; use an oag_ key")
        named = parse_qs(bytes(scope.get("query_string", b"")).decode("ascii", "replace")).get("package", [""])
        return _Admitted(self._accepted(visitor.owner, named[0]), visitor.key_id)

    def _accepted(self, owner: str, package_id: str) -> Package:
        package = self._packages.get(owner, package_id)
        self._packages.tree(package)
        return package

    async def _serve(self, admitted: "_Admitted", receive: Receive, send: Send) -> None:
        connection: CardConnection | None = None
        with anyio.move_on_after(READY_S) as opening:
            connection = await self._open(admitted, receive, send)
        if opening.cancelled_caught:
            await _close(send, POLICY, f"no host.ready within {READY_S:g} s")
        if connection is None:
            return
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_write, connection, send)
                tasks.start_soon(self._read, connection, receive, tasks)
                tasks.start_soon(connection.serve_out)
                await connection.closing.wait()
                self._connections.detach(connection, connection.close_reason or ENDED)
                with anyio.move_on_after(CLOSE_S):
                    await connection.drained.wait()
                    await _close(send, connection.close_code, connection.close_reason or ENDED)
                tasks.cancel_scope.cancel()
        finally:
            self._connections.detach(connection, connection.close_reason or ENDED)

    async def _open(self, admitted: "_Admitted", receive: Receive, send: Send) -> CardConnection | None:
        """The card's first request, which must be `host.ready`, and its answer; `None` when it did not come to that."""
        package = admitted.package
        while (text := await _next_text(receive)) is not None:
            try:
                request = _request(text)
                params = read_params(request)
            except InvalidRequest as error:
                await _close(send, POLICY, error.message)
                return None
            if not isinstance(params, ReadyParams):
                await _post(send, fault_body(request.id, Fault("not_ready", "send host.ready first")))
                continue
            try:
                package = self._accepted(package.owner, package.id)  # it may have changed since the handshake
                connection = CardConnection(package, params.instance, is_child=admitted.is_child)
                ready = self._requests.ready(connection, params)
            except ToolwireError as error:
                await _post(send, fault_body(request.id, Fault(error.code, error.told)))
                await _close(send, POLICY, error.code)
                return None
            connection.post(response_body(request.id, ready))
            self._connections.attach(connection)
            return connection
        return None

    async def _read(self, connection: CardConnection, receive: Receive, tasks: TaskGroup) -> None:
        """Take requests until the card is gone, or says what is no request."""
        desk = _Desk(connection, self._requests)
        while True:
            text = await _next_text(receive)
            if text is None:
                connection.close(ENDED)
                self._connections.detach(connection, connection.close_reason or ENDED)
                tasks.cancel_scope.cancel()
                return
            try:
                request = _request(text)
            except InvalidRequest as error:
                connection.close(error.message, POLICY)
                return
            if connection.close_reason is not None:
                return  # what it may do is not known any more: its package is gone or another, or its copy is
            await desk.take(request, tasks)


class _Admitted(Struct, frozen=True):
    """A package that a card speaks for, the id of the owner's key ("" without one), and if it is the host's child."""

    package: Package
    key_id: str = ""
    is_child: bool = False


class _Desk:
    """Answers the requests of one card: as many side by side, and as fast, as it may ask."""

    def __init__(self, connection: CardConnection, requests: CardRequests) -> None:
        self._connection = connection
        self._requests = requests
        self._pace = Pace()
        self._in_flight = 0

    async def take(self, request: Request, tasks: TaskGroup) -> None:
        """Answer a request: at once where nothing is waited for, which keeps a call's progress before its end."""
        wait_ms = 0 if self._requests.is_owed(request.method) else self._pace.wait_ms()
        if wait_ms:
            self._refuse(request, Fault("rate_limited", "the card asks too often; wait a moment", wait_ms))
        elif self._requests.is_quick(request.method):
            await self._answer(request)
        elif self._in_flight >= MAX_IN_FLIGHT:
            words = f"{MAX_IN_FLIGHT} requests of this card are being worked on; wait for one of them"
            self._refuse(request, Fault("rate_limited", words))
        else:
            self._in_flight += 1
            tasks.start_soon(self._answer_in_flight, request)

    async def _answer_in_flight(self, request: Request) -> None:
        try:
            await self._answer(request)
        finally:
            self._in_flight -= 1

    async def _answer(self, request: Request) -> None:
        try:
            result = await self._requests.answer(self._connection, request)
            self._connection.post(response_body(request.id, result))
        except CardFault as error:
            self._refuse(request, error.fault)
        except ToolwireError as error:
            self._refuse(request, Fault(error.code, error.told, error.data.get("retry_after_ms")))
        except Exception:
            logger.exception("a request of package %s failed inside the server", self._connection.package.id)
            self._refuse(request, Fault("internal_error", "a mistake of ours; the host's log has it"))

    def _refuse(self, request: Request, fault: Fault) -> None:
        self._connection.post(fault_body(request.id, fault))


async def _write(connection: CardConnection, send: Send) -> None:
    """Send what is ready until the connection is to be closed and nothing is left."""
    while True:
        await connection.ready.wait()
        for body in connection.take():
            await _post(send, body)
        if connection.close_reason is not None:
            connection.drained.set()
            return


def _request(text: bytes | str) -> Request:
    """A card's message.

    Raises:
        InvalidRequest: it is too large, or no request.
    """
    size = len(text.encode("utf-8", "surrogatepass")) if isinstance(text, str) else len(text)
    if size > MAX_MESSAGE_BYTES:
        raise InvalidRequest(f"a message of {size} bytes is too large; at most {MAX_MESSAGE_BYTES} are taken")
    return read_request(text)


async def _next_text(receive: Receive) -> bytes | str | None:
    event = await receive()
    if event["type"] != "websocket.receive":
        return None
    return event.get("text") or event.get("bytes") or b""


async def _post(send: Send, body: bytes) -> None:
    try:
        await send({"type": "websocket.send", "text": body.decode()})
    except (OSError, RuntimeError):  # it is gone: the reader notices
        return


async def _close(send: Send, code: int, reason: str) -> None:
    try:
        await send({"type": "websocket.close", "code": code, "reason": reason.encode()[:120].decode("utf-8", "ignore")})
    except (OSError, RuntimeError):
        return
