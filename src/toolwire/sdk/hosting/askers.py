"""Lets the tools of an agent ask whoever is behind its task; it carries no question by itself."""

from collections.abc import Mapping, Sequence
from itertools import count

from toolwire.core.asking import Asker, Check, Question
from toolwire.core.event import Event
from toolwire.core.handler import Emit
from toolwire.core.jsontypes import JsonObject


class TaskAskers:
    """Who may be asked behind each task, for as long as somebody is there.

    A key names a question within one call of an agent, and tools of several calls choose theirs without knowing of each
    other; so each call of a tool has keys of its own.
    """

    def __init__(self) -> None:
        self._askers: dict[str, Asker] = {}
        self._numbers = count(1)

    def put(self, task_id: str, asker: Asker | None) -> None:
        """Ask this one from now on; `None` for nobody."""
        if asker is None:
            self._askers.pop(task_id, None)
        else:
            self._askers[task_id] = asker

    def of_call(self, task_id: str, tool_name: str) -> "CallAsker | None":
        """Who may be asked by a call of a tool."""
        asker = self._askers.get(task_id)
        return None if asker is None else CallAsker(asker, f"{tool_name}_{next(self._numbers)}")


class CallAsker:
    """An `Asker` for one call of a tool; its questions are those of the agent's own call under other keys."""

    def __init__(self, asker: Asker, prefix: str) -> None:
        self.can = asker.can
        self.deadline = asker.deadline
        self._asker = asker
        self._prefix = prefix

    async def ask(self, questions: Sequence[Question], check: Check) -> Mapping[str, JsonObject]:
        """See `core.asking.Asker.ask`."""
        renamed = {self._renamed(question.key): question for question in questions}

        def fits(question: Question, answer: JsonObject) -> str | None:
            return check(renamed[question.key], answer)

        sent = [Question(key, question.method, question.params) for key, question in renamed.items()]
        given = await self._asker.ask(sent, fits)
        self.can, self.deadline = self._asker.can, self._asker.deadline
        return {question.key: given[key] for key, question in renamed.items()}

    def complete(self, key: str) -> None:
        """See `core.asking.Asker.complete`."""
        self._asker.complete(self._renamed(key))

    def _renamed(self, key: str) -> str:
        return f"{self._prefix}_{key}"


class AskingEmit:
    """An `Emit` at which `core.asking.asker_of` finds an asker."""

    def __init__(self, emit: Emit, asker: Asker) -> None:
        self.asker = asker
        self._emit = emit

    def __call__(self, event: Event) -> None:
        """See `core.handler.Emit`."""
        self._emit(event)
