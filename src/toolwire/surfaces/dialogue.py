"""Questions to clients of the initialize wire: requests of ours, and the responses that come back; it finds no session.

A response is taken from the client alone that was asked. Spec: MCP 2025-11-25 basic/transports, client/elicitation.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

import msgspec

from toolwire.core.asking import NobodyToAsk, Question
from toolwire.core.errors import PageRequired
from toolwire.core.ids import new_id
from toolwire.engine.asking import Asking
from toolwire.wire.jsonrpc import Posted
from toolwire.wire.mcp.asking import elicitation_complete_body, request_body
from toolwire.wire.mcp.changes import cancelled_body

Peer: TypeAlias = tuple[str, str]
"""Whom a question went to: a session ("" for a connection, which is one client), and the principal."""


Request: TypeAlias = Callable[[bytes], Callable[[], None]]
"""See `asked.Asked.request`."""


class _Sent:
    """One request of ours. `ids` are those of all requests that ask the same question, on whatever stream.

    `done` is to be called when nobody waits for the response any more.
    """

    __slots__ = ("asking", "done", "ids", "key", "peer")

    def __init__(self, peer: Peer, asking: Asking, key: str, ids: list[str]) -> None:
        self.peer = peer
        self.asking = asking
        self.key = key
        self.ids = ids
        self.done: Callable[[], None] | None = None


class Dialogue:
    """The questions that have no answer yet, by the id of the request that asks.

    Attributes:
        is_over: the client will answer nothing any more.
    """

    def __init__(self) -> None:
        self._sent: dict[str, _Sent] = {}
        self.is_over = False

    def take(self, posted: Posted, peer: Peer) -> None:
        """A response of a client's; what answers none of our questions to it is dropped."""
        sent = self._sent.get(posted.id) if isinstance(posted.id, str) else None
        if sent is None or sent.peer != peer:
            return
        for id_ in sent.ids:
            forget(self._sent, id_)
        if posted.result is not None:
            sent.asking.give(sent.key, posted.result)
        else:
            sent.asking.refuse(sent.key, posted.error or {})

    def way(self, peer: Peer, asking: Asking, request: Request | None) -> "ByRequest":
        """The way for the questions of one call, on the caller's stream, where it has one."""
        before = asking.way.ids if isinstance(asking.way, ByRequest) else {}
        return ByRequest(self, self._sent, peer, asking, request, before)

    def end(self) -> None:
        """The client has said its last word: what is open fails, and nothing more is asked."""
        for asking in [sent.asking for sent in self._sent.values()]:
            asking.fail_all(_gone)
        self.is_over = True

    def __len__(self) -> int:
        return len(self._sent)


def forget(sent: dict[str, _Sent], id_: str) -> bool:
    """Expect no response to a request of ours any more; says whether one was expected."""
    found = sent.pop(id_, None)
    if found is not None and found.done is not None:
        found.done()
    return found is not None


class ByRequest:
    """A `Way` by requests of ours on the stream that answers the client's.

    Attributes:
        ids: of the requests that ask each question, by its key; those of streams before this one, too.
    """

    def __init__(
        self,
        dialogue: Dialogue,
        sent: dict[str, _Sent],
        peer: Peer,
        asking: Asking,
        request: Request | None,
        ids: dict[str, list[str]],
    ) -> None:
        self._dialogue = dialogue
        self._sent = sent
        self._peer = peer
        self._asking = asking
        self._request = request
        self.ids = ids

    def ask(self, questions: Sequence[Question]) -> None:
        """See `engine.asking.Way.ask`."""
        request = self._request
        if request is None:
            raise _no_stream(questions)
        if self._dialogue.is_over:
            raise _gone()
        for question in questions:
            id_ = new_id("ask")
            ids = self.ids.setdefault(question.key, [])
            ids.append(id_)
            sent = self._sent[id_] = _Sent(self._peer, self._asking, question.key, ids)
            sent.done = request(request_body(id_, question))

    def withdraw(self, keys: Iterable[str]) -> None:
        """See `engine.asking.Way.withdraw`."""
        for key in keys:
            for id_ in self.ids.get(key, ()):
                if forget(self._sent, id_):
                    self._tell(cancelled_body(msgspec.json.encode(id_), "the answer is not wanted any more"))

    def complete(self, key: str) -> None:
        """See `engine.asking.Way.complete`."""
        for id_ in self.ids.get(key, ()):
            self._tell(elicitation_complete_body(id_))

    def _tell(self, body: bytes) -> None:
        if self._request is not None:
            self._request(body)()


def _gone() -> NobodyToAsk:
    return NobodyToAsk("the client has said its last word; nobody is there to answer any more")


def _no_stream(questions: Sequence[Question]) -> NobodyToAsk | PageRequired:
    """A client that takes no stream can be sent to a page all the same: by the error that says so (mcp.md 1.2)."""
    if all(question.params.get("mode") == "url" for question in questions):
        return PageRequired(
            "visit the page first, then send this again",
            elicitations=[{**question.params, "elicitationId": new_id("ask")} for question in questions],
        )
    return NobodyToAsk("this client cannot be asked: it takes no event stream; accept text/event-stream as well")
