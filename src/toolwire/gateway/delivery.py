"""One message on its way to one agent, until it is answered or given up; it does not choose who takes it.

A delivery is *taken* once it was sent to somebody who may have begun to work on it. From then on it belongs to that
taker's journal: it may go there again, and to nobody else unless its tool is repeatable (gateway.md §6, lost calls).
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Final, Protocol

import anyio
import msgspec
from msgspec import Struct

from toolwire.core.asking import asker_of
from toolwire.core.errors import ToolwireError
from toolwire.core.handler import Emit
from toolwire.core.ports import Del, Op, Put
from toolwire.core.taking import say_taken
from toolwire.engine.deadline import Timer
from toolwire.engine.signal import Signal
from toolwire.providers.agent_reply import DELTA, event_of
from toolwire.wire.link import INPUT_REQUIRED, TERMINAL_TYPES, Message

ASKING: Final = frozenset({"questions", "task"})
"""What a message that asks has in its payload; what has none of it is progress."""
MAX_NACKS: Final = 3
"""How often an agent may give the same message back and get it again (gateway.md §6)."""


class DeliveryRecord(Struct, frozen=True, omit_defaults=True):
    """A durable delivery as it is stored until it is answered. `call_id` is `None` for a message that is no call's.

    `taken_by` is the journal that may have it since `taken_at` (Unix seconds); it is written before the message is sent
    there.
    """

    message: Message
    owner: str
    call_id: str | None = None
    repeatable: bool = False
    taken_by: str | None = None
    taken_at: float | None = None


class Taker(Protocol):
    """Somebody attached who is sent deliveries, or who fetched this one; `in_flight` counts those it has."""

    in_flight: int

    @property
    def journal(self) -> str:
        """The memory that will know the message from now on."""
        ...

    def tell(self, message: Message) -> None:
        """Pass on what is said about a message that it has: a `chat_cancel`, a `user.continue`."""
        ...


class Joint(Protocol):
    """An answer that is committed with the end of its call."""

    @property
    def ops(self) -> Sequence[Op]:
        """What belongs into that commit."""
        ...

    def ended(self, committed: bool) -> None:
        """The call has ended; while that is not committed, it will be tried again. Must not raise."""
        ...


class Delivery:
    """A message for an agent.

    Attributes:
        taker: who has it now; `None` while it waits or its taker is gone.
        taken_by: the journal that may have begun it.
        taken_at: since when, Unix seconds; of one that is claimed for a link, when that was.
        recorded: the journal that the store has as `taken_by`.
        attempts: how often it was sent.
        joins_end: the answer may be committed with the end of the call, and `joint` is one that is to be.
        lease: ends the waiting for a taker that does not come back.
        on_settled: its desk is told when it is answered or given up.
        on_failed: told when it is given up, for a message that no call waits for.
        questions: what its taker asks and nobody has taken up yet.
        commit: keeps it in the store from now on, so that its call can become a task; `None` where it is kept already.
        asked: by the id of the message that asks, what asks the client meanwhile.
    """

    __slots__ = ("_event", "agent_id", "answer", "asked", "attempts", "call_id", "commit", "durable", "emit", "error",
                 "id", "joins_end", "joint", "kept_until", "lease", "message", "nacks", "on_failed", "on_settled",
                 "owner", "questions", "recorded", "repeatable", "taken_at", "taken_by", "taker", "told")  # fmt: skip

    def __init__(self, message: Message, agent_id: str, owner: str, call_id: str | None, repeatable: bool) -> None:
        self.id = message.message_id
        self.message = message
        self.agent_id = agent_id
        self.owner = owner
        self.call_id = call_id
        self.repeatable = repeatable
        self.durable = False
        self.kept_until: float | None = None
        self.emit: Emit | None = None
        self.taker: Taker | None = None
        self.taken_by: str | None = None
        self.taken_at: float | None = None
        self.recorded: str | None = None
        self.attempts = 0
        self.nacks = 0
        self.joins_end = False
        self.joint: Joint | None = None
        self.lease: Timer | None = None
        self.answer: Message | None = None
        self.error: ToolwireError | None = None
        self.on_settled: Callable[[Delivery], None] | None = None
        self.on_failed: Callable[[Delivery, ToolwireError], None] | None = None
        self.questions: list[Message] | None = None
        self.asked: dict[str, anyio.CancelScope] | None = None
        self.told: list[Message] | None = None
        self.commit: Callable[[], Awaitable[None]] | None = None
        self._event: Signal | None = None

    @property
    def settled(self) -> bool:
        """Whether it is answered or given up."""
        return self.answer is not None or self.error is not None

    def heard(self, message: Message) -> None:
        """A reply is on the channel: progress, or the answer. Only what the agent itself says counts."""
        if message.publisher_id != self.agent_id:
            return
        if message.type == INPUT_REQUIRED and self._is_asked(message):
            return
        if message.type == INPUT_REQUIRED and not ASKING.isdisjoint(message.payload):
            self._ask(message)
            if "approvals" in message.payload and self.emit is not None and (event := event_of(message.payload)):
                self.emit(event)
        elif message.type in (DELTA, INPUT_REQUIRED):
            if self.emit is not None and (event := event_of(message.payload)) is not None:
                self.emit(event)
            elif "page_done" in message.payload:
                self._complete(message.payload["page_done"])
        elif message.type in TERMINAL_TYPES and not self.settled:
            self.answer = message
            self._settle()

    def held_by(self, taker: Taker) -> None:
        """It is with `taker` now; whoever is the first to have it has taken the call."""
        if self.taken_by is None and self.emit is not None:
            self.taken_at = say_taken(self.emit, self.taken_at)
        self.taker = taker
        self.taken_by = taker.journal
        self.attempts += 1
        taker.in_flight += 1
        for message in self.told or ():
            taker.tell(message)

    def waits(self) -> None:
        """Nobody can have it now; if nobody had it before, the call is not taken yet."""
        if self.taken_by is None:
            self.taken_at = None

    def resumed(self, emit: Emit) -> None:
        """Its call waits for it again, after a restart."""
        self.emit = emit
        if self.taken_at is not None:
            say_taken(emit, self.taken_at)

    def take(self, answer: Message, joint: Joint) -> None:
        """The answer is known, and will be committed with the end of the call."""
        self.joins_end = False
        self.joint = joint
        self.answer = answer
        self._settle()

    def fail(self, error: ToolwireError) -> None:
        """Give it up; after the answer this does nothing."""
        if not self.settled:
            self.error = error
            self._settle()
            if self.on_failed is not None:
                self.on_failed(self, error)

    async def stirred(self) -> None:
        """Wait until it is answered or given up, or until its taker asks something."""
        while not self.settled and not self.questions:
            self._event = Signal()
            await self._event.wait()

    def outcome(self) -> Message:
        """The terminal reply, which is there.

        Raises:
            ToolwireError: it was given up.
        """
        if self.error is not None:
            raise self.error
        assert self.answer is not None
        return self.answer

    def take_questions(self) -> list[Message]:
        """What is asked and not taken up yet."""
        taken, self.questions = self.questions or [], None
        return taken

    def answered_by(self, message: Message) -> bool:
        """Take what the owner says on the channel, if it answers one of its taker's questions; nobody else is asked."""
        scope = None if self.asked is None else self.asked.get(message.in_reply_to or "")
        if scope is None:
            return False
        scope.cancel("the owner has answered")
        self.tell_answer(message)
        return True

    def tell_answer(self, message: Message) -> None:
        """Tell its taker what was answered, and whoever has it after that."""
        self.told = [*(self.told or ()), message]
        if self.taker is not None:
            self.taker.tell(message)

    def stop_lease(self) -> None:
        """No lease runs any more."""
        if self.lease is not None:
            self.lease.cancel()
            self.lease = None

    def record_op(self, taken_by: str | None) -> Op:
        """What says in the store that `taken_by` may have it, or, with `None`, that nobody has."""
        at = None if taken_by is None else self.taken_at
        record = DeliveryRecord(self.message, self.owner, self.call_id, self.repeatable, taken_by, at)
        return Put("delivery", self.agent_id, self.id, _encode(record), expires_at=self.kept_until)

    def answered_ops(self, message: Message) -> tuple[Op, ...]:
        """What is committed with the terminal reply: that it need not be delivered again."""
        return (self.done_op(),) if self.durable and message.publisher_id == self.agent_id else ()

    def done_op(self) -> Op:
        """What says in the store that it need not be delivered again."""
        return Del("delivery", self.agent_id, self.id)

    def _is_asked(self, message: Message) -> bool:
        """Whether this question was heard before: it is said again with every link. From now on it is known."""
        if self.asked is None:
            self.asked = {}
        known = message.message_id in self.asked
        self.asked.setdefault(message.message_id, anyio.CancelScope())
        return known

    def _ask(self, message: Message) -> None:
        self.questions = [*(self.questions or ()), message]
        if self._event is not None:
            self._event.set()

    def _complete(self, key: object) -> None:
        asker = None if self.emit is None else asker_of(self.emit)
        if asker is not None and isinstance(key, str):
            asker.complete(key)

    def _settle(self) -> None:
        self.stop_lease()
        if self.on_settled is not None:
            self.on_settled(self)
        if self._event is not None:
            self._event.set()


def delivery_id_of(delivery: Delivery) -> str:
    """The id under which it was sent last; a new one each time, so that an old taker cannot speak for a new one."""
    return f"{delivery.id}.{delivery.attempts}"


_encode = msgspec.msgpack.Encoder().encode
decode_delivery = msgspec.msgpack.Decoder(DeliveryRecord).decode
