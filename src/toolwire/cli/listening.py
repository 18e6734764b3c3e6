"""Serves an ASGI app on a socket until a signal says stop, with uvicorn; it does not know what it serves.

The first SIGTERM or Ctrl-C ends it gracefully: no new connections, what is under way may finish for `GRACE_S`, streams
that never end are then cut. A second Ctrl-C ends the process at once.
"""

import contextlib
import gc
import logging
import os
import signal
import socket
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import asynccontextmanager
from typing import Any, Final, TypeAlias

import anyio
import uvicorn

from toolwire.cli.failure import INTERRUPTED, Failed, misused
from toolwire.cli.http_connection import Patience, look_after
from toolwire.cli.http_fast import FastConnection
from toolwire.cli.output import say

GRACE_S: Final = 3
BACKLOG: Final = 2048
KEEP_ALIVE_S: Final = 75
"""Longer than the minute for which clients and proxies keep idle connections, so that they close them and not we."""
GC_THRESHOLD: Final = 10_000
"""Allocations between two looks of the collector; the default of 700 is for programs that leave cycles behind."""
SWITCH_INTERVAL_S: Final = 0.0005
MOST_FILES: Final = 65_536
DEFAULT_PATIENCE: Final = Patience(idle_s=KEEP_ALIVE_S)

_log = logging.getLogger("uvicorn")

App: TypeAlias = Callable[[Any, Any, Any], Awaitable[None]]


class Server(uvicorn.Server):
    """A uvicorn that leaves signals to us and tells when it listens."""

    def __init__(self, app: App) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                http=FastConnection,
                ws="websockets-sansio",
                ws_max_size=48 * 1024 * 1024,
                lifespan="off",
                interface="asgi3",
                access_log=False,
                log_config=None,
                server_header=False,
                proxy_headers=False,
                backlog=BACKLOG,
                timeout_keep_alive=KEEP_ALIVE_S,
                timeout_graceful_shutdown=GRACE_S,
            )
        )
        self.listening = anyio.Event()

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        """Leave them: whoever runs the server decides what a signal ends."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, then say so."""
        await super().startup(sockets)
        self.listening.set()


def bind(host: str, port: int) -> socket.socket:
    """A listening socket.

    Raises:
        Failed: the port is taken, or the address is none of this machine.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except socket.gaierror as error:
        raise misused(f"cannot listen on {host!r}: {error.strerror}; give an address of this machine") from None
    bound = socket.socket(family, kind, protocol)
    try:
        if os.name != "nt":  # there it would let two processes share the port
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
        bound.listen(BACKLOG)
    except OSError as error:
        bound.close()
        reason = os.strerror(error.errno).lower() if error.errno else str(error)
        where = f"{host}:{port}"
        raise Failed(f"cannot listen on {where}: {reason}; choose another with --port", "port_in_use") from None
    bound.setblocking(False)
    return bound


def url_of(bound: socket.socket) -> str:
    """Where this machine reaches a listening socket."""
    host, port = bound.getsockname()[:2]
    if host in ("0.0.0.0", ""):
        host = "127.0.0.1"
    elif host == "::":
        host = "::1"
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


@asynccontextmanager
async def serving(app: App, bound: socket.socket, patience: Patience = DEFAULT_PATIENCE) -> AsyncGenerator[None]:
    """Serve `app` while the block lasts; inside it the server listens. The end of the block is graceful.

    Args:
        app: what is served.
        bound: where; it is closed at the end.
        patience: what clients may take.

    Cancellation: as the end of the block.
    """
    server = Server(app)
    ended = anyio.Event()

    async def serve() -> None:
        try:
            await server.serve([bound])
        finally:
            ended.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(serve)
        tasks.start_soon(look_after, server.server_state.connections, patience)
        await server.listening.wait()
        _settle()
        try:
            yield
        finally:
            _log.setLevel(logging.CRITICAL)  # that streams are cut now is nothing to report
            server.should_exit = True
            with anyio.CancelScope(shield=True), anyio.move_on_after(GRACE_S + 2):
                await ended.wait()
            tasks.cancel_scope.cancel("the server stops")


@contextlib.contextmanager
def stop_signal(on_second: Callable[[], None]) -> Generator[Callable[[], Awaitable[None]]]:
    """Catch SIGTERM and Ctrl-C from here on; what is yielded waits for the first of them.

    Another Ctrl-C then ends the process at once, `on_second` being its last act. Enter it before telling anybody that
    the server is ready: who is told may send the signal right away.
    """
    if sys.platform == "win32":
        yield anyio.sleep_forever  # the event loop makes a cancellation of Ctrl-C
        return

    def end(number: int, frame: object) -> None:
        on_second()
        os._exit(INTERRUPTED)

    with contextlib.ExitStack() as catching:
        received = catching.enter_context(anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM))

        async def first() -> None:
            async for _ in received:
                break
            catching.close()
            say("stopping; Ctrl-C again stops at once")
            signal.signal(signal.SIGINT, end)

        yield first


def set_up_logging() -> None:
    """Warnings and what an author logs go to stderr, since stdout is for results."""
    logging.basicConfig(
        stream=sys.stderr, level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s: %(message)s"
    )
    _log.setLevel(logging.ERROR)
    logging.getLogger("uvicorn.error").addFilter(_is_a_mistake)


def _is_a_mistake(record: logging.LogRecord) -> bool:
    """Whether what uvicorn reports is one: a WebSocket that was refused with a status is not, though it says so."""
    return record.getMessage() != "ASGI callable returned without completing handshake."


def event_loop() -> dict[str, Any]:
    """The options of `anyio.run` for a server."""
    return {"backend": "asyncio", "backend_options": {"use_uvloop": os.name != "nt"}}


def _settle() -> None:
    """Prepare the interpreter for serving.

    What was made at start-up stays, so the collector need not look at it again; and it looks less often, because a
    request leaves no cycles. The store's writer needs the interpreter lock for a moment after each statement: a busy
    loop hands it over sooner than by default, which makes commits shorter by more than the switching costs.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(GC_THRESHOLD, *gc.get_threshold()[1:])
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    _allow_files()


def _allow_files() -> None:
    """Take as many open files as this user may have: each connection is one, and many start with 1024 or even 256."""
    if sys.platform == "win32":
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_FILES)
    if soft != resource.RLIM_INFINITY and soft < most:
        with contextlib.suppress(ValueError, OSError):  # some systems allow less than they say
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
