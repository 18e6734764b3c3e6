"""One call that a card is answering: its handler, its time, its progress and its end; it carries no bytes.

Contract: cards.md 28-38, 50-58, decisions 22, 25-28, 32.
"""

import logging
import threading
import time
import traceback
from collections.abc import Awaitable, Callable
from contextlib import suppress
from contextvars import ContextVar
from inspect import iscoroutinefunction
from typing import Any, Final, TypeAlias, cast

import anyio
import anyio.from_thread
import anyio.to_thread
from anyio.abc import TaskGroup
from msgspec import Struct

from toolwire.card.call import ToolCall
from toolwire.card.errors import CardError
from toolwire.card.handlers import Handler, Handlers
from toolwire.card.results import error_text, result_of
from toolwire.card.texts import cut, one_line
from toolwire.wire.card_messages import (
    MAX_LOG_CHARS,
    MAX_PROGRESS_CHARS,
    CancelCode,
    LogParams,
    ProgressParams,
    RespondParams,
    ToolCallData,
)

logger = logging.getLogger("toolwire.card")

Ask: TypeAlias = Callable[[str, Struct], Awaitable[Struct]]
"""Sends a request to the host, by its method; see `session.Session.request`."""

PROGRESS_GAP_S: Final = 0.25
GRACE_S: Final = 1.0
"""How long a handler may go on once its call is not wanted any more, before it is cancelled."""

current_call: ContextVar[ToolCall | None] = ContextVar("toolwire_card_call", default=None)
"""The call on whose behalf code runs: what it asks of the host is about that call's copy."""


class RunningCall:
    """A call that is being answered: `run` it in a task of its own.

    Args:
        data: the call, as the host tells of it.
        ask: asks the host.

    Attributes:
        call: what its handler sees.
    """

    def __init__(self, data: ToolCallData, ask: Ask) -> None:
        # The host's clock may be another one: what is left counts (decision 22).
        self._remaining_s = data.remaining_ms / 1000
        self.call = ToolCall(data, time.time() + self._remaining_s, self._progress)
        self._arguments = data.arguments
        self._ask = ask
        self._scope = anyio.CancelScope()
        self._tasks: TaskGroup | None = None
        self._line: str | None = None
        self._told_at = float("-inf")
        self._is_telling = False
        self._thread = threading.get_ident()

    def cancel(self, code: CancelCode, reason: str, grace_s: float = GRACE_S) -> None:
        """Nobody wants the result any more: the handler may notice, and is cancelled a moment later."""
        self.call.signal.fire(code, reason)
        self._scope.deadline = min(self._scope.deadline, anyio.current_time() + grace_s)

    async def run(self, handlers: Handlers) -> None:
        """Run the handler, and tell the host what became of it, unless nobody wants to know any more.

        Raises:
            WireLost: the connection is gone.
        """
        current_call.set(self.call)
        respond: RespondParams | None = None
        failure: Exception | None = None
        with self._scope:
            async with anyio.create_task_group() as tasks:
                self._tasks = tasks
                tasks.start_soon(self._keep_time)
                respond, failure = await self._outcome(handlers)
                self._tasks = None  # what is said from now on comes too late
                tasks.cancel_scope.cancel()
        self._tasks = None
        if respond is None or self.call.cancelled:
            return
        await self._tell()
        try:
            await self._ask("tools.respond", respond)
        except CardError as error:
            logger.warning("the host did not take the answer of call %s: %s", self.call.call_id, error)
        if failure is not None:
            await self._log_stack(failure)

    async def _outcome(self, handlers: Handlers) -> tuple[RespondParams, Exception | None]:
        """What the host is told, and what the handler has raised."""
        call_id = self.call.call_id
        handler = await handlers.find(self.call.tool)
        if handler is None:
            return RespondParams(call_id, error=f"the card has no handler for {self.call.tool!r} any more"), None
        try:
            return RespondParams(call_id, result=result_of(await self._returned(handler))), None
        except Exception as error:  # noqa: BLE001 -- whatever a handler raises is the agent's to read
            return RespondParams(call_id, error=error_text(error)), error
        except SystemExit as error:  # of a program's `main` that is called here: no reason to end the card
            failure = RuntimeError(f"the handler tried to exit with {error.code!r}")
            return RespondParams(call_id, error=str(failure)), failure

    async def _returned(self, handler: Handler) -> Any:
        if iscoroutinefunction(handler):
            return await handler(self._arguments, self.call)
        returned = await anyio.to_thread.run_sync(handler, self._arguments, self.call, abandon_on_cancel=True)
        return await cast("Awaitable[Any]", returned) if hasattr(returned, "__await__") else returned

    async def _keep_time(self) -> None:
        await anyio.sleep(self._remaining_s)
        self.cancel("deadline", "the time is up")

    async def _log_stack(self, failure: Exception) -> None:
        """The stack is the author's to read; the agent gets the words alone (decision 32)."""
        stack = cut("".join(traceback.format_exception(failure))[-MAX_LOG_CHARS:], MAX_LOG_CHARS)
        with suppress(CardError):
            await self._ask("log.write", LogParams("warn", stack, self.call.card.id))

    def _progress(self, message: str) -> None:
        if threading.get_ident() != self._thread:
            anyio.from_thread.run_sync(self._progress, message)  # of a handler that is no async function
            return
        line = one_line(message, MAX_PROGRESS_CHARS)
        if not line or self.call.cancelled or self._tasks is None:
            return
        self._line = line
        if not self._is_telling:
            self._is_telling = True
            self._tasks.start_soon(self._keep_telling)

    async def _keep_telling(self) -> None:
        """Tell the latest words, four times a second at most (decision 27)."""
        try:
            while self._line is not None:
                await anyio.sleep(max(0.0, self._told_at + PROGRESS_GAP_S - anyio.current_time()))
                await self._tell()
        finally:
            self._is_telling = False

    async def _tell(self) -> None:
        line, self._line = self._line, None
        if line is None:
            return
        self._told_at = anyio.current_time()
        with anyio.move_on_after(GRACE_S), suppress(CardError):  # a line that is lost is no reason to fail
            await self._ask("tools.progress", ProgressParams(self.call.call_id, line))
