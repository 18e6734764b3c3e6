"""Answers a message whose body never waits where it stands, without a task; it does not decide which ones those are."""

import time
from collections.abc import Awaitable, Callable
from contextvars import copy_context
from typing import Final

from toolwire.agent.answer import answer_of, unexpected_failure, unsendable_answer
from toolwire.agent.context import Inbound
from toolwire.agent.journal import Answer
from toolwire.agent.outgoing import Outgoing
from toolwire.core.result import Result

SLOW_S: Final = 0.002
"""A body that takes longer holds up the answers that are ready: the next gets a task until these have left."""


class AtOnce:
    """Runs bodies that never wait.

    Args:
        remember: keeps an answer in the journal (`journal.PromptJournal`).
        outgoing: where the answers wait for the link's writer.
    """

    def __init__(self, remember: Callable[[str, Answer], None], outgoing: Outgoing) -> None:
        self._remember = remember
        self._outgoing = outgoing
        self._was_slow = False

    @property
    def ready(self) -> bool:
        """Whether nobody's answer waits behind a slow body: several in a row would keep the first from leaving."""
        if self._was_slow and self._outgoing.is_empty:
            self._was_slow = False
        return not self._was_slow

    def answer(self, body: Callable[[Inbound], Awaitable[Result]], inbound: Inbound) -> Answer:
        """What the body makes of the message, in the journal already.

        Args:
            body: answers the message, and is at its end when it is asked for the first time.
            inbound: the message.
        """
        message_id, began = inbound.message.message_id, time.perf_counter()
        answer = answer_of(copy_context().run(_result, body, inbound))  # a task of its own would have had a context
        try:
            self._remember(message_id, answer)
        except (TypeError, ValueError, RecursionError) as error:
            answer = unsendable_answer(f"it is not valid JSON: {error}")
            self._remember(message_id, answer)
        if time.perf_counter() - began > SLOW_S:
            self._was_slow = True
        return answer


def _result(body: Callable[[Inbound], Awaitable[Result]], inbound: Inbound) -> Result:
    try:
        next(body(inbound).__await__())
    except StopIteration as ended:
        return ended.value
    except Exception:  # noqa: BLE001 -- the outermost frame of a call: the log has it, the caller an answer
        return unexpected_failure(inbound.message.message_id)
    raise AssertionError("a body that was said never to wait has waited")
