"""Where tasks live: saving each step in one transaction, reading them back, telling observers; it runs no turns.

A task's events are a stream (`agent:<task id>`), one row a step; row numbers are the last event's `seq` plus one. What
runs has a record of kind `agent.running` with its owner and the end of its lease; what rests has one of kind
`agent.task` that lists it. Without a store a task lives as long as its host.
"""

import logging
import os
import time
from collections import OrderedDict
from collections.abc import Callable

import anyio
import msgspec
from msgspec import Struct

from toolwire.core.errors import StoreConflict
from toolwire.core.ports import Append, Del, Op, Put, Store
from toolwire.sdk.errors import NotResumableError
from toolwire.sdk.events import EventEnvelope, decode_events, encode_events
from toolwire.sdk.hosting.askers import TaskAskers
from toolwire.sdk.hosting.contents import Contents, content_ops
from toolwire.sdk.hosting.task import Status, Task, fold
from toolwire.sdk.messages import TaskDelta
from toolwire.sdk.options import HostConfig, Observer, OnTaskDelta

LOGGER = logging.getLogger("toolwire.sdk")

RUNNING = "agent.running"
LISTED = "agent.task"
LIVE_TASKS = 256
"""Resting tasks kept in memory beside a store; older ones are read back when they are wanted."""
READ_ROWS = 1000


class Lease(Struct, frozen=True):
    """Who runs a task, and until when (Unix seconds) that counts unless it is renewed."""

    owner: str
    until: float
    agent_name: str = ""


class TaskListing(Struct, frozen=True):
    """A task in the list of all: who does it and how it stands."""

    task_id: str
    agent_name: str
    status: Status
    wake_handle: str | None = None
    parent_task_id: str | None = None
    updated_at: float = 0.0


decode_lease = msgspec.json.Decoder(Lease).decode
_decode_listing = msgspec.json.Decoder(TaskListing).decode
_encode = msgspec.json.Encoder().encode


class Host:
    """The tasks of one client, on a store or in memory.

    Args:
        config: limits and the length of a lease.
        store: where tasks survive; `None` for memory.
        exclusive: nobody else can have the store open, so whatever another owner left running is dead.
        contents: what the hosts on one store share, so that nothing is written twice; by default its own.
    """

    def __init__(
        self,
        config: HostConfig,
        store: Store | None = None,
        exclusive: bool = False,
        contents: Contents | None = None,
    ) -> None:
        self.config = config
        self.store = store
        self.exclusive = exclusive
        self.owner = f"host-{os.urandom(8).hex()}"
        self.contents = contents or Contents(store)
        self.tasks: OrderedDict[str, Task] = OrderedDict()
        self.observers: list[Observer] = []
        self.delta_sinks: list[OnTaskDelta] = []
        self.askers = TaskAskers()

    def create(self, trace_id: str = "", task_id: str | None = None) -> Task:
        """A new task without events; it is stored with its first step.

        Raises:
            NotResumableError: there is one of that id.
        """
        if task_id in self.tasks:
            raise NotResumableError(f"there is a task {task_id!r} already; give it its next goal instead")
        task = Task(task_id or f"task-{os.urandom(16).hex()}", trace_id)
        self.tasks[task.id] = task
        return task

    async def find(self, task_id: str) -> Task:
        """The task as it is.

        Raises:
            NotResumableError: there is none of that id.
        """
        task = self.tasks.get(task_id)
        if task is None and self.store is not None:
            task = await self._read_back(task_id)
        if task is None:
            raise NotResumableError(f"there is no task {task_id!r}")
        return task

    async def save(self, task: Task) -> None:
        """Make the task's new events durable, in one transaction with the content they refer to; then tell observers.

        Raises:
            StoreUnavailable: nothing was written; the task is forgotten and can be read back as it was.

        Cancellation: what was begun is finished first.
        """
        if self.store is None:
            events = task.take_unsaved()
            task.events.extend(events)
            if self.observers:
                self._tell(events)
            return
        with anyio.CancelScope(shield=True):
            async with task.saving:
                await self._save(task, self.store)

    def tell_delta(self, task_id: str, delta: TaskDelta) -> None:
        """Hand a part of an answer to whoever listens; their exceptions are theirs."""
        for sink in tuple(self.delta_sinks):
            try:
                sink(task_id, delta)
            except Exception:
                LOGGER.exception("a listener to deltas raised")

    async def renew(self, lease_s: float) -> None:
        """Extend the leases of all that runs here, in one transaction."""
        if self.store is None:
            return
        running = [task for task in self.tasks.values() if task.leased]
        if running:
            await self.store.tx([self._lease_op(task, lease_s) for task in running])

    async def take_over(self, task_id: str, old: Lease, version: int) -> bool:
        """Make a task ours whose owner is gone; false when somebody else was faster."""
        if self.store is None:
            return False
        lease = Lease(self.owner, time.time() + self.config.lease_s, old.agent_name)
        try:
            await self.store.tx([Put(RUNNING, "", task_id, _encode(lease), expect=version)])
        except StoreConflict:
            return False
        self.tasks.pop(task_id, None)
        return True

    async def left_running(self) -> list[tuple[str, Lease, int]]:
        """Tasks that an owner left running who is gone: id, lease and version of the lease."""
        if self.store is None:
            return []
        now = time.time()
        found: list[tuple[str, Lease, int]] = []
        after = ""
        while rows := await self.store.scan(RUNNING, "", after, READ_ROWS):
            after = rows[-1].key
            for row in rows:
                lease = decode_lease(row.value)
                if lease.owner != self.owner and (self.exclusive or lease.until <= now):
                    found.append((row.key, lease, row.version))
        return found

    async def list_tasks(self) -> list[TaskListing]:
        """All tasks, in the order of their ids."""
        if self.store is None:
            return [_listing(task) for task in self.tasks.values()]
        listed: list[TaskListing] = []
        after = ""
        while rows := await self.store.scan(LISTED, "", after, READ_ROWS):
            after = rows[-1].key
            listed += [_decode_listing(row.value) for row in rows]
        return listed

    async def _save(self, task: Task, store: Store) -> None:
        events = task.take_unsaved()
        if not events:
            return
        content = self.contents.take_waiting()
        ops: list[Op] = content_ops(content)
        ops.append(Append(f"agent:{task.id}", encode_events(events), seq=events[-1].seq + 1))
        ops += self._state_ops(task)
        try:
            await store.tx(ops)
        except BaseException:
            self.contents.give_back(content)
            self.tasks.pop(task.id, None)
            raise
        task.events.extend(events)
        task.leased = not task.resting
        self._tell(events)
        if task.resting:
            self._evict()

    def _state_ops(self, task: Task) -> list[Op]:
        if task.resting:
            ops: list[Op] = [Put(LISTED, "", task.id, _encode(_listing(task)))]
            return [*ops, Del(RUNNING, "", task.id)] if task.leased else ops
        if task.leased:
            return []
        return [Put(LISTED, "", task.id, _encode(_listing(task))), self._lease_op(task, self.config.lease_s)]

    def _lease_op(self, task: Task, lease_s: float) -> Put:
        return Put(RUNNING, "", task.id, _encode(Lease(self.owner, time.time() + lease_s, task.agent_name)))

    def _tell(self, events: list[EventEnvelope]) -> None:
        for observer in tuple(self.observers):
            for event in events:
                _told(observer, event)

    async def _read_back(self, task_id: str) -> Task | None:
        if self.store is None:
            return None
        events: list[EventEnvelope] = []
        after = 0
        while rows := await self.store.read(f"agent:{task_id}", after, READ_ROWS):
            after = rows[-1].seq
            for row in rows:
                events += decode_events(row.value)
        if not events:
            return None
        task = Task(task_id, events[0].trace_id)
        await fold(task, events, self.contents)
        return self.tasks.setdefault(task_id, task)  # somebody else may have read it meanwhile

    def _evict(self) -> None:
        while len(self.tasks) > LIVE_TASKS:
            oldest = next((task for task in self.tasks.values() if task.resting and not task.busy), None)
            if oldest is None:
                return
            del self.tasks[oldest.id]


def _told(observer: Callable[[EventEnvelope], object], event: EventEnvelope) -> None:
    try:
        observer(event)
    except Exception:
        LOGGER.exception("an observer raised; the task goes on")


def _listing(task: Task) -> TaskListing:
    return TaskListing(task.id, task.agent_name, task.status, task.wake_handle, task.parent, time.time())
