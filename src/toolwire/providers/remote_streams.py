"""A transport of the official client that tells of notifications in their order, and of its end; it sends nothing.

The client handles a notification in a task of its own, so a response that came after it may be seen before it.
"""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any, Self, cast

import anyio
from mcp.types import JSONRPCNotification


@asynccontextmanager
async def watched(transport: Any, ended: anyio.Event, hear: Callable[[str], None]) -> AsyncGenerator[Any]:
    """`transport`, which tells the method of each notification, and sets `ended` when no message can come any more."""
    async with transport as (reading, writing):
        yield _WatchedStream(reading, ended, hear), writing


class _WatchedStream:
    """A stream of messages that tells of notifications and of its end."""

    def __init__(self, stream: Any, ended: anyio.Event, hear: Callable[[str], None]) -> None:
        self._stream = stream
        self._ended = ended
        self._hear = hear

    @property
    def last_context(self) -> Any:
        """Whose message came last; the official streams carry it."""
        return getattr(self._stream, "last_context", None)

    async def receive(self) -> Any:
        """The next message."""
        try:
            received = _typed(await self._stream.receive())
        except (anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError):
            self._ended.set()
            raise
        message = getattr(received, "message", None)
        if isinstance(message, JSONRPCNotification):
            self._hear(message.method)
        return received

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


def _typed(received: Any) -> Any:
    """`received`; a result that does not say of which type it is is complete, which the official client does not know.

    Nor does it know that a call of 2025-11-25 may be answered with a task, which has no content.
    Spec: MCP 2026-07-28, basic/patterns/mrtr; MCP 2025-11-25, basic/utilities/tasks.
    """
    result: object = getattr(getattr(received, "message", None), "result", None)
    if isinstance(result, dict):
        given = cast("dict[str, Any]", result)
        given.setdefault("resultType", "complete")
        if isinstance(given.get("task"), dict):
            given.setdefault("content", [])
    return received
