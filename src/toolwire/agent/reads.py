"""Requests for a channel's rows that wait for their answer; it does not know what the rows say."""

from itertools import count

import anyio

from toolwire.agent.outgoing import Outgoing
from toolwire.core.errors import InternalError, ToolwireError, error_of
from toolwire.wire.link import Message, Read, Refused, Rows


class _Waiting:
    __slots__ = ("answer", "frame", "ready")

    def __init__(self, frame: Read) -> None:
        self.frame = frame
        self.ready = anyio.Event()
        self.answer: Rows | Refused | None = None


class Reads:
    """What calls want to read of their channels, by the `ref` of the frame that asks for it.

    Args:
        outgoing: where the frames go.
        refs: the numbers for the frames that want an answer.
    """

    def __init__(self, outgoing: Outgoing, refs: "count[int]") -> None:
        self._outgoing = outgoing
        self._refs = refs
        self._waiting: dict[int, _Waiting] = {}

    async def read(self, channel_id: str, since: int, limit: int) -> tuple[Message, ...]:
        """The rows after the offset `since`, at most `limit`; asked again on the next link if this one breaks.

        Raises:
            ToolwireError: the gateway refused, with its code.
        """
        ref = next(self._refs)
        waiting = self._waiting[ref] = _Waiting(Read(ref, channel_id, since, limit))
        self._outgoing.put(waiting.frame)
        try:
            await waiting.ready.wait()
        finally:
            del self._waiting[ref]
        match waiting.answer:
            case Rows(messages=messages):
                return messages
            case Refused() as refused:
                raise refusal(refused)
            case None:
                raise InternalError("a channel was read without an answer")

    def resend(self) -> None:
        """A link is attached: ask again what the last one left open."""
        for waiting in self._waiting.values():
            self._outgoing.put(waiting.frame)

    def answered(self, frame: Rows) -> None:
        """Hand the rows to who waits for them, if it still does."""
        self._resolve(frame.ref, frame)

    def refused(self, frame: Refused) -> bool:
        """Tell who waits; `False` if `frame` is not about a read."""
        return frame.ref is not None and self._resolve(frame.ref, frame)

    def _resolve(self, ref: int, frame: Rows | Refused) -> bool:
        waiting = self._waiting.get(ref)
        if waiting is None:
            return False
        if waiting.answer is None:  # one that was asked for on two links may be answered twice
            waiting.answer = frame
            waiting.ready.set()
        return True


def refusal(frame: Refused) -> ToolwireError:
    """The error that a `Refused` speaks of."""
    return error_of(frame.code, frame.message)
