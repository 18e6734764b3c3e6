"""One connection to an MCP server, entered and left in one task of its own; it does not connect a second time.

The official client keeps task groups open between entering and leaving, so the task that enters it must leave it.
Calls come from other tasks, and only wait on streams.
"""

import logging
import math
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Protocol, Self, cast

import anyio
import httpx2
import pydantic
from anyio.abc import TaskStatus
from mcp import Client, MCPError, types
from mcp.client.streamable_http import streamable_http_client
from mcp.client.subscriptions import SubscriptionLost

from toolwire.core.jsontypes import JsonObject
from toolwire.core.result import Result
from toolwire.core.version import __version__
from toolwire.providers.remote_answers import LIST_IS_OLD, call_ended, list_ended
from toolwire.providers.remote_http import MAX_BODY_BYTES, http_client, shown_url
from toolwire.providers.remote_questions import client_options
from toolwire.providers.remote_server import NO_CALLBACKS, Callbacks, HttpServer, Patience, Server
from toolwire.providers.remote_stdio import Tail, child_process
from toolwire.providers.remote_values import result_of

LOGGER = logging.getLogger("toolwire.remote")

CLOSE_S = 5.0
SUBSCRIBE_S = 5.0
MAX_PAGES = 200
MAX_TOOLS = 5000
FIRST_SUBSCRIBE_PAUSE_S = 1.0
MAX_SUBSCRIBE_PAUSE_S = 60.0
MODERN = "2026-07-28"


class Report(Protocol):
    """Told how far a call is."""

    async def __call__(self, progress: float, total: float | None, message: str | None) -> None:
        """`total` is the progress at the end, where the server knows it."""
        ...


class RemoteConnection:
    """A connection on its way up, up, or over.

    Attributes:
        client: the official client while the connection is up.
        settled: set when it is known whether the connection came up.
        over: set when nothing is left of it; a child process has ended.
        failure: why it did not come up, or why it ended, for people and models; "" if it was closed.
        stale: the server has said that its tools have changed, or was not asked yet.
        followed: the server tells when its tools change.
    """

    def __init__(self, server: Server, patience: Patience, callbacks: Callbacks = NO_CALLBACKS) -> None:
        self.client: Client | None = None
        self.settled = anyio.Event()
        self.over = anyio.Event()
        self.failure = ""
        self.stale = True
        self.followed = False
        self.worked = False
        self._server = server
        self._patience = patience
        self._callbacks = callbacks
        self._tail = Tail()
        self._ended = anyio.Event()
        self._closed = False

    @property
    def closing(self) -> bool:
        """Whether the end has come or is coming."""
        return self._ended.is_set()

    def close(self) -> None:
        """Ask for the end; `over` tells when it has come. Calls under way fail."""
        self._closed = True
        self._ended.set()

    async def hold(self, previous: "RemoteConnection | None" = None) -> None:
        """Connect, stay until the end, and leave nothing behind; to be started in a task of its own.

        `previous` is waited for, so that two children of one server never live at once.
        """
        failure = ""
        try:
            with anyio.CancelScope(deadline=anyio.current_time() + self._patience.connect_s) as scope:
                if previous is not None:
                    await previous.over.wait()
                await self._connected(scope)
            if scope.cancelled_caught and self.client is None:
                failure = f"it did not answer within {self._patience.connect_s:g} s"
            else:
                failure = self._what_ended()
        except Exception as error:  # noqa: BLE001 -- whatever a server makes the client raise is its failure
            failure = self._what_failed(error)
        finally:
            self.failure = "" if self._closed else self._with_last_words(failure)
            self.client = None
            self.settled.set()
            self.over.set()

    async def list_tools(self, name: str) -> list["types.Tool"]:
        """Everything the server lists, page by page; messages call it `name`.

        Raises:
            ServiceUnavailable: it does not.
            SessionGone: connect anew and ask again.
        """
        self.stale = False
        try:
            with anyio.fail_after(self._patience.connect_s):
                listed = await self._pages(self._up())
        except Exception as error:  # noqa: BLE001 -- whatever it is, there is no list
            self.stale = True
            raise list_ended(error, name, await self._last_words(error)) from None
        except BaseException:
            self.stale = True
            raise
        self.worked = True
        return listed

    async def call(self, name: str, tool: str, arguments: JsonObject, report: Report) -> Result:
        """The result of one call, whole.

        Raises:
            ToolwireError: the server has not answered, or with something that is no result.
            SessionGone: connect anew and send it once more.

        Cancellation: the server is told to stop.
        """
        try:
            answer = await self._up().call_tool(tool, arguments, progress_callback=report)
            self.worked = True
            return result_of(answer)
        except (MCPError, pydantic.ValidationError, RuntimeError) as error:
            if isinstance(error, MCPError) and error.code in LIST_IS_OLD:
                self.stale = True
            return call_ended(error, name, await self._last_words(error))

    def _up(self) -> Client:
        if self.client is None:
            raise MCPError(types.CONNECTION_CLOSED, self.failure or "it was closed")
        return self.client

    async def _last_words(self, error: Exception) -> str:
        """Why the connection ended, if it has: a child's last words come with its end."""
        ended = self.closing or not isinstance(self._server, HttpServer)
        if isinstance(error, MCPError) and error.code == types.CONNECTION_CLOSED and ended:
            with anyio.move_on_after(CLOSE_S):
                await self.over.wait()
            return self.failure or "the connection was closed"
        return ""

    async def _pages(self, client: Client) -> list["types.Tool"]:
        listed: list[types.Tool] = []
        cursor: str | None = None
        for _ in range(MAX_PAGES):
            page = await client.list_tools(cursor=cursor)
            listed += page.tools
            cursor = page.next_cursor
            if cursor is None:
                return listed
            if len(listed) > MAX_TOOLS:
                break
        raise ValueError(f"it lists more than {MAX_TOOLS} tools or {MAX_PAGES} pages")

    async def _connected(self, scope: anyio.CancelScope) -> None:
        async with AsyncExitStack() as stack:
            transport = await self._transport(stack)
            client = Client(
                cast("Any", _watched(transport, self._ended)),
                client_info=types.Implementation(name="toolwire", version=__version__),
                message_handler=self._heard,
                mode="legacy" if self._server.protocol == "legacy" else "auto",
                cache=None,
                **client_options(self._callbacks),
            )
            await stack.enter_async_context(client)
            async with anyio.create_task_group() as tasks:
                await self._follow_changes(client, tasks)
                scope.deadline = math.inf
                self.client = client
                self.settled.set()
                await self._ended.wait()
                tasks.cancel_scope.cancel()
            scope.deadline = anyio.current_time() + CLOSE_S

    async def _transport(self, stack: AsyncExitStack) -> Any:
        match self._server:
            case HttpServer(url=url, headers=headers, auth=auth):
                http = await stack.enter_async_context(http_client(dict(headers), shown_url(url), auth))
                return streamable_http_client(url, http_client=http, max_sse_event_size=MAX_BODY_BYTES)
            case server:
                return child_process(server, self._tail)

    async def _follow_changes(self, client: Client, tasks: anyio.abc.TaskGroup) -> None:
        tools = client.server_capabilities.tools
        if tools is None or not tools.list_changed:
            return
        if client.protocol_version == MODERN:
            await tasks.start(self._subscribe, client)
        else:  # over HTTP nobody can tell whether the stream of notifications is open
            self.followed = not isinstance(self._server, HttpServer)

    async def _subscribe(self, client: Client, *, task_status: TaskStatus[None]) -> None:
        pause, told = FIRST_SUBSCRIBE_PAUSE_S, False
        while True:
            with anyio.CancelScope(deadline=anyio.current_time() + SUBSCRIBE_S) as scope:
                try:
                    async with client.listen(tools_list_changed=True) as subscription:
                        scope.deadline = math.inf
                        self.stale = True
                        self.followed = bool(subscription.honored.tools_list_changed)
                        if not told:
                            task_status.started()
                            told = True
                        async for _ in subscription:
                            self.stale = True
                            pause = FIRST_SUBSCRIBE_PAUSE_S
                except MCPError as refused:
                    if refused.code == types.METHOD_NOT_FOUND:
                        pause = math.inf
                except SubscriptionLost:
                    LOGGER.debug("a subscription was lost")
            self.followed, self.stale = False, True
            if not told:
                task_status.started()
                told = True
            await anyio.sleep(pause)
            pause = min(pause * 2, MAX_SUBSCRIBE_PAUSE_S)

    async def _heard(self, message: object) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            self.stale = True

    def _what_ended(self) -> str:
        if isinstance(self._server, HttpServer):
            return "the connection was closed"
        return f"its process {self._server.argv[0]!r} ended"

    def _what_failed(self, error: Exception) -> str:
        cause = _sole(error)
        match cause:
            case OSError() if not isinstance(self._server, HttpServer):
                return f"{self._server.argv[0]!r} cannot be started: {cause.strerror or cause}"
            case MCPError() if cause.code == types.CONNECTION_CLOSED and not isinstance(self._server, HttpServer):
                return cause.message if cause.data else self._what_ended()
            case MCPError():
                return cause.message
            case httpx2.InvalidURL() | httpx2.HTTPError():
                return f"its URL cannot be used: {cause}"
            case _:
                return f"{type(cause).__name__}: {cause}"[:500]

    def _with_last_words(self, failure: str) -> str:
        words = self._tail.text(() if isinstance(self._server, HttpServer) else tuple(v for _, v in self._server.env))
        return f"{failure}; the last it wrote to stderr was:\n{words}" if failure and words else failure


@asynccontextmanager
async def _watched(transport: Any, ended: anyio.Event) -> AsyncGenerator[Any]:
    """`transport`, which sets `ended` when no message can come any more."""
    async with transport as (reading, writing):
        yield _WatchedStream(reading, ended), writing


class _WatchedStream:
    """A stream of messages that tells when it is at its end."""

    def __init__(self, stream: Any, ended: anyio.Event) -> None:
        self._stream = stream
        self._ended = ended

    @property
    def last_context(self) -> Any:
        """Whose message came last; the official streams carry it."""
        return getattr(self._stream, "last_context", None)

    async def receive(self) -> Any:
        """The next message."""
        try:
            return await self._stream.receive()
        except (anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError):
            self._ended.set()
            raise

    async def aclose(self) -> None:
        """Let go of the stream."""
        await self._stream.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> Self:
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *exception: Any) -> bool | None:
        return await self._stream.__aexit__(*exception)


def _sole(error: BaseException) -> BaseException:
    """The first error inside groups of errors."""
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    return error
