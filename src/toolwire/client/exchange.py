"""How requests are sent, and sent again, as steps for whoever has a connection; it has none itself."""

import random
from collections.abc import Generator
from typing import Any, Final, TypeAlias, TypeVar

from msgspec import Struct

from toolwire.client.asks import ApiError, Ask, Flow, Reply, answer_of, refusal_of

T = TypeVar("T")

FIRST_PAUSE_S: Final = 0.2
LONGEST_PAUSE_S: Final = 30.0
"""A host that asks for more is believed: the refusal is handed on."""


class Lost(Struct, frozen=True):
    """Nobody answered, or the answer broke off."""

    reason: str


class Send(Struct, frozen=True):
    """A step: send this; comes back as a `Reply` or `Lost`."""

    ask: Ask[Any]


class Pause(Struct, frozen=True):
    """A step: wait."""

    seconds: float


Step: TypeAlias = Send | Pause
Steps: TypeAlias = Generator[Step, Reply | Lost | None, T]


def steps_of(wanted: Ask[T] | Flow[T], tries: int) -> Steps[T]:
    """Everything that there is to do for an answer.

    Args:
        wanted: one request, or several.
        tries: how often one that is idempotent is sent at most.

    Raises:
        ApiError: a request was refused, or nobody answered.
    """
    if isinstance(wanted, Ask):
        return (yield from _steps(wanted, tries))
    answer: Any = None
    while True:
        try:
            ask = wanted.send(answer)
        except StopIteration as end:
            return end.value
        answer = yield from _steps(ask, tries)


def _steps(ask: Ask[T], tries: int) -> Steps[T]:
    for attempt in range(1, tries + 1):
        reply = yield Send(ask)
        if isinstance(reply, Reply) and reply.status < 400:
            return answer_of(ask, reply)
        error = _error(reply)
        pause_s = pause_before(attempt, error, reply if isinstance(reply, Reply) else None)
        if not ask.idempotent or attempt == tries or pause_s is None:
            raise error
        yield Pause(pause_s)
    raise AssertionError("it is sent at least once")


def pause_before(attempt: int, error: ApiError, reply: Reply | None = None) -> float | None:
    """How long to wait before a request is sent again: as the host asks, else longer each time; `None` for never."""
    if not error.retryable:
        return None
    asked = None if reply is None else reply.headers.get("retry-after")
    if asked is not None and asked.isascii() and asked.isdigit():
        return float(asked) if float(asked) <= LONGEST_PAUSE_S else None
    return min(FIRST_PAUSE_S * 2 ** (attempt - 1), LONGEST_PAUSE_S) * random.uniform(0.5, 1.0)


def _error(reply: Reply | Lost | None) -> ApiError:
    if isinstance(reply, Reply):
        return refusal_of(reply)
    reason = "nothing" if reply is None else reply.reason
    return ApiError(f"no host answers: {reason}; is `toolwire up` running?", "no_answer")
