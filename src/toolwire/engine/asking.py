"""The questions of one call that wait for their answers; it does not know how they reach the client.

Whoever carries them is a `Way`: a stream, a pipe, the end of a request that will be sent again, the record of a task.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol

import anyio

from toolwire.core.asking import Check, Declined, NobodyToAsk, Question, UnfitAnswer
from toolwire.core.errors import Cancelled, ToolwireError
from toolwire.core.event import Finished, Stamped
from toolwire.core.jsontypes import JsonObject


class Way(Protocol):
    """Carries questions to a client. What the client answers goes into `Asking.give`, `refuse` or `fail`."""

    def ask(self, questions: Sequence[Question]) -> None:
        """These are open now.

        Raises:
            NobodyToAsk: they cannot be carried.
        """
        ...

    def withdraw(self, keys: Iterable[str]) -> None:
        """Nobody wants the answers to these any more."""
        ...

    def complete(self, key: str) -> None:
        """What the question for a URL has sent a person to is done."""
        ...


class Asking:
    """An `Asker` that keeps open what the client has not answered.

    Args:
        can: what the client has declared.
        deadline: of the call.
        answers: given before to an earlier run of the same body; a question that they answer is not asked.
        repeats: an unfit answer leaves its question open, because the client will be asked again.

    Attributes:
        way: what carries the questions; `None` if nothing does now.
        given: the answers that were taken, by key.
    """

    def __init__(
        self,
        can: JsonObject | None,
        deadline: float,
        answers: Mapping[str, JsonObject] | None = None,
        *,
        repeats: bool = False,
    ) -> None:
        self.can: JsonObject = can or {}
        self.deadline = deadline
        self.way: Way | None = None
        self.given: dict[str, JsonObject] = {}
        self._before = dict(answers or {})
        self._repeats = repeats
        self._open: dict[str, _Open] = {}
        self._used: set[str] = set()
        self._ended = False

    @property
    def questions(self) -> tuple[Question, ...]:
        """What is open now."""
        return tuple(one.question for one in self._open.values())

    async def ask(self, questions: Sequence[Question], check: Check) -> Mapping[str, JsonObject]:
        """See `core.asking.Asker.ask`."""
        if self._ended:
            raise _over()
        self._use(questions)
        asked = _Round()
        fresh = [question for question in questions if not self._answered_before(question, check)]
        if fresh:
            if self.way is None and not self._repeats:
                raise NobodyToAsk("this client cannot be asked on this request; it needs a stream for the question")
            for question in fresh:
                self._open[question.key] = asked.left[question.key] = _Open(question, check, asked)
            try:
                if self.way is not None:
                    self.way.ask(fresh)
                await asked.ended.wait()
            finally:
                self._close(asked)
        if asked.error is not None:
            raise asked.error
        return {question.key: self.given[question.key] for question in questions}

    def complete(self, key: str) -> None:
        """See `core.asking.Asker.complete`."""
        if self.way is not None:
            self.way.complete(key)

    def give(self, key: str, answer: JsonObject) -> None:
        """The client's answer to a question; if no such question is open, nothing happens."""
        one = self._open.get(key)
        if one is None:
            return
        wrong = one.check(one.question, answer)
        if wrong is None:
            self.given[key] = answer
            self._done(one)
        elif not self._repeats:
            self.fail(key, UnfitAnswer(f"the client's answer to {key!r} is not what was asked for: {wrong}"))

    def bring(self, answers: Mapping[str, JsonObject]) -> None:
        """Answers by key: to what is open, and to what a body that is behind its client will ask yet."""
        for key, answer in answers.items():
            if key in self._open:
                self.give(key, answer)
            elif key not in self._used:
                self._before[key] = answer

    def refuse(self, key: str, error: JsonObject) -> None:
        """The client answered a question with a JSON-RPC error."""
        self.fail(key, Declined(f"the client does not answer {key!r}: {error.get('message', 'no reason given')}"))

    def fail(self, key: str, error: ToolwireError) -> None:
        """A question cannot be answered; `error` is what the body gets to see."""
        one = self._open.get(key)
        if one is not None:
            one.round.error = error
            one.round.ended.set()

    def fail_all(self, error: Callable[[], ToolwireError]) -> None:
        """Nothing that is open will be answered; all of it is withdrawn at once."""
        still_open, self._open = self._open, {}
        for one in still_open.values():
            one.round.error = error()
            one.round.ended.set()
        if still_open and self.way is not None:
            self.way.withdraw(still_open)

    def end(self) -> None:
        """The call is over: a body that was left behind on a thread hears so, now or when it asks next."""
        self._ended = True
        self.fail_all(_over)

    def hear(self, stamped: Stamped) -> None:
        """A `Listener` of the call's record, for its end."""
        if isinstance(stamped.event, Finished):
            self.end()

    def _use(self, questions: Sequence[Question]) -> None:
        for question in questions:
            if question.key in self._used:
                raise ValueError(f"the key {question.key!r} was used before in this call; give each question its own")
            self._used.add(question.key)

    def _answered_before(self, question: Question, check: Check) -> bool:
        answer = self._before.get(question.key)
        if answer is None or check(question, answer) is not None:
            return False
        self.given[question.key] = answer
        return True

    def _done(self, one: "_Open") -> None:
        key = one.question.key
        self._open.pop(key, None)
        one.round.left.pop(key, None)
        if not one.round.left:
            one.round.ended.set()

    def _close(self, asked: "_Round") -> None:
        """The body asks no more; what it has not heard of is withdrawn."""
        left = [key for key in asked.left if self._open.pop(key, None) is not None]
        if left and self.way is not None:
            self.way.withdraw(left)


class _Round:
    """What was asked at once."""

    __slots__ = ("ended", "error", "left")

    def __init__(self) -> None:
        self.left: dict[str, _Open] = {}
        self.ended = anyio.Event()
        self.error: ToolwireError | None = None


class _Open:
    """One open question."""

    __slots__ = ("check", "question", "round")

    def __init__(self, question: Question, check: Check, asked: _Round) -> None:
        self.question = question
        self.check = check
        self.round = asked


def _over() -> Cancelled:
    return Cancelled("the call is over")
