"""A card's end of one connection to its host: requests and their answers, calls and their handlers.

It knows no author's API (card.card) and no transport: whoever opens the connection gives it a `Wire`.
"""

import logging
import threading
import time
import traceback
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from contextvars import ContextVar
from inspect import iscoroutinefunction
from typing import Any, Final, Protocol, TypeAlias, cast

import anyio
import anyio.from_thread
import anyio.to_thread
import msgspec
from anyio.abc import TaskGroup
from msgspec import UNSET, Struct

from toolwire.card.call import ToolCall
from toolwire.card.results import error_text, result_of
from toolwire.core.errors import InvalidRequest
from toolwire.wire.card import Event, Response, read_from_host, request_body
from toolwire.wire.card_messages import (
    EVENTS,
    PROTOCOL,
    RESULTS,
    CardsData,
    LogParams,
    ProgressParams,
    Ready,
    ReadyParams,
    RespondParams,
    ToolCallData,
    ToolCancelData,
)

logger = logging.getLogger("toolwire.card")

Handler: TypeAlias = Callable[[dict[str, Any], ToolCall], Any]
"""Answers calls of a tool: an async function, or a plain one, which runs in a thread."""

PROGRESS_GAP_S: Final = 0.25
GRACE_S: Final = 1.0
"""How long a handler may go on once its call is not wanted any more, before it is cancelled."""
GONE_HANDLER_S: Final = 5.0
"""How long a call waits for a handler that was there and was taken away (decision 23)."""

current_call: ContextVar[ToolCall | None] = ContextVar("toolwire_card_call", default=None)
"""The call on whose behalf code runs: what it asks of the host is about that call's copy."""


class CardError(Exception):
    """The host refused a request; `code` says what kind of refusal it is."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class WireLost(Exception):
    """The connection is gone; the text says why."""


class Wire(Protocol):
    """An open connection."""

    async def send(self, text: bytes) -> None:
        """Send one message.

        Raises:
            WireLost: it is gone.
        """
        ...

    async def receive(self) -> bytes:
        """The next message.

        Raises:
            WireLost: it is gone.
        """
        ...


OpenWire: TypeAlias = Callable[[], AbstractAsyncContextManager[Wire]]
"""Opens a connection. Raises `WireLost` if that may work another time, `CardError` if it never will."""


class Handlers:
    """The handlers of a card's tools, which may come and go while calls wait for them (cards.md 59, decision 23)."""

    def __init__(self) -> None:
        self._known: dict[str, Handler] = {}
        self._gone: set[str] = set()
        self._news = anyio.Event()

    def put(self, tool: str, handler: Handler) -> None:
        """A tool is answered by `handler` from now on.

        Raises:
            ValueError: it has a handler already.
        """
        if tool in self._known:
            raise ValueError(f"tool {tool!r} has a handler already; remove that first")
        self._known[tool] = handler
        self._tell()

    def remove(self, tool: str, handler: Handler) -> None:
        """A handler is gone; fine if it is not the tool's."""
        if self._known.get(tool) is handler:
            del self._known[tool]
            self._gone.add(tool)
            self._tell()

    async def find(self, tool: str) -> Handler | None:
        """The handler of a tool, when it comes; `None` if it was there and does not come back soon."""
        limit = GONE_HANDLER_S if tool in self._gone else float("inf")
        with anyio.move_on_after(limit):
            while tool not in self._known:
                await self._news.wait()
        return self._known.get(tool)

    def _tell(self) -> None:
        news, self._news = self._news, anyio.Event()
        news.set()


class Session:
    """One connection. `open` it, then `run` it."""

    def __init__(self, wire: Wire, handlers: Handlers) -> None:
        self._wire = wire
        self._handlers = handlers
        self._ids = 0
        self._waiting: dict[int, _Waiting] = {}
        self._calls: dict[str, _Running] = {}
        self._sending = anyio.Lock()
        self._tasks: TaskGroup | None = None
        self.ready: Ready | None = None
        self.cards_changed: Callable[[CardsData], None] = lambda data: None

    async def run(self, sdk: str, instance: str | None, on_ready: Callable[[Ready], None]) -> None:
        """Serve until the connection is gone.

        Raises:
            WireLost: it is.
            CardError: the host refuses this card.
        """
        async with anyio.create_task_group() as tasks:
            self._tasks = tasks
            tasks.start_soon(self._open, sdk, instance, on_ready)
            try:
                while True:
                    self._take(await self._wire.receive())
            finally:
                tasks.cancel_scope.cancel()

    async def request(self, method: str, params: Struct) -> Struct:
        """Ask the host.

        Raises:
            CardError: it refuses.
            WireLost: the connection is gone.
        """
        self._ids += 1
        number = self._ids
        waiting = self._waiting[number] = _Waiting()
        try:
            await self._send(request_body(number, method, params))
            await waiting.done.wait()
        finally:
            del self._waiting[number]
        response = waiting.response
        assert response is not None
        if response.error is not UNSET:
            raise CardError(response.error.code, response.error.message)
        return msgspec.json.decode(response.result or b"{}", type=RESULTS[method])

    async def _open(self, sdk: str, instance: str | None, on_ready: Callable[[Ready], None]) -> None:
        ready = await self.request("host.ready", ReadyParams(PROTOCOL, sdk, instance))
        assert isinstance(ready, Ready)
        self.ready = ready
        on_ready(ready)

    async def _send(self, body: bytes) -> None:
        async with self._sending:
            await self._wire.send(body)

    def _take(self, text: bytes) -> None:
        try:
            message = read_from_host(text)
        except InvalidRequest as error:
            logger.warning("the host said what cannot be read: %s", error.message)
            return
        if isinstance(message, Response):
            waiting = self._waiting.get(message.id)
            if waiting is not None:
                waiting.response = message
                waiting.done.set()
        else:
            self._take_event(message)

    def _take_event(self, event: Event) -> None:
        type_ = EVENTS.get(event.event)
        if type_ is None:
            return  # a newer host tells more
        data = msgspec.json.decode(event.data, type=type_)
        match data:
            case ToolCallData():
                assert self._tasks is not None
                self._tasks.start_soon(self._answer, data)
            case ToolCancelData():
                running = self._calls.get(data.call_id)
                if running is not None:
                    running.cancel(data)
            case CardsData():
                self.cards_changed(data)
            case _:
                return

    async def _answer(self, data: ToolCallData) -> None:
        """Run the handler of a call, and tell the host what became of it."""
        running = _Running(data, self)
        self._calls[data.call_id] = running
        current_call.set(running.call)
        try:
            respond = await running.run(self._handlers)
            if respond is not None:
                await self.request("tools.respond", respond)
        except CardError as error:
            logger.warning("the host did not take the answer of call %s: %s", data.call_id, error)
        finally:
            del self._calls[data.call_id]


class _Waiting:
    def __init__(self) -> None:
        self.done = anyio.Event()
        self.response: Response | None = None


class _Running:
    """A call that is being answered."""

    def __init__(self, data: ToolCallData, session: Session) -> None:
        # The host's clock may be another one: what is left counts (decision 22).
        deadline = time.time() + data.remaining_ms / 1000
        self.call = ToolCall(data, deadline, self._progress)
        self._arguments = data.arguments
        self._remaining_s = data.remaining_ms / 1000
        self._session = session
        self._scope = anyio.CancelScope()
        self._tasks: TaskGroup | None = None
        self._waiting: str | None = None
        self._told_at = float("-inf")
        self._is_flushing = False
        self._thread = threading.get_ident()

    def cancel(self, data: ToolCancelData) -> None:
        """Nobody wants the result any more: the handler may notice, and is cancelled a moment later."""
        self.call.signal.fire(data.code, data.reason)
        self._scope.deadline = min(self._scope.deadline, anyio.current_time() + GRACE_S)

    async def run(self, handlers: Handlers) -> RespondParams | None:
        """What the host is told, or nothing if nobody wants it any more."""
        respond: RespondParams | None = None
        with self._scope:
            async with anyio.create_task_group() as tasks:
                self._tasks = tasks
                tasks.start_soon(self._keep_time)
                respond = await self._respond(handlers)
                tasks.cancel_scope.cancel()
        if respond is None or self.call.cancelled:
            return None
        await self._tell()
        return respond

    async def _respond(self, handlers: Handlers) -> RespondParams:
        call_id = self.call.call_id
        handler = await handlers.find(self.call.tool)
        if handler is None:
            return RespondParams(call_id, error=f"the card has no handler for {self.call.tool!r} any more")
        try:
            return RespondParams(call_id, result=result_of(await self._returned(handler)))
        except Exception as error:  # whatever a handler raises is the agent's to read
            logger.debug("the handler of %r failed", self.call.tool, exc_info=True)
            await self._log_stack(error)
            return RespondParams(call_id, error=error_text(error))

    async def _returned(self, handler: Handler) -> Any:
        if iscoroutinefunction(handler):
            return await handler(self._arguments, self.call)
        returned = await anyio.to_thread.run_sync(handler, self._arguments, self.call, abandon_on_cancel=True)
        return await cast("Awaitable[Any]", returned) if hasattr(returned, "__await__") else returned

    async def _keep_time(self) -> None:
        await anyio.sleep(self._remaining_s)
        self.cancel(ToolCancelData(self.call.call_id, "deadline", "the time is up"))

    async def _log_stack(self, error: Exception) -> None:
        stack = "".join(traceback.format_exception(error))
        params = LogParams("debug", stack[-2000:], self.call.card.id)
        await self._session.request("log.write", params)

    def _progress(self, message: str) -> None:
        if threading.get_ident() != self._thread:
            anyio.from_thread.run_sync(self._progress, message)  # of a handler that is no async function
            return
        if self.call.cancelled or self._tasks is None:
            return
        self._waiting = message
        if not self._is_flushing:
            self._is_flushing = True
            self._tasks.start_soon(self._flush)

    async def _flush(self) -> None:
        """Tell the latest words, four times a second at most."""
        try:
            while self._waiting is not None:
                await anyio.sleep(max(0.0, self._told_at + PROGRESS_GAP_S - anyio.current_time()))
                await self._tell()
        finally:
            self._is_flushing = False

    async def _tell(self) -> None:
        message, self._waiting = self._waiting, None
        if message is None:
            return
        self._told_at = anyio.current_time()
        with anyio.move_on_after(GRACE_S):
            await self._session.request("tools.progress", ProgressParams(self.call.call_id, message))
