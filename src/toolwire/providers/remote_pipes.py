"""The pipes of a child process as the official client's streams, with a bound on what a child may write; POSIX alone.

The official transport of that kind keeps a line in memory however long it becomes. It starts no process that outlives
the block: stdin is closed, then the child's whole process group is told to end, then it is killed.
"""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any, TextIO

import anyio
from anyio.abc import Process
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp import types
from mcp.os.posix.utilities import terminate_posix_process_tree
from mcp.shared.message import SessionMessage

from toolwire.providers.remote_server import StdioServer

EXIT_S = 2.0
"""How long a child may take to end by itself when its stdin has, and then after SIGTERM."""
FLUSH_S = 0.5
POLL_S = 0.01
_GONE = (anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError, OSError)


@asynccontextmanager
async def piped(
    server: StdioServer, env: dict[str, str], errlog: TextIO, max_line_bytes: int, too_long: Callable[[], None]
) -> AsyncGenerator[Any]:
    """A new child's messages, in and out.

    Args:
        server: the program.
        env: all variables that it gets.
        errlog: its stderr.
        max_line_bytes: how long a message may be that it writes; a longer one ends what comes from it.
        too_long: told of that.

    Raises:
        OSError: the program cannot be started.
    """
    process = await anyio.open_process(server.argv, env=env, cwd=server.cwd, stderr=errlog, start_new_session=True)
    delivering, reading = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    writing, taking = anyio.create_memory_object_stream[SessionMessage](0)
    written = anyio.Event()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_read, process, delivering, max_line_bytes, too_long)
        tasks.start_soon(_write, process, taking, delivering, written)
        try:
            yield reading, writing
        finally:
            with anyio.CancelScope(shield=True):
                reading.close()
                writing.close()
                with anyio.move_on_after(FLUSH_S):
                    await written.wait()
                await _stop(process)
            tasks.cancel_scope.cancel()
            for stream in (delivering, taking):
                stream.close()


async def _read(
    process: Process,
    delivering: MemoryObjectSendStream[SessionMessage | Exception],
    max_line_bytes: int,
    too_long: Callable[[], None],
) -> None:
    assert process.stdout is not None
    line = bytearray()
    with suppress(*_GONE), delivering:
        while True:
            data = await process.stdout.receive()
            *whole, rest = data.split(b"\n")
            for part in whole:
                await delivering.send(_message(bytes(line) + part))
                line.clear()
            line += rest
            if len(line) > max_line_bytes:
                too_long()
                break
    line.clear()
    with suppress(*_GONE):  # a child that cannot write cannot end
        while True:
            await process.stdout.receive()


async def _write(
    process: Process,
    taking: MemoryObjectReceiveStream[SessionMessage],
    delivering: MemoryObjectSendStream[SessionMessage | Exception],
    written: anyio.Event,
) -> None:
    assert process.stdin is not None
    try:
        with taking:
            async for each in taking:
                await process.stdin.send(
                    each.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
                )
    except _GONE:
        delivering.close()  # the child may live on, and no request must wait for it
    finally:
        written.set()


def _message(line: bytes) -> SessionMessage | Exception:
    try:
        text = line.decode(errors="replace")
        return SessionMessage(types.jsonrpc_message_adapter.validate_json(text, by_name=False))
    except ValueError as error:
        return error


async def _stop(process: Process) -> None:
    assert process.stdin is not None
    assert process.stdout is not None
    with suppress(*_GONE):
        await process.stdin.aclose()
    if not await _has_ended(process):
        await terminate_posix_process_tree(process, EXIT_S)
        await _has_ended(process)
    with suppress(*_GONE):
        await process.stdout.aclose()
    # A grandchild may hold the pipe open; the event loop must not wait for it.
    close = getattr(getattr(getattr(process, "_process", None), "_transport", None), "close", None)
    if callable(close):
        with suppress(PermissionError):
            close()


async def _has_ended(process: Process) -> bool:
    """Whether the child ends in time; `Process.wait` would also wait for whoever else has its pipes."""
    with anyio.move_on_after(EXIT_S):
        while process.returncode is None:  # noqa: ASYNC110 -- nothing else tells
            await anyio.sleep(POLL_S)
    return process.returncode is not None
