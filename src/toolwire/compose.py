"""The composition root: opens the ports, puts the engine between providers and surfaces, and closes them in order.

Nothing else imports adapters, and the adapters are imported inside the functions, so that importing this is cheap.
"""

import hashlib
import os
import secrets
import signal
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
from anyio.abc import TaskStatus
from msgspec import Struct
from msgspec.structs import replace

from toolwire.config import Config
from toolwire.core.call import Caller
from toolwire.core.errors import InvalidParam
from toolwire.core.ports import Blobs, Clock, Store
from toolwire.core.posting import Poster
from toolwire.engine.catalog import Catalog
from toolwire.engine.ending import Limits, TaskLimits
from toolwire.engine.engine import Engine
from toolwire.providers.function import FunctionProvider, LocalTool
from toolwire.surfaces.cors import with_cors
from toolwire.surfaces.endpoint import TOOLS_ALONE, Admission, Endpoint, Headers, Library
from toolwire.surfaces.limits import Guard
from toolwire.surfaces.mcp_http import HttpSettings, McpHttp
from toolwire.surfaces.parking import Parking
from toolwire.surfaces.sealing import Seal
from toolwire.surfaces.sessions import Sessions

if TYPE_CHECKING:
    from httpx2 import AsyncBaseTransport

LOCAL_CALLER = Caller(principal="local", owner="local", surface="mcp")
"""Whoever reaches a tool server on this machine: it has no keys and listens on loopback."""
SESSION_IDLE_TTL_S = 24 * 3600.0


SECRET_BYTES = 32
SECRET_VARIABLE = "TOOLWIRE_SECRET"
"""Set alike on all replicas of a tool server, it lets any of them go on with what another one has begun."""


class Opened(Struct, frozen=True):
    """The opened ports and the engine on them. `secret` seals what we hand out and take back, such as session ids."""

    store: Store
    blobs: Blobs
    clock: Clock
    engine: Engine
    secret: bytes


@asynccontextmanager
async def open_data(config: Config) -> AsyncGenerator[Opened]:
    """The embedded default on the folder `config.data`: SQLite, files on disk. The engine is not running yet.

    Raises:
        StoreUnavailable: the folder cannot be written, or another process serves it.
        InvalidParam: `blob_url` is no bucket's address.
    """
    from toolwire.adapters.clock import SystemClock
    from toolwire.adapters.sqlite import SqliteStore

    folder = Path(config.data)
    await anyio.Path(folder).mkdir(parents=True, exist_ok=True)
    clock = SystemClock()
    async with await SqliteStore.open(folder / "toolwire.db", clock) as store:
        blobs = await _open_blobs(config, folder)
        limits = Limits(
            keyed_deadline_s=config.keyed_deadline_s,
            idempotency_ttl_s=config.idempotency_ttl_s,
            history_ttl_s=config.history_ttl_s,
            tasks=TaskLimits(config.task_timeout_s, config.task_ttl_s, config.task_poll_s),
            joins=config.idempotency_in_flight == "join",
        )
        yield Opened(store, blobs, clock, Engine(store, blobs, clock, limits), _kept_secret(folder / "secret.key"))


async def _open_blobs(config: Config, folder: Path) -> Blobs:
    if config.blob_url is not None:
        from toolwire.adapters.s3_blobs import open_bucket

        return open_bucket(config.blob_url, config.blob_endpoint_url, config.blob_region)
    from toolwire.adapters.blobs import LocalBlobs

    return await LocalBlobs.open_directory(folder / "blobs")


def open_poster(config: Config, clock: Clock) -> Poster:
    """What posts to webhooks' receivers; it opens nothing until it is first asked."""
    from toolwire.adapters.http_post import HttpPoster

    return HttpPoster(clock, config.webhook_timeout_s, config.webhook_allow_cidrs)


def remote_transports(config: Config) -> Callable[[str, bool], Callable[[], "AsyncBaseTransport"]]:
    """What carries requests to remote MCP servers, by URL; see `gateway.remotes.TransportFor`."""
    from toolwire.adapters.http_remote import RemoteTransports

    return RemoteTransports(config.remote_allow_cidrs)


def open_documents() -> Callable[[str, int], Awaitable[bytes]]:
    """What gets small documents from addresses that strangers name; it opens nothing until it is first asked."""
    from toolwire.adapters.http_get import HttpDocuments

    return HttpDocuments()


def _kept_secret(path: Path) -> bytes:
    """The secret of this folder, made at its first use and readable by its owner alone."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return path.read_bytes()
    with os.fdopen(descriptor, "wb") as file:
        secret = secrets.token_bytes(SECRET_BYTES)
        file.write(secret)
        return secret


def _shared_secret() -> bytes:
    """What seals what clients keep for us: replicas that are given the same one take each other's; else a fresh one."""
    given = os.environ.get(SECRET_VARIABLE, "").strip()
    if not given:
        return secrets.token_bytes(SECRET_BYTES)
    if len(given) < SECRET_BYTES:
        raise InvalidParam(
            f"{SECRET_VARIABLE} must have {SECRET_BYTES} characters or more; try `openssl rand -hex 32`",
            param=SECRET_VARIABLE,
        )
    return hashlib.sha256(given.encode()).digest()


class OpenDoor:
    """Lets everybody in to one endpoint at `/mcp`."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._admission = Admission(LOCAL_CALLER, endpoint, again=lambda: True)

    def serves(self, path: str) -> bool:
        """Whether `path` is the endpoint."""
        return path in ("/mcp", "/mcp/")

    async def admit(self, path: str, headers: Headers, credentials: Sequence[bytes]) -> Admission:
        """Let the caller in; see `surfaces.endpoint.Door.admit`."""
        return self._admission

    def challenge(self, path: str = "", headers: Headers | None = None) -> str:
        """Never asked for: nobody is refused here."""
        return "Bearer"


class ToolServer:
    """Tools served over MCP without a gateway: `app` over HTTP at `/mcp`, `serve_stdio` over stdin and stdout.

    Attributes:
        app: an ASGI app of one path. It takes no lifespan: `open_tool_server` is that.
        endpoint: what is served.
        guard: tells our own Host and Origin from others'.
    """

    def __init__(self, engine: Engine, endpoint: Endpoint, http: McpHttp, door: OpenDoor, guard: Guard) -> None:
        self._engine = engine
        self.app = with_cors(_app_of(http, door), guard)
        self.endpoint = endpoint
        self.guard = guard

    def offer(self, tools: Iterable[LocalTool], library: Library) -> None:
        """Offer something else from now on.

        Raises:
            ValueError, InvalidParam: as `open_tool_server`; then nothing changes.
        """
        provider = FunctionProvider(tools)
        self.endpoint.catalog.replace(provider.tools(), provider, handlers=provider.handlers)
        self.endpoint.library = library

    def limit_tasks(self, limits: TaskLimits) -> None:
        """Let tasks that are begun from now on take as long, and be known for as long, as this says."""
        self._engine.limits = replace(self._engine.limits, tasks=limits)

    async def serve_stdio(self) -> None:
        """Serve stdin and stdout until stdin ends, or SIGTERM says stop: then what is under way is cancelled.

        Standard output belongs to the protocol while this runs. Call it in the process's main thread.
        """
        from toolwire.surfaces.stdio_pipe import private_descriptors

        stop = anyio.Event()
        with private_descriptors() as (source, sink):
            async with anyio.create_task_group() as tasks:
                if sys.platform != "win32":
                    await tasks.start(_set_on_sigterm, stop)
                await self.serve_lines(source, sink, stop)
                tasks.cancel_scope.cancel()

    async def serve_lines(self, source: int, sink: int, stop: anyio.Event) -> None:
        """Serve one client on two descriptors, until the first ends or `stop` is set; see `mcp_stdio.serve_stdio`."""
        from toolwire.surfaces.mcp_stdio import serve_stdio

        await serve_stdio(self._engine, self.endpoint, LOCAL_CALLER, source, sink, stop)


def _app_of(http: McpHttp, door: OpenDoor) -> Callable[[Any, Any, Any], Awaitable[None]]:
    """A function, because servers tell an ASGI 3 app by that: a bound method they would call the way of ASGI 2."""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http" and door.serves(scope["path"]):
            await http(scope, receive, send)
        elif scope["type"] == "http":
            body = b'{"error":"not found: the MCP endpoint is at /mcp"}'
            headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
            await send({"type": "http.response.start", "status": 404, "headers": headers})
            await send({"type": "http.response.body", "body": body})
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1000})

    return app


async def _set_on_sigterm(stop: anyio.Event, *, task_status: TaskStatus[None]) -> None:
    with anyio.open_signal_receiver(signal.SIGTERM) as received:
        task_status.started()
        async for _ in received:
            stop.set()


@asynccontextmanager
async def open_tool_server(
    tools: Iterable[LocalTool],
    name: str,
    version: str = "0",
    guard: Guard | None = None,
    settings: HttpSettings | None = None,
    *,
    library: Library = TOOLS_ALONE,
    title: str | None = None,
    instructions: str | None = None,
) -> AsyncGenerator[ToolServer]:
    """Tools behind MCP, kept in memory, until the block ends.

    Args:
        tools: what to serve.
        name: shown to clients as the server's name.
        version: shown to clients as its version.
        guard: tells our own Host and Origin from others'; by default loopback only.
        settings: limits of the HTTP surface.
        library: what is offered beside tools.
        title: the server's name for people.
        instructions: words for the model that reads the tools.

    Raises:
        ValueError: two tools have one name.
        InvalidParam: a tool's schema cannot be used, or `TOOLWIRE_SECRET` is too short.
    """
    from toolwire.adapters.clock import SystemClock
    from toolwire.adapters.memory import MemoryStore
    from toolwire.adapters.memory_blobs import MemoryBlobs
    from toolwire.providers.schema import compile_validator

    clock = SystemClock()
    store = MemoryStore(clock)
    engine = Engine(store, MemoryBlobs(), clock, Limits(history_ttl_s=0))
    provider = FunctionProvider(tools)
    catalog = Catalog(compile_validator)
    catalog.replace(provider.tools(), provider, handlers=provider.handlers)
    endpoint = Endpoint("", name, version, catalog, title=title, instructions=instructions, library=library, logs=True)
    guard = guard or Guard()
    door = OpenDoor(endpoint)
    secret = _shared_secret()
    sessions = Sessions(store, engine.recorder, clock, secret, SESSION_IDLE_TTL_S, keeps=True)
    http = McpHttp(engine, door, sessions, guard, settings or HttpSettings())
    parking = endpoint.parking = Parking(engine.timekeeper, Seal(secret, clock))
    async with engine.running(), parking.running(), http.running():
        yield ToolServer(engine, endpoint, http, door, guard)


async def open_agent_store(path: Path) -> Store:
    """The store in which an agent's tasks survive, in a SQLite file that is made if it is not there.

    Raises:
        StoreUnavailable: another process has it open, or it cannot be used.
    """
    from toolwire.adapters.clock import SystemClock
    from toolwire.adapters.sqlite import SqliteStore

    await anyio.Path(path.parent).mkdir(parents=True, exist_ok=True)
    return await SqliteStore.open(path, SystemClock())
