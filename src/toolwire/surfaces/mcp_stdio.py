"""MCP over stdin and stdout, one JSON-RPC message a line; it knows the wires and no tool.

While it serves, descriptor 0 is empty and descriptor 1 is stderr, so that a `print` or a child process can neither
corrupt the stream nor steal input (mcp.md S33). Spec: MCP 2025-11-25 and 2026-07-28, basic/transports#stdio.
"""

import os
from collections import deque
from collections.abc import AsyncGenerator, Generator
from contextlib import contextmanager

import anyio
from anyio import to_thread
from anyio.abc import TaskGroup

from toolwire.core.call import Caller
from toolwire.core.errors import InvalidRequest, ToolwireError, UnsupportedVersion
from toolwire.core.event import Progress, Stamped
from toolwire.core.ids import new_id
from toolwire.engine.engine import Engine
from toolwire.surfaces.endpoint import Endpoint
from toolwire.surfaces.mcp_methods import Asked, answer, error_reply
from toolwire.wire.jsonrpc import NO_ID, Message, Posted, decode, error_body
from toolwire.wire.mcp.envelope import check_no_modern_meta, names_version, read_meta
from toolwire.wire.mcp.replies import progress_body
from toolwire.wire.mcp.requests import read_cancelled
from toolwire.wire.mcp.versions import LATEST_LEGACY, LATEST_MODERN, MODERN

MAX_LINE_BYTES = 32 * 1024 * 1024
"""A line longer than this is refused and skipped; the stream goes on after it."""
READ_BYTES = 64 * 1024
ATOMIC_BYTES = 4096
"""What a pipe that polls as writable takes without blocking (PIPE_BUF on Linux)."""
GRACE_S = 10.0
"""How long requests that are under way may go on after the client has closed our input."""


@contextmanager
def private_descriptors() -> Generator[tuple[int, int]]:
    """Descriptors of the real stdin and stdout, for us alone; 0 and 1 lead elsewhere until the block ends."""
    source, sink = os.dup(0), os.dup(1)
    try:
        with open(os.devnull, "rb") as empty:
            os.dup2(empty.fileno(), 0)
        os.dup2(2, 1)
        yield source, sink
    finally:
        os.dup2(source, 0)
        os.dup2(sink, 1)
        os.close(source)
        os.close(sink)


async def serve_stdio(engine: Engine, endpoint: Endpoint, caller: Caller, source: int, sink: int) -> None:
    """Serve until `source` ends.

    Args:
        engine: runs the calls; it must be running.
        endpoint: what is served.
        caller: who is on the other end.
        source: descriptor to read lines from.
        sink: descriptor to write lines to.
    """
    async with anyio.create_task_group() as tasks:
        writer = _Writer(sink)
        tasks.start_soon(writer.write)
        connection = _Connection(engine, endpoint, caller, writer)
        async with anyio.create_task_group() as requests:
            async for line in _lines(source):
                await connection.take(line, requests)
            with anyio.move_on_after(GRACE_S):
                await connection.idle()
            requests.cancel_scope.cancel()
        await writer.flushed()
        tasks.cancel_scope.cancel()


async def _lines(source: int) -> AsyncGenerator[bytes | None]:
    """Lines without their end; `None` stands for one that was too long."""
    buffer = bytearray()
    skipping = False
    while chunk := await _read(source):
        buffer += chunk
        while (end := buffer.find(b"\n")) >= 0:
            line = bytes(buffer[:end])
            del buffer[: end + 1]
            if not skipping and line.strip():
                yield line
            skipping = False
        if len(buffer) > MAX_LINE_BYTES:
            if not skipping:
                yield None
            skipping = True
            buffer.clear()
    if not skipping and buffer.strip():
        yield bytes(buffer)


async def _read(source: int) -> bytes:
    try:
        await anyio.wait_readable(source)
    except OSError:
        # A regular file cannot be polled; reading it does not block for long either.
        return await to_thread.run_sync(os.read, source, READ_BYTES)
    return os.read(source, READ_BYTES)


class _Writer:
    """Writes lines in order, in a task of its own; whoever produces them never waits for a slow reader."""

    def __init__(self, sink: int) -> None:
        self._sink = sink
        self._lines: deque[bytes] = deque()
        self._wake = anyio.Event()
        self._empty = anyio.Event()
        self._gone = False

    def put(self, body: bytes) -> None:
        if not self._gone:
            self._lines.append(body + b"\n")
            self._wake.set()

    async def write(self) -> None:
        while True:
            if not self._lines:
                self._empty.set()
                self._wake = anyio.Event()
                await self._wake.wait()
                self._empty = anyio.Event()
            data = b"".join(self._lines)
            self._lines.clear()
            try:
                await self._send(data)
            except OSError:
                self._gone = True  # the reader is gone; the end of input tells the rest

    async def flushed(self) -> None:
        while self._lines:
            await self._empty.wait()
        await self._empty.wait()

    async def _send(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            try:
                await anyio.wait_writable(self._sink)
            except OSError:
                await to_thread.run_sync(_write_all, self._sink, bytes(view))
                return
            view = view[os.write(self._sink, view[:ATOMIC_BYTES]) :]


def _write_all(sink: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(sink, view) :]


class _Connection:
    """One client. Its first request decides for a wire; `server/discover` alone does not (mcp.md 1.1, S32)."""

    def __init__(self, engine: Engine, endpoint: Endpoint, caller: Caller, writer: _Writer) -> None:
        self._engine = engine
        self._endpoint = endpoint
        self._caller = caller
        self._writer = writer
        self._modern: bool | None = None
        self._pending: dict[bytes, list[Asked]] = {}
        self._silent: set[int] = set()
        self._idle = anyio.Event()
        self._idle.set()

    async def idle(self) -> None:
        """Wait until no request is under way."""
        while self._pending:
            await self._idle.wait()

    async def take(self, line: bytes | None, requests: TaskGroup) -> None:
        """One line of the client's."""
        asked = None
        try:
            if line is None:
                raise InvalidRequest(f"a line is longer than {MAX_LINE_BYTES} bytes; send less at once")
            message = decode(line)
            if isinstance(message, Posted):
                return
            asked = self._asked(message)
            if not message.is_request:
                self._notification(message)
                return
            self._check_wire(asked)
        except ToolwireError as error:
            self._writer.put(self._refusal(asked, error))
            return
        if message.method == "tools/call":
            self._pending.setdefault(message.id, []).append(asked)
            self._idle = anyio.Event()
            requests.start_soon(self._call, asked)
        else:
            self._writer.put((await answer(self._engine, asked)).body)

    def _asked(self, message: Message) -> Asked:
        modern = names_version(message) is not None and message.method != "initialize"
        version = LATEST_MODERN if modern else LATEST_LEGACY
        asked = Asked(message, self._caller, self._endpoint, version, modern)
        asked.listener = _Listener(asked, self._writer).hear
        return asked

    def _check_wire(self, asked: Asked) -> None:
        message = asked.message
        if asked.modern:
            if self._modern is False:
                raise InvalidRequest("this connection was initialized; requests on it carry no protocolVersion")
            meta = read_meta(message)
            if meta.version not in MODERN:
                raise UnsupportedVersion(
                    f"protocol version {meta.version!r} is not spoken here",
                    supported=list(MODERN),
                    requested=meta.version,
                )
        elif self._modern and message.method == "initialize":
            raise UnsupportedVersion(
                "this connection speaks requests that stand alone; initialize is not part of that",
                supported=list(MODERN),
                requested=message.params.get("protocolVersion"),
            )
        elif self._modern:
            read_meta(message)
        else:
            check_no_modern_meta(message, None)
        if self._modern is None and message.method != "server/discover":
            self._modern = asked.modern

    def _refusal(self, asked: Asked | None, error: ToolwireError) -> bytes:
        if asked is not None:
            return error_reply(asked, error).body
        raw_id = error.data.get("raw_id")
        id_ = NO_ID if raw_id is None else str(raw_id).encode()
        return error_body(id_, error.row, error.code, error.message, {**error.data, "request_id": new_id("req")})

    async def _call(self, asked: Asked) -> None:
        try:
            reply = await answer(self._engine, asked)
            if id(asked) not in self._silent:
                self._writer.put(reply.body)
        finally:
            self._silent.discard(id(asked))
            left = [other for other in self._pending[asked.message.id] if other is not asked]
            if left:
                self._pending[asked.message.id] = left
            else:
                del self._pending[asked.message.id]
            if not self._pending:
                self._idle.set()

    def _notification(self, message: Message) -> None:
        if message.method != "notifications/cancelled":
            return
        id_ = read_cancelled(message)
        named = self._pending.get(id_, []) if id_ is not None else []
        if len(named) == 1 and named[0].call_id is not None:
            self._silent.add(id(named[0]))
            self._engine.cancel(named[0].call_id, "the client said so")


class _Listener:
    __slots__ = ("_asked", "_writer")

    def __init__(self, asked: Asked, writer: _Writer) -> None:
        self._asked = asked
        self._writer = writer

    def hear(self, stamped: Stamped) -> None:
        token = self._asked.progress_token
        if token is not None and isinstance(stamped.event, Progress):
            self._writer.put(progress_body(token, stamped.event))
