"""`Client`: the same agent from synchronous code, in a thread, beside a running event loop or without one.

It runs an `AsyncClient` on the loop thread that all synchronous doors share, and waits. Every verb and every read is
the one of the same name there.
"""

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

import anyio

from toolwire.core.jsontypes import JsonObject
from toolwire.sdk.async_client import AsyncClient
from toolwire.sdk.client_core import SuspendReason, TaskStatus
from toolwire.sdk.content import ContentRef
from toolwire.sdk.events import EventEnvelope
from toolwire.sdk.guards import Decision
from toolwire.sdk.hosting.host import TaskListing
from toolwire.sdk.loop_thread import LOOP_THREAD
from toolwire.sdk.messages import Provider, Usage
from toolwire.sdk.options import HostConfig, Observer, OnTaskDelta, Options
from toolwire.sdk.turns.runner import DriveOutcome, SeededTurn
from toolwire.sdk.views import ViewItem

_T = TypeVar("_T")


class Client:
    """One agent on one host, from synchronous code; safe from several threads. See `AsyncClient`.

    Use it in a `with` block, or call `shutdown`; a verb after that opens it again. Ctrl-C during a verb interrupts the
    turn, whose events say so, and is raised again. Callbacks run on the loop thread, where they must not call verbs.
    """

    def __init__(
        self,
        options: Options,
        *,
        provider: Provider | None = None,
        workspace_dir: str | Path | None = None,
        model: str | None = None,
        multi_turn: bool = True,
        host_config: HostConfig | None = None,
    ) -> None:
        self._core = AsyncClient(
            options,
            provider=provider,
            workspace_dir=workspace_dir,
            model=model,
            multi_turn=multi_turn,
            host_config=host_config,
        )
        self._lock = threading.Lock()
        self._resident: _Resident | None = None

    @property
    def main_agent_name(self) -> str:
        """The agent's name."""
        return self._core.main_agent_name

    def __enter__(self) -> Self:
        self._entered()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.shutdown()

    def shutdown(self) -> None:
        """Interrupt what is running and let go of everything; twice is fine."""
        with self._lock:
            resident, self._resident = self._resident, None
        if resident is not None:
            LOOP_THREAD.run(resident.leave)

    def start(self, *, goal: str, **turn: Any) -> DriveOutcome:
        """Begin a task and work on it until it rests; the keywords are those of `AsyncClient.start`."""
        return self._call(lambda: self._core.start(goal=goal, **turn))

    def send_goal(self, task_id: str, *, goal: str, **turn: Any) -> DriveOutcome:
        """Give a resting task its next goal; the keywords are those of `AsyncClient.send_goal`."""
        return self._call(lambda: self._core.send_goal(task_id, goal=goal, **turn))

    def approve(
        self,
        task_id: str,
        call_id: str | None = None,
        arguments: JsonObject | None = None,
        reason: str | None = None,
        resolver: str = "client",
    ) -> DriveOutcome:
        """Say yes to a call that waits."""
        return self._call(lambda: self._core.approve(task_id, call_id, arguments, reason, resolver))

    def approve_all(self, task_id: str, reason: str | None = None, resolver: str = "client") -> DriveOutcome:
        """Say yes to every call that waits."""
        return self._call(lambda: self._core.approve_all(task_id, reason, resolver))

    def deny(
        self, task_id: str, call_id: str | None = None, reason: str | None = None, resolver: str = "client"
    ) -> DriveOutcome:
        """Say no to a call that waits."""
        return self._call(lambda: self._core.deny(task_id, call_id, reason, resolver))

    def interrupt(self, task_id: str, *, reason: str | None = None, interrupted_by: str = "user") -> DriveOutcome:
        """Stop the present turn at once."""
        return self._call(lambda: self._core.interrupt(task_id, reason=reason, interrupted_by=interrupted_by))

    def cancel(self, task_id: str, *, reason: str = "cancelled") -> DriveOutcome:
        """End the task for good, at once."""
        return self._call(lambda: self._core.cancel(task_id, reason=reason))

    def resume(self, task_id: str) -> DriveOutcome:
        """Go on with a task whose process died in the middle of a turn."""
        return self._call(lambda: self._core.resume(task_id))

    def close(self, task_id: str, *, closed_by: str = "user", reason: str | None = None) -> DriveOutcome:
        """Have a resting conversation take no further goals until `reopen`."""
        return self._call(lambda: self._core.close(task_id, closed_by=closed_by, reason=reason))

    def reopen(self, task_id: str, *, reopened_by: str = "user", reason: str | None = None) -> DriveOutcome:
        """Have a closed conversation take goals again."""
        return self._call(lambda: self._core.reopen(task_id, reopened_by=reopened_by, reason=reason))

    def seed_start(self, *, goal: str, **turn: Any) -> SeededTurn:
        """Record a task with its goal, for `drive_seeded` or `dispatch_seeded`."""
        return self._call(lambda: self._core.seed_start(goal=goal, **turn))

    def seed_send_goal(self, task_id: str, *, goal: str, **turn: Any) -> SeededTurn:
        """Record a task's next goal, for `drive_seeded` or `dispatch_seeded`."""
        return self._call(lambda: self._core.seed_send_goal(task_id, goal=goal, **turn))

    def seed_approve(self, task_id: str, call_id: str | None = None, reason: str | None = None) -> SeededTurn:
        """Record a yes, for `drive_seeded` or `dispatch_seeded`."""
        return self._call(lambda: self._core.seed_approve(task_id, call_id, reason))

    def seed_deny(self, task_id: str, call_id: str | None = None, reason: str | None = None) -> SeededTurn:
        """Record a no, for `drive_seeded` or `dispatch_seeded`."""
        return self._call(lambda: self._core.seed_deny(task_id, call_id, reason))

    def drive_seeded(self, seeded: SeededTurn) -> DriveOutcome:
        """Work on a seeded turn here until it rests."""
        return self._call(lambda: self._core.drive_seeded(seeded))

    def dispatch_seeded(self, seeded: SeededTurn) -> None:
        """Hand a seeded turn to the workers."""
        self._call(lambda: self._core.dispatch_seeded(seeded))

    def start_workers(self, num_workers: int = 1, *, poll_interval: float = 1.0) -> None:
        """Have `num_workers` turns worked on at once, until `stop_workers`."""
        self._call(lambda: self._core.start_workers(num_workers, poll_interval=poll_interval))

    def stop_workers(self, timeout: float | None = None) -> bool:
        """Let the workers finish, at most `timeout` seconds long; says whether all did."""
        return self._call(lambda: self._core.stop_workers(timeout))

    def workers_running(self) -> bool:
        """Whether there are workers."""
        return self._core.workers_running()

    def subscribe(self, callback: Observer) -> Callable[[], None]:
        """Have `callback(envelope)` called on the loop thread for each event once it is durable."""
        return self._core.subscribe(callback)

    def subscribe_deltas(self, callback: OnTaskDelta) -> Callable[[], None]:
        """Have `callback(task_id, delta)` called on the loop thread for parts of answers and tools' progress."""
        return self._core.subscribe_deltas(callback)

    def events(self, task_id: str) -> list[EventEnvelope]:
        """All events of a task."""
        return self._call(lambda: self._core.events(task_id))

    def events_after(self, task_id: str, after_seq: int | None = None) -> list[EventEnvelope]:
        """The events with a greater `seq`."""
        return self._call(lambda: self._core.events_after(task_id, after_seq))

    def messages(self, task_id: str) -> list[ViewItem]:
        """The conversation, as people read it."""
        return self._call(lambda: self._core.messages(task_id))

    def task_answer(self, task_id: str) -> Any:
        """The last answer, a partial one after a failure, or `None`."""
        return self._call(lambda: self._core.task_answer(task_id))

    def task_status(self, task_id: str) -> TaskStatus | None:
        """How a task stands, or `None` when there is none of that id."""
        return self._call(lambda: self._core.task_status(task_id))

    def suspend_reason(self, task_id: str) -> SuspendReason | None:
        """Why a task is suspended, or `None` when it is not."""
        return self._call(lambda: self._core.suspend_reason(task_id))

    def usage(self, task_id: str) -> Usage:
        """The tokens of all requests of a task, and what they cost where prices are known."""
        return self._call(lambda: self._core.usage(task_id))

    def task_summaries(self) -> list[TaskListing]:
        """All tasks of the storage, with how they stand."""
        return self._call(self._core.task_summaries)

    def get_content(self, ref: ContentRef | str) -> bytes:
        """The bytes behind a reference, or behind its hash."""
        return self._call(lambda: self._core.get_content(ref))

    def put_content(self, body: bytes, *, media_type: str = "application/octet-stream") -> ContentRef:
        """Keep `body` and say how to refer to it."""
        return self._call(lambda: self._core.put_content(body, media_type=media_type))

    def explain(
        self, tool: str, arguments: JsonObject, *, permission_mode: str | None = None, enabled_mcp: Sequence[str] = ()
    ) -> Decision:
        """What would become of such a call, and which rule says so."""
        return self._call(
            lambda: self._core.explain(tool, arguments, permission_mode=permission_mode, enabled_mcp=enabled_mcp)
        )

    def _call(self, work: Callable[[], Any]) -> Any:
        self._entered()
        return LOOP_THREAD.run(work)

    def _entered(self) -> None:
        if self._resident is not None:
            return
        with self._lock:
            if self._resident is None:
                resident = _Resident(self._core)
                LOOP_THREAD.run(resident.enter)
                self._resident = resident


class _Resident:
    """Keeps a client entered on the loop thread, by a task that waits inside its `async with` block."""

    def __init__(self, core: AsyncClient) -> None:
        self._core = core
        self._error: BaseException | None = None

    async def enter(self) -> None:
        """Enter the client; raises what entering raises."""
        self._entered, self._leaving, self._left = anyio.Event(), anyio.Event(), anyio.Event()
        LOOP_THREAD.start(self._stay)
        await self._entered.wait()
        if self._error is not None:
            raise self._error

    async def leave(self) -> None:
        """Leave it again."""
        self._leaving.set()
        await self._left.wait()

    async def _stay(self) -> None:
        try:
            async with self._core:
                self._entered.set()
                await self._leaving.wait()
        except Exception as error:  # noqa: BLE001 -- raised by `enter`
            self._error = error
        finally:
            self._entered.set()
            self._left.set()
