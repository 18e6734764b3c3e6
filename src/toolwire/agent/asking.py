"""Asks the MCP client behind a message or a question, through the gateway; it does not know how clients are asked.

What is said is as wire/link.py has it of `agent.input_required` and `user.continue`.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence

import msgspec

from toolwire.core.asking import Check, Declined, NobodyToAsk, Question, UnfitAnswer
from toolwire.core.errors import InternalError, PageRequired, ToolwireError
from toolwire.core.jsontypes import JsonObject, as_object

Inquire = Callable[[JsonObject], Awaitable[JsonObject | None]]
"""Sends the payload of a question, and waits for that of its answer; `None` where nobody could answer."""

_ERRORS = (NobodyToAsk, Declined, UnfitAnswer, PageRequired)


class GatewayAsker:
    """The `Asker` of a message or a question.

    Args:
        inquire: carries questions to the gateway.
        complete: says that a page has done its work.
        can: what the client has declared.
        deadline: Unix seconds until which the message is to be answered.
    """

    def __init__(self, inquire: Inquire, complete: Callable[[str], None], can: JsonObject, deadline: float) -> None:
        self.can = can
        self.deadline = deadline
        self._complete = complete
        self._inquire = inquire
        self._used: set[str] = set()

    def complete(self, key: str) -> None:
        """See `core.asking.Asker.complete`."""
        self._complete(key)

    async def ask(self, questions: Sequence[Question], check: Check) -> Mapping[str, JsonObject]:
        """See `core.asking.Asker.ask`."""
        for question in questions:
            if question.key in self._used:
                raise ValueError(f"the key {question.key!r} was used before in this call; give each question its own")
            self._used.add(question.key)
        words = [str(question.params.get("message") or question.method) for question in questions]
        payload: JsonObject = {"text": "\n".join(words), "questions": list(map(msgspec.to_builtins, questions))}
        said = await self._inquire(payload)
        if said is None:
            raise NobodyToAsk("nobody behind this call can be asked: it did not come over a gateway")
        refused = as_object(said.get("error"))
        if refused is not None:
            raise _error(refused)
        self.can = as_object(said.get("client_capabilities")) or self.can
        deadline = said.get("deadline")
        if isinstance(deadline, int | float):
            self.deadline = float(deadline)
        return _checked(questions, as_object(said.get("answers")) or {}, check)


def _checked(questions: Sequence[Question], answers: JsonObject, check: Check) -> Mapping[str, JsonObject]:
    found: dict[str, JsonObject] = {}
    for question in questions:
        answer = as_object(answers.get(question.key))
        wrong = "there is none" if answer is None else check(question, answer)
        if answer is None or wrong is not None:
            raise UnfitAnswer(f"the client's answer to {question.key!r} is not what was asked for: {wrong}")
        found[question.key] = answer
    return found


def _error(refused: JsonObject) -> ToolwireError:
    code, words = str(refused.get("code")), str(refused.get("message") or "no reason given")
    data = as_object(refused.get("data")) or {}
    for kind in _ERRORS:
        if kind.code == code:
            return kind(words, **{key: value for key, value in data.items() if key not in ("self", "message")})
    return InternalError(words)
