"""The streams that sessions of the initialize wire hold open with GET, to hear of changes; it finds no session.

A session has one: who opens another ends the first, because a message goes out on one stream alone. Who comes back is
told what has changed since; where that is not known any more, that everything may have.
Spec: MCP 2025-11-25 basic/transports#listening-for-messages-from-the-server, #resumability-and-redelivery.
"""

from collections.abc import Callable, Sequence

import anyio

from toolwire.core.change import Change, ListChanged, ResourceUpdated
from toolwire.engine.deadline import Timekeeper
from toolwire.surfaces.changes import Changes
from toolwire.surfaces.endpoint import Library
from toolwire.surfaces.event_ids import Mark
from toolwire.surfaces.exchange import Exchange, Receive
from toolwire.surfaces.sessions import Session
from toolwire.wire.mcp.changes import change_body
from toolwire.wire.sse import comment, event, priming

LAST_FRAME_S = 1.0
"""How long a stream that ends may take to say so."""

Seal = Callable[[Mark], str]
"""Makes an event id of a mark."""


class Standalone:
    """The open streams, by session."""

    def __init__(self, timekeeper: Timekeeper, keepalive_s: float, retry_ms: int) -> None:
        self._timekeeper = timekeeper
        self._keepalive_s = keepalive_s
        self._retry_ms = retry_ms
        self._open: dict[str, _Open] = {}

    async def serve(
        self,
        session: Session,
        exchange: Exchange,
        library: Library,
        receive: Receive,
        seal: Seal | None = None,
        after: Mark | None = None,
    ) -> None:
        """Tell a session of changes until its client goes away, the session ends, or another stream is opened.

        Args:
            session: whose stream it is.
            exchange: where it goes out.
            library: what is offered; it has `changes`.
            receive: says when the client goes away.
            seal: makes event ids, for a client that knows them.
            after: where the client has come to on an earlier stream.
        """
        changes = library.changes
        assert changes is not None
        self.end(session.id)
        one = self._open[session.id] = _Open(session, exchange, changes, seal)
        try:
            exchange.open_stream()
            one.begin(library, after, self._retry_ms)
            exchange.keep_alive(self._timekeeper, self._keepalive_s)
            with changes.heard(one.hear), one.scope:
                await exchange.hold(receive)
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
    __slots__ = ("_changes", "_exchange", "_seal", "scope", "uris")

    def __init__(self, session: Session, exchange: Exchange, changes: Changes, seal: Seal | None) -> None:
        self._exchange = exchange
        self._changes = changes
        self._seal = seal
        self.scope = anyio.CancelScope()
        self.uris = session.kept.uris

    def begin(self, library: Library, after: Mark | None, retry_ms: int) -> None:
        """Say how to come back, and what a client that has come back has missed."""
        here = Mark("changes", self._changes.log_id, self._changes.seq)
        if self._seal is not None:
            self._exchange.push(priming(self._seal(after or here), retry_ms), owed=True)
        if after is None:
            return
        missed = self._changes.since(after.stream, after.seq)
        if missed is None:
            self._exchange.push(comment("what has changed meanwhile is not known any more; all of it may have"))
            missed = [(here.seq, change) for change in _all_of(library, self.uris)]
        for seq, change in missed:
            self._tell(change, seq)

    def hear(self, change: Change) -> None:
        self._tell(change, self._changes.seq)

    def _tell(self, change: Change, seq: int) -> None:
        if isinstance(change, ListChanged) or change.uri in self.uris:
            id_ = None if self._seal is None else self._seal(Mark("changes", self._changes.log_id, seq))
            self._exchange.push(event(change_body(change), id_))


def _all_of(library: Library, uris: frozenset[str]) -> Sequence[Change]:
    changes: list[Change] = [ListChanged("tools")]
    if library.prompts is not None:
        changes.append(ListChanged("prompts"))
    if library.resources is not None:
        changes.append(ListChanged("resources"))
    return [*changes, *(ResourceUpdated(uri) for uri in sorted(uris))]
