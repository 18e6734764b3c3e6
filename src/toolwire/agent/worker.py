"""Takes the frames of a gateway and answers its messages; it does not know how frames travel.

Each message gets exactly one terminal reply, on its own channel, with `in_reply_to`. A message that comes again is not
done again: one at work goes on, one that was answered gets the same answer from the journal (gateway.md §3, §6).
"""

import logging
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from itertools import count
from typing import Final, TypeAlias

import anyio
from anyio.abc import TaskGroup
from msgspec import Struct

from toolwire.agent.answer import answer_of, busy_answer, unexpected_failure, unsendable_answer
from toolwire.agent.answers import Sources
from toolwire.agent.at_once import AtOnce
from toolwire.agent.context import DELTA, Inbound
from toolwire.agent.early import Early
from toolwire.agent.files import FilePlace
from toolwire.agent.journal import Answer, Journal, PromptJournal
from toolwire.agent.outgoing import LARGEST_FRAME, Outgoing, encode_frame
from toolwire.agent.presented import Presented
from toolwire.agent.reads import Reads
from toolwire.agent.replies import Replies
from toolwire.core.jsontypes import JsonObject
from toolwire.core.result import Result, failed
from toolwire.wire.link import (
    PROTOCOL,
    Deliver,
    Drain,
    FromGateway,
    Hello,
    Message,
    Publish,
    Published,
    Refused,
    Registration,
    Rows,
    Welcome,
)

MAX_CALLS: Final = 100
MAX_THREADS: Final = 40
MAX_WAITING: Final = 10_000

_log = logging.getLogger("toolwire.agent")


class Limits(Struct, frozen=True):
    """How much an agent does at once; what is above it waits in the order in which it came.

    Attributes:
        calls: how many async bodies are at work.
        threads: how many sync bodies of one tool are at work, each on a thread of its own.
        waiting: how many calls may wait; the next one is answered `agent_busy`.
    """

    calls: int = MAX_CALLS
    threads: int = MAX_THREADS
    waiting: int = MAX_WAITING


class Body(Struct, frozen=True):
    """What answers a message.

    Attributes:
        answer: does it; a failure is a result as well.
        lane: whose places it takes: "" for those of async bodies, the tool's name for one that runs on threads.
        repeatable: running it twice does no harm, so it may run again after a crash.
        is_prompt: it never waits, so it needs no task and nobody can stop it half-way (`core.handler.is_prompt`).
    """

    answer: Callable[[Inbound], Awaitable[Result]]
    lane: str = ""
    repeatable: bool = False
    is_prompt: bool = False


Choose: TypeAlias = Callable[[Message], Body]
"""Finds the body for a `chat_message`; for one that nothing fits, a body that says so."""


class _Lane:
    """Places for calls at work, and those who wait for one."""

    __slots__ = ("busy", "limit", "waiting")

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.busy = 0
        self.waiting: deque[_Held] = deque()


class _Held:
    """A message that is waiting or at work."""

    __slots__ = ("body", "inbound", "lane", "scope")

    def __init__(self, inbound: Inbound, body: Body, lane: _Lane) -> None:
        self.inbound = inbound
        self.body = body
        self.lane = lane
        self.scope: anyio.CancelScope | None = None


class Worker:
    """Answers messages, over as many links as it takes, one after the other.

    Use it inside `async with worker.working():`, which owns the calls at work. A link calls `hello()`, sends what
    `outgoing` has, gives every frame to `take()`, and calls `detached()` at its end.

    Args:
        registration: what the agent says it is.
        choose: finds the body for a message.
        journal: remembers the answers.
        limits: how much is done at once.
        sources: what it offers beside tools.

    Attributes:
        files: where its tools read and keep files; set before it is attached.
        presented: what the gateway is told the agent is.
        unfinished: how many messages were given up at the end of `working()`.
    """

    def __init__(
        self,
        registration: Registration,
        choose: Choose,
        journal: Journal,
        limits: Limits | None = None,
        sources: Callable[[], Sources] = Sources,
    ) -> None:
        self._choose = choose
        self._journal = journal
        self._limits = limits or Limits()
        self._refs = count(1)
        self.outgoing = Outgoing()
        self._at_once = AtOnce(journal.remember, self.outgoing) if isinstance(journal, PromptJournal) else None
        self._replies = Replies(self.outgoing, self._refs)
        self._reads = Reads(self.outgoing, self._refs)
        self.files: FilePlace | None = None
        self.presented = Presented(registration, sources, self.outgoing, self._refs)
        self._held: dict[str, _Held] = {}
        self._early = Early()
        self._lanes: dict[str, _Lane] = {"": _Lane(self._limits.calls)}
        self._tasks: TaskGroup | None = None
        self._draining = False
        self.unfinished = 0
        self._idle: anyio.Event | None = None
        self._replies.when_empty = self._check_idle

    @asynccontextmanager
    async def working(self) -> AsyncGenerator[None]:
        """Own the calls at work; what is at work at the end is cancelled and not answered."""
        async with anyio.create_task_group() as tasks:
            self._tasks = tasks
            tasks.start_soon(self._replies.retry_forever)
            try:
                yield
            finally:
                self._tasks = None
                self.unfinished = self.held
                for held in self._held.values():
                    held.inbound.stop()
                tasks.cancel_scope.cancel("the agent stops")

    @property
    def held(self) -> int:
        """How many messages are waiting, at work, or answered without the gateway having the answer."""
        return len(self._held) + len(self._replies)

    def hello(self) -> Hello:
        """The first frame for a new link."""
        running = dict.fromkeys([*self._held, *self._replies.messages()])
        return Hello(PROTOCOL, self._journal.id, self.presented.begin(), tuple(running), answers=True)

    def attached(self, welcome: Welcome) -> None:
        """The link works: send what the last one may have lost."""
        self.outgoing.open()
        if self._draining:
            self.outgoing.put(Drain())
        self._replies.resend()
        self._reads.resend()
        self.presented.catch_up()

    def detached(self) -> None:
        """The link is gone; calls go on, and their answers wait for the next one."""
        self.outgoing.close()
        self.presented.detached()

    async def drain(self) -> None:
        """Ask for no more messages and wait until all that was taken is answered.

        Cancellation: what is still at work then stays at work.
        """
        self._draining = True
        self.outgoing.put(Drain())
        while self.held:
            self._idle = anyio.Event()
            await self._idle.wait()

    def take(self, frame: FromGateway) -> None:
        """Act on a frame that came after `Welcome`."""
        match frame:
            case Deliver(message=message):
                self._delivered(message)
            case Published():
                self._replies.published(frame)
            case Rows():
                self._reads.answered(frame)
            case Refused():
                known = self._replies.refused(frame) or self._reads.refused(frame) or self.presented.refused(frame)
                if not known:
                    _log.debug("the gateway refused a frame: %s: %s", frame.code, frame.message)
            case Welcome():
                _log.warning("the gateway said welcome twice")
            case _:
                self.presented.take(frame, self._tasks)

    def publish_delta(self, message: Message, payload: JsonObject) -> None:
        """Send a part of the answer to `message`; it is dropped while no link is attached, or if none could take it."""
        if self.outgoing.is_open:
            frame = Publish(next(self._refs), message.channel_id, DELTA, payload, None, message.message_id)
            encoded = encode_frame(frame)
            if len(encoded) <= LARGEST_FRAME:
                self.outgoing.put_encoded(encoded)
            else:
                _log.warning("%d bytes were said at once to %s, which no link takes", len(encoded), message.message_id)

    def ask(self, message: Message, type: str, payload: JsonObject, question_id: str) -> str:
        """Send a question in reply to `message` with this link and every later one; its id.

        Raises:
            ValueError: no link takes that much.
        """
        return self._replies.ask(message, type, payload, question_id)

    def heard_early(self, question_id: str) -> Message | None:
        """The answer to a question, if it has come before the question was asked."""
        return self._early.take_answer(question_id)

    def asks_no_more(self, question_id: str) -> None:
        """The question is answered, or not wanted any more."""
        self._replies.asks_no_more(question_id)

    def rest(self, message: Message) -> None:
        """The body of `message` waits for somebody else: another may have its place meanwhile."""
        self._leave(self._held[message.message_id].lane)

    def wake(self, message: Message) -> None:
        """It goes on."""
        self._held[message.message_id].lane.busy += 1

    async def room(self) -> None:
        """Wait until the link keeps up with what was published."""
        await self.outgoing.room()

    async def read(self, channel_id: str, since: int, limit: int) -> tuple[Message, ...]:
        """The rows of a channel after the offset `since`; waits for a link when none is attached.

        Raises:
            ToolwireError: the gateway does not give them.
        """
        return await self._reads.read(channel_id, since, limit)

    def _delivered(self, message: Message) -> None:
        if message.type == "chat_message":
            self._accept(message)
        elif message.type == "chat_cancel":
            target = message.payload.get("target_message_id")
            if isinstance(target, str):
                self._cancel(target)
        elif not any(held.inbound.hear(message) for held in self._held.values()):
            self._early.answer(message)

    def _accept(self, message: Message) -> None:
        message_id = message.message_id
        if message_id in self._held or self._replies.holds(message_id):
            return
        known = self._journal.lookup(message_id)
        if isinstance(known, Answer):
            self._replies.send(message, known)
            return
        body = self._choose(message)
        if known == "begun" and not body.repeatable:
            body = Body(_outcome_unknown)
        lane = self._lane(body.lane)
        inbound, is_cancelled = Inbound(message, self), self._early.take_cancelled(message_id)
        at_once = self._at_once
        if body.is_prompt and at_once is not None and at_once.ready and lane.busy < lane.limit and not is_cancelled:
            self._replies.send(message, at_once.answer(body.answer, inbound))
            return
        held = _Held(inbound, body, lane)
        if is_cancelled:
            held.inbound.stop()
        self._start_or_wait(held)

    def _lane(self, name: str) -> _Lane:
        lane = self._lanes.get(name)
        if lane is None:
            lane = self._lanes[name] = _Lane(self._limits.threads)
        return lane

    def _start_or_wait(self, held: _Held) -> None:
        lane, message = held.lane, held.inbound.message
        if lane.busy >= lane.limit and not held.inbound.cancelled:
            if len(lane.waiting) >= self._limits.waiting:
                self._replies.send(message, busy_answer(len(lane.waiting)))
                return
            lane.waiting.append(held)
        else:
            self._start(held)
        self._held[message.message_id] = held

    def _start(self, held: _Held) -> None:
        if self._tasks is None:
            raise RuntimeError("the worker is not at work: use it inside `async with worker.working():`")
        held.lane.busy += 1
        self._tasks.start_soon(self._work, held)

    def _cancel(self, message_id: str) -> None:
        held = self._held.get(message_id)
        if held is None:
            if not self._replies.holds(message_id) and self._journal.lookup(message_id) is None:
                self._early.cancel(message_id)
            return
        if held.inbound.cancelled:
            return
        held.inbound.stop()
        if held.scope is not None:
            held.scope.cancel("the caller cancelled the call")
        elif held in held.lane.waiting:
            held.lane.waiting.remove(held)
            self._start(held)

    async def _work(self, held: _Held) -> None:
        message = held.inbound.message
        try:
            answer = answer_of(await self._result(held))
            with anyio.CancelScope(shield=True):
                answer = await self._remembered(message.message_id, answer)
            self._replies.send(message, answer)
        finally:
            del self._held[message.message_id]
            self._leave(held.lane)
            self._check_idle()

    async def _result(self, held: _Held) -> Result:
        """What the body makes of the message; being cancelled from outside (the worker stops) passes through."""
        message_id = held.inbound.message.message_id
        with anyio.CancelScope() as scope:
            held.scope = scope
            if held.inbound.cancelled:
                return _cancelled()
            try:
                await self._journal.begin(message_id)
            except OSError:
                _log.exception("the journal cannot be written; %s is not begun", message_id)
                return failed("the agent cannot write its journal; try again later", "agent_service_unavailable")
            try:
                return await held.body.answer(held.inbound)
            except Exception:  # noqa: BLE001 -- the outermost frame of a call: the log has it, the caller an answer
                return unexpected_failure(message_id)
        return _cancelled()

    async def _remembered(self, message_id: str, answer: Answer) -> Answer:
        """The answer that is in the journal now: the one given, or one in its place if it cannot be encoded."""
        try:
            await self._journal.finish(message_id, answer)
        except OSError:
            _log.exception("the journal cannot be written; the answer to %s is sent all the same", message_id)
        except (TypeError, ValueError, RecursionError) as error:
            return await self._remembered(message_id, unsendable_answer(f"it is not valid JSON: {error}"))
        return answer

    def _leave(self, lane: _Lane) -> None:
        lane.busy -= 1
        if lane.waiting and lane.busy < lane.limit and self._tasks is not None:
            self._start(lane.waiting.popleft())

    def _check_idle(self) -> None:
        if self._idle is not None and not self.held:
            self._idle.set()


async def _outcome_unknown(_inbound: Inbound) -> Result:
    return failed(
        "this call was begun, then the agent stopped, and nobody can say how it ended; it is not begun again",
        "outcome_unknown",
    )


def _cancelled() -> Result:
    return failed("cancelled", "cancelled")
