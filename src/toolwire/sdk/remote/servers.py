"""The remote MCP servers of a client and their tools, turn by turn; it decides on no call and records nothing.

A client's runtime makes its `RemoteTools` with `remote_tools`, asks it for `turn` at the start of each turn, and closes
it. One connection a server serves all turns and all tasks of the client.
"""

import importlib.util
import inspect
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeAlias

import anyio
from anyio.abc import TaskGroup, TaskStatus

from toolwire.core.errors import ToolwireError
from toolwire.providers.remote import INSTALL
from toolwire.providers.remote_server import Patience
from toolwire.sdk.options import HostConfig, Options, RemoteTurn, Skipped, ToolPlace
from toolwire.sdk.remote.home import Home, OnLoopThread, SameLoop
from toolwire.sdk.remote.specs import (
    TOOLBOX,
    McpConfigError,
    McpHttpServerSpec,
    McpServerSpec,
    McpSpec,
    Toolbox,
    as_toolbox,
    checked_aliases,
)
from toolwire.sdk.remote.tools import Offer, RemoteServer, fitted

LOGGER = logging.getLogger("toolwire.sdk")

Resolver: TypeAlias = Callable[[str], Any]
"""`alias -> McpServerSpec | McpHttpServerSpec | None`, or an awaitable of it."""

MAX_RECORD_BYTES = 3500
"""All servers of a turn together, in the event that records them (sdk.md 73)."""
MAX_REASON_CHARS = 480
SERVE_WAIT_S = 5.0


class _Life:
    """What has become of `RemoteServers.serve`."""

    def __init__(self) -> None:
        self.begun = anyio.Event()
        self.closing = anyio.Event()
        self.over = anyio.Event()


class RemoteServers:
    """The remote servers of one client: a `RemoteTools` of `toolwire.sdk.options`.

    Args:
        resolver: knows the servers that a turn may enable.
        toolbox: the agent's toolbox, there in every turn: a `Toolbox` or its URL.
        patience: pauses between attempts; the time-outs are those of each spec.
        home: where the connections are; by default on the loop thread.

    Raises:
        McpConfigError: `toolbox` is none.
    """

    def __init__(
        self,
        resolver: Resolver | None = None,
        toolbox: Toolbox | str | None = None,
        patience: Patience | None = None,
        home: Home | None = None,
    ) -> None:
        self._home = home or OnLoopThread()
        self._begun = False
        self._resolver = resolver
        self._toolbox = None if toolbox is None else as_toolbox(toolbox).spec
        self._patience = patience or Patience()
        self._servers: dict[str, RemoteServer] = {}
        self._seen: dict[str, dict[str, str]] = {}
        self._tasks: TaskGroup | None = None
        self._life: _Life | None = None

    async def serve(self, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Own the connections until `aclose`, on the loop of `home`."""
        life = self._lived()
        try:
            async with anyio.create_task_group() as tasks:
                self._tasks = tasks
                life.begun.set()
                task_status.started()
                await life.closing.wait()
                for server in self._servers.values():
                    tasks.start_soon(server.aclose)
        finally:
            self._tasks = None
            life.over.set()

    async def turn(self, place: ToolPlace) -> RemoteTurn:
        """The tools of a turn: those of the toolbox and of the servers in `place.enabled_mcp`.

        All servers are asked at once. One that cannot be reached, or that nobody knows, is skipped.

        Raises:
            McpConfigError: `enabled_mcp` or what the resolver returns cannot be, or the extra `mcp` is not installed.
            RuntimeError: `aclose` was called.
        """
        wanted: dict[str, McpSpec | Skipped] = {} if self._toolbox is None else {TOOLBOX: self._toolbox}
        for alias in checked_aliases(place.enabled_mcp):
            wanted[alias] = await self._spec(alias)
        if not wanted:
            return RemoteTurn()
        if importlib.util.find_spec("mcp") is None:
            raise McpConfigError(INSTALL)
        self._begun = True
        self._home.begin(self.serve)
        offers = await self._home.run(lambda: self._offers(wanted))
        made = [offers[alias] for alias in wanted]
        there = [offer for offer in made if isinstance(offer, Offer)]
        return RemoteTurn(
            tools=[entry for offer in there for entry in offer.tools],
            skipped=[offer for offer in made if isinstance(offer, Skipped)],
            servers=fitted([offer.record for offer in there], MAX_RECORD_BYTES),
        )

    async def aclose(self) -> None:
        """Close every connection and wait until the child processes have ended."""
        if self._begun:
            await self._home.run(self._close)

    async def _close(self) -> None:
        life = self._lived()
        life.closing.set()
        await life.over.wait()

    def _lived(self) -> "_Life":
        """On the loop of `home`, to which its events then belong."""
        if self._life is None:
            self._life = _Life()
        return self._life

    async def _spec(self, alias: str) -> McpSpec | Skipped:
        if alias == TOOLBOX and self._toolbox is not None:
            return self._toolbox
        if self._resolver is None:
            return Skipped(alias, "HostConfig has no mcp_server_resolver that could know it")
        try:
            found = self._resolver(alias)
            if inspect.isawaitable(found):
                found = await found
        except Exception as error:
            LOGGER.exception("the resolver of MCP servers raised for %r", alias)
            return Skipped(alias, f"the resolver raised {type(error).__name__}; the log has more")
        if found is None:
            return Skipped(alias, "the resolver does not know it")
        if not isinstance(found, (McpServerSpec, McpHttpServerSpec)):
            raise McpConfigError(
                f"the resolver must return McpServerSpec, McpHttpServerSpec or None for {alias!r}, "
                f"got {type(found).__name__}"
            )
        if found.alias != alias:
            raise McpConfigError(f"the resolver returned the spec of {found.alias!r} for {alias!r}")
        return found

    async def _started(self) -> TaskGroup:
        with anyio.move_on_after(SERVE_WAIT_S):
            await self._lived().begun.wait()
        if self._tasks is None:
            raise RuntimeError("these remote servers were closed")
        return self._tasks

    async def _offers(self, wanted: dict[str, McpSpec | Skipped]) -> dict[str, Offer | Skipped]:
        tasks = await self._started()
        offers: dict[str, Offer | Skipped] = {}

        async def ask(alias: str, server: RemoteServer) -> None:
            try:
                offers[alias] = await server.offer()
            except ToolwireError as error:
                offers[alias] = Skipped(alias, _middle_out(error.message))

        async with anyio.create_task_group() as asking:
            for alias, spec in wanted.items():
                if isinstance(spec, Skipped):
                    offers[alias] = spec
                else:
                    asking.start_soon(ask, alias, self._server(spec, tasks))
        return offers

    def _server(self, spec: McpSpec, tasks: TaskGroup) -> RemoteServer:
        """The server of `spec`, its alias's former one retired if the spec is another now."""
        server = self._servers.get(spec.alias)
        if server is not None and server.spec != spec:
            tasks.start_soon(server.retire)
            server = None
        if server is None:
            seen = self._seen.setdefault(spec.alias, {})
            server = self._servers[spec.alias] = RemoteServer(spec, tasks, self._patience, seen, self._home)
        return server


def remote_tools(options: Options, config: HostConfig) -> RemoteServers:
    """Where a client's remote tools come from: the servers that its host knows, and the agent's toolbox.

    Raises:
        McpConfigError: `options.toolbox` is none, or has no key.
    """
    return RemoteServers(config.mcp_server_resolver, options.toolbox)


@asynccontextmanager
async def open_remote_servers(
    resolver: Resolver | None = None, toolbox: Toolbox | str | None = None, patience: Patience | None = None
) -> AsyncGenerator[RemoteServers]:
    """Remote servers whose connections are on this loop, and of which nothing is left after the block.

    Args:
        resolver: knows the servers that a turn may enable.
        toolbox: the agent's toolbox, there in every turn.
        patience: pauses between attempts.

    Raises:
        McpConfigError: `toolbox` is none.
    """
    servers = RemoteServers(resolver, toolbox, patience, SameLoop())
    async with anyio.create_task_group() as tasks:
        await tasks.start(servers.serve)
        try:
            yield servers
        finally:
            await servers.aclose()
            tasks.cancel_scope.cancel()


def _middle_out(reason: str) -> str:
    """A reason short enough for an event; its end, where a child's last words stand, is kept."""
    if len(reason) <= MAX_REASON_CHARS:
        return reason
    head = MAX_REASON_CHARS // 3
    return f"{reason[:head]} … {reason[-(MAX_REASON_CHARS - head - 3) :]}"
