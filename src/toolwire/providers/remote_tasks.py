"""Follows a call that an MCP server has made a task of to its end, by asking how it stands; it begins no call.

On 2026-07-28 the server decides, by the extension `io.modelcontextprotocol/tasks` (SEP-2663), which is declared where
somebody can take a task. On 2025-11-25 the client asks for a task, and a tool may insist on that.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final, Literal, Protocol, TypeVar

import anyio
from mcp import MCPError, types
from mcp.client.extension import ClaimContext, ClientExtension, ResultClaim
from mcp.client.session import ClientSession
from msgspec import Struct

from toolwire.core.asking import AskMethod
from toolwire.core.errors import AgentLost, Cancelled, ToolwireError
from toolwire.core.jsontypes import JsonObject
from toolwire.providers.remote_answers import mark_of
from toolwire.providers.remote_scope import Report, Scope, Scopes
from toolwire.wire.mcp.handshake import TASKS

T = TypeVar("T")

LEAST_POLL_S: Final = 0.02
MOST_POLL_S: Final = 10.0
USUAL_POLL_S: Final = 1.0
MAX_MISSES: Final = 5
"""How often in a row a server may not say how a task stands."""
CANCEL_S: Final = 2.0

_Status = Literal["working", "input_required", "completed", "failed", "cancelled"]


class TaskBegun(types.Result):
    """The answer of 2026-07-28 to a call that has become a task."""

    result_type: Literal["task"]
    task_id: str
    poll_interval_ms: float | None = None


class TaskNow(types.Result):
    """The answer of 2026-07-28 to `tasks/get`."""

    status: _Status
    status_message: str | None = None
    poll_interval_ms: float | None = None
    result: dict[str, Any] | None = None
    error: dict[str, Any] | None = None
    input_requests: dict[str, Any] | None = None


class _Named(types.RequestParams):
    task_id: str


class _Answers(_Named):
    input_responses: dict[str, Any]


class _GetTask(types.Request[_Named, Literal["tasks/get"]]):
    method: Literal["tasks/get"] = "tasks/get"
    params: _Named
    name_param = "taskId"


class _UpdateTask(types.Request[_Answers, Literal["tasks/update"]]):
    method: Literal["tasks/update"] = "tasks/update"
    params: _Answers
    name_param = "taskId"


class _CancelTask(types.Request[_Named, Literal["tasks/cancel"]]):
    method: Literal["tasks/cancel"] = "tasks/cancel"
    params: _Named
    name_param = "taskId"


class _Created(types.CallToolResult):
    """The answer of 2025-11-25 to a call that asks for a task; without one it is the result."""

    task: types.Task | None = None


class State(Struct, frozen=True):
    """How a task stands; `questions` are those of its requests that it asks now, by key."""

    status: _Status
    message: str | None = None
    poll_s: float = USUAL_POLL_S
    questions: JsonObject = {}
    error: JsonObject | None = None


class RemoteTask(Protocol):
    """A task of a server, in one revision."""

    async def look(self) -> State:
        """How it stands."""
        ...

    async def answer(self, answers: JsonObject) -> None:
        """Answer what it asks."""
        ...

    async def cancel(self) -> None:
        """Say that nobody wants it any more."""
        ...

    async def result(self) -> types.CallToolResult:
        """What the call is answered with; waits where the revision does."""
        ...


class ModernTask:
    """A `RemoteTask` of 2026-07-28."""

    def __init__(self, session: ClientSession, task_id: str) -> None:
        self._session = session
        self._named = _Named(task_id=task_id)
        self._last: TaskNow | None = None

    async def look(self) -> State:
        """See `RemoteTask.look`."""
        now = self._last = await self._session.send_request(_GetTask(params=self._named), TaskNow)
        questions = now.input_requests or {}
        return State(now.status, now.status_message, _poll_s(now.poll_interval_ms), questions, now.error)

    async def answer(self, answers: JsonObject) -> None:
        """See `RemoteTask.answer`."""
        params = _Answers(task_id=self._named.task_id, input_responses=answers)
        await self._session.send_request(_UpdateTask(params=params), types.EmptyResult)

    async def cancel(self) -> None:
        """See `RemoteTask.cancel`."""
        await self._session.send_request(_CancelTask(params=self._named), types.EmptyResult)

    async def result(self) -> types.CallToolResult:
        """See `RemoteTask.result`."""
        given = {} if self._last is None else self._last.result or {}
        return types.CallToolResult.model_validate(given, by_name=False)


class LegacyTask:
    """A `RemoteTask` of 2025-11-25. What it asks is asked on the stream of `tasks/result`."""

    def __init__(self, session: ClientSession, task_id: str) -> None:
        self._session = session
        self._task_id = task_id

    async def look(self) -> State:
        """See `RemoteTask.look`."""
        params = types.GetTaskRequestParams(task_id=self._task_id)
        now = await self._session.send_request(types.GetTaskRequest(params=params), types.GetTaskResult)
        return State(now.status, now.status_message, _poll_s(now.poll_interval))

    async def answer(self, answers: JsonObject) -> None:
        """Nothing is answered here."""

    async def cancel(self) -> None:
        """See `RemoteTask.cancel`."""
        params = types.CancelTaskRequestParams(task_id=self._task_id)
        await self._session.send_request(types.CancelTaskRequest(params=params), types.CancelTaskResult)

    async def result(self) -> types.CallToolResult:
        """See `RemoteTask.result`."""
        params = types.GetTaskPayloadRequestParams(task_id=self._task_id)
        return await self._session.send_request(types.GetTaskPayloadRequest(params=params), types.CallToolResult)


class TasksExtension(ClientExtension):
    """Says to servers of 2026-07-28 that a call may become a task, and follows it.

    Args:
        scopes: the calls that are under way.
    """

    identifier = TASKS

    def __init__(self, scopes: Scopes) -> None:
        self._scopes = scopes

    def claims(self) -> Sequence[ResultClaim[Any]]:
        """The results that name a task."""
        return (ResultClaim(result_type="task", model=TaskBegun, resolve=self._resolve),)

    async def _resolve(self, begun: TaskBegun, context: ClaimContext) -> types.CallToolResult:
        task = ModernTask(context.session, begun.task_id)
        return await followed(task, self._scopes.current(), _poll_s(begun.poll_interval_ms))


async def call_as_task(
    session: ClientSession, tool: str, arguments: JsonObject, report: Report, scope: Scope | None
) -> types.CallToolResult:
    """The result of a call that a server of 2025-11-25 is asked to make a task of.

    Raises:
        MCPError, ToolwireError: as `followed`; or it refuses the call.
    """
    params = types.CallToolRequestParams(name=tool, arguments=arguments, task=types.TaskMetadata())
    request = types.CallToolRequest(params=params)
    created = await session.send_request(request, _Created, progress_callback=report)
    if created.task is None:
        return created
    task = LegacyTask(session, created.task.task_id)
    return await followed(task, scope, _poll_s(created.task.poll_interval))


async def followed(task: RemoteTask, scope: Scope | None, poll_s: float) -> types.CallToolResult:
    """What a task ends with; the call becomes a task of its own client, too, if that takes one.

    Raises:
        MCPError: it has failed.
        Cancelled: the server has ended it.
        AgentLost: the server does not say any more how it stands.
        ToolwireError: what it asks cannot be answered.

    Cancellation: the server is told.
    """
    over = False
    try:
        if scope is not None:
            await scope.become_task()
        state = await _to_end(task, scope, poll_s)
        over = True
        if state.status == "cancelled":
            raise Cancelled(state.message or "the server has cancelled the task")
        if state.status == "failed" and state.error is not None:
            raise _failure(state.error)
        return await _asked(task.result)
    finally:
        if not over:
            with anyio.CancelScope(shield=True), anyio.move_on_after(CANCEL_S):
                await _quietly(task.cancel)


async def _to_end(task: RemoteTask, scope: Scope | None, poll_s: float) -> State:
    """How a task stands when it has ended, or when its result is to be waited for."""
    told: str | None = None
    answered: set[str] = set()
    while True:
        await anyio.sleep(poll_s)
        state = await _looked(task)
        poll_s = state.poll_s
        if scope is not None and state.message is not None and state.message != told:
            told = state.message
            await scope.tell(told)
        if state.status not in ("working", "input_required"):
            return state
        if state.status == "input_required" and isinstance(task, LegacyTask):
            return state
        for key, asked in state.questions.items():
            if key not in answered and scope is not None:
                answered.add(key)
                await _answer(task, scope, key, asked)


async def _looked(task: RemoteTask) -> State:
    try:
        return await _asked(task.look)
    except MCPError as error:
        words = f"the server knows nothing of its task any more, and what became of it is not known: {error}"
        raise AgentLost(words) from None


async def _answer(task: RemoteTask, scope: Scope, key: str, asked: JsonObject) -> None:
    method: AskMethod = asked["method"]
    answer = await scope.ask(method, asked.get("params") or {})
    await _asked(lambda: task.answer({key: answer}))


async def _asked(ask: Callable[[], Awaitable[T]]) -> T:
    """What a server answers about a task, asked again where the way there fails.

    Raises:
        AgentLost: it fails time and again.
        MCPError: the server refuses.
    """
    for attempt in range(1, MAX_MISSES + 1):
        try:
            return await ask()
        except MCPError as error:
            if mark_of(error) is None:
                raise
            if attempt == MAX_MISSES:
                words = f"the server does not say how its task stands, and what became of it is not known: {error}"
                raise AgentLost(words) from None
            await anyio.sleep(USUAL_POLL_S)
    raise AssertionError("it is asked at least once")


async def _quietly(send: Callable[[], Awaitable[None]]) -> None:
    try:
        await send()
    except (MCPError, ToolwireError, RuntimeError, ValueError):
        return  # it ends by itself, some day


def _failure(error: JsonObject) -> MCPError:
    code, message = error.get("code"), error.get("message")
    return MCPError(code if isinstance(code, int) else types.INTERNAL_ERROR, str(message), error.get("data"))


def _poll_s(interval_ms: float | None) -> float:
    return USUAL_POLL_S if interval_ms is None else min(max(interval_ms / 1000, LEAST_POLL_S), MOST_POLL_S)
