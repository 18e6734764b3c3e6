"""Answers an agent's messages with the turns of an SDK agent; it does not know how messages travel.

A channel is a conversation: its first message begins a task, each further one is that task's next goal. The answer
comes in pieces as it is written, and what the agent calls is told as progress. Calls that need an approval are asked
about on the channel, and the turn rests until the owner or the caller decides; where nobody can be asked, it is ended.
A message that comes again, to a process that was started anew, goes on with its turn.
"""

import hashlib
import logging
import time
import weakref
from collections import Counter
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Final

import anyio
import msgspec

from toolwire.agent.approvals import CALLER, Decision, question, read_decision, wanted
from toolwire.agent.context import AttachedFile, Ctx, asker_behind
from toolwire.sdk.async_client import AsyncClient
from toolwire.sdk.errors import AgentError
from toolwire.sdk.events import EventEnvelope
from toolwire.sdk.messages import TaskDelta, TextDelta, ToolProgress
from toolwire.sdk.result import ToolError, ToolResult
from toolwire.sdk.turns.runner import DriveOutcome, PendingApproval
from toolwire.wire.link import INPUT_REQUIRED, USER_CONTINUE, Message

GENERATION: Final = 1000
NOBODY: Final = "nobody can be asked"
TOO_LATE: Final = "nobody decided in time"
PATIENCE_S: Final = 600.0
"""How much later than its deadline a call may be answered whose client is asked: a gateway stops its time meanwhile."""

_log = logging.getLogger("toolwire.agent")


class Conversations:
    """The conversations of one agent with everybody who calls it.

    Args:
        make_client: a client of the agent, not open yet.
        durable: its tasks survive the process, so one client has them all. Otherwise conversations live in memory, and
            old ones are forgotten in favour of new ones: a caller then finds that it begins anew.
        ask_callers: whoever is behind a call may decide on approvals, too; otherwise the owner of the channel alone.
        generation: of those in memory, so many begin before the ones from the generation before last are forgotten.
    """

    def __init__(
        self,
        make_client: Callable[[], AsyncClient],
        *,
        durable: bool,
        ask_callers: bool = True,
        generation: int = GENERATION,
    ) -> None:
        self._ask_callers = ask_callers
        self._make_client = make_client
        self._generation = generation
        self._durable = durable
        self._entered = 0
        self._generations = [_Generation(make_client())]  # fails now if the agent cannot be built
        self._turns: weakref.WeakValueDictionary[str, anyio.Lock] = weakref.WeakValueDictionary()

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[None]:
        """Hold what the conversations stand on; entered once more inside, it does nothing."""
        self._entered += 1
        try:
            if self._entered == 1 and self._durable:
                async with self._generations[0].client:  # which keeps the leases of long turns
                    yield
            else:
                yield
        finally:
            self._entered -= 1
            if not self._entered:
                await self._forget_all()

    async def answer(self, text: str, ctx: Ctx) -> ToolResult:
        """Take a message of a channel as the conversation's next goal, and wait for the answer.

        Raises:
            ToolError: there is none; the message says why, without the agent's internals.

        Cancellation: the turn is interrupted, and the conversation can go on.
        """
        task_id = task_of(ctx.channel_id)
        turns = self._turns.setdefault(task_id, anyio.Lock())
        async with turns:
            generation = await self._generation_of(task_id)
            generation.listeners[task_id] = ctx
            generation.client.askers.put(task_id, asker_behind(ctx))
            try:
                return await _Turn(generation, task_id, ctx, self._ask_callers).answered(goal_of(text, ctx.attachments))
            except AgentError as error:
                _log.warning("%s takes no message now: %s", task_id, error)
                raise ToolError(f"this conversation cannot go on now ({error.code}); try again later") from error
            finally:
                generation.client.askers.put(task_id, None)
                del generation.listeners[task_id]

    async def _generation_of(self, task_id: str) -> "_Generation":
        """Where a conversation is, or begins."""
        newest = self._generations[-1]
        if self._durable:
            return newest
        for generation in self._generations:
            if task_id in generation.tasks:
                return generation
        if len(newest.tasks) >= self._generation:
            newest = _Generation(self._make_client())
            self._generations.append(newest)
        newest.tasks.add(task_id)
        old = [generation for generation in self._generations[:-2] if not generation.listeners]
        self._generations = [generation for generation in self._generations if generation not in old]
        for generation in old:
            await generation.client.aclose()
        return newest

    async def _forget_all(self) -> None:
        generations, self._generations = self._generations, [_Generation(self._make_client())]
        for generation in generations:
            await generation.client.aclose()


class _Generation:
    """A client, the conversations that it has in memory, and who listens to those that are at work."""

    def __init__(self, client: AsyncClient) -> None:
        self.client = client
        self.tasks: set[str] = set()
        self.listeners: dict[str, Ctx] = {}
        self.asking: dict[str, anyio.CancelScope] = {}
        client.subscribe_deltas(self._delta)
        client.subscribe(self._event)

    def _delta(self, task_id: str, delta: TaskDelta) -> None:
        ctx = self.listeners.get(task_id)
        if ctx is None:
            return
        match delta:
            case TextDelta(text=text) if text:
                ctx.say(text)
            case ToolProgress(message=message, level=None) if message:
                ctx.progress(message)
            case _:
                pass

    def _event(self, event: EventEnvelope) -> None:
        if event.type == "ToolCallApprovalResolved" and (scope := self.asking.get(event.task_id)) is not None:
            scope.cancel("the approval has expired")  # `approval_ttl_s`: while we ask, nobody else decides
        ctx = self.listeners.get(event.task_id)
        if ctx is not None and event.type == "ToolCallStarted":
            ctx.progress(f"calling {event.payload.tool_name}")


def task_of(channel_id: str) -> str:
    """The id of the task that a channel's conversation is; the same after a restart."""
    return f"task-{hashlib.sha256(channel_id.encode()).hexdigest()[:32]}"


def goal_of(text: str, attachments: tuple[AttachedFile, ...]) -> str:
    """The message, and where the files are that came along with it."""
    if not attachments:
        return text
    return "\n".join([text, "", "Attached files:", *map(_file_line, attachments)])


def _file_line(file: AttachedFile) -> str:
    kind = file.content_type or "unknown type"
    return f"- {file.filename or file.file_id} ({kind}): {file.download_url or 'no address'}"


class _Turn:
    """One message's turn of a conversation."""

    def __init__(self, generation: _Generation, task_id: str, ctx: Ctx, ask_callers: bool) -> None:
        self._ask_callers = ask_callers
        self._generation = generation
        self._client = generation.client
        self._task_id = task_id
        self._ctx = ctx

    async def answered(self, goal: str) -> ToolResult:
        """Take the goal, and have decided on whatever waits for an approval, until there is an answer."""
        client, task_id = self._client, self._task_id
        label = self._ctx.call_id
        outcome = await self._decided(await client.take_goal(task_id, goal=goal, label=label))
        reason = await client.suspend_reason(task_id)
        if reason is None or reason.kind != "waiting_human":
            raise ToolError(await _why_not(client, task_id, outcome.status))
        return ToolResult(success=True, output=await client.task_answer(task_id))

    async def _decided(self, outcome: DriveOutcome) -> DriveOutcome:
        problem, asked = "", Counter[tuple[tuple[str, str], ...]]()
        while outcome.pending:
            pending = outcome.pending
            named = tuple((call.call_id, call.reason) for call in pending)
            said = await self._asked(pending, problem, asked[named])
            try:
                decision = read_decision(said.payload, pending, asked[named])
                by = said.publisher_id if "answers" not in said.payload else CALLER
                outcome, problem = await self._acted(outcome, decision, by)
            except msgspec.ValidationError as error:
                problem = f"the last {USER_CONTINUE} was no decision: {error}"
            asked[named] += 1
        return outcome

    async def _asked(self, pending: tuple[PendingApproval, ...], problem: str, times: int) -> Message:
        """Ask on the channel; what was said.

        Raises:
            ToolError: nobody can be asked, or nobody has decided in time; the turn is ended.
        """
        payload = question(pending, problem, times, self._ask_callers)
        patience_s = PATIENCE_S if self._ask_callers and self._ctx.client_can("elicitation") else 0.0
        with anyio.move_on_after(self._ctx.deadline + patience_s - time.time()) as scope:
            self._generation.asking[self._task_id] = scope
            try:
                said = await self._ctx.inquire(INPUT_REQUIRED, payload, USER_CONTINUE)
            finally:
                del self._generation.asking[self._task_id]
            if said is not None:
                return said
            await self._end(NOBODY)
            raise ToolError(
                f"the agent asked for approval of {wanted(pending)}, and nobody can be asked here: nothing of it was "
                "done. Whoever runs the agent can decide on such calls with Options(can_use_tool=…)"
            )
        await self._end(TOO_LATE)
        raise ToolError(f"the agent asked for approval of {wanted(pending)}, and {TOO_LATE}: nothing of it was done")

    async def _acted(self, outcome: DriveOutcome, decision: Decision, by: str) -> tuple[DriveOutcome, str]:
        """Approve and deny what was decided; how the task stands then, and what was wrong with the decision."""
        client, task_id, problem = self._client, self._task_id, ""
        decided = [(call.call_id, decision.on(call.call_id)) for call in outcome.pending]
        for call_id, verdict in decided:
            if verdict is False:
                outcome = await client.deny(task_id, call_id, decision.reason, by)
            elif verdict is True:
                given = decision.arguments.get(call_id)
                try:
                    outcome = await client.approve(task_id, call_id, given, decision.reason, by)
                except ValueError as error:
                    problem = f"{call_id} does not take these arguments: {error}"
        if all(verdict is None for _, verdict in decided):
            problem = f"the last {USER_CONTINUE} decided on none of these calls"
        return outcome, problem

    async def _end(self, reason: str) -> None:
        await self._client.interrupt(self._task_id, reason=reason, interrupted_by="gateway")


async def _why_not(client: AsyncClient, task_id: str, status: str) -> str:
    """Why a turn has no answer; the details, which may be somebody's internals, go to the log alone."""
    last = (await client.events(task_id))[-1]
    if last.type != "TaskFailed":
        return f"the agent was stopped before it had an answer ({status}); try again"
    _log.warning("%s has no answer: %s: %s", task_id, last.payload.reason, last.payload.detail)
    return f"the agent has no answer ({last.payload.reason}); its author finds more in the agent's log under {task_id}"
