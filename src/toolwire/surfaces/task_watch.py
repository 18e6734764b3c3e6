"""Tells subscriptions of the tasks that they name; what a task is and whose it is, others say.

Spec: MCP 2026-07-28, the extension `io.modelcontextprotocol/tasks` (SEP-2663); contract mcp.md 1.4.
"""

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial

from toolwire.core.event import Asks, Chunk, Log, Stamped
from toolwire.engine.engine import Engine
from toolwire.engine.record import Record
from toolwire.surfaces.asked import Asked
from toolwire.surfaces.endpoint import Endpoint
from toolwire.surfaces.mcp_tasks import declared, own_task
from toolwire.surfaces.task_state import Found, Standing, asking_of, task_of
from toolwire.wire.mcp.changes import subscription_meta
from toolwire.wire.mcp.tasks import Task, require_tasks, task_body


class Watch:
    """The tasks that one subscription hears of.

    Attributes:
        task_ids: what is honoured of what was asked for.
    """

    def __init__(self, engine: Engine, endpoint: Endpoint, found: Mapping[str, Found]) -> None:
        self._engine = engine
        self._endpoint = endpoint
        self._found = found
        self.task_ids = list(found)

    @contextmanager
    def heard(self, notify: Callable[[bytes], None], subscription: bytes) -> Generator[None]:
        """Tell of each task whenever it stands otherwise than before, until the block ends; at once if it has ended."""
        with ExitStack() as until:
            for task_id, found in self._found.items():
                teller = _Teller(self._engine, self._endpoint, notify, subscription)
                record = self._engine.find(task_id) or found
                if isinstance(record, Record) and not record.over:
                    until.enter_context(record.heard_by(partial(teller.hear, record)))
                    asking = asking_of(record)
                    if asking is not None and isinstance(asking.way, Standing):
                        until.enter_context(asking.way.heard(partial(teller.tell, record)))
                teller.start(record)
            yield


async def watch_tasks(engine: Engine, asked: Asked, task_ids: Sequence[str]) -> Watch:
    """Those of the tasks that a `subscriptions/listen` names which are the caller's.

    Raises:
        MissingCapability: it names some, and the client has not declared that it knows tasks.
    """
    if task_ids:
        require_tasks(declared(asked), "to hear of tasks")
    found = {task_id: await own_task(engine, asked, task_id) for task_id in task_ids}
    return Watch(engine, asked.endpoint, {task_id: one for task_id, one in found.items() if one is not None})


class _Teller:
    """Tells one subscription of one task, of each state once."""

    def __init__(
        self, engine: Engine, endpoint: Endpoint, notify: Callable[[bytes], None], subscription: bytes
    ) -> None:
        self._engine = engine
        self._endpoint = endpoint
        self._notify = notify
        self._meta = subscription_meta(subscription)
        self._last: tuple[object, ...] = ()

    def start(self, found: Found) -> None:
        """Of what goes on the client has heard when it looked; of what waits or has ended it may not have."""
        task = task_of(self._engine, self._endpoint, found)
        if task.status == "working":
            self._last = _state(task)
        else:
            self.tell(found)

    def hear(self, record: Record, stamped: Stamped) -> None:
        if not isinstance(stamped.event, Log | Chunk | Asks):
            self.tell(record)

    def tell(self, found: Found) -> None:
        task = task_of(self._engine, self._endpoint, found)
        if _state(task) != self._last:
            self._last = _state(task)
            self._notify(task_body(task, self._meta))


def _state(task: Task) -> tuple[object, ...]:
    return task.status, task.message, tuple(task.questions or ())
