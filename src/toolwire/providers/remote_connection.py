"""One connection to an MCP server, entered and left in one task of its own; it does not connect a second time.

The official client keeps task groups open between entering and leaving, so the task that enters it must leave it.
Calls come from other tasks, and only wait on streams.
"""

import math
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any, TypeVar, cast

import anyio
import httpx2
import pydantic
from mcp import Client, MCPError, types
from mcp.client.streamable_http import streamable_http_client

from toolwire.core.change import Change
from toolwire.core.jsontypes import JsonObject
from toolwire.core.result import Result
from toolwire.core.tool import TaskMode
from toolwire.core.version import __version__
from toolwire.providers.remote_answers import LIST_IS_OLD, call_ended, list_ended, request_ended
from toolwire.providers.remote_changes import MODERN, Following
from toolwire.providers.remote_http import MAX_BODY_BYTES, http_client, shown_url
from toolwire.providers.remote_lists import Fetched, fetch
from toolwire.providers.remote_person import clocks_of
from toolwire.providers.remote_questions import client_options, hear_logs
from toolwire.providers.remote_scope import Report, Scopes
from toolwire.providers.remote_server import NO_CALLBACKS, Callbacks, HttpServer, Listing, Patience, Server
from toolwire.providers.remote_stdio import Tail, child_process
from toolwire.providers.remote_streams import watched
from toolwire.providers.remote_tasks import TasksExtension, call_as_task
from toolwire.providers.remote_values import result_of

T = TypeVar("T")

CLOSE_S = 5.0


class RemoteConnection:
    """A connection on its way up, up, or over.

    Attributes:
        client: the official client while the connection is up.
        settled: set when it is known whether the connection came up.
        over: set when nothing is left of it; a child process has ended.
        failure: why it did not come up, or why it ended, for people and models; "" if it was closed.
        following: which lists have changed, and resources of `watched`; `tell` is told of it as it is heard of.
    """

    def __init__(
        self,
        server: Server,
        patience: Patience,
        callbacks: Callbacks = NO_CALLBACKS,
        tell: Callable[[Change], None] = lambda _: None,
        watched: set[str] | None = None,
        scopes: Scopes | None = None,
    ) -> None:
        self.client: Client | None = None
        self.settled = anyio.Event()
        self.over = anyio.Event()
        self.failure = ""
        self.following = Following(tell, set() if watched is None else watched)
        self.worked = False
        self._server = server
        self._patience = patience
        self._callbacks = callbacks
        self._clocks = clocks_of(getattr(server, "auth", None))
        self._scopes = scopes or Scopes()
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
            with self._clocks.limit(self._patience.connect_s) as scope:
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

    async def fetch(self, name: str, listing: Listing) -> Fetched:
        """Everything the server lists of a kind, page by page; messages call the server `name`.

        Raises:
            ServiceUnavailable: it does not.
            SessionGone: connect anew and ask again.
        """
        self.following.stale.discard(listing)
        try:
            with self._clocks.fail_after(self._patience.connect_s):
                fetched = await fetch(self._up(), listing)
        except Exception as error:  # noqa: BLE001 -- whatever it is, there is no list
            self.following.stale.add(listing)
            raise list_ended(error, name, listing, await self._last_words(error)) from None
        except BaseException:
            self.following.stale.add(listing)
            raise
        self.worked = True
        return fetched

    async def request(self, name: str, send: Callable[[Client], Awaitable[T]]) -> T:
        """What the server answers to `send`, which is no tool call.

        Raises:
            ToolwireError: the server refuses it, or has not answered.
            SessionGone: connect anew and send it once more.
        """
        try:
            answer = await send(self._up())
        except (MCPError, pydantic.ValidationError, RuntimeError) as error:
            raise request_ended(error, name, await self._last_words(error)) from None
        self.worked = True
        return answer

    async def call(
        self, name: str, tool: str, arguments: JsonObject, report: Report, task: TaskMode = "never"
    ) -> Result:
        """The result of one call, whole; of one that the server makes a task of, too. `task` is as in `task_modes`.

        Raises:
            ToolwireError: the server has not answered, or with something that is no result.
            SessionGone: connect anew and send it once more.

        Cancellation: the server is told to stop.
        """
        try:
            client = self._up()
            by_us = client.protocol_version != MODERN and (self._callbacks.tasks or task == "required")
            if by_us and task != "never":
                answer = await call_as_task(client.session, tool, arguments, report, self._scopes.current())
            else:
                answer = await client.call_tool(tool, arguments, progress_callback=report)
            self.worked = True
            return result_of(answer)
        except (MCPError, pydantic.ValidationError, RuntimeError) as error:
            if isinstance(error, MCPError) and error.code in LIST_IS_OLD:
                self.following.stale.add("tools")
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

    async def _connected(self, scope: anyio.CancelScope) -> None:
        async with AsyncExitStack() as stack:
            transport = await self._transport(stack)
            client = Client(
                cast("Any", watched(transport, self._ended, self.following.came)),
                client_info=types.Implementation(name="toolwire", version=__version__),
                message_handler=self.following.heard,
                mode="legacy" if self._server.protocol == "legacy" else "auto",
                cache=None,
                extensions=[TasksExtension(self._scopes)] if self._callbacks.tasks else None,
                **client_options(self._callbacks),
            )
            await stack.enter_async_context(client)
            async with anyio.create_task_group() as tasks:
                await hear_logs(client, self._callbacks)
                await self.following.begin(client, tasks, ordered=not isinstance(self._server, HttpServer))
                scope.deadline = math.inf
                self.client = client
                self.settled.set()
                await self._ended.wait()
                tasks.cancel_scope.cancel()
            scope.deadline = anyio.current_time() + CLOSE_S

    async def _transport(self, stack: AsyncExitStack) -> Any:
        match self._server:
            case HttpServer(url=url, headers=headers, auth=auth, transport=transport):
                carried = None if transport is None else transport()
                http = await stack.enter_async_context(http_client(dict(headers), shown_url(url), auth, carried))
                return streamable_http_client(url, http_client=http, max_sse_event_size=MAX_BODY_BYTES)
            case server:
                return child_process(server, self._tail)

    def _what_ended(self) -> str:
        if isinstance(self._server, HttpServer):
            return "the connection was closed"
        if self._tail.too_long:
            return f"its process {self._server.argv[0]!r} wrote a line of more than {MAX_BODY_BYTES} bytes"
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


def _sole(error: BaseException) -> BaseException:
    """The first error inside groups of errors."""
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    return error
