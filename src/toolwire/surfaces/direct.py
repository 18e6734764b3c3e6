"""What is answered without a record: reading, prompts and completions; it knows none of them.

They are no tool calls, so nothing is claimed, recorded or replayed. Their limits are those of a call all the same: a
deadline, progress and log lines for whoever asks, and an end when nobody wants the answer any more.
"""

from collections.abc import Awaitable, Callable
from typing import TypeVar

import anyio

from toolwire.core.call import Call
from toolwire.core.errors import ServiceTimeout
from toolwire.core.event import Event, Stamped
from toolwire.core.handler import Emit
from toolwire.core.ids import new_id
from toolwire.core.jsontypes import JsonObject
from toolwire.engine.engine import Engine
from toolwire.engine.record import Listener
from toolwire.surfaces.asked import Asked
from toolwire.surfaces.mcp_logging import wanted_level
from toolwire.wire.mcp.requests import read_meta_of

T = TypeVar("T")


async def ask(
    engine: Engine, asked: Asked, name: str, arguments: JsonObject, work: Callable[[Call, Emit], Awaitable[T]]
) -> T:
    """Let `work` answer a request.

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
    meta, asked.progress_token = read_meta_of(asked.message)
    asked.log_level = wanted_level(asked, meta)
    limit_s = asked.endpoint.call_timeout_s
    call = Call(
        id=new_id("call"),
        caller=asked.caller,
        tool=name,
        arguments=arguments,
        deadline=engine.clock.now() + limit_s,
        agent_id=asked.endpoint.agent_id,
        client_capabilities=asked.client_capabilities(meta),
    )
    telling = _Telling(engine, call.id, asked.listener)
    try:
        with anyio.move_on_after(limit_s):
            return await work(call, telling.emit)
    finally:
        telling.listener = None
    raise ServiceTimeout(f"{name!r} was not there within {limit_s:g} s; try again")


class _Telling:
    """Passes events on until the answer is there."""

    def __init__(self, engine: Engine, call_id: str, listener: Listener | None) -> None:
        self._engine = engine
        self._call_id = call_id
        self._seq = 0
        self.listener = listener

    def emit(self, event: Event) -> None:
        if self.listener is not None:
            self._seq += 1
            self.listener(Stamped(self._call_id, self._seq, self._engine.clock.now(), event))
