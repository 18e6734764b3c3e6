"""`WS /api/v1/cards/link`, as a bare ASGI callable: lets cards in and carries what they and the host say.

What a request does is `card_requests`' business. A child process of the host's comes in with the token that it was
given; a card that its author runs, with the owner's key and `?package=pkg_…`. Protocol: wire/card.py.
"""

import logging
import secrets
from collections.abc import MutableMapping
from typing import Any, Final
from urllib.parse import parse_qs

import anyio
from anyio.abc import TaskGroup

from toolwire.canvas.card_connections import CardConnection, CardConnections
from toolwire.canvas.card_requests import CardFault, CardRequests
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
MAX_IN_FLIGHT: Final = 64
"""Requests of one card that are being worked on; beyond that none is read for a moment."""
TOKEN_PREFIX: Final = b"crd_"
FAILED: Final = 1011
GONE: Final = 1000


class CardTokens:
    """The secrets with which the host's own child processes come in, each for one package."""

    def __init__(self) -> None:
        self._packages: dict[bytes, str] = {}

    def mint(self, package_id: str) -> str:
        """A new secret; older ones of the package open nothing any more."""
        self.revoke(package_id)
        token = TOKEN_PREFIX + secrets.token_hex(32).encode()
        self._packages[token] = package_id
        return token.decode()

    def revoke(self, package_id: str) -> None:
        """The package's secret opens nothing any more."""
        self._packages = {token: known for token, known in self._packages.items() if known != package_id}

    def package_of(self, token: bytes) -> str | None:
        """What a secret is for."""
        return self._packages.get(token)


class CardLinks:
    """Serves the link.

    Args:
        directory: knows owners.
        tokens: of the host's child processes.
        packages: all packages.
        connections: the cards that are there.
        requests: what cards may ask.
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
            package = self._admit(scope)
        except ToolwireError as error:
            await refuse_handshake(scope, send, error)
            return
        await send({"type": "websocket.accept"})
        try:
            await self._serve(package, receive, send)
        except Exception:
            logger.exception("the link of package %s failed inside the server", package.id)
            await _close(send, FAILED, "internal_error")

    def _admit(self, scope: MutableMapping[str, Any]) -> Package:
        """The package that a card speaks for.

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
                package_id = self._tokens.package_of(secret)
                if package_id is None:
                    raise Unauthorized(
                        "the card's token opens nothing any more; the host gives a new one at each start"
                    )
                return self._accepted(self._packages.owner_of(package_id), package_id)
        visitor = self._directory.visitor(credentials)
        if visitor.agent_id is not None:
            raise Forbidden("an agent's key opens its toolbox alone; use an oag_ key")
        named = parse_qs(bytes(scope.get("query_string", b"")).decode("ascii", "replace")).get("package", [""])
        return self._accepted(visitor.owner, named[0])

    def _accepted(self, owner: str, package_id: str) -> Package:
        package = self._packages.get(owner, package_id)
        self._packages.tree(package)
        return package

    async def _serve(self, package: Package, receive: Receive, send: Send) -> None:
        connection: CardConnection | None = None
        with anyio.move_on_after(READY_S) as opening:
            connection = await self._open(package, receive, send)
        if opening.cancelled_caught:
            await _close(send, POLICY, f"no host.ready within {READY_S:g} s")
        if connection is None:
            return
        reason = "its connection ended"
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._write, connection, send, tasks)
                reason = await self._read(connection, receive, tasks)
                tasks.cancel_scope.cancel()
        finally:
            self._connections.detach(connection, connection.close_reason or reason)

    async def _open(self, package: Package, receive: Receive, send: Send) -> CardConnection | None:
        """The card's first request, which must be `host.ready`, and its answer; `None` when it did not come to that."""
        while (text := await _next_text(receive)) is not None:
            try:
                request = read_request(text)
                params = read_params(request)
            except InvalidRequest as error:
                await _close(send, POLICY, error.message)
                return None
            if not isinstance(params, ReadyParams):
                await _post(send, fault_body(request.id, Fault("not_ready", "send host.ready first")))
                continue
            connection = CardConnection(package, params.instance)
            try:
                ready = self._requests.ready(connection, params)
            except ToolwireError as error:
                await _post(send, fault_body(request.id, Fault(error.code, error.told)))
                await _close(send, POLICY, error.code)
                return None
            await _post(send, response_body(request.id, ready))
            self._connections.attach(connection)
            return connection
        return None

    async def _read(self, connection: CardConnection, receive: Receive, tasks: TaskGroup) -> str:
        """Take requests until the card is gone; says why that is."""
        room = anyio.Semaphore(MAX_IN_FLIGHT)
        while True:
            text = await _next_text(receive)
            if text is None:
                return "its connection ended"
            if len(text) > MAX_MESSAGE_BYTES:
                connection.close(f"a message has at most {MAX_MESSAGE_BYTES} bytes")
                return "it sent a message that is too large"
            try:
                request = read_request(text)
            except InvalidRequest as error:
                connection.close(error.message)
                return "it sent what is no request"
            await room.acquire()
            tasks.start_soon(self._answer, connection, request, room)

    async def _answer(self, connection: CardConnection, request: Request, room: anyio.Semaphore) -> None:
        try:
            result = await self._requests.answer(connection, request)
            connection.post(response_body(request.id, result))
        except CardFault as error:
            connection.post(fault_body(request.id, error.fault))
        except ToolwireError as error:
            retry_ms = error.data.get("retry_after_ms")
            connection.post(fault_body(request.id, Fault(error.code, error.told, retry_ms)))
        except Exception:
            logger.exception("a request of package %s failed inside the server", connection.package.id)
            connection.post(fault_body(request.id, Fault("internal_error", "a mistake of ours; the host's log has it")))
        finally:
            room.release()

    async def _write(self, connection: CardConnection, send: Send, tasks: TaskGroup) -> None:
        """Send what is ready until the connection is to be closed."""
        while True:
            await connection.ready.wait()
            for body in connection.take():
                await _post(send, body)
            if connection.close_reason is not None:
                await _close(send, GONE, connection.close_reason)
                tasks.cancel_scope.cancel()
                return


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
        await send({"type": "websocket.close", "code": code, "reason": reason[:120]})
    except (OSError, RuntimeError):
        return
