"""A server on a socket, behind uvicorn or our own, and what a client does there byte by byte; it asserts nothing."""

import re
import socket
import struct
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeAlias

import anyio
import uvicorn

from tests.interaction.bench import BOTH, Gate, body, headers
from tests.interaction.transport import PATIENCE_S
from tests.interaction.uvicorns import Uvicorn
from toolwire.cli.http_connection import Patience, look_after
from toolwire.cli.listening import Server as OwnServer
from toolwire.server import Server
from toolwire.surfaces.mcp_http import HttpSettings

Kind: TypeAlias = type[Uvicorn] | type[OwnServer]
SERVERS: list[Kind] = [Uvicorn, OwnServer]


class Wire:
    """One connection of a client's."""

    def __init__(self, port: int, room_bytes: int | None = None) -> None:
        self.socket = socket.socket()
        if room_bytes is not None:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, room_bytes)
        self.socket.connect(("127.0.0.1", port))
        self.socket.setblocking(False)
        self.seen = ""

    def call(self, era: str, name: str, accept: str = BOTH) -> None:
        """Call a tool, and read nothing."""
        sent = body("tools/call", {"name": name, "_meta": {"progressToken": 1}}, 1, era)
        fields = {**headers(era, "tools/call", name), "accept": accept, "content-length": str(len(sent))}
        self.send("POST", fields, sent)

    def send(self, method: str, fields: dict[str, Any], sent: bytes = b"") -> None:
        """Send a request."""
        head = "".join(f"{key}: {value}\r\n" for key, value in fields.items())
        self.socket.sendall(f"{method} /mcp HTTP/1.1\r\nhost: localhost\r\n{head}\r\n".encode() + sent)

    async def until(self, text: str) -> str:
        """Read up to this text; gives all that came since the last time."""
        with anyio.fail_after(PATIENCE_S):
            while text not in self.seen:
                await anyio.wait_readable(self.socket)
                data = self.socket.recv(65_536)
                assert data, f"the server has hung up after {self.seen!r}"
                self.seen += data.decode()
        end = self.seen.index(text) + len(text)
        came, self.seen = self.seen[:end], self.seen[end:]
        return came

    async def whole(self) -> str:
        """Read an answer that says how long it is; gives its body."""
        length = re.search(r"content-length: (\d+)", await self.until("\r\n\r\n"), re.IGNORECASE)
        assert length is not None
        with anyio.fail_after(PATIENCE_S):
            while len(self.seen) < int(length[1]):
                await anyio.wait_readable(self.socket)
                self.seen += self.socket.recv(65_536).decode()
        came, self.seen = self.seen[: int(length[1])], self.seen[int(length[1]) :]
        return came

    def reset(self) -> None:
        """Break the connection, without a goodbye."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()


def last_id(text: str) -> str:
    """The id of the last event in what was read."""
    return re.findall(r"^id: (\S+)$", text, re.MULTILINE)[-1]


class Place:
    """A server that can be reached at a port."""

    def __init__(self, port: int, gate: Gate, served: uvicorn.Server) -> None:
        self.port = port
        self.gate = gate
        self._served = served

    async def until_dropped(self) -> None:
        """Wait until the server has no connection any more."""
        with anyio.fail_after(PATIENCE_S):
            while self._served.server_state.connections:
                await _moment()


async def _moment() -> None:
    """Let a server do something that it tells nobody of."""
    await anyio.sleep(0.02)


@asynccontextmanager
async def place(
    kind: Kind, offer: Callable[[Gate], Server], write_timeout_s: float = PATIENCE_S
) -> AsyncGenerator[Place]:
    """What is offered, on a free port until the block ends."""
    gate = Gate()
    patience = Patience(stuck_s=write_timeout_s, look_every_s=write_timeout_s / 4)
    with socket.create_server(("127.0.0.1", 0)) as bound:
        bound.setblocking(False)
        async with (
            offer(gate).open(settings=HttpSettings(write_timeout_s=write_timeout_s)) as offered,
            anyio.create_task_group() as tasks,
        ):
            served, ended = kind(offered.app), anyio.Event()

            async def serve() -> None:
                try:
                    await served.serve([bound])
                finally:
                    ended.set()

            tasks.start_soon(serve)
            if kind is OwnServer:
                tasks.start_soon(look_after, served.server_state.connections, patience)
            await served.listening.wait()
            try:
                yield Place(bound.getsockname()[1], gate, served)
            finally:
                gate.release.set()
                served.should_exit = True
                with anyio.fail_after(PATIENCE_S, shield=True):
                    await ended.wait()
                tasks.cancel_scope.cancel()
