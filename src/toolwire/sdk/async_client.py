"""`AsyncClient`: an agent to talk to, on the event loop of whoever uses it; the synchronous doors run this one.

    async with AsyncClient(options, provider=provider) as client:
        outcome = await client.start(goal="…")

Verbs return when the task rests, as a `DriveOutcome`. Nothing that a tool, a model, a guard, an observer or a resolver
does comes through them as an exception: it is in the task's events, and `task_status` tells how the task stands.
"""

import logging
from collections.abc import Sequence

import toolwire.sdk.payloads as p
from toolwire.core.jsontypes import JsonObject
from toolwire.sdk.client_core import ClientCore, GivenImage
from toolwire.sdk.errors import NotResumableError
from toolwire.sdk.hosting.task import Stop
from toolwire.sdk.options import NEXT_GOAL_WAKE_HANDLE
from toolwire.sdk.payloads import TurnOptions
from toolwire.sdk.turns.runner import Answers, DriveOutcome, SeededTurn, outcome
from toolwire.sdk.turns.workers import Line, Workers

LOGGER = logging.getLogger("toolwire.sdk")

STOP_TIMEOUT_S = 30.0


class AsyncClient(ClientCore):
    """One agent on one host.

    Args:
        options: what the agent is.
        provider: the model, instead of `options.provider`.
        workspace_dir: where it works, instead of `options.cwd`; by default the current directory.
        model: the model's name, instead of `options.model`.
        multi_turn: whether a task waits for another goal after its answer.
        host_config: what the client stands on; by default everything is in memory.

    Raises:
        KeyError, TypeError, ValueError: something in `options` cannot be; the message says what.
        WorkspaceEscape: the workspace is not there.
    """

    _line: Line | None = None
    _workers: Workers | None = None

    async def start(
        self,
        *,
        goal: str,
        images: Sequence[GivenImage] = (),
        permission_mode: str | None = None,
        model_selector: str | None = None,
        effort: str | None = None,
        enabled_mcp: Sequence[str] = (),
        task_id: str | None = None,
    ) -> DriveOutcome:
        """Begin a task and work on it until it rests.

        It gets an id of its own, or `task_id`: "task-…", such as one made of a conversation's id elsewhere.

        Raises:
            InvalidTurnOptionError: a mode, an effort or an id that cannot be.
            NotResumableError: there is a task `task_id` already.
            StoreUnavailable: the storage cannot be written.
        """
        options = TurnOptions(permission_mode, model_selector, effort, tuple(enabled_mcp))
        runner = await self._open()
        pictures = await self._images(images)
        if task_id is not None:
            await runner.check_new(task_id)
        return await runner.drive(runner.begin(goal, pictures, options, task_id=task_id))

    async def send_goal(
        self,
        task_id: str,
        *,
        goal: str,
        images: Sequence[GivenImage] = (),
        permission_mode: str | None = None,
        model_selector: str | None = None,
        effort: str | None = None,
        enabled_mcp: Sequence[str] = (),
    ) -> DriveOutcome:
        """Give a resting task its next goal and work on it until it rests again.

        Raises:
            NotResumableError: it is unknown, busy, over or closed, or waits for an approval.
            InvalidTurnOptionError, StoreUnavailable: as `start`.
        """
        options = TurnOptions(permission_mode, model_selector, effort, tuple(enabled_mcp))
        runner = await self._open()
        return await runner.drive(await runner.next_goal(task_id, goal, await self._images(images), options))

    async def take_goal(self, task_id: str, *, goal: str, label: str) -> DriveOutcome:
        """Take the next goal of a conversation that lives elsewhere, or go on with the turn that has taken it already.

        A process that is started again gets the same goals again; by their labels it knows them. A turn of another
        label that was left open is ended.

        Args:
            task_id: names the conversation; the task begins with its first goal.
            goal: what is wanted.
            label: by what the goal is known, such as the id of the message that brought it.

        Raises:
            NotResumableError: somebody is at it, or it is over or closed.
            InvalidTurnOptionError, StoreUnavailable: as `start`.
        """
        runner = await self._open()
        options = TurnOptions(label=label)
        status = await self.task_status(task_id)
        if status is None:
            return await runner.drive(runner.begin(goal, (), options, task_id=task_id))
        if label and (await self._task(task_id)).options.label == label:
            return await runner.resume(task_id)
        if status.status == "suspended" and status.wake_handle != NEXT_GOAL_WAKE_HANDLE:
            await self.interrupt(task_id, reason="left open", interrupted_by="runtime")
        return await runner.drive(await runner.next_goal(task_id, goal, (), options))

    async def approve(
        self,
        task_id: str,
        call_id: str | None = None,
        arguments: JsonObject | None = None,
        reason: str | None = None,
        resolver: str = "client",
    ) -> DriveOutcome:
        """Say yes to one call, the first that waits unless `call_id` names another, with `arguments` if given.

        Raises:
            NotResumableError: no such call waits; the message names the ones that do.
            ValueError: the tool would refuse `arguments`.
        """
        return await self._answer(task_id, Answers(True, call_id, False, arguments, reason, resolver))

    async def approve_all(self, task_id: str, reason: str | None = None, resolver: str = "client") -> DriveOutcome:
        """Say yes to every call that waits.

        Raises:
            NotResumableError: none does.
        """
        return await self._answer(task_id, Answers(True, None, True, None, reason, resolver))

    async def deny(
        self, task_id: str, call_id: str | None = None, reason: str | None = None, resolver: str = "client"
    ) -> DriveOutcome:
        """Say no to one call; the model reads the reason and goes on.

        Raises:
            NotResumableError: no such call waits.
        """
        return await self._answer(task_id, Answers(False, call_id, False, None, reason, resolver))

    async def interrupt(self, task_id: str, *, reason: str | None = None, interrupted_by: str = "user") -> DriveOutcome:
        """Stop the present turn at once; the task can take another goal. One that rests is left alone.

        Raises:
            NotResumableError: there is no such task.
        """
        runner = await self._open()
        return await runner.stop(task_id, Stop(False, reason, interrupted_by))

    async def cancel(self, task_id: str, *, reason: str = "cancelled") -> DriveOutcome:
        """End the task for good, at once.

        Raises:
            NotResumableError: there is no such task.
        """
        runner = await self._open()
        return await runner.stop(task_id, Stop(True, reason))

    async def resume(self, task_id: str) -> DriveOutcome:
        """Go on with a task whose process died in the middle of a turn; any other is left as it is.

        Raises:
            NotResumableError: there is no such task, or its owner's lease has not lapsed.
        """
        return await (await self._open()).resume(task_id)

    async def close(self, task_id: str, *, closed_by: str = "user", reason: str | None = None) -> DriveOutcome:
        """Have a resting conversation take no further goals until `reopen`.

        Raises:
            NotResumableError: there is no such task, or it is at work.
        """
        return await self._note(task_id, p.ConversationClosed(closed_by, reason))

    async def reopen(self, task_id: str, *, reopened_by: str = "user", reason: str | None = None) -> DriveOutcome:
        """Have a closed conversation take goals again.

        Raises:
            NotResumableError: there is no such task, or it is at work.
        """
        return await self._note(task_id, p.ConversationReopened(reopened_by, reason))

    async def seed_start(
        self,
        *,
        goal: str,
        images: Sequence[GivenImage] = (),
        permission_mode: str | None = None,
        model_selector: str | None = None,
        effort: str | None = None,
        enabled_mcp: Sequence[str] = (),
    ) -> SeededTurn:
        """Record a task with its goal, for `drive_seeded` or `dispatch_seeded`.

        Raises:
            InvalidTurnOptionError, StoreUnavailable: as `start`.
        """
        options = TurnOptions(permission_mode, model_selector, effort, tuple(enabled_mcp))
        runner = await self._open()
        task = runner.begin(goal, await self._images(images), options)
        await runner.host.save(task)
        return SeededTurn(task.id)

    async def seed_send_goal(
        self,
        task_id: str,
        *,
        goal: str,
        images: Sequence[GivenImage] = (),
        permission_mode: str | None = None,
        model_selector: str | None = None,
        effort: str | None = None,
        enabled_mcp: Sequence[str] = (),
    ) -> SeededTurn:
        """Record a task's next goal, for `drive_seeded` or `dispatch_seeded`.

        Raises:
            NotResumableError, InvalidTurnOptionError, StoreUnavailable: as `send_goal`.
        """
        options = TurnOptions(permission_mode, model_selector, effort, tuple(enabled_mcp))
        runner = await self._open()
        task = await runner.next_goal(task_id, goal, await self._images(images), options)
        await runner.host.save(task)
        return SeededTurn(task.id)

    async def seed_approve(
        self, task_id: str, call_id: str | None = None, reason: str | None = None, resolver: str = "client"
    ) -> SeededTurn:
        """Record a yes, for `drive_seeded` or `dispatch_seeded`.

        Raises:
            NotResumableError: as `approve`.
        """
        return await self._seed_answer(task_id, Answers(True, call_id, False, None, reason, resolver))

    async def seed_deny(
        self, task_id: str, call_id: str | None = None, reason: str | None = None, resolver: str = "client"
    ) -> SeededTurn:
        """Record a no, for `drive_seeded` or `dispatch_seeded`.

        Raises:
            NotResumableError: as `deny`.
        """
        return await self._seed_answer(task_id, Answers(False, call_id, False, None, reason, resolver))

    async def drive_seeded(self, seeded: SeededTurn) -> DriveOutcome:
        """Work on a seeded turn here until it rests.

        Raises:
            NotResumableError: somebody is at it already.
        """
        runner = await self._open()
        return await runner.drive(await runner.host.find(seeded.task_id))

    async def dispatch_seeded(self, seeded: SeededTurn) -> None:
        """Hand a seeded turn to the workers; it waits until there are some."""
        await self._open()
        self._waiting().put(seeded)

    async def start_workers(self, num_workers: int = 1, *, poll_interval: float = 1.0) -> None:
        """Have `num_workers` turns worked on at once, until `stop_workers`.

        They also take over, after its lease, what an owner left running who is gone (sdk.md 81-83), for which they
        look every `poll_interval` seconds.

        Raises:
            RuntimeError: there are workers already, or the client was not entered with `async with`.
            ValueError: fewer than one.
        """
        if num_workers < 1:
            raise ValueError(f"start_workers(num_workers) must be at least 1, got {num_workers!r}")
        if self._workers is not None:
            raise RuntimeError("there are workers already; stop_workers() first")
        if self._background is None:
            raise RuntimeError("workers need the client to be entered: async with AsyncClient(…) as client")
        self._workers = Workers(await self._open(), self._waiting(), poll_interval)
        self._workers.work(num_workers, self._background)

    async def stop_workers(self, timeout: float | None = None) -> bool:  # noqa: ASYNC109 -- how long the turns under way may take, after which they are interrupted
        """Let the workers finish what they are at, at most `timeout` seconds long.

        Returns:
            Whether all turns finished in time; the others were interrupted.
        """
        workers, self._workers = self._workers, None
        return True if workers is None else await workers.stop(timeout)

    def workers_running(self) -> bool:
        """Whether there are workers."""
        return self._workers is not None

    def _waiting(self) -> Line:
        if self._line is None:
            self._line = Line()
        return self._line

    async def _answer(self, task_id: str, answers: Answers) -> DriveOutcome:
        runner = await self._open()
        return await runner.drive(await runner.answer_approvals(task_id, answers))

    async def _seed_answer(self, task_id: str, answers: Answers) -> SeededTurn:
        runner = await self._open()
        task = await runner.answer_approvals(task_id, answers)
        await runner.host.save(task)
        return SeededTurn(task.id)

    async def _note(self, task_id: str, payload: p.ConversationClosed | p.ConversationReopened) -> DriveOutcome:
        runner = await self._open()
        task = await runner.host.find(task_id)
        if task.busy:
            raise NotResumableError(f"task {task_id!r} is running; interrupt it first")
        task.record(payload, origin="system")
        await runner.host.save(task)
        return outcome(task)
