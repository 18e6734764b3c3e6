"""How a task stands, read off its call's record; it begins, ends and tells of none.

Spec: MCP 2026-07-28, the extension `io.modelcontextprotocol/tasks` (SEP-2663); contract mcp.md 1.4.
"""

from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from typing import TypeAlias

from msgspec.structs import replace

from toolwire.core.asking import Question
from toolwire.core.call import Call
from toolwire.core.errors import Cancelled, InvalidArguments
from toolwire.core.event import Progress
from toolwire.core.ids import new_id
from toolwire.core.jsontypes import JsonObject
from toolwire.core.result import TOOL_FAILED, Failure, Result
from toolwire.engine.asking import Asking
from toolwire.engine.engine import Engine
from toolwire.engine.record import CallRecord, Observer, Record
from toolwire.surfaces.endpoint import Endpoint
from toolwire.wire.jsonrpc import error_object
from toolwire.wire.mcp.asking import input_requests
from toolwire.wire.mcp.replies import tool_result
from toolwire.wire.mcp.tasks import Task
from toolwire.wire.mcp.versions import LATEST_MODERN

CONTEXT_KEY = "toolwire/context_id"
TASK_KEY = "toolwire/task_id"

_TOOLS_OWN = frozenset({TOOL_FAILED, InvalidArguments.code})
"""Failures that the tool itself reports: its task is completed, with a result that says so."""

Found: TypeAlias = Record | CallRecord
"""A task that is running here, or one as it lies in the store."""


class Standing:
    """How a task asks, an `engine.asking.Way`: its questions stand in `tasks/get`, and who listens is told of them."""

    def __init__(self) -> None:
        self._tellers: dict[object, Callable[[], None]] = {}

    def ask(self, questions: Sequence[Question]) -> None:
        """See `engine.asking.Way.ask`."""
        self.tell()

    def withdraw(self, keys: Iterable[str]) -> None:
        """See `engine.asking.Way.withdraw`; whatever ended the question has an event of its own."""

    def complete(self, key: str) -> None:
        """See `engine.asking.Way.complete`; on this wire nobody is told."""

    def tell(self) -> None:
        """Tell who listens how the task stands."""
        for teller in tuple(self._tellers.values()):
            teller()

    @contextmanager
    def heard(self, teller: Callable[[], None]) -> Generator[None]:
        """Call `teller` whenever the questions are others, until the block ends."""
        key = object()
        self._tellers[key] = teller
        try:
            yield
        finally:
            del self._tellers[key]


def ask_by_task(record: Record, asking: Asking) -> None:
    """Have what a running call asks stand in its record, where whoever looks after its task finds and answers it."""
    record.asker = asking
    asking.way = Standing()
    record.at_end(lambda _: asking.fail_all(_is_over))  # a thread may wait for the answer all the same


def ask_by_record(engine: Engine) -> Observer:
    """Have what calls ask that go on without their requests stand in their records, where nobody else asks for them."""

    def make_asker(record: Record) -> Asking:
        call = record.call
        asking = Asking(call.client_capabilities, engine.last_moment(record), repeats=True)
        ask_by_task(record, asking)
        return asking

    def begins(record: Record) -> None:
        if record.call.outlives_request:
            record.make_asker = make_asker  # most calls never ask

    return begins


def _is_over() -> Cancelled:
    return Cancelled("the call is over")


def asking_of(found: Found) -> Asking | None:
    """What asks the client of a task, while it is running here."""
    asker = found.asker if isinstance(found, Record) and not found.over else None
    return asker if isinstance(asker, Asking) else None


def begun(engine: Engine, endpoint: Endpoint, found: Found) -> Task:
    """A task as it was when it began."""
    call, limits = found.call, engine.limits
    # Of a call under a key that is a task for a repeat.
    ttl_s = max(limits.history_ttl_s, endpoint.catalog.key_ttl_s or limits.idempotency_ttl_s)
    if call.task is not None:
        ttl_s = call.task.kept_until - found.created_at
    return Task(
        task_id=call.id,
        status="working",
        created_at=found.created_at,
        updated_at=found.created_at,
        ttl_ms=max(1, round(ttl_s * 1000)),
        poll_ms=max(1, round(limits.tasks.poll_s * 1000)),
    )


def task_of(engine: Engine, endpoint: Endpoint, found: Found) -> Task:
    """A task as it is now."""
    task = begun(engine, endpoint, found)
    if found.result is not None:
        return _ended(
            endpoint, found.call, found.result, replace(task, updated_at=found.completed_at or task.created_at)
        )
    if isinstance(found, Record):
        task = _under_way(found, task)
    asking = asking_of(found)
    if asking is None or not asking.questions:
        return task
    return replace(task, status="input_required", questions=input_requests(asking.questions))


def _under_way(record: Record, task: Task) -> Task:
    """With the time of the last thing that was heard of it, and the last words about how far it is."""
    events = record.events
    if not events:
        return task
    for stamped in reversed(events):
        if isinstance(stamped.event, Progress) and stamped.event.message:
            return replace(task, updated_at=events[-1].at, message=stamped.event.message)
    return replace(task, updated_at=events[-1].at)


def _ended(endpoint: Endpoint, call: Call, result: Result, task: Task) -> Task:
    failure = result.error
    if failure is not None and failure.code == "cancelled":
        return replace(task, status="cancelled", message=failure.message)
    if failure is not None and failure.code not in _TOOLS_OWN:
        return replace(task, status="failed", message=failure.message, error=_error(endpoint, call, failure))
    meta = call_meta(endpoint, call) or None
    return replace(task, status="completed", result=tool_result(result, meta, endpoint.stamp, LATEST_MODERN))


def _error(endpoint: Endpoint, call: Call, failure: Failure) -> JsonObject:
    data: JsonObject = {**(failure.data or {}), "request_id": new_id("req")}
    if endpoint.plane == "gateway":
        data["task_id"] = call.id
    return error_object(endpoint.row(failure.code, modern=True), failure.code, failure.message, data)


def call_meta(endpoint: Endpoint, call: Call) -> JsonObject:
    """What the gateway says of a call in the `_meta` of its result."""
    return {TASK_KEY: call.id, CONTEXT_KEY: call.context_id} if endpoint.plane == "gateway" else {}
