"""Keeps what comes before the message that it is about, for a while; it decides nothing.

A link that is opened again brings first what was said meanwhile about the messages of this agent, and then those that
it has to take once more.
"""

from collections import OrderedDict
from typing import Final

from toolwire.wire.link import Message

REMEMBERED: Final = 10_000
"""How many of each kind; the oldest is forgotten first."""


class Early:
    """Cancellations of messages that are not here yet, and answers to questions that are not asked yet."""

    def __init__(self) -> None:
        self._cancelled: OrderedDict[str, None] = OrderedDict()
        self._answers: OrderedDict[str, Message] = OrderedDict()

    def cancel(self, message_id: str) -> None:
        """The message, when it comes, is not wanted."""
        self._cancelled[message_id] = None
        if len(self._cancelled) > REMEMBERED:
            self._cancelled.popitem(last=False)

    def take_cancelled(self, message_id: str) -> bool:
        """Whether a message that has come is not wanted; said once."""
        return message_id in self._cancelled and self._cancelled.pop(message_id) is None

    def answer(self, message: Message) -> None:
        """Somebody has answered the question that `in_reply_to` names; what was said last counts."""
        if message.in_reply_to is not None:
            self._answers[message.in_reply_to] = message
            if len(self._answers) > REMEMBERED:
                self._answers.popitem(last=False)

    def take_answer(self, question_id: str) -> Message | None:
        """The answer to a question that is asked now, if it has come before; given once."""
        return self._answers.pop(question_id, None)
