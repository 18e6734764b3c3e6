"""Answers a message whose body never waits where it stands, without a task; it does not decide which ones those are."""

from collections.abc import Awaitable, Callable
from contextvars import copy_context

from toolwire.agent.answer import answer_of, unexpected_failure, unsendable_answer
from toolwire.agent.context import Inbound
from toolwire.agent.journal import Answer
from toolwire.core.result import Result


def answer_at_once(
    body: Callable[[Inbound], Awaitable[Result]], inbound: Inbound, remember: Callable[[str, Answer], None]
) -> Answer:
    """What the body makes of the message, in the journal already.

    Args:
        body: answers the message, and is at its end when it is asked for the first time.
        inbound: the message.
        remember: keeps the answer in the journal (`journal.PromptJournal`).
    """
    message_id = inbound.message.message_id
    answer = answer_of(copy_context().run(_result, body, inbound))  # as a task of its own would have had a context
    try:
        remember(message_id, answer)
    except (TypeError, ValueError, RecursionError) as error:
        answer = unsendable_answer(f"it is not valid JSON: {error}")
        remember(message_id, answer)
    return answer


def _result(body: Callable[[Inbound], Awaitable[Result]], inbound: Inbound) -> Result:
    try:
        next(body(inbound).__await__())
    except StopIteration as ended:
        return ended.value
    except Exception:  # noqa: BLE001 -- the outermost frame of a call: the log has it, the caller an answer
        return unexpected_failure(inbound.message.message_id)
    raise AssertionError("a body that was said never to wait has waited")
