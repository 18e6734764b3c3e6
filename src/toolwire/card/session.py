"""A card's end of one connection to its host: requests and their answers, and the calls that come in.

It knows no author's API (card.card) and no transport: whoever opens the connection gives it a `Wire`.
"""

import logging
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Final, Protocol, TypeAlias

import anyio
import msgspec
from anyio.abc import TaskGroup
from msgspec import UNSET, Struct

from toolwire.card.errors import CardError, WireLost
from toolwire.card.handlers import Handlers
from toolwire.card.running import RunningCall
from toolwire.core.errors import InvalidRequest
from toolwire.wire.card import Event, Response, read_from_host, request_body
from toolwire.wire.card_messages import (
    EVENTS,
    MAX_MESSAGE_BYTES,
    PROTOCOL,
    RESULTS,
    CardsData,
    Ready,
    ReadyParams,
    SettingsData,
    ToolCallData,
    ToolCancelData,
)

logger = logging.getLogger("toolwire.card")

READY: Final = "host.ready"


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
            CardError: the host has ended it, and wants no other.
        """
        ...


OpenWire: TypeAlias = Callable[[], AbstractAsyncContextManager[Wire]]
"""Opens a connection. Raises `WireLost` if that may work another time, `CardError` if it never will."""


class Session:
    """One connection, to be `run` once.

    Args:
        wire: carries it.
        handlers: answer calls.
        on_ready: gets the context, once the host knows the card.
        on_cards: is told when the copies that the connection is for have changed.
        on_settings: is told when the settings of a copy have changed.
    """

    def __init__(
        self,
        wire: Wire,
        handlers: Handlers,
        on_ready: Callable[[Ready], None],
        on_cards: Callable[[CardsData], None],
        on_settings: Callable[[SettingsData], None],
    ) -> None:
        self._wire = wire
        self._handlers = handlers
        self._on_ready = on_ready
        self._on_cards = on_cards
        self._on_settings = on_settings
        self._ids = 0
        self._waiting: dict[int, _Waiting] = {}
        self._calls: dict[str, RunningCall] = {}
        self._sending = anyio.Lock()
        self._is_over = False

    async def run(self, sdk: str) -> None:
        """Serve until the connection is gone.

        Raises:
            ExceptionGroup: of a `WireLost`: it is gone; or of a `CardError`: the host refuses this card.
        """
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._open, sdk)
            try:
                while True:
                    self._take(await self._wire.receive(), tasks)
            finally:
                self._end()
                tasks.cancel_scope.cancel()

    async def request(self, method: str, params: Struct) -> Struct:
        """Ask the host.

        Raises:
            CardError: it refuses, or the request is too large to be sent.
            WireLost: the connection is gone.
            TypeError: `params` hold a value that JSON does not have.
        """
        self._ids += 1
        number = self._ids
        body = request_body(number, method, params)
        if len(body) > MAX_MESSAGE_BYTES:
            words = f"{method} would send {len(body)} bytes; a message has at most {MAX_MESSAGE_BYTES}"
            raise CardError("payload_too_large", words)
        if self._is_over:
            raise WireLost("it has ended")
        waiting = self._waiting[number] = _Waiting(method)
        try:
            async with self._sending:
                await self._wire.send(body)
            await waiting.done.wait()
        finally:
            del self._waiting[number]
        return _result(method, waiting.response)

    async def _open(self, sdk: str) -> None:
        await self.request(READY, ReadyParams(PROTOCOL, sdk))

    def _end(self) -> None:
        """Nobody need wait for the host any more, and nobody there waits for us."""
        self._is_over = True
        for waiting in self._waiting.values():
            waiting.done.set()
        for running in self._calls.values():
            running.cancel("unloaded", "the connection to the host was lost")

    def _take(self, text: bytes, tasks: TaskGroup) -> None:
        try:
            message = read_from_host(text)
            if isinstance(message, Event):
                self._take_event(message, tasks)
            else:
                self._take_response(message)
        except (InvalidRequest, msgspec.DecodeError) as error:
            logger.warning("the host said what cannot be read: %s", error)

    def _take_response(self, response: Response) -> None:
        waiting = self._waiting.get(response.id)
        if waiting is None:
            return
        waiting.response = response
        waiting.done.set()
        if waiting.method == READY and response.error is UNSET:  # before the events that come after it
            self._on_ready(msgspec.json.decode(response.result or b"", type=Ready))

    def _take_event(self, event: Event, tasks: TaskGroup) -> None:
        type_ = EVENTS.get(event.event)
        if type_ is None:
            return  # a newer host tells more
        match msgspec.json.decode(event.data, type=type_):
            case ToolCallData() as data:
                running = self._calls[data.call_id] = RunningCall(data, self.request)
                tasks.start_soon(self._answer, running)
            case ToolCancelData() as data:
                running = self._calls.get(data.call_id)
                if running is not None:
                    running.cancel(data.code, data.reason)
            case CardsData() as data:
                self._on_cards(data)
            case SettingsData() as data:
                self._on_settings(data)
            case _:
                return

    async def _answer(self, running: RunningCall) -> None:
        try:
            await running.run(self._handlers)
        finally:
            self._calls.pop(running.call.call_id, None)


class _Waiting:
    """A request that waits for its answer; `response` stays `None` if the connection ends first."""

    def __init__(self, method: str) -> None:
        self.method = method
        self.done = anyio.Event()
        self.response: Response | None = None


def _result(method: str, response: Response | None) -> Struct:
    if response is None:
        raise WireLost("it ended before the answer came")
    if response.error is not UNSET:
        raise CardError(response.error.code, response.error.message, response.error.retry_after_ms)
    try:
        return msgspec.json.decode(response.result or b"{}", type=RESULTS[method])
    except msgspec.DecodeError as error:
        raise CardError("internal_error", f"the host's answer to {method} cannot be read: {error}") from None
