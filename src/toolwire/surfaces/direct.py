"""What is answered without a record: reading, prompts and completions; it knows none of them.

They are no tool calls, so nothing is claimed, recorded or replayed. Their limits are those of a call all the same: a
deadline, progress and log lines for whoever asks, and an end when nobody wants the answer any more.
"""

import math
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from typing import Generic, TypeVar

import anyio

from toolwire.core.asking import Asker
from toolwire.core.call import Call
from toolwire.core.errors import Cancelled, ServiceTimeout
from toolwire.core.event import Event, Stamped
from toolwire.core.handler import Emit
from toolwire.core.ids import new_id
from toolwire.core.jsontypes import JsonObject
from toolwire.engine.asking import Asking
from toolwire.engine.engine import Engine
from toolwire.engine.record import Listener
from toolwire.surfaces.asked import Asked
from toolwire.surfaces.mcp_logging import wanted_level
from toolwire.surfaces.parking import Parked
from toolwire.wire.mcp.requests import read_meta_of

T = TypeVar("T")


async def ask(
    engine: Engine, asked: Asked, name: str, arguments: JsonObject, work: Callable[[Call, Emit], Awaitable[T]]
) -> T:
    """Let `work`, which asks nothing, answer a request.

    Args:
        engine: whose clock it is.
        asked: the request.
        name: what is asked for, such as a URI.
        arguments: what comes with it.
        work: gives the answer; it gets who asks and until when, and where its events go.

    Raises:
        ServiceTimeout: the endpoint's time-out has passed.
        InvalidParam: the request's `_meta` is malformed.
    """
    return await answer_in_place(engine, asked, call_for(engine, asked, name, arguments), work)


def call_for(engine: Engine, asked: Asked, name: str, arguments: JsonObject) -> Call:
    """Who asks for what, until when; `asked` learns what the client wants to hear meanwhile.

    Raises:
        InvalidParam: the request's `_meta` is malformed.
    """
    meta, asked.progress_token = read_meta_of(asked.message)
    asked.log_level = wanted_level(asked, meta)
    return Call(
        id=new_id("call"),
        caller=asked.caller,
        tool=name,
        arguments=arguments,
        deadline=engine.clock.now() + asked.endpoint.call_timeout_s,
        agent_id=asked.endpoint.agent_id,
        client_capabilities=asked.client_capabilities(meta),
    )


async def answer_in_place(
    engine: Engine,
    asked: Asked,
    call: Call,
    work: Callable[[Call, Emit], Awaitable[T]],
    asking: Asking | None = None,
) -> T:
    """Let `work` answer while the request waits; `asking` asks its client.

    Raises:
        ServiceTimeout: the endpoint's time-out has passed.
    """
    telling = _Telling(engine, call.id, asked.listener, asking)
    try:
        with anyio.move_on_after(asked.endpoint.call_timeout_s):
            return await work(call, telling.emit)
    finally:
        telling.listener = None
        if asking is not None:
            asking.end()
    raise _late(call)


class DirectWork(Generic[T]):
    """A `parking.Work` without a record; `run` does it."""

    def __init__(self, engine: Engine, call: Call, work: Callable[[Call, Emit], Awaitable[T]], parked: Parked) -> None:
        self._engine = engine
        self._call = call
        self._work = work
        self._parked = parked
        self._telling = _Telling(engine, call.id, None, parked.asking)
        self._scope = anyio.CancelScope()
        self._value: list[T] = []
        self._error: Exception | None = None
        self._stopped = False
        self.over = False

    async def run(self) -> None:
        """Do the work, and stir whoever waits for its end."""
        try:
            self.go_on(self._call.deadline)
            with self._scope:
                self._value.append(await self._work(self._call, self._telling.emit))
        except Exception as error:  # noqa: BLE001 -- the request that waits raises it, where the log knows its id
            self._error = error
        finally:
            self.over = True
            self._parked.close()

    def result(self) -> T:
        """What the work has given.

        Raises:
            ToolwireError: what it has raised, or why it was ended.
        """
        if self._value:
            return self._value[0]
        if self._error is not None:
            raise self._error
        raise Cancelled(f"{self._call.tool!r} was given up; ask again") if self._stopped else _late(self._call)

    def pause(self) -> None:
        """See `parking.Work.pause`."""
        self._scope.deadline = math.inf

    def go_on(self, deadline: float) -> None:
        """See `parking.Work.go_on`."""
        self._scope.deadline = anyio.current_time() + max(0.0, deadline - self._engine.clock.now())

    def stop(self, reason: str) -> None:
        """See `parking.Work.stop`."""
        self._stopped = True
        self._scope.cancel(reason)

    @contextmanager
    def heard_by(self, listener: Listener | None) -> Generator[None]:
        """See `parking.Work.heard_by`."""
        self._telling.listener = listener
        try:
            yield
        finally:
            self._telling.listener = None


class _Telling:
    """Passes events on until the answer is there, and knows who asks the client."""

    def __init__(self, engine: Engine, call_id: str, listener: Listener | None, asker: Asker | None) -> None:
        self._engine = engine
        self._call_id = call_id
        self._seq = 0
        self.listener = listener
        self.asker = asker

    def emit(self, event: Event) -> None:
        if self.listener is not None:
            self._seq += 1
            self.listener(Stamped(self._call_id, self._seq, self._engine.clock.now(), event))


def _late(call: Call) -> ServiceTimeout:
    return ServiceTimeout(f"{call.tool!r} was not there in time; try again")
