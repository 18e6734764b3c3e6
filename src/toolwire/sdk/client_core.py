"""What every client has: opening and closing, reading tasks, subscribing; the verbs that move tasks are not here."""

import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeAlias

import anyio
from msgspec import Struct

from toolwire.core.errors import ToolwireError
from toolwire.core.jsontypes import JsonObject
from toolwire.sdk.content import ContentRef, Image
from toolwire.sdk.errors import AgentError, NotResumableError
from toolwire.sdk.events import EventEnvelope
from toolwire.sdk.guards import Decision
from toolwire.sdk.hosting.askers import TaskAskers
from toolwire.sdk.hosting.host import Host, TaskListing
from toolwire.sdk.hosting.task import Stop, Task
from toolwire.sdk.messages import ImageBlock, Provider, ToolUseBlock, Usage
from toolwire.sdk.options import HostConfig, Observer, OnTaskDelta, Options
from toolwire.sdk.payloads import TurnOptions
from toolwire.sdk.surroundings import Surroundings
from toolwire.sdk.turns.compiled import Settings, compile_agent
from toolwire.sdk.turns.remote_turn import mount_remote
from toolwire.sdk.turns.runner import Runner
from toolwire.sdk.turns.subtasks import with_subtasks
from toolwire.sdk.views import ViewItem, view

LOGGER = logging.getLogger("toolwire.sdk")

GivenImage: TypeAlias = ImageBlock | ContentRef | Image | str | Path
"""A picture for the model: stored already, as bytes with a type, or a file."""

IMAGE_TYPES = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".webp": "image/webp",
}
RENEWALS = 3
"""Leases are renewed so many times within their length."""
EXPIRY_CHECK_S = 0.5


class SuspendReason(Struct, frozen=True):
    """Why a task rests: "waiting_human" or "interrupted"."""

    kind: str
    detail: str | None = None


class TaskStatus(Struct, frozen=True):
    """How a task stands; `wake_handle` is what a suspended one waits for."""

    task_id: str
    status: str
    closed: bool = False
    wake_handle: str | None = None
    parent_task_id: str | None = None


class ClientCore:
    """An agent on a host. The storage opens with the first verb, or with `async with`, which also keeps leases.

    Attributes:
        askers: whom the tools of a task may ask, where whoever gives it its goals has somebody.
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
        self.options = options
        self._settings = Settings(provider, workspace_dir, model, multi_turn)
        self._surroundings = Surroundings(options, host_config or HostConfig())
        self._observers: list[Observer] = list(options.observers)
        sink = self._surroundings.config.delta_sink
        self._delta_sinks: list[OnTaskDelta] = [] if sink is None else [sink]
        self.askers = TaskAskers()
        self._opening: anyio.Lock | None = None
        self._background: anyio.abc.TaskGroup | None = None
        self._runner = self._compiled(Host(self._surroundings.config))
        self._opened = self._surroundings.in_memory

    @property
    def main_agent_name(self) -> str:
        """The agent's name."""
        return self.options.name

    async def __aenter__(self) -> Self:
        await self._open()
        self._background = anyio.create_task_group()
        await self._background.__aenter__()
        config = self._surroundings.config
        if not self._surroundings.in_memory:
            self._background.start_soon(self._keep_leases, config.lease_s)
        if config.approval_ttl_s is not None:
            self._background.start_soon(self._keep_time, min(EXPIRY_CHECK_S, config.approval_ttl_s))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        group, self._background = self._background, None
        try:
            await self._settle_all()
            if group is not None:
                group.cancel_scope.cancel()
                await group.__aexit__(kind, error, traceback)
        finally:
            await self.aclose()

    async def aclose(self) -> None:
        """Interrupt what is running and let go of everything; the next verb opens it again. Twice is fine."""
        with anyio.CancelScope(shield=True):
            await self._settle_all()
            await self._surroundings.aclose()
            self._opened = False

    def subscribe(self, callback: Observer) -> Callable[[], None]:
        """Have `callback(envelope)` called for each event once it is durable, on the event loop.

        What it raises is logged and harms nobody; it must not block.

        Returns:
            A function that ends the subscription; calling it twice is fine.
        """
        return _listed(self._observers, callback)

    def subscribe_deltas(self, callback: OnTaskDelta) -> Callable[[], None]:
        """Have `callback(task_id, delta)` called for the parts of answers and tools' progress, as they come.

        Returns:
            A function that ends the subscription.
        """
        return _listed(self._delta_sinks, callback)

    async def events(self, task_id: str) -> list[EventEnvelope]:
        """All events of a task.

        Raises:
            NotResumableError: there is no such task.
        """
        return list((await self._task(task_id)).events)

    async def events_after(self, task_id: str, after_seq: int | None = None) -> list[EventEnvelope]:
        """The events with a greater `seq`; `None` for all of them.

        Raises:
            NotResumableError: there is no such task.
        """
        events = (await self._task(task_id)).events
        return events[0 if after_seq is None else max(0, after_seq + 1) :]

    async def messages(self, task_id: str) -> list[ViewItem]:
        """The conversation, as people read it.

        Raises:
            NotResumableError: there is no such task.
        """
        return view(await self._task(task_id))

    async def task_answer(self, task_id: str) -> Any:
        """The last answer, a partial one after a failure, or `None`.

        Raises:
            NotResumableError: there is no such task.
        """
        return (await self._task(task_id)).answer

    async def task_status(self, task_id: str) -> TaskStatus | None:
        """How a task stands, or `None` when there is none of that id."""
        try:
            task = await self._task(task_id)
        except NotResumableError:
            return None
        return TaskStatus(task.id, task.status, task.closed, task.wake_handle, task.parent)

    async def suspend_reason(self, task_id: str) -> SuspendReason | None:
        """Why a task is suspended, or `None` when it is not.

        Raises:
            NotResumableError: there is no such task.
        """
        task = await self._task(task_id)
        return None if task.status != "suspended" else SuspendReason(task.rest or "waiting_human")

    async def usage(self, task_id: str) -> Usage:
        """The tokens of all requests of a task, and what they cost where prices are known.

        Raises:
            NotResumableError: there is no such task.
        """
        return (await self._task(task_id)).usage

    async def task_summaries(self) -> list[TaskListing]:
        """All tasks of the storage, with how they stand."""
        return await (await self._open()).host.list_tasks()

    async def get_content(self, ref: ContentRef | str) -> bytes:
        """The bytes behind a reference, or behind its hash.

        Raises:
            KeyError: there are none.
        """
        host = (await self._open()).host
        return await host.contents.fetch(ref if isinstance(ref, ContentRef) else ContentRef(ref, 0))

    async def put_content(self, body: bytes, *, media_type: str = "application/octet-stream") -> ContentRef:
        """Keep `body`, at the latest with the next step of a task, and say how to refer to it."""
        return (await self._open()).host.contents.put(body, media_type)

    async def explain(
        self, tool: str, arguments: JsonObject, *, permission_mode: str | None = None, enabled_mcp: Sequence[str] = ()
    ) -> Decision:
        """What would become of such a call, and which rule says so; nothing is run or recorded."""
        runner = await self._open()
        task = Task("task-")
        task.options = TurnOptions(permission_mode, enabled_mcp=tuple(enabled_mcp))
        turn = runner.turn(task)
        if turn.remote is not None:
            await mount_remote(turn, turn.remote)
        use = ToolUseBlock("explain", tool, arguments)
        mounted = turn.mounts.get(tool)
        return await runner.agent.permission.decide(use, mounted, turn.mode, turn.guard_context)

    async def _task(self, task_id: str) -> Task:
        """The task, with approvals that nobody answered in time denied."""
        runner = await self._open()
        task = await runner.host.find(task_id)
        if task.asked and task.resting and not task.busy:
            await runner.expire(task)
            task = await runner.host.find(task_id)
        return task

    async def _open(self) -> Runner:
        if self._opened:
            return self._runner
        if self._opening is None:
            self._opening = anyio.Lock()
        async with self._opening:
            if not self._opened:
                in_memory = self._surroundings.in_memory
                host = self._runner.host if in_memory else await self._surroundings.open_host()
                self._runner = self._compiled(host)
                self._opened = True
        return self._runner

    def _compiled(self, host: Host) -> Runner:
        surroundings = self._surroundings
        agent = compile_agent(self.options, self._settings, host, surroundings.builtin)
        agent = with_subtasks(agent, self._settings, host, surroundings.builtin)
        surroundings.provider, surroundings.model = agent.provider, agent.model
        host.observers = self._observers
        host.delta_sinks = self._delta_sinks
        host.askers = self.askers
        return Runner(host, agent, surroundings.remote)

    async def _settle_all(self) -> None:
        runner = self._runner
        stop = Stop(final=False, reason="the client was shut down", by="runtime")
        for task in list(runner.host.tasks.values()):
            if task.busy:
                try:
                    await runner.stop(task.id, stop)
                except (AgentError, ToolwireError):
                    LOGGER.exception("task %s could not be interrupted", task.id)

    async def _images(self, images: Sequence[GivenImage]) -> list[ImageBlock]:
        return [await self._image(image) for image in images]

    async def _image(self, image: GivenImage) -> ImageBlock:
        contents = self._runner.host.contents
        match image:
            case ImageBlock():
                return image
            case ContentRef():
                return ImageBlock(image)
            case Image():
                return ImageBlock(contents.put(image.data, image.mime_type))
            case str() | Path():
                path = anyio.Path(image)
                media_type = IMAGE_TYPES.get(path.suffix.lower())
                if media_type is None:
                    raise ValueError(f"{str(image)!r} is no picture by its name; there are {', '.join(IMAGE_TYPES)}")
                return ImageBlock(contents.put(await path.read_bytes(), media_type))

    async def _keep_leases(self, lease_s: float) -> None:
        while True:
            await anyio.sleep(lease_s / RENEWALS)
            try:
                await self._runner.host.renew(lease_s)
            except ToolwireError:
                LOGGER.exception("the leases of running tasks could not be renewed")

    async def _keep_time(self, every_s: float) -> None:
        while True:
            await anyio.sleep(every_s)
            for task in list(self._runner.host.tasks.values()):
                if task.asked and task.resting and not task.busy:
                    try:
                        await self._runner.expire(task)
                    except (AgentError, ToolwireError):
                        LOGGER.exception("the approvals of task %s could not expire", task.id)


def _listed(listeners: list[Any], listener: Any) -> Callable[[], None]:
    if not callable(listener):
        raise TypeError(f"a subscriber must be callable, got {listener!r}")
    listeners.append(listener)
    active = True

    def unsubscribe() -> None:
        nonlocal active
        if active:
            active = False
            listeners.remove(listener)

    return unsubscribe
