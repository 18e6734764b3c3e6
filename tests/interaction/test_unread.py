"""Clients that take nothing of their answers, on sockets: they are given up, and their calls go by the revision's rule.

mcp.md S12, S14; gateway.md D21.
"""

import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
import uvicorn

from tests.interaction.bench import BOTH, ERAS, JSON_ONLY, NEW, OLD, Gate, body, headers
from tests.interaction.requirements import proves
from tests.interaction.transport import PATIENCE_S
from tests.interaction.uvicorns import Uvicorn
from toolwire.cli.http_connection import Patience, look_after
from toolwire.cli.listening import Server as OwnServer
from toolwire.sdk import ToolContext
from toolwire.server import Server
from toolwire.surfaces.mcp_http import HttpSettings

TIMEOUT_S = 0.2
SERVERS = [Uvicorn, OwnServer]


def talkative(gate: Gate) -> Server:
    """A server whose tools have more to say than a connection holds."""
    server = Server("bench", "1.0")

    @server.tool
    async def talk(ctx: ToolContext) -> str:
        """Talk until it is let go."""
        async with anyio.create_task_group() as tasks:

            async def go_on() -> None:
                number = 0
                while True:
                    number += 1
                    await ctx.progress("x" * 60_000, number)

            tasks.start_soon(go_on)
            await gate.hold()
            tasks.cancel_scope.cancel()
        return "done"

    @server.tool
    async def large() -> str:
        """Say much at once."""
        gate.release.set()
        await gate.hold()
        return "x" * 16_000_000

    return server


class Place:
    """A server on a socket."""

    def __init__(self, port: int, gate: Gate, served: uvicorn.Server) -> None:
        self.port = port
        self.gate = gate
        self._served = served

    def ask(self, era: str, name: str, accept: str, room_bytes: int = 4096) -> socket.socket:
        """Call a tool, and read nothing; so much fits in until it is read."""
        client = socket.socket()
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, room_bytes)
        client.connect(("127.0.0.1", self.port))
        params: dict[str, Any] = {"name": name, "_meta": {"progressToken": 1}}
        sent = body("tools/call", params, 1, era)
        fields = {**headers(era, "tools/call", name), "accept": accept, "content-length": str(len(sent))}
        head = "".join(f"{key}: {value}\r\n" for key, value in fields.items())
        client.sendall(f"POST /mcp HTTP/1.1\r\nhost: localhost\r\n{head}\r\n".encode() + sent)
        return client

    async def until_dropped(self) -> None:
        """Wait until the server has no connection any more."""
        with anyio.fail_after(PATIENCE_S):
            while self._served.server_state.connections:
                await _moment()


async def _moment() -> None:
    """Let a server do something that it tells nobody of."""
    await anyio.sleep(0.02)


@asynccontextmanager
async def place(kind: type[Uvicorn] | type[OwnServer]) -> AsyncGenerator[Place]:
    gate = Gate()
    patience = Patience(stuck_s=TIMEOUT_S, look_every_s=TIMEOUT_S / 4)
    with socket.create_server(("127.0.0.1", 0)) as bound:
        bound.setblocking(False)
        async with (
            talkative(gate).open(settings=HttpSettings(write_timeout_s=TIMEOUT_S)) as offered,
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


@proves("unread.dropped")
@pytest.mark.parametrize("kind", SERVERS)
@pytest.mark.parametrize("era", ERAS)
async def test_a_client_that_does_not_read_its_stream_is_given_up(
    kind: Any, era: str, caplog: pytest.LogCaptureFixture
):
    async with place(kind) as site:
        with site.ask(era, "talk", BOTH):
            await site.gate.until(entered=1)
            await site.until_dropped()
            if era == NEW:
                await site.gate.until(cancelled=1)
            else:
                assert site.gate.cancelled == 0
                site.gate.release.set()
                await site.gate.until(finished=1)
    assert caplog.text == ""


@proves("unread.dropped")
@pytest.mark.parametrize("kind", SERVERS)
@pytest.mark.parametrize("era", ERAS)
async def test_a_client_that_does_not_read_its_json_is_given_up(kind: Any, era: str, caplog: pytest.LogCaptureFixture):
    async with place(kind) as site:
        with site.ask(era, "large", JSON_ONLY):
            await site.gate.until(finished=1)
            await site.until_dropped()
    assert caplog.text == ""


@proves("unread.dropped")
@pytest.mark.parametrize("kind", SERVERS)
async def test_a_client_that_reads_slowly_is_not_given_up(kind: Any):
    async with place(kind) as site:
        with site.ask(OLD, "large", JSON_ONLY, 64 * 1024) as client:
            client.setblocking(False)
            size = 0
            with anyio.fail_after(30):
                while size < 16_000_000:
                    await anyio.wait_readable(client)
                    size += len(client.recv(400_000))
                    await anyio.lowlevel.checkpoint()
