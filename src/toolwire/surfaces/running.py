"""A request that may last, while it lasts: what its client hears and is asked on the way, and when it is stopped.

It does not answer the request.
"""

import logging
from collections.abc import Callable
from typing import Any, Protocol

import anyio

from toolwire.core.event import Paused, Stamped
from toolwire.engine.engine import Engine
from toolwire.engine.record import Record
from toolwire.surfaces.asked import Asked
from toolwire.surfaces.exchange import Exchange
from toolwire.surfaces.held_open import HeldOpen
from toolwire.surfaces.hop import Hop
from toolwire.surfaces.streams import Stream, Streams, can_resume
from toolwire.wire.sse import event

logger = logging.getLogger("toolwire.surfaces")


class Watcher(Protocol):
    """Who looks after requests that are not over at once."""

    engine: Engine
    held_open: HeldOpen
    streams: Streams

    def watch(self, running: "Running") -> None:
        """Look out for a client that goes away, and keep its stream alive."""
        ...


class Running:
    """A request in progress: hears its events, and is looked at when it has not ended within a tick.

    It is the `surfaces.exchange.Frames` of an answer that can be resumed, until that has begun to be a stream.

    Attributes:
        scope: what the request runs in, if anybody may cancel it.
        silent: nothing more is to be said of it.
        over: the answer is known.
        revoked: the credential has ended by which it came, so that it is told nothing more.
        stream: what goes on after this exchange, where that is possible and the answer has become a stream.
    """

    __slots__ = ("_let_go", "_record", "_watch", "_watcher", "asked", "exchange", "hop", "over", "revoked", "scope",
                 "silent", "stream")  # fmt: skip

    def __init__(self, watcher: Watcher, hop: Hop, asked: Asked, exchange: Exchange) -> None:
        self._watcher = watcher
        self._watch: anyio.CancelScope | None = None
        self._record: Record | None = None
        self._let_go: Callable[[], None] | None = None
        self.scope: anyio.CancelScope | None = None
        self.silent = False
        self.hop = hop
        self.asked = asked
        self.exchange = exchange
        self.over = self.revoked = False
        self.stream: Stream | None = None
        if exchange.streams:
            asked.listener = self.hear
            if not asked.modern:
                asked.request = self.request
                exchange.frames = self

    def first(self) -> bytes:
        """See `surfaces.exchange.Frames`: the answer begins to be a stream."""
        if not can_resume(self.asked):
            self.exchange.frames = None
            return b""
        self.stream = self._watcher.streams.open(self.asked, self.exchange)
        self.exchange.frames = self.stream
        return self.stream.first()

    def last(self, body: bytes) -> bytes:
        """See `surfaces.exchange.Frames`; never asked for, because there is a `first` before."""
        return event(body)

    def hear(self, stamped: Stamped) -> None:
        """Pass on what the client wants to hear."""
        if isinstance(stamped.event, Paused):
            self._pause(stamped.event)
            return
        body = self.asked.notice(stamped.event)
        if body is not None:
            self.exchange.open_stream()
            if self.stream is None:
                self.exchange.notify(body)
            else:
                self.stream.tell(stamped, body)

    def request(self, body: bytes) -> Callable[[], None]:
        """Ask the client on its own request; see `Asked.request`."""
        if self.over:
            return _nothing
        self.exchange.open_stream()
        if self.stream is not None:
            return self.stream.request(body)
        self.exchange.push(event(body), owed=True)
        return _nothing

    def still_going(self) -> None:
        """Not over within a tick: from here on silence, absence and the end of the credential matter."""
        self._watcher.watch(self)
        if self.hop.admission is not None:
            self._let_go = self._watcher.held_open.hold(self.hop.admission.credential_id, self.revoke)
            if self.over:
                return
        if self.exchange.frames is not None and not self.asked.wants_events and can_resume(self.asked):
            self._listen_for_pauses()

    def end(self) -> None:
        """The answer is known; stop looking, and leave no cycle behind for the collector."""
        self.over = True
        if self._record is not None:
            self._record.unlisten(self._hear_pause)
        self.asked.listener = self.asked.request = self.asked.notify = None
        self.exchange.frames, self.stream = self.stream, None
        if self._watch is not None:
            self._watch.cancel()
        if self._let_go is not None:
            self._let_go()
        nothing: Any = None  # whoever still has a way to ask, such as an abandoned thread, must not keep all of it
        self.asked = self.exchange = self.hop = nothing

    def cancel(self) -> None:
        """The client named this request in `notifications/cancelled`: nothing more is said of it (mcp.md S10)."""
        self.silent = True
        if not self._cancel_call("the client said so"):
            self.stop()

    def revoke(self) -> None:
        """Its credential has ended: its stream ends at once, and the call too, if nobody else wants it."""
        self.exchange.end()
        if self.stream is not None and self.stream.exchange not in (None, self.exchange):
            return  # its client has come back for the rest with another credential
        self.revoked = True
        if not self._cancel_call("its key was revoked"):
            self.stop()

    def stop(self) -> None:
        """End the request, which stands for no call or for one that others want."""
        if self.scope is not None:
            self.scope.cancel()

    async def watch_disconnect(self) -> None:
        """On 2026-07-28 a client that goes away cancels its call, unless a key still wants the result (D21)."""
        if self.over:
            return
        try:
            with anyio.CancelScope() as self._watch:
                while (await self.hop.receive())["type"] != "http.disconnect":
                    pass
        except Exception:  # this task's outermost frame: one request's failure must not end the group of all of them
            logger.exception("cannot tell whether a client is still there")
            return
        self.gone()

    def lost(self, unread: bool) -> None:
        """The stream has ended; a client of 2026-07-28 that reads nothing counts as gone."""
        if unread:
            self.gone()

    def gone(self) -> None:
        """The client of a request of 2026-07-28 has gone away."""
        if not self.over and not self._cancel_call("the client went away") and self.asked.call_id is None:
            self.stop()

    def _pause(self, paused: Paused) -> None:
        if self.exchange.frames is None or not can_resume(self.asked):  # its client could not come back
            return
        self.exchange.open_stream()
        if self.stream is not None:
            seconds = paused.retry_after_s
            self.stream.pause(None if seconds is None else round(1000 * seconds))

    def _listen_for_pauses(self) -> None:
        """Hear of `Paused` too where the client hears of nothing; only now, because a call that is over has no use."""
        record = None if self.asked.call_id is None else self._watcher.engine.find(self.asked.call_id)
        if record is None or record.over:
            return
        self._record = record
        for stamped in record.since(0):
            self._hear_pause(stamped)
        record.listen(self._hear_pause)

    def _hear_pause(self, stamped: Stamped) -> None:
        if isinstance(stamped.event, Paused):
            self._pause(stamped.event)

    def _cancel_call(self, reason: str) -> bool:
        """End the call for which the request stands, if nobody else wants it; says whether that ends the request."""
        call_id = self.asked.call_id
        if call_id is None or self.asked.outlives_request:
            return False
        record = self._watcher.engine.find(call_id)
        if record is not None and record.call.outlives_request:  # somebody has begun to watch it since
            return False
        return self._watcher.engine.cancel(call_id, reason)


def _nothing() -> None:
    """There is nothing to be told: a stream that cannot be resumed asks nothing twice."""
