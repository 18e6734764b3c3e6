"""What an agent remembers of the messages it has taken, so that none is done twice; it does not send anything.

`MemoryJournal` forgets when the process ends, `FileJournal` (journal_file.py) does not.
"""

import math
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Final, Literal, Protocol, TypeAlias, runtime_checkable

import msgspec
from msgspec import Struct

from toolwire.core.ids import new_id
from toolwire.core.jsontypes import JsonObject

MAX_ANSWERS: Final = 20_000
TTL_S: Final = 24 * 3600.0
MAX_BYTES: Final = 256 * 1024 * 1024


class Answer(Struct, frozen=True, omit_defaults=True):
    """The one terminal reply to a message. `message_id` is the reply's own, the same however often it is sent."""

    message_id: str
    type: str
    payload: JsonObject


Known: TypeAlias = Answer | Literal["begun"]
"""What a journal knows of a message: its answer, or that it was begun and nobody can say how it ended."""


class Journal(Protocol):
    """The memory `message → answer` of an agent.

    A gateway sends a message again only to the journal that has taken it, so `id` must stay what it is for as long as
    the memory does (gateway.md §6, lost calls).
    """

    @property
    def id(self) -> str:
        """By what a gateway knows this memory."""
        ...

    def lookup(self, message_id: str) -> Known | None:
        """What is known of a message that is not at work in this process; `None` says that it was never begun."""
        ...

    async def begin(self, message_id: str) -> None:
        """Remember that work on a message begins; it must not begin before this returns.

        Raises:
            OSError: it cannot be remembered now.
        """
        ...

    async def finish(self, message_id: str, answer: Answer) -> None:
        """Remember the answer.

        Raises:
            OSError: it cannot be remembered now.
        """
        ...

    async def close(self) -> None:
        """Let go of what is open; closing twice is fine."""
        ...


@runtime_checkable
class PromptJournal(Protocol):
    """A journal with which a message can be answered at once: `begin` has nothing to do, and nothing is waited for."""

    def remember(self, message_id: str, answer: Answer) -> None:
        """What `Journal.finish` does, without waiting."""
        ...


class Answers:
    """Answers by message id, the oldest dropped first; it is not safe to use from several threads.

    Args:
        max_answers: how many messages are remembered at all.
        ttl_s: for how many seconds one is remembered.
        max_bytes: how much the encoded answers may take together. Beyond it the oldest are remembered without their
            text: their messages are still not done again, but the repetition is told `outcome_unknown`.
        now: the wall time, Unix seconds.
    """

    def __init__(
        self,
        max_answers: int = MAX_ANSWERS,
        ttl_s: float = TTL_S,
        max_bytes: int = MAX_BYTES,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._max_answers = max_answers
        self.ttl_s = ttl_s
        self._max_bytes = max_bytes
        self._now = now
        self._told: OrderedDict[str, tuple[float, bytes]] = OrderedDict()
        self._bare: OrderedDict[str, float] = OrderedDict()  # those without text, which are older
        self._oldest_until = -math.inf
        self.total_bytes = 0

    def __len__(self) -> int:
        return len(self._told) + len(self._bare)

    def get(self, message_id: str) -> Known | None:
        """The answer, or "begun" where its text had to go, or `None`."""
        told = self._told.get(message_id)
        at = self._bare.get(message_id) if told is None else told[0]
        if at is None or at + self.ttl_s <= self._now():
            return None
        try:
            return "begun" if told is None else _decode_answer(told[1])
        except msgspec.DecodeError:  # damaged on its disk
            return "begun"

    def put(self, message_id: str, encoded: bytes, at: float | None = None) -> None:
        """Remember an answer as `encode_answer` gives it; `at` (Unix seconds) is when it was given."""
        now = self._now()
        if message_id in self._told or message_id in self._bare:
            self._drop(message_id)
        if encoded:
            self._told[message_id] = (now if at is None else at, encoded)
            self.total_bytes += len(encoded)
        else:
            self._bare[message_id] = now if at is None else at
        if now >= self._oldest_until or self.total_bytes > self._max_bytes:
            self.trim()
        elif len(self._told) + len(self._bare) > self._max_answers:
            self._drop_oldest()

    def trim(self) -> None:
        """Drop what is too old or too much."""
        expired = self._now() - self.ttl_s
        while len(self) > self._max_answers or self._oldest_at() <= expired:
            self._drop_oldest()
        oldest_at = self._oldest_at()
        self._oldest_until = oldest_at + self.ttl_s if oldest_at < math.inf else -math.inf
        while self.total_bytes > self._max_bytes and len(self._told) > 1:
            oldest, (at, encoded) = self._told.popitem(last=False)
            self._bare[oldest] = at
            self.total_bytes -= len(encoded)

    def items(self) -> Iterator[tuple[str, float, bytes]]:
        """All entries, the oldest first: message id, time, encoded answer (empty where its text had to go)."""
        for message_id, at in self._bare.items():
            yield message_id, at, b""
        for message_id, (at, encoded) in self._told.items():
            yield message_id, at, encoded

    def _oldest_at(self) -> float:
        """When the oldest was given; later than anything if there is none."""
        if self._bare:
            return next(iter(self._bare.values()))
        return next(iter(self._told.values()))[0] if self._told else math.inf

    def _drop_oldest(self) -> None:
        if self._bare:
            self._bare.popitem(last=False)
        else:
            _, (_, encoded) = self._told.popitem(last=False)
            self.total_bytes -= len(encoded)

    def _drop(self, message_id: str) -> None:
        at_and_text = self._told.pop(message_id, None)
        if at_and_text is None:
            del self._bare[message_id]
        else:
            self.total_bytes -= len(at_and_text[1])


class MemoryJournal:
    """A journal that lives as long as the process; its id is new each time, so that nothing is expected of it later.

    Args:
        answers: where the answers are kept, with its limits.
    """

    def __init__(self, answers: Answers | None = None) -> None:
        self._id = new_id("jrn")
        self._answers = Answers() if answers is None else answers

    @property
    def id(self) -> str:
        """By what a gateway knows this memory."""
        return self._id

    def lookup(self, message_id: str) -> Known | None:
        """What is known of a message; what is at work is known to the worker alone."""
        return self._answers.get(message_id)

    async def begin(self, message_id: str) -> None:
        """Nothing to do: what is begun in this process ends with it."""

    async def finish(self, message_id: str, answer: Answer) -> None:
        """Remember the answer."""
        self.remember(message_id, answer)

    def remember(self, message_id: str, answer: Answer) -> None:
        """Remember the answer, without waiting."""
        self._answers.put(message_id, encode_answer(answer))

    async def close(self) -> None:
        """Nothing is open."""


encode_answer = msgspec.json.Encoder().encode
_decode_answer = msgspec.json.Decoder(Answer).decode
