"""What agents on the canvas have told each other and not yet read; a message to one that is attached is handed over.

An agent that the gateway reaches gets a message as a call, and what it answers comes back as a message. Any other finds
its messages when it reads, after a restart of the host, too. They are held in memory, and written behind.
"""

import logging
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final, Protocol

import anyio
import msgspec
from anyio.abc import TaskGroup
from msgspec import Struct

from toolwire.core.call import Call
from toolwire.core.errors import RateLimited
from toolwire.core.ids import new_id
from toolwire.core.ports import Clock, Del, Put, Store
from toolwire.core.result import Result, Text
from toolwire.engine.recorder import Recorder
from toolwire.wire.card_messages import AgentRef

logger = logging.getLogger("toolwire.canvas")

KIND: Final = "agent_letter"
_PAGE: Final = 1000
MAX_WAITING: Final = 200
"""Messages from one agent to another that wait to be read."""
SWEEP_S: Final = 600.0
"""How often what nobody has read in time is looked for."""
MAX_HANDED: Final = 16
"""Messages of one agent that others work on at the same time."""


class Messages(Protocol):
    """Hands messages to agents that can take them now."""

    def takes(self, owner: str, agent_id: str) -> bool:
        """Whether an agent takes messages now."""
        ...

    async def hand(self, owner: str, agent_id: str, sender: AgentRef, text: str, cause: Call) -> Result:
        """Give a message to an agent, and wait for its answer.

        Args:
            owner: whose agents they are.
            agent_id: whom it is for.
            sender: who sends it.
            text: the message.
            cause: the call that this is done for.
        """
        ...


class Letter(Struct, frozen=True, omit_defaults=True):
    """A message. `at` is Unix seconds, UTC; `failed` says that it tells why there is no answer."""

    id: str
    sender: AgentRef
    text: str
    at: float
    failed: bool = False


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Letter).decode


class Mailboxes:
    """All agents' messages.

    Args:
        messages: reaches agents that are attached.
        store: has what was not read before.
        recorder: keeps what is new, behind the calls.
        clock: tells the time.
        kept_s: how long a message waits to be read, in seconds.
    """

    def __init__(self, messages: Messages, store: Store, recorder: Recorder, clock: Clock, kept_s: float) -> None:
        self._messages = messages
        self._store = store
        self._recorder = recorder
        self._clock = clock
        self._kept_s = kept_s
        self._boxes: dict[tuple[str, str, str], deque[Letter]] = {}
        self._handed: dict[str, int] = {}
        self._swept_at = clock.now()
        self._news = anyio.Event()
        self._tasks: TaskGroup | None = None

    async def load(self) -> None:
        """Read what was not read before.

        Raises:
            StoreUnavailable: the store cannot be read.
        """
        found: list[tuple[str, str, Letter]] = []
        after = ""
        while rows := await self._store.scan(KIND, None, after, _PAGE):
            found += [(row.owner, row.key.partition("/")[0], _decode(row.value)) for row in rows]
            after = rows[-1].key
        for owner, reader, letter in sorted(found, key=lambda one: one[2].at):
            self._boxes.setdefault((owner, reader, letter.sender.id), deque()).append(letter)

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Hand messages over until the block ends."""
        async with anyio.create_task_group() as tasks:
            self._tasks = tasks
            try:
                yield
            finally:
                self._tasks = None
                tasks.cancel_scope.cancel()

    def send(self, owner: str, sender: AgentRef, receiver: AgentRef, text: str, cause: Call) -> bool:
        """Send a message; says whether the other has it at once, so that its answer will come by itself.

        Raises:
            RateLimited: the other has too many that it has not read or answered.
        """
        if self._tasks is not None and self._messages.takes(owner, receiver.id):
            if self._handed.get(sender.id, 0) >= MAX_HANDED:
                raise RateLimited(
                    f"{MAX_HANDED} of your messages have no answer yet; wait for one with agent_wait",
                    retry_after_ms=1000,
                )
            self._handed[sender.id] = self._handed.get(sender.id, 0) + 1
            self._tasks.start_soon(self._hand, owner, sender, receiver, text, cause)
            return True
        self._put(owner, receiver.id, Letter(new_id("ltr"), sender, text, self._clock.now()))
        return False

    def take(self, owner: str, reader: str, sender: str) -> list[Letter]:
        """What an agent has from another and has not read; it has, then."""
        letters = list(self._box(owner, reader, sender))
        self._boxes.pop((owner, reader, sender), None)
        if letters:
            self._recorder.add(lambda: tuple(Del(KIND, owner, f"{reader}/{one.id}") for one in letters))
        return letters

    async def wait(self, owner: str, reader: str, sender: str, timeout_s: float) -> list[Letter]:
        """As `take`, as soon as there is something; nothing when the time is up."""
        with anyio.move_on_after(timeout_s):
            while not self._box(owner, reader, sender):
                await self._news.wait()
        return self.take(owner, reader, sender)

    def waiting(self, owner: str, reader: str, sender: str) -> int:
        """How many messages an agent has from another and has not read."""
        return len(self._box(owner, reader, sender))

    async def _hand(self, owner: str, sender: AgentRef, receiver: AgentRef, text: str, cause: Call) -> None:
        try:
            result = await self._messages.hand(owner, receiver.id, sender, text, cause)
        except Exception:
            logger.exception("a message to agent %s failed inside the server", receiver.id)
            result = Result((Text("the message could not be handed over; the host's log says why"),))
        finally:
            self._handed[sender.id] -= 1
            if not self._handed[sender.id]:
                del self._handed[sender.id]
        told = "\n".join(part.text for part in result.content if isinstance(part, Text)) or "(it answered nothing)"
        letter = Letter(new_id("ltr"), receiver, told, self._clock.now(), result.is_error)
        try:
            self._put(owner, sender.id, letter)
        except RateLimited:
            logger.warning("agent %s does not read its messages; an answer to it is lost", sender.id)

    def _put(self, owner: str, reader: str, letter: Letter) -> None:
        self._sweep()
        box = self._box(owner, reader, letter.sender.id)
        if len(box) >= MAX_WAITING:
            raise RateLimited(
                f"{letter.sender.name!r} has {MAX_WAITING} messages there that were not read yet; wait until they are",
                retry_after_ms=10_000,
            )
        box.append(letter)
        self._boxes[owner, reader, letter.sender.id] = box
        key, expires_at = f"{reader}/{letter.id}", letter.at + self._kept_s
        self._recorder.add(lambda: (Put(KIND, owner, key, _encode(letter), None, expires_at),))
        self._news.set()
        self._news = anyio.Event()

    def _box(self, owner: str, reader: str, sender: str) -> deque[Letter]:
        """What an agent has from another, without what it has not read in time."""
        box, oldest = self._boxes.get((owner, reader, sender), deque()), self._clock.now() - self._kept_s
        while box and box[0].at <= oldest:
            box.popleft()
        if not box:
            self._boxes.pop((owner, reader, sender), None)
        return box

    def _sweep(self) -> None:
        """Let go of what nobody has read in time, or will: its reader may be gone."""
        if self._clock.now() < self._swept_at + SWEEP_S:
            return
        self._swept_at = self._clock.now()
        for key in tuple(self._boxes):
            self._box(*key)
