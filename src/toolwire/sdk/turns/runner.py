"""Everything that moves a task: a goal, an approval, a stop, a recovery; it opens no storage and lists nothing.

One task has one driver at a time. Whoever comes while it is busy is told so (`NotResumableError`), except those who
want it to stop.
"""

import re
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import anyio
import msgspec
from msgspec import Struct

import toolwire.sdk.payloads as p
from toolwire.core.jsontypes import JsonObject
from toolwire.sdk.errors import InvalidTurnOptionError, NotResumableError
from toolwire.sdk.hosting.host import Host
from toolwire.sdk.hosting.task import ENVIRONMENT, OpenCall, Stop, Task, encode_messages
from toolwire.sdk.messages import Block, ImageBlock, Message, TextBlock, ToolUseBlock
from toolwire.sdk.options import NEXT_GOAL_WAKE_HANDLE, RemoteTools, checked_effort, checked_mode
from toolwire.sdk.payloads import TurnOptions
from toolwire.sdk.turns.endings import approval_handle, stop_turn
from toolwire.sdk.turns.environment import ENVIRONMENT_VERSION, environment_message
from toolwire.sdk.turns.permission import refused
from toolwire.sdk.turns.recovery import recover
from toolwire.sdk.turns.turn import drive
from toolwire.sdk.turns.turn_state import JSON, Agent, Turn, clipped, fitted

MAX_GOAL_BYTES = 2048
_TASK_ID = re.compile(r"task-[A-Za-z0-9_-]{1,64}")
EXPIRED = "nobody answered in time"


class PendingApproval(NamedTuple):
    """A call that waits for a yes or a no."""

    call_id: str
    tool_name: str
    arguments: Any
    reason: str


class DriveOutcome(Struct, frozen=True):
    """How a task stands after a drive.

    Attributes:
        task_id: whose.
        status: "suspended", "completed", "failed" or "cancelled"; "running" where somebody else drives on.
        wake_handle: what a suspended task waits for: `NEXT_GOAL_WAKE_HANDLE`, or "approval-<call_id>" of the first of
            `pending`.
        pending: the calls that wait for a yes or a no.
    """

    task_id: str
    status: str
    wake_handle: str | None = None
    pending: tuple[PendingApproval, ...] = ()


class SeededTurn(Struct, frozen=True):
    """A turn that is recorded and not begun: `drive_seeded` drives it here, `dispatch_seeded` hands it to a worker."""

    task_id: str


class Runner:
    """Moves the tasks of one agent on one host."""

    def __init__(self, host: Host, agent: Agent, remote: Callable[[], RemoteTools | None]) -> None:
        """`remote` gives the source of remote tools, if there is one; asked at each turn."""
        self.host = host
        self.agent = agent
        self._remote = remote
        self._environments: dict[str, tuple[str, Message]] = {}

    def begin(
        self,
        goal: str,
        images: Sequence[ImageBlock],
        options: TurnOptions,
        parent: Task | None = None,
        task_id: str | None = None,
    ) -> Task:
        """A new task with its goal, recorded and not saved; `parent` is the task that handed it out.

        Raises:
            InvalidTurnOptionError: an option of the turn that cannot be.
            NotResumableError: there is a task `task_id`.
            TypeError: the goal is no text.
        """
        check_turn(options)
        task = self.host.create("" if parent is None else parent.trace_id, task_id)
        contents, model = self.host.contents, options.model or self.agent.model
        shown, ref = _goal(goal, self.host)
        parent_id, depth = (None, 0) if parent is None else (parent.id, parent.depth + 1)
        name = self.agent.options.name
        task.record(p.TaskCreated(shown, "react", name, parent_id, subtask_depth=depth, goal_ref=ref))
        task.record(p.AgentBound(self.agent.options.name, self.agent.digest))
        task.record(p.ModelBound(model, provider=type(self.agent.provider).__name__))
        environment = self._environment(model)
        task.record(p.ContextContentRecorded(ENVIRONMENT, "workspace", ENVIRONMENT_VERSION, environment[0]))
        task.messages.append(environment[1])
        task.say([_goal_message(goal, images)], contents)
        task.record(p.TaskStarted(f"lease-{self.host.owner}", _said(options)))
        return task

    async def check_new(self, task_id: str) -> None:
        """Make sure that a task can begin under an id that was chosen outside.

        Raises:
            InvalidTurnOptionError: that is no such id.
            NotResumableError: there is a task of that id.
        """
        if not _TASK_ID.fullmatch(task_id):
            raise InvalidTurnOptionError(
                f"task_id must be 'task-' and up to 64 letters, digits, - or _, got {task_id!r}"
            )
        try:
            await self.host.find(task_id)
        except NotResumableError:
            return
        raise NotResumableError(f"there is a task {task_id!r} already; give it its next goal instead")

    async def next_goal(self, task_id: str, goal: str, images: Sequence[ImageBlock], options: TurnOptions) -> Task:
        """A task at rest with its next goal, recorded and not saved.

        Raises:
            NotResumableError: it is unknown, busy, over or closed, or waits for something else.
            InvalidTurnOptionError: an option of the turn that cannot be.
        """
        check_turn(options)
        message = _goal_message(goal, images)
        task = await self.ready(task_id)
        if task.closed:
            raise NotResumableError(f"task {task_id!r} is closed; reopen it first")
        if task.asked:
            waits = approval_handle(task.asked[0].use.call_id)
            raise NotResumableError(f"task {task_id!r} waits for {waits!r}; approve or deny it first")
        if task.status not in ("suspended", "failed"):
            raise NotResumableError(f"task {task_id!r} is {task.status}; start another one")
        task.record(p.TaskWoken(p.HumanResponseReceived(NEXT_GOAL_WAKE_HANDLE), _said(options)))
        if task.digest != self.agent.digest:
            task.record(p.AgentBound(self.agent.options.name, self.agent.digest))
        if options.model is not None and options.model != task.model:
            task.record(p.ModelBound(options.model, provider=type(self.agent.provider).__name__))
        task.say([message], self.host.contents)
        return task

    async def answer_approvals(self, task_id: str, answers: "Answers") -> Task:
        """A task whose calls have been approved or denied, recorded and not saved.

        Raises:
            NotResumableError: it does not wait for such an answer; the message names what it waits for.
            ValueError: edited arguments that the tool would refuse.
        """
        task = await self.ready(task_id)
        chosen = self._chosen(task, answers)
        if answers.arguments is not None:
            self._check_edited(chosen[0], answers.arguments)
        handle = approval_handle(chosen[0].use.call_id)
        task.record(p.TaskWoken(p.HumanResponseReceived(handle)))
        for call in chosen:
            self._resolve(task, call, answers)
        if answers.approved:
            task.record(p.StepTransitionMarked("approval_resume"))
        return task

    async def drive(self, task: Task) -> DriveOutcome:
        """Work on a task that was begun, woken or seeded, until it rests.

        Raises:
            NotResumableError: somebody is at it already.
            StoreUnavailable: a step could not be saved.
        """
        if task.busy:
            raise NotResumableError(f"task {task.id!r} is running; interrupt it first")
        task.busy, task.idle = True, anyio.Event()
        try:
            if not task.resting:
                await drive(self.turn(task))
        finally:
            task.busy = False
            task.idle.set()
        return outcome(task)

    async def stop(self, task_id: str, stop: Stop) -> DriveOutcome:
        """End the present turn, or the whole task, and wait until that is recorded.

        Raises:
            NotResumableError: there is no such task.
        """
        task = await self.host.find(task_id)
        if task.busy and task.idle is not None:
            task.stop = stop
            if task.scope is not None:
                task.scope.cancel()
            await task.idle.wait()
            return outcome(await self.host.find(task_id))
        over = task.status in ("completed", "cancelled") or (task.status == "failed" and not stop.final)
        if over or (task.resting and not task.calls and not stop.final):
            return outcome(task)
        stop_turn(self.turn(task), stop)
        await self.host.save(task)
        return outcome(task)

    async def resume(self, task_id: str) -> DriveOutcome:
        """Go on with a task whose owner is gone; one that rests, or is at work here, is left alone.

        Raises:
            NotResumableError: there is no such task, or its owner is alive.
        """
        task = await self.host.find(task_id)
        if task.busy or task.resting:
            return outcome(task)
        if not task.leased:
            task = await self._taken_over(task_id)
        turn = self.turn(task)
        await self._give_up_subtasks(task)
        if not recover(turn):
            await self.host.save(task)
            return outcome(task)
        return await self.drive(task)

    async def ready(self, task_id: str) -> Task:
        """The task at rest, recovered first if its owner is gone, its unanswered approvals expired if it is time.

        Raises:
            NotResumableError: there is no such task, or somebody is at it.
        """
        task = await self.host.find(task_id)
        if task.busy:
            raise NotResumableError(f"task {task_id!r} is running; interrupt it first")
        if not task.resting:
            await self.resume(task_id)
            task = await self.host.find(task_id)
        if any(expired(call) for call in task.asked):
            await self.expire(task)
            task = await self.host.find(task_id)
        return task

    async def expire(self, task: Task) -> DriveOutcome:
        """Deny the calls that nobody has answered in time, and go on with the turn."""
        late = [call for call in task.asked if expired(call)]
        if not late or task.busy or not task.resting:
            return outcome(task)
        task.record(p.TaskWoken(p.HumanResponseReceived(approval_handle(late[0].use.call_id))))
        for call in late:
            self._resolve(task, call, Answers(approved=False, reason=EXPIRED, resolver="expiry"))
        return await self.drive(task)

    def turn(self, task: Task) -> Turn:
        """A turn of this agent on `task`."""
        turn = Turn(task, self.agent, self.host)
        turn.remote = self._remote()
        return turn

    async def _taken_over(self, task_id: str) -> Task:
        for left_id, lease, version in await self.host.left_running():
            if left_id == task_id and await self.host.take_over(task_id, lease, version):
                task = await self.host.find(task_id)
                task.leased = True
                return task
        raise NotResumableError(f"task {task_id!r} is run by somebody else, whose lease has not lapsed")

    async def _give_up_subtasks(self, task: Task) -> None:
        """Cancel what a task had handed out when its process died: nobody waits for it any more."""
        handed_out = [event.payload for event in task.events if isinstance(event.payload, p.SubtaskSpawned)]
        back = {event.payload.subtask_id for event in task.events if isinstance(event.payload, p.SubtaskCompleted)}
        for spawned in handed_out:
            if spawned.subtask_id in back:
                continue
            child = await self.host.find(spawned.subtask_id)
            if not child.resting:
                child = await self._taken_over(child.id)
                stop_turn(self.turn(child), Stop(True, "the process of its parent task died", "runtime"))
                await self.host.save(child)
            task.record(p.SubtaskCompleted(child.id, {"status": child.status, "output": None, "error": "lost"}))

    def _chosen(self, task: Task, answers: "Answers") -> list[OpenCall]:
        asked = task.asked
        if not asked:
            waits = f"waits for {task.wake_handle!r}" if task.status == "suspended" else f"is {task.status}"
            raise NotResumableError(f"task {task.id!r} {waits}, and for no approval")
        if answers.every:
            return asked
        wanted = answers.call_id or asked[0].use.call_id
        found = [call for call in asked if call.use.call_id == wanted]
        if not found:
            handles = ", ".join(repr(approval_handle(call.use.call_id)) for call in asked)
            raise NotResumableError(f"task {task.id!r} waits for {handles}, not for {approval_handle(wanted)!r}")
        return found

    def _check_edited(self, call: OpenCall, arguments: JsonObject) -> None:
        edited = ToolUseBlock(call.use.call_id, call.use.tool_name, arguments)
        refusal = refused(edited, self.agent.mounts.get(call.use.tool_name))
        if refusal is not None and refusal.rule == "arguments":
            raise ValueError(f"the edited arguments do not do: {refusal.reason}")

    def _resolve(self, task: Task, call: OpenCall, answers: "Answers") -> None:
        inline, ref = None, None
        if answers.approved and answers.arguments is not None:
            copied = msgspec.json.decode(msgspec.json.encode(answers.arguments))
            inline, ref = fitted(copied, self.turn(task))
            call.arguments = copied
        reason = None if answers.reason is None else clipped(answers.reason)
        task.record(
            p.ToolCallApprovalResolved(
                call.use.call_id, call.use.tool_name, answers.approved, reason, answers.resolver, inline, ref
            )
        )

    def _environment(self, model: str) -> tuple[str, Message]:
        """The hash and the message of the surroundings, made once a day and model."""
        key = f"{model} {int(time.time()) // 3600}"
        made = self._environments.get(key)
        if made is None:
            message = environment_message(self.agent.workspace_dir, model)
            digest = self.host.contents.put(encode_messages([message]), JSON).hash
            self._environments = {key: (digest, message)}
            made = digest, message
        return made


class Answers(Struct, frozen=True):
    """What a person said about one call (`call_id`, or the first that waits) or about `every` one."""

    approved: bool
    call_id: str | None = None
    every: bool = False
    arguments: JsonObject | None = None
    reason: str | None = None
    resolver: str = "client"


def outcome(task: Task) -> DriveOutcome:
    """How the task stands."""
    asked = task.asked if task.resting else []
    pending = tuple(
        PendingApproval(
            call.use.call_id, call.use.tool_name, call.arguments, "" if call.asked is None else call.asked.reason
        )
        for call in asked
    )
    return DriveOutcome(task.id, task.status, task.wake_handle, pending)


def expired(call: OpenCall) -> bool:
    """Whether nobody has answered in time."""
    return call.asked is not None and call.asked.expires_at is not None and call.asked.expires_at <= time.time()


def check_turn(options: TurnOptions) -> None:
    """Refuse what cannot be said for a turn.

    Raises:
        InvalidTurnOptionError: names the value.
    """
    try:
        if options.permission_mode is not None:
            checked_mode(options.permission_mode)
        checked_effort(options.effort)
    except ValueError as error:
        raise InvalidTurnOptionError(str(error)) from None


def _said(options: TurnOptions) -> TurnOptions | None:
    return None if options == TurnOptions() else options


def _goal(goal: str, host: Host) -> tuple[str, Any]:
    if not isinstance(goal, str):  # pyright: ignore[reportUnnecessaryIsInstance] -- not all check types
        raise TypeError(f"the goal must be a text, got {type(goal).__name__}")
    if len(goal) * 6 <= MAX_GOAL_BYTES:
        return goal, None
    short = clipped(goal, MAX_GOAL_BYTES)
    return short, None if short == goal else host.contents.put(goal.encode(errors="replace"), "text/plain")


def _goal_message(goal: str, images: Sequence[ImageBlock]) -> Message:
    content: list[Block] = [TextBlock(goal), *images]
    return Message("user", content)
