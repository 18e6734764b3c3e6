"""One MCP server as a provider: connected when needed, once for all calls; it names and grants nothing.

The official client comes with the extra `mcp` and is imported with the first connection.
"""

import math
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
from anyio.abc import TaskGroup

from toolwire.core.call import Call
from toolwire.core.change import Change, ListChanged
from toolwire.core.errors import ServiceTimeout, ServiceUnavailable, ToolNotFound
from toolwire.core.handler import Emit
from toolwire.core.result import Result
from toolwire.core.tool import Tool
from toolwire.providers.remote_lists import Kept, Shelf
from toolwire.providers.remote_scope import Report, Scopes
from toolwire.providers.remote_server import NO_CALLBACKS, Callbacks, Patience, Server, SessionGone
from toolwire.providers.remote_values import task_modes, tools_of

if TYPE_CHECKING:
    from mcp import Client

    from toolwire.providers.remote_connection import RemoteConnection

T = TypeVar("T")

INSTALL = "the MCP client is not installed; install it with: pip install 'toolwire[mcp]'"


class ClientNotInstalled(ServiceUnavailable):
    """The official MCP client is missing; the message is one line with the command that installs it."""


class RemoteProvider:
    """The tools of one MCP server, in either revision.

    Nothing is connected before the first `current`, `find` or `call`. A connection that ended is made anew when it is
    next needed, at once if it had worked, and after a growing pause if it had not.

    Args:
        server: where it is.
        tasks: where the connection's task lives; it must outlast the provider, and `aclose` must come before its end.
        name: what messages call the server.
        patience: how long to wait for it.
        trust_annotations: believe the server that a tool only reads (sdk.md §3.7).
        callbacks: what the server may ask of us.
        scopes: where calls under way are kept, for callbacks that ask the client behind a call.
        shelf: lists that the server lets everybody see, shared with other providers of the same server.
    """

    def __init__(
        self,
        server: Server,
        tasks: TaskGroup,
        name: str,
        patience: Patience | None = None,
        trust_annotations: bool = False,
        callbacks: Callbacks = NO_CALLBACKS,
        *,
        scopes: Scopes | None = None,
        shelf: Shelf | None = None,
    ) -> None:
        self.name = name
        self._server = server
        self._tasks = tasks
        self._patience = patience or Patience()
        self._callbacks = callbacks
        self._connection: RemoteConnection | None = None
        self._closed = False
        self._failures = 0
        self._not_before = -math.inf
        self._scopes = scopes or Scopes()
        self._shelf: Shelf = {} if shelf is None else shelf
        self._listeners: list[Callable[[Change], None]] = []
        self._watched: set[str] = set()
        timeout_s = self._patience.call_s

        def make(listed: tuple[Any, ...]) -> Mapping[str, Tool]:
            return tools_of(listed, name, trust_annotations, timeout_s, task_modes(self.client))

        self._tools = Kept(name, "tools", make, self._shelf, {})

    def tools(self) -> Sequence[Tool]:
        """The tools as last listed, without asking the server."""
        return tuple(self._tools.value.values())

    def heard(self, listener: Callable[[Change], None]) -> None:
        """Tell `listener` from now on of what the server says to have changed; it must neither block nor raise."""
        self._listeners.append(listener)

    def watch(self, uri: str) -> None:
        """Hear of changes of a resource from now on, if the server tells of such."""
        if self._connection is None:
            self._watched.add(uri)
        else:
            self._connection.following.watch(uri)

    @property
    def client(self) -> "Client | None":
        """The official client, while there is a connection."""
        return None if self._connection is None else self._connection.client

    def about(self) -> dict[str, str]:
        """What the server says it is: `server`, `version`, `protocol`; empty while it is not connected."""
        client = self.client
        if client is None:
            return {}
        said = client.server_info
        named = {} if said is None else {"server": said.name[:100], "version": said.version[:100]}
        return {**named, "protocol": client.protocol_version}

    async def current(self, max_age_s: float | None = None) -> Sequence[Tool]:
        """The tools now; the server is asked when they may have changed since.

        Where it does not tell of changes, they may be `max_age_s` old; by default, as `Patience` says.

        Raises:
            ClientNotInstalled: the extra is missing.
            ServiceUnavailable: the server cannot be reached, or does not list its tools.
        """
        age_s = self._patience.list_max_age_s if max_age_s is None else max_age_s
        await self.done(lambda connection: self._tools.fresh(connection, age_s))
        return self.tools()

    async def find(self, name: str, max_age_s: float | None = None) -> Tool:
        """The tool as it is now, as far as the server has told; where it does not tell, at most `max_age_s` old.

        Raises:
            ToolNotFound: the server has no such tool (any more).
            ServiceUnavailable: as `current`.
        """
        await self.done(lambda connection: self._tools.fresh(connection, max_age_s))
        tool = self._tools.value.get(name)
        if tool is None:
            raise ToolNotFound(f"{self.name} has no tool {name!r} (any more); list its tools to see what there is")
        return tool

    async def call(self, call: Call, emit: Emit) -> Result:
        """Run `call` on the server; what the server tells of it is emitted, and what it asks is asked.

        Raises:
            ToolNotFound: the server has no such tool.
            ServiceUnavailable: the server cannot be reached; it has not seen the call.
            AgentLost: the connection ended before the answer came; what became of the call is not known.
            ServiceTimeout: no answer in time; the server was told to stop.
            InvalidAgentResponse: the answer is no result.

        Cancellation: the server is told to stop.
        """
        limit_s = self._limit(call)
        with self._scopes.entered(emit, limit_s) as scope:
            return await self.done(lambda connection: self._send(connection, call, scope.report))
        raise ServiceTimeout(f"{self.name} did not answer {call.tool!r} within {max(0.0, limit_s):.3g} s")

    async def done(self, action: "Callable[[RemoteConnection], Awaitable[T]]") -> T:
        """What `action` gives on a connection; on a second one when the first has lost its session.

        Raises:
            ServiceUnavailable: the server cannot be reached; or what `action` raises.
        """
        connection = await self._connected()
        try:
            return await action(connection)
        except SessionGone:
            connection.close()
        try:
            return await action(await self._connected())
        except SessionGone:
            raise ServiceUnavailable(f"{self.name} does not keep the sessions that it opens") from None

    async def ask(self, call: Call, emit: Emit, send: "Callable[[Client], Awaitable[T]]") -> T:
        """What the server answers to `send`, which is no tool call: a resource, a prompt, a completion.

        Raises:
            ServiceUnavailable, AgentLost, ServiceTimeout, InvalidAgentResponse: as `call`.
            ResourceNotFound, InvalidParam, MethodNotFound, InternalError: the server refuses it.

        Cancellation: the server is told to stop.
        """
        limit_s = self._limit(call)
        with self._scopes.entered(emit, limit_s):
            return await self.done(lambda connection: connection.request(self.name, send))
        raise ServiceTimeout(f"{self.name} did not answer within {max(0.0, limit_s):.3g} s")

    async def aclose(self) -> None:
        """Close the connection and wait until nothing is left of it; calls under way fail."""
        self._closed = True
        connection = self._connection
        if connection is not None:
            connection.close()
            await connection.over.wait()

    def _limit(self, call: Call) -> float:
        own = math.inf if self._patience.call_s is None else self._patience.call_s
        return min(call.deadline - time.time(), own)

    async def _send(self, connection: "RemoteConnection", call: Call, report: Report) -> Result:
        tools: Mapping[str, Tool] = await self._tools.fresh(connection)
        if call.tool not in tools:
            raise ToolNotFound(f"{self.name} has no tool {call.tool!r}; list its tools to see what there is")
        return await connection.call(self.name, call.tool, call.arguments, report, tools[call.tool].task)

    async def _connected(self) -> "RemoteConnection":
        connection = self._connection
        if connection is None or connection.over.is_set() or connection.closing:
            connection = self._connect(connection)
        await connection.settled.wait()
        if connection.client is None:
            raise ServiceUnavailable(f"{self.name} is not available: {connection.failure or 'it was closed'}")
        return connection

    def _connect(self, previous: "RemoteConnection | None") -> "RemoteConnection":
        if self._closed:
            raise ServiceUnavailable(f"{self.name} is not available: its client was closed")
        if previous is not None and previous.over.is_set():
            self._check_pause(previous)
        connection = self._connection = _connection_type()(
            self._server, self._patience, self._callbacks, self._tell, self._watched, self._scopes
        )
        self._tasks.start_soon(self._hold, connection, previous)
        return connection

    async def _hold(self, connection: "RemoteConnection", previous: "RemoteConnection | None") -> None:
        await connection.hold(previous)
        if connection.worked:
            self._failures = 0
            return
        self._failures += 1
        pause = min(self._patience.first_retry_s * 2 ** min(self._failures - 1, 30), self._patience.max_retry_s)
        self._not_before = anyio.current_time() + pause

    def _check_pause(self, previous: "RemoteConnection") -> None:
        wait_s = self._not_before - anyio.current_time()
        if self._failures and wait_s > 0:
            raise ServiceUnavailable(
                f"{self.name} is not available: {previous.failure}; it will not be tried again for {wait_s:.0f} s",
                retry_after_ms=math.ceil(wait_s * 1000),
            )

    def _tell(self, change: Change) -> None:
        if isinstance(change, ListChanged):
            self._shelf.pop(change.which, None)
            if change.which == "resources":
                self._shelf.pop("templates", None)
        for listener in self._listeners:
            listener(change)


@asynccontextmanager
async def open_remote(
    server: Server,
    name: str,
    patience: Patience | None = None,
    trust_annotations: bool = False,
    callbacks: Callbacks = NO_CALLBACKS,
) -> AsyncGenerator[RemoteProvider]:
    """A connected provider, and nothing of it left after the block.

    Args:
        server: where it is.
        name: what messages call it.
        patience: how long to wait for it.
        trust_annotations: believe it that a tool only reads.
        callbacks: what it may ask of us.

    Raises:
        ClientNotInstalled: the extra is missing.
        ServiceUnavailable: the server cannot be reached, or does not list its tools.
    """
    failure: Exception | None = None
    async with anyio.create_task_group() as tasks:
        provider = RemoteProvider(server, tasks, name, patience, trust_annotations, callbacks)
        try:
            await provider.current()
            yield provider
        except Exception as error:  # noqa: BLE001 -- raised below, where no group wraps it
            failure = error
        finally:
            await provider.aclose()
    if failure is not None:
        raise failure


def _connection_type() -> "type[RemoteConnection]":
    try:
        from toolwire.providers.remote_connection import RemoteConnection  # noqa: PLC0415 -- an optional extra
    except ImportError as error:
        if (error.name or "").partition(".")[0] in ("mcp", "mcp_types"):
            raise ClientNotInstalled(INSTALL) from None
        raise
    return RemoteConnection
