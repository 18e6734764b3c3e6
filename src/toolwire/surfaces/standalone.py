"""The streams that sessions of the initialize wire hold open with GET, to hear of changes; it finds no session.

A session has one: who opens another ends the first, because a message goes out on one stream alone.
Spec: MCP 2025-11-25 basic/transports#listening-for-messages-from-the-server.
"""

import anyio

from toolwire.core.change import Change, ListChanged
from toolwire.engine.deadline import Timekeeper
from toolwire.surfaces.changes import Changes
from toolwire.surfaces.exchange import Exchange, Receive
from toolwire.surfaces.sessions import Session
from toolwire.wire.mcp.changes import change_body

LAST_FRAME_S = 1.0
"""How long a stream that ends may take to say so."""


class Standalone:
    """The open streams, by session."""

    def __init__(self, timekeeper: Timekeeper, keepalive_s: float) -> None:
        self._timekeeper = timekeeper
        self._keepalive_s = keepalive_s
        self._open: dict[str, _Open] = {}

    async def serve(self, session: Session, exchange: Exchange, changes: Changes, receive: Receive) -> None:
        """Tell a session of changes until its client goes away, the session ends, or another stream is opened."""
        self.end(session.id)
        one = self._open[session.id] = _Open(session, exchange)
        try:
            with changes.heard(one.hear), one.scope:
                exchange.open_stream()
                exchange.keep_alive(self._timekeeper, self._keepalive_s)
                while (await receive())["type"] != "http.disconnect":
                    pass
        finally:
            if self._open.get(session.id) is one:
                del self._open[session.id]
            with anyio.move_on_after(LAST_FRAME_S, shield=True):
                await exchange.finish(200, None)

    def keeps(self, session: Session) -> None:
        """A session keeps something else than before."""
        one = self._open.get(session.id)
        if one is not None:
            one.uris = session.kept.uris

    def end(self, session_id: str) -> None:
        """End the stream of a session, if it has one."""
        one = self._open.pop(session_id, None)
        if one is not None:
            one.scope.cancel()


class _Open:
    __slots__ = ("_exchange", "scope", "uris")

    def __init__(self, session: Session, exchange: Exchange) -> None:
        self._exchange = exchange
        self.scope = anyio.CancelScope()
        self.uris = session.kept.uris

    def hear(self, change: Change) -> None:
        if isinstance(change, ListChanged) or change.uri in self.uris:
            self._exchange.notify(change_body(change))
