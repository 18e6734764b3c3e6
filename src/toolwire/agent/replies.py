"""Replies until the gateway has them: sent again after every re-attachment, and when it could not take one just then.

It does not decide what the replies say.
"""

import logging
import math
from collections.abc import Callable, Iterable
from itertools import count
from typing import Final

import anyio

from toolwire.agent.answer import unsendable_answer
from toolwire.agent.journal import Answer
from toolwire.agent.outgoing import LARGEST_FRAME, Outgoing, encode_frame
from toolwire.core.error_rows import ERRORS
from toolwire.core.jsontypes import JsonObject
from toolwire.wire.link import Message, Publish, Published, Refused

RETRY_FIRST_S: Final = 0.5
RETRY_MOST_S: Final = 10.0
RETRY_FOR_S: Final = 900.0
"""For how long a reply is offered to a gateway that is attached but says "not now"."""

_UNSENDABLE: Final = frozenset({"payload_too_large", "invalid_param", "invalid_request", "invalid_agent_response"})
_UNWANTED: Final = frozenset({"channel_closed", "channel_not_found"})
"""So is told that a reply comes after its caller has gone, which is nobody's fault."""

_log = logging.getLogger("toolwire.agent")


class _Reply:
    """A reply that the gateway has not got yet. Times are of the event loop's clock, in seconds."""

    __slots__ = ("attempts", "due", "frame", "replaced", "until")

    def __init__(self, frame: Publish, replaced: bool) -> None:
        self.frame = frame
        self.replaced = replaced
        self.attempts = 0
        self.due: float | None = None
        self.until: float | None = None


class Replies:
    """The replies on their way, terminal ones and questions, by the `ref` under which they are published.

    Args:
        outgoing: where their frames go.
        refs: the numbers for the frames that want an answer.
    """

    def __init__(self, outgoing: Outgoing, refs: "count[int]") -> None:
        self._outgoing = outgoing
        self._refs = refs
        self._replies: dict[int, _Reply] = {}
        self._by_message: dict[str, int] = {}
        self._asked: dict[str, Publish] = {}
        self._wake: anyio.Event | None = None
        self.when_empty: Callable[[], None] | None = None

    def __len__(self) -> int:
        return len(self._replies)

    def messages(self) -> Iterable[str]:
        """The ids of the messages whose reply is on its way."""
        return self._by_message.keys()

    def holds(self, message_id: str) -> bool:
        """Whether the reply to a message is on its way."""
        return message_id in self._by_message

    def send(self, message: Message, answer: Answer) -> None:
        """Publish `answer` as the reply to `message`, until it is `Published`."""
        self._send(message.message_id, message.channel_id, answer, replaced=False)

    def ask(self, message: Message, type: str, payload: JsonObject, question_id: str) -> str:
        """Publish a reply to `message` that does not end it, until it is `Published`; its id.

        A gateway that was started anew may have lost it, so it is published again with every later link, under the same
        id, until `asks_no_more`.

        Raises:
            ValueError: no link takes that much.
        """
        frame = Publish(next(self._refs), message.channel_id, type, payload, question_id, message.message_id)
        encoded = encode_frame(frame)
        if len(encoded) > LARGEST_FRAME:
            raise ValueError(f"a {type} takes {len(encoded)} bytes, at most {LARGEST_FRAME} can be sent")
        self._asked[question_id] = frame
        self._replies[frame.ref] = _Reply(frame, replaced=True)  # nothing is sent in its place
        self._outgoing.put_encoded(encoded)
        return question_id

    def asks_no_more(self, question_id: str) -> None:
        """Nobody waits for the answer to a question any more."""
        self._asked.pop(question_id, None)

    def resend(self) -> None:
        """A link is attached: put everything that may have got lost with the last one."""
        for frame in self._asked.values():
            self._replies.setdefault(frame.ref, _Reply(frame, replaced=True))
        for reply in self._replies.values():
            reply.due = reply.until = None
            reply.attempts = 0
            self._outgoing.put(reply.frame)

    def published(self, frame: Published) -> bool:
        """The gateway has it; `False` if `frame` is not about a reply."""
        return self._forget(frame.ref) is not None

    def refused(self, frame: Refused) -> bool:
        """The gateway did not take it: later, or something else instead; `False` if `frame` is not about a reply."""
        reply = None if frame.ref is None else self._replies.get(frame.ref)
        if reply is None or frame.ref is None:
            return False
        row = ERRORS.get(frame.code)
        if row is not None and row.retryable and self._put_off(reply):
            return True
        self._forget(frame.ref)
        sent = reply.frame
        level = logging.INFO if frame.code in _UNWANTED else logging.WARNING
        _log.log(level, "the reply to %s was refused: %s: %s", sent.in_reply_to, frame.code, frame.message)
        if frame.code in _UNSENDABLE and not reply.replaced and sent.in_reply_to is not None:
            self._send(sent.in_reply_to, sent.channel_id, unsendable_answer(frame.message), replaced=True)
        return True

    async def retry_forever(self) -> None:
        """Send again what was put off, each when it is due."""
        while True:
            self._wake = anyio.Event()
            due = [reply.due for reply in self._replies.values() if reply.due is not None]
            with anyio.CancelScope(deadline=min(due, default=math.inf)):
                await self._wake.wait()
            now = anyio.current_time()
            for reply in self._replies.values():
                if reply.due is not None and reply.due <= now:
                    reply.due = None
                    self._outgoing.put(reply.frame)

    def _send(self, message_id: str, channel_id: str, answer: Answer, *, replaced: bool) -> None:
        frame, encoded = self._encoded(message_id, channel_id, answer)
        if encoded is None or len(encoded) > LARGEST_FRAME:
            size = "it is not valid JSON" if encoded is None else f"it takes {len(encoded)} bytes"
            answer, replaced = unsendable_answer(f"{size}, at most {LARGEST_FRAME} can be sent"), True
            frame, encoded = self._encoded(message_id, channel_id, answer)
        self._replies[frame.ref] = _Reply(frame, replaced)
        self._by_message[message_id] = frame.ref
        if encoded is not None:
            self._outgoing.put_encoded(encoded)

    def _encoded(self, message_id: str, channel_id: str, answer: Answer) -> tuple[Publish, bytes | None]:
        ref = next(self._refs)
        frame = Publish(ref, channel_id, answer.type, answer.payload, answer.message_id, message_id)
        try:
            return frame, encode_frame(frame)
        except (TypeError, ValueError, RecursionError):
            return frame, None

    def _put_off(self, reply: _Reply) -> bool:
        now = anyio.current_time()
        if reply.until is None:
            reply.until = now + RETRY_FOR_S
        if now >= reply.until:
            return False
        reply.due = now + min(RETRY_FIRST_S * 2**reply.attempts, RETRY_MOST_S)
        reply.attempts += 1
        if self._wake is not None:
            self._wake.set()
        return True

    def _forget(self, ref: int) -> _Reply | None:
        reply = self._replies.pop(ref, None)
        if reply is not None:
            message_id = reply.frame.in_reply_to
            if message_id is not None and self._by_message.get(message_id) == ref:
                del self._by_message[message_id]
            if not self._replies and self.when_empty is not None:
                self.when_empty()
        return reply
