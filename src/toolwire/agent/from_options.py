"""Answers an agent's messages with the turns of an SDK agent; it does not know how messages travel.

A channel is a conversation: its first message begins a task, each further one is that task's next goal. The answer
comes in pieces as it is written, and what the agent calls is told as progress. Nobody is asked for approvals here: a
turn that needs one is ended, and the caller is told what was asked.
"""

import hashlib
import logging
import weakref
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any, Final

import anyio
import msgspec

from toolwire.agent.context import AttachedFile, Ctx
from toolwire.sdk.async_client import AsyncClient
from toolwire.sdk.errors import AgentError
from toolwire.sdk.events import EventEnvelope
from toolwire.sdk.messages import TaskDelta, TextDelta, ToolProgress
from toolwire.sdk.options import NEXT_GOAL_WAKE_HANDLE
from toolwire.sdk.result import ToolError, ToolResult
from toolwire.sdk.turns.runner import DriveOutcome

GENERATION: Final = 1000
SHOWN_ARGUMENTS: Final = 500
NOBODY: Final = "nobody can be asked"

_log = logging.getLogger("toolwire.agent")


class Conversations:
    """The conversations of one agent with everybody who calls it.

    Args:
        make_client: a client of the agent, not open yet.
        durable: its tasks survive the process, so one client has them all. Otherwise conversations live in memory, and
            old ones are forgotten in favour of new ones: a caller then finds that it begins anew.
        generation: of those in memory, so many begin before the ones from the generation before last are forgotten.
    """

    def __init__(self, make_client: Callable[[], AsyncClient], *, durable: bool, generation: int = GENERATION) -> None:
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
            try:
                return await _answered(generation.client, task_id, goal_of(text, ctx.attachments))
            except AgentError as error:
                _log.warning("%s takes no message now: %s", task_id, error)
                raise ToolError(f"this conversation cannot go on now ({error.code}); try again later") from error
            finally:
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


async def _answered(client: AsyncClient, task_id: str, goal: str) -> ToolResult:
    status = await client.task_status(task_id)
    if status is None:
        outcome = await client.start(goal=goal, task_id=task_id)
    else:
        if status.status == "suspended" and status.wake_handle != NEXT_GOAL_WAKE_HANDLE:
            await client.interrupt(task_id, reason=NOBODY, interrupted_by="gateway")  # left open by a process that died
        outcome = await client.send_goal(task_id, goal=goal)
    if outcome.pending:
        await client.interrupt(task_id, reason=NOBODY, interrupted_by="gateway")
        raise ToolError(_asking(outcome))
    reason = await client.suspend_reason(task_id)
    if reason is None or reason.kind != "waiting_human":
        raise ToolError(await _why_not(client, task_id, outcome.status))
    return ToolResult(success=True, output=await client.task_answer(task_id))


def _asking(outcome: DriveOutcome) -> str:
    wanted = [f"{call.tool_name} {_shortened(call.arguments)}" for call in outcome.pending]
    return (
        f"the agent asked for approval of {'; '.join(wanted)}, and nobody can be asked here: nothing of it was done. "
        "Whoever runs the agent can decide on such calls with Options(can_use_tool=…)"
    )


def _shortened(arguments: Any) -> str:
    text = msgspec.json.encode(arguments).decode()
    return text if len(text) <= SHOWN_ARGUMENTS else f"{text[:SHOWN_ARGUMENTS]}…"


async def _why_not(client: AsyncClient, task_id: str, status: str) -> str:
    """Why a turn has no answer; the details, which may be somebody's internals, go to the log alone."""
    last = (await client.events(task_id))[-1]
    if last.type != "TaskFailed":
        return f"the agent was stopped before it had an answer ({status}); try again"
    _log.warning("%s has no answer: %s: %s", task_id, last.payload.reason, last.payload.detail)
    return f"the agent has no answer ({last.payload.reason}); its author finds more in the agent's log under {task_id}"
