"""The calls that are under way on a server: whom to tell of their progress, and whom to ask; it sends nothing.

A server's question or log message does not always say to which call it belongs. Over HTTP it comes on the stream of its
call, and the official client handles it in that call's context. Else it belongs to the call that began last.
"""

import math
import time
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol

import anyio
import msgspec

from toolwire.core.asking import AskMethod, NobodyToAsk, Question, asker_of
from toolwire.core.event import Log, Progress
from toolwire.core.handler import Emit
from toolwire.core.jsontypes import JsonObject
from toolwire.core.tasking import task_maker_of


class Report(Protocol):
    """Told how far a call is."""

    async def __call__(self, progress: float, total: float | None, message: str | None) -> None:
        """`total` is the progress at the end, where the server knows it."""
        ...


class Scope:
    """One call that is under way.

    Args:
        emit: takes its events, and knows whom to ask.
        limit: ends it; it stands still while somebody is asked.
    """

    def __init__(self, emit: Emit, limit: anyio.CancelScope) -> None:
        self._emit = emit
        self._limit = limit
        self._last = -math.inf
        self._questions = 0
        self._waiting = 0
        self._left_s = 0.0

    async def report(self, progress: float, total: float | None, message: str | None) -> None:
        """Pass the server's progress on, strictly rising whatever the server says."""
        number = progress
        if not number > self._last:  # NaN too
            number = 1.0 if self._last == -math.inf else self._last + 1
        self._last = number
        self._emit(Progress(number, total, message))

    async def tell(self, message: str) -> None:
        """Pass on what the server says of how far it is, where it gives no number."""
        await self.report(math.nan, None, message)

    async def become_task(self) -> None:
        """The server has made a task of the call: it is one for our client, too, if that takes one.

        Raises:
            StoreUnavailable: the task cannot be committed.
        """
        make_task = task_maker_of(self._emit)
        if make_task is not None:
            left_s = await make_task() - time.time()
            self._limit.deadline = anyio.current_time() + max(0.0, left_s)

    def log(self, params: JsonObject) -> None:
        """Pass a log message on."""
        data = params.get("data")
        text = data if isinstance(data, str) else msgspec.json.encode(data).decode()
        self._emit(Log(str(params.get("level", "info")), text, params.get("logger")))

    async def ask(self, method: AskMethod, params: JsonObject) -> JsonObject:
        """Ask the client behind the call.

        Raises:
            NobodyToAsk: nobody can be asked.
            ToolwireError: the client does not want to answer, or cannot.
        """
        asker = asker_of(self._emit)
        if asker is None:
            raise NobodyToAsk("nobody stands behind this call who could be asked")
        self._questions += 1
        question = Question(f"upstream-{self._questions}", method, params)
        self._stop_clock()
        try:
            answers = await asker.ask([question], _any_answer)
        finally:
            self._start_clock()
        return dict(answers[question.key])

    def _stop_clock(self) -> None:
        if not self._waiting:
            self._left_s = self._limit.deadline - anyio.current_time()
            self._limit.deadline = math.inf
        self._waiting += 1

    def _start_clock(self) -> None:
        self._waiting -= 1
        if not self._waiting:
            self._limit.deadline = anyio.current_time() + self._left_s


class Scopes:
    """The calls that are under way on one connection."""

    def __init__(self) -> None:
        self._mine: ContextVar[Scope | None] = ContextVar("toolwire_remote_scope", default=None)
        self._open: list[Scope] = []

    @contextmanager
    def entered(self, emit: Emit, limit_s: float) -> Generator[Scope]:
        """A call until the block ends, which it does by itself after `limit_s`."""
        with anyio.move_on_after(None if limit_s == math.inf else max(0.0, limit_s)) as limit:
            scope = Scope(emit, limit)
            self._open.append(scope)
            token = self._mine.set(scope)
            try:
                yield scope
            finally:
                self._mine.reset(token)
                self._open.remove(scope)

    def current(self) -> Scope | None:
        """The call that what a server has just sent belongs to; `None` if none can be meant."""
        mine = self._mine.get()
        if mine is not None and mine in self._open:
            return mine
        return self._open[-1] if self._open else None


def _any_answer(question: Question, answer: JsonObject) -> str | None:
    """The server that asks looks at the answer itself."""
    return None
