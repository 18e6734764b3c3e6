"""Lines over two descriptors, in both directions, without anybody waiting for a slow reader; it reads no message.

While `private_descriptors` lasts, descriptor 0 is empty and descriptor 1 is stderr, so that a `print` or a child
process can neither corrupt the stream nor steal input (mcp.md S33).
"""

import os
import select
import sys
from collections import deque
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import contextmanager, suppress

import anyio
from anyio import to_thread

MAX_LINE_BYTES = 32 * 1024 * 1024
"""A line longer than this is refused and skipped; the stream goes on after it."""
READ_BYTES = 64 * 1024
ATOMIC_BYTES = getattr(select, "PIPE_BUF", 512)
"""What a pipe that polls as writable takes without blocking."""
MAX_UNSENT_BYTES = 16 * 1024 * 1024
"""What may wait for a client that does not read. Beyond it we take no more requests, and no progress is told."""


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
        with suppress(AttributeError, OSError, ValueError):  # there is none, or it is broken or closed
            sys.stdout.flush()  # what was printed and is still held back must not reach the client after all
        os.dup2(source, 0)
        os.dup2(sink, 1)
        os.close(source)
        os.close(sink)


async def read_lines(source: int) -> AsyncGenerator[bytes | None]:
    """Lines without their end; `None` stands for one that was too long."""
    buffer = bytearray()
    skipping = False
    while chunk := await _read(source):
        searched, start = len(buffer), 0
        buffer += chunk
        while (end := buffer.find(b"\n", max(searched, start))) >= 0:
            line = bytes(buffer[start:end])
            start = end + 1
            if not skipping and line.strip():
                yield line
            skipping = False
        del buffer[:start]
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
        return await to_thread.run_sync(os.read, source, READ_BYTES, abandon_on_cancel=True)
    return os.read(source, READ_BYTES)


class LineWriter:
    """Writes lines in order; what cannot be written at once is left to a task, so nobody waits for a slow reader."""

    def __init__(self, sink: int) -> None:
        self._sink = sink
        self._poll = _poll_of(sink)
        self._lines: deque[bytes] = deque()
        self._unsent = 0
        self._wake = anyio.Event()
        self._written = anyio.Event()
        self._gone = False

    def put(self, body: bytes) -> None:
        """Write a line that is owed."""
        line = body + b"\n"
        if not self._unsent:
            line = line[self._write_at_once(line) :]
        if line and not self._gone:
            self._lines.append(line)
            self._unsent += len(line)
            self._wake.set()

    def tell(self, body: bytes) -> None:
        """Write a line that is not owed, unless too much waits already."""
        if self._unsent <= MAX_UNSENT_BYTES:
            self.put(body)

    async def room(self) -> None:
        """Wait until not too much waits to be read."""
        while self._unsent > MAX_UNSENT_BYTES:
            await self._written.wait()

    async def flushed(self) -> None:
        """Wait until all is written, or nobody reads any more."""
        while self._unsent:
            await self._written.wait()

    async def write(self) -> None:
        """Write what is left to this task, until it is cancelled."""
        while True:
            if not self._lines:
                self._wake = anyio.Event()
                await self._wake.wait()
            data = b"".join(self._lines)
            self._lines.clear()
            try:
                await self._send(data)
                self._unsent -= len(data)
            except OSError:
                self._gone = True  # the reader is gone; the end of input tells the rest
                self._lines.clear()
                self._unsent = 0
            self._written.set()
            self._written = anyio.Event()

    def _write_at_once(self, line: bytes) -> int:
        """Most lines are short and find room, so they need neither a task nor the event loop; says how much is written.

        What a closed or broken sink says is left to the task.
        """
        if self._gone or self._poll is None or len(line) > ATOMIC_BYTES or not self._poll():
            return 0
        try:
            return os.write(self._sink, line)
        except OSError:
            return 0

    async def _send(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            try:
                await anyio.wait_writable(self._sink)
            except OSError:
                await to_thread.run_sync(_write_all, self._sink, bytes(view), abandon_on_cancel=True)
                return
            view = view[os.write(self._sink, view[:ATOMIC_BYTES]) :]


def _poll_of(sink: int) -> Callable[[], bool] | None:
    """Says whether a write would find room now; `None` where the system cannot tell."""
    if sys.platform == "win32":
        return None
    poll = select.poll()
    poll.register(sink, select.POLLOUT)
    return lambda: bool(poll.poll(0))


def _write_all(sink: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(sink, view) :]
