"""A gateway that speaks the agent link over a real WebSocket on this machine."""

import contextlib
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

from tests.unit.agent.rig import chat
from toolwire.wire.link import (
    TERMINAL_TYPES,
    Deliver,
    FromGateway,
    Hello,
    Publish,
    Published,
    Welcome,
    decode_from_agent,
    encode_frames,
)

KEY = "agk_test"


class FakeGateway:
    """Speaks the agent link, answers every publication, and counts what it sees."""

    def __init__(self) -> None:
        self.url = ""
        self.status = 101
        self.hellos: list[Hello] = []
        self.published: list[Publish] = []
        self.messages = 0
        self.refused = 0
        self.connection: ServerConnection | None = None
        self._changed = anyio.Event()

    async def until(self, condition: Callable[[], bool]) -> None:
        with anyio.fail_after(20):
            while not condition():
                await self._changed.wait()

    def replies(self) -> list[Publish]:
        return [frame for frame in self.published if frame.type in TERMINAL_TYPES]

    async def deliver(self, *message_ids: str, tool: str = "work", **arguments: Any) -> None:
        await self.send(*[Deliver(f"dlv_{name}", chat(name, tool, **arguments)) for name in message_ids])

    async def send(self, *frames: FromGateway) -> None:
        await self.until(lambda: self.connection is not None)
        assert self.connection is not None
        await self.connection.send(encode_frames(list(frames)), text=True)

    def process_request(self, _connection: ServerConnection, request: Request) -> Response | None:
        status = self.status
        if request.path != "/api/v1/agents/link":
            status = 404
        elif request.headers.get("Authorization") != f"Bearer {KEY}":
            status = 401
        if status == 101:
            return None
        self.refused += 1
        self._tell()
        return Response(status, "Refused", Headers({"Content-Length": "0"}))

    async def converse(self, connection: ServerConnection) -> None:
        with contextlib.suppress(ConnectionClosed):
            while True:
                await self._take(connection, await connection.recv())
        self.connection = None
        self._tell()

    async def _take(self, connection: ServerConnection, data: bytes | str) -> None:
        self.messages += 1
        answers: list[FromGateway] = []
        for frame in decode_from_agent(data):
            if isinstance(frame, Hello):
                self.hellos.append(frame)
                answers.append(Welcome("agent_test", {"created": len(frame.registration.skills)}))
            elif isinstance(frame, Publish):
                self.published.append(frame)
                answers.append(Published(frame.ref, frame.message_id or "msg_delta", len(self.published)))
        if answers:
            await connection.send(encode_frames(answers), text=True)
        self.connection = connection
        self._tell()

    def _tell(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()

    async def start(self, port: int = 0) -> Server:
        server = await serve(self.converse, "127.0.0.1", port, process_request=self.process_request, compression=None)
        self.url = f"http://127.0.0.1:{port_of(server)}"
        return server


def port_of(server: Server) -> int:
    return next(iter(server.sockets)).getsockname()[1]


@asynccontextmanager
async def running_gateway() -> AsyncGenerator[FakeGateway]:
    gateway = FakeGateway()
    server = await gateway.start()
    try:
        yield gateway
    finally:
        server.close()
        await server.wait_closed()
