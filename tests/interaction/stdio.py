"""A client on the other end of two pipes, for a server in this process or in another; it asserts nothing.

A line that the server writes is one JSON-RPC message; what is none fails the test.
"""

import json
import os
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Any, TypeAlias

import anyio
import anyio.lowlevel
from anyio import to_thread

from tests.interaction.bench import Gate, body, tools
from tests.interaction.transport import PATIENCE_S
from toolwire.adapters.clock import SystemClock
from toolwire.adapters.memory import MemoryStore
from toolwire.adapters.memory_blobs import MemoryBlobs
from toolwire.core.call import Caller
from toolwire.engine.catalog import Catalog
from toolwire.engine.engine import Engine, Limits
from toolwire.providers.function import FunctionProvider
from toolwire.providers.schema import compile_validator
from toolwire.server import Server
from toolwire.surfaces.endpoint import Endpoint
from toolwire.surfaces.mcp_stdio import serve_stdio

Served: TypeAlias = Callable[[int, int, anyio.Event], Awaitable[None]]
"""Serves on two descriptors, until the first ends or an event says stop."""


class Lines:
    """Reads and writes lines on two descriptors, which it owns."""

    def __init__(self, source: int, sink: int, patience_s: float = PATIENCE_S) -> None:
        self._source = source
        self._sink = sink
        self._patience_s = patience_s
        self._buffer = bytearray()

    async def send(self, data: bytes) -> None:
        """Write bytes as they are."""
        with anyio.fail_after(self._patience_s):
            await to_thread.run_sync(_write_all, self._sink, data, abandon_on_cancel=True)

    async def send_until_stuck(self, data: bytes) -> int:
        """Write as much as is taken and return how much that is; a server in this process had every chance to read."""
        view, idle = memoryview(data), 0
        os.set_blocking(self._sink, False)
        while view and idle < 1000:
            try:
                view, idle = view[os.write(self._sink, view) :], 0
            except BlockingIOError:
                idle += 1
                await anyio.lowlevel.checkpoint()
        os.set_blocking(self._sink, True)
        return len(data) - len(view)

    async def ask(self, method: str, params: Any = None, id_: Any = 1, era: str = "") -> None:
        """Write a message; on 2026-07-28 a request gets its envelope."""
        await self.send(body(method, params, id_, era) + b"\n")

    async def message(self) -> Any:
        """The next message, or `None` at the end."""
        line = await self.line()
        return None if line == b"" else json.loads(line)

    async def line(self) -> bytes:
        """The next line with its end, or nothing at the end."""
        with anyio.fail_after(self._patience_s):
            searched = 0
            while (end := self._buffer.find(b"\n", searched) + 1) == 0:
                searched = len(self._buffer)
                await anyio.wait_readable(self._source)
                data = os.read(self._source, 1 << 20)
                if not data:
                    return bytes(self._buffer)
                self._buffer += data
        line = bytes(self._buffer[:end])
        del self._buffer[:end]
        return line

    async def messages(self) -> list[Any]:
        """All messages up to the end."""
        found: list[Any] = []
        while (message := await self.message()) is not None:
            found.append(message)
        return found

    def end(self) -> None:
        """Write nothing more."""
        with suppress(OSError):
            os.close(self._sink)

    def leave(self) -> None:
        """Neither write nor read any more."""
        self.end()
        with suppress(OSError):
            os.close(self._source)


def _write_all(sink: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(sink, view) :]


class Piped:
    """A server in this process and the client of it."""

    def __init__(
        self, lines: Lines, gate: Gate, stop: anyio.Event, ended: anyio.Event, server: Server | None = None
    ) -> None:
        self.server = server
        self.lines = lines
        self.gate = gate
        self.stop = stop
        self.ended = ended

    async def call(self, era: str, name: str, arguments: Any = None, id_: Any = 1) -> Any:
        """Call a tool and return the next message."""
        await self.lines.ask("tools/call", {"name": name, "arguments": arguments or {}}, id_, era)
        return await self.lines.message()

    async def until_ended(self) -> None:
        """Wait until the server has ended."""
        with anyio.fail_after(PATIENCE_S):
            await self.ended.wait()


@asynccontextmanager
async def open_engine(gate: Gate, server: Server | None = None) -> AsyncGenerator[Served]:
    """The tools, or a whole server, and what runs them, for who serves them on descriptors of his own."""
    if server is not None:
        async with server.open() as served:
            yield served.serve_lines
        return
    clock = SystemClock()
    engine = Engine(MemoryStore(clock), MemoryBlobs(), clock, Limits(history_ttl_s=0))
    provider = FunctionProvider(tools(gate))
    catalog = Catalog(compile_validator)
    catalog.replace(provider.tools(), provider)
    endpoint = Endpoint("", "bench", "1.0", catalog, logs=True)
    async with engine.running():
        yield partial(serve_stdio, engine, endpoint, Caller("local", "local", "mcp"))


@asynccontextmanager
async def open_pipes(offer: Callable[[Gate], Server] | None = None) -> AsyncGenerator[Piped]:
    """The tools behind MCP over two pipes, in this process, or what `offer` makes for the gate."""
    gate, stop, ended = Gate(), anyio.Event(), anyio.Event()
    server = None if offer is None else offer(gate)
    (their_source, our_sink), (our_source, their_sink) = os.pipe(), os.pipe()

    async def serve(served: Served) -> None:
        try:
            await served(their_source, their_sink, stop)
        finally:
            os.close(their_source)
            os.close(their_sink)
            ended.set()

    async with open_engine(gate, server) as served, anyio.create_task_group() as tasks:
        tasks.start_soon(serve, served)
        lines = Lines(our_source, our_sink)
        try:
            yield Piped(lines, gate, stop, ended, server)
        finally:
            lines.leave()
            tasks.cancel_scope.cancel()
