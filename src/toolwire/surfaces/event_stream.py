"""An answer that is an event stream for as long as its reader stays; it does not know what the events are."""

from collections.abc import Awaitable, Callable
from typing import Final

import anyio
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from toolwire.surfaces.held_open import HeldOpen, Hold
from toolwire.wire.sse import KEEPALIVE

KEEPALIVE_S: Final = 15.0
_HEADERS: Final = {"x-accel-buffering": "no"}


class EventStream(Response):
    """Sends what `next_frame` gives, until that is `None` or the reader is gone, and a comment in every silence.

    It ends with the credential that has opened it, and nothing is said after that.

    Args:
        next_frame: waits for the next event, as bytes. Cancelled, it must not lose one.
        keepalive_s: the longest silence.
        on_left: called when the reader has gone before the end, or may not read any more.
        hold: what the reader's credential holds open.
    """

    media_type = "text/event-stream"

    def __init__(
        self,
        next_frame: Callable[[], Awaitable[bytes | None]],
        keepalive_s: float = KEEPALIVE_S,
        on_left: Callable[[], None] = lambda: None,
        hold: Hold | None = None,
    ) -> None:
        super().__init__(None, 200, _HEADERS)
        self.headers["content-type"] = self.media_type  # an event stream is UTF-8, so it names no charset
        del self.headers["content-length"]
        self._next_frame = next_frame
        self._keepalive_s = keepalive_s
        self._on_left = on_left
        self._hold = hold or HeldOpen().of("")
        self._is_over = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer the request."""
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        async with anyio.create_task_group() as tasks:

            async def leave() -> None:
                while (await receive())["type"] != "http.disconnect":
                    pass
                tasks.cancel_scope.cancel()

            tasks.start_soon(leave)
            try:
                if await self._hold.is_ended_during(self._send_all(send)):
                    await _end(send)
            finally:
                if not self._is_over:
                    self._on_left()
            tasks.cancel_scope.cancel()

    async def _send_all(self, send: Send) -> None:
        frame: bytes | None = KEEPALIVE  # the reader learns at once that it is connected
        while frame is not None:
            try:
                await send({"type": "http.response.body", "body": frame, "more_body": True})
            except OSError:
                return
            frame = KEEPALIVE
            with anyio.move_on_after(self._keepalive_s):
                frame = await self._next_frame()
        self._is_over = True
        await _end(send)


async def _end(send: Send) -> None:
    await send({"type": "http.response.body", "body": b""})
