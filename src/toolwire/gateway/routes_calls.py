"""REST: call an agent and wait (`invoke`), or begin a task and look after it (`tasks`); it keeps nothing itself.

Contract: gateway.md 25, 54, §6 "REST".
"""

from collections.abc import Sequence
from contextlib import aclosing
from typing import Annotated

import msgspec
from msgspec import Meta, Struct
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from toolwire.core.errors import CallNotFound, Conflict, InvalidParam, ToolwireError
from toolwire.core.event import Answered, Asks, Finished, Log, Progress, Stamped
from toolwire.core.jsontypes import JsonObject
from toolwire.engine.engine import Engine, Submission
from toolwire.engine.follow import Follower
from toolwire.engine.history import calls_of
from toolwire.engine.record import CallRecord, Record
from toolwire.gateway.agent_record import AgentRecord
from toolwire.gateway.agents import Agents
from toolwire.gateway.auth import Identity
from toolwire.gateway.channel_shelf import MAX_HISTORY
from toolwire.gateway.channels import Channels
from toolwire.gateway.door import check_may_call
from toolwire.gateway.rates import Rates
from toolwire.gateway.rest import Reader
from toolwire.gateway.rest_calls import CallBody, RestCalls, TaskBody, shown_result
from toolwire.gateway.routes_channels import MAX_OFFSET, message_shown
from toolwire.gateway.task_states import IsWaiting, shown_progress, shown_task, task_status
from toolwire.surfaces.described import EVENTS, Answers, Described, described, header, marked, query
from toolwire.surfaces.event_stream import EventStream
from toolwire.surfaces.rest import answer, query_number
from toolwire.surfaces.task_state import Standing, asking_of
from toolwire.wire.answers.calls import Answer, CallEvent, Task, TaskPage, TaskStatus
from toolwire.wire.answers.channels import History
from toolwire.wire.link import Message, message_id_of
from toolwire.wire.rest import failure, rfc3339
from toolwire.wire.sse import event

MAX_TASKS = 200
USUAL_TASKS = 50
STATUSES = ("queued", "running", "input_required", "auth_required", "completed", "failed", "canceled", "timeout",
            "rejected")  # fmt: skip

CALLED = (
    "tool_not_found idempotency_key_reused rate_limited agent_offline agent_busy conflict agent_lost outcome_unknown "
    "invalid_agent_response consent_required cancelled service_timeout url_elicitation_required "
    "missing_client_capability channel_not_found file_not_found"
)
"""How a call may end that gives no answer."""
KEY = header(
    "Idempotency-Key", "the same call under the same key runs once", Annotated[str, Meta(min_length=1, max_length=255)]
)

Found = Record | CallRecord


class Continue(Struct, frozen=True, forbid_unknown_fields=True):
    """The body of `POST …/continue`: by key, the answers to what the task asks, in MCP's words for each question."""

    answers: dict[str, JsonObject]


class CallRoutes:
    """The routes.

    Args:
        reader: reads requests.
        engine: runs calls.
        agents: have the tools.
        calls: makes calls of bodies.
        rates: how often a credential may call.
        channels: where what was said about tasks lies.
        is_waiting: whether nobody has taken a call yet.
    """

    def __init__(
        self,
        reader: Reader,
        engine: Engine,
        agents: Agents,
        calls: RestCalls,
        rates: Rates,
        channels: Channels,
        is_waiting: IsWaiting,
    ) -> None:
        self._is_waiting = is_waiting
        self._reader = reader
        self._engine = engine
        self._agents = agents
        self._calls = calls
        self._rates = rates
        self._channels = channels

    def routes(self) -> Sequence[Route]:
        """What to mount."""
        one = "/api/v1/agents/{agent}"
        task = one + "/tasks/{task}"
        return (
            Route(one + "/invoke", self.invoke, methods=["POST"]),
            Route(one + "/tasks", self.submit, methods=["POST"]),
            Route(one + "/tasks", self.list, methods=["GET"]),
            Route(task, self.show, methods=["GET"]),
            Route(task + "/cancel", self.cancel, methods=["POST"]),
            Route(task + "/continue", self.go_on, methods=["POST"]),
            Route(task + "/events", self.events, methods=["GET"]),
            Route(task + "/messages", self.messages, methods=["GET"]),
        )

    @marked(
        Described(
            Answer,
            200,
            ("bak", "oag"),
            CallBody,
            parameters=(KEY,),
            errors=tuple(CALLED.split()),
            others={200: Answers("the answer, or events where Accept names them", {EVENTS: CallEvent})},
        )
    )
    async def invoke(self, request: Request) -> Response:
        """Call a tool, or say something, and wait for the end; as an event stream where Accept names it."""
        identity, agent = self._may_call_now(request)
        body = await self._reader.body(request, CallBody)
        header = request.headers.get("idempotency-key")
        call = await self._calls.call_of(identity.caller("rest"), agent.agent_id, body, header)
        catalog = self._agents.catalog(agent.agent_id)
        if "text/event-stream" in request.headers.get("accept", ""):
            submission = await self._engine.begin(call, catalog)
            return self._stream(identity, submission.record, cancels=not submission.replayed)
        submission = await self._engine.submit(call, catalog)
        result = submission.record.result
        assert result is not None
        return _marked(answer(shown_result(submission.record.call, result)), submission)

    @described("bak oag", Task, 202, body=TaskBody, errors=CALLED, parameters=(KEY,))
    async def submit(self, request: Request) -> Response:
        """Begin a task; the answer comes at once, and the task survives whatever happens to who asked."""
        identity, agent = self._may_call_now(request)
        body = await self._reader.body(request, TaskBody)
        header = request.headers.get("idempotency-key")
        call = await self._calls.call_of(identity.caller("rest"), agent.agent_id, body, header)
        if body.webhook is not None:
            call = await self._calls.told(call, body.webhook)
        submission = await self._engine.begin(
            self._calls.as_task(call, body.deadline_ms), self._agents.catalog(agent.agent_id)
        )
        return _marked(self._shown(submission.record, 202), submission)

    @described(
        "bak oag",
        TaskPage,
        parameters=(
            query("status", "only tasks with this status", TaskStatus),
            query("after", "the id of the last task of the page before"),
            query("limit", "how many", Annotated[int, Meta(ge=1, le=MAX_TASKS)]),
        ),
    )
    async def list(self, request: Request) -> Response:
        """The caller's tasks with an agent, the oldest first: `status`, `after` (a task's id) and `limit`."""
        identity, agent = self._may_call(request)
        limit = query_number(request, "limit", USUAL_TASKS, 1, MAX_TASKS)
        status, after = request.query_params.get("status"), request.query_params.get("after", "")
        if status is not None and status not in STATUSES:
            raise InvalidParam(f"status is one of {', '.join(STATUSES)}, not {status!r}", param="status")
        found: list[Found] = []
        async with aclosing(calls_of(self._engine, identity.owner, after)) as known:
            async for one in known:
                if _is_task_of(one, identity, agent) and status in (None, task_status(one, self._is_waiting)):
                    found.append(one)
                if len(found) > limit:
                    break
        more = len(found) > limit
        return answer({"tasks": [shown_task(one, self._is_waiting) for one in found[:limit]], "more": more})

    @described("bak oag", Task)
    async def show(self, request: Request) -> Response:
        """A task as it is now."""
        return self._shown(await self._task(request))

    @described("bak oag", Task)
    async def cancel(self, request: Request) -> Response:
        """Say that nobody wants a task any more; of one that has ended nothing changes."""
        found = await self._task(request)
        self._engine.cancel(found.call.id, "who began it said so")
        if isinstance(found, Record):
            await found.wait()
        return self._shown(found)

    @described("bak oag", Task, body=Continue, errors="conflict")
    async def go_on(self, request: Request) -> Response:
        """Answer what a task asks, so that it goes on."""
        found = await self._task(request)
        body = await self._reader.body(request, Continue)
        asking = asking_of(found)
        if asking is None or not asking.questions:
            raise Conflict(f"task {found.call.id!r} asks nothing now; it is {task_status(found, self._is_waiting)}")
        unknown = sorted(set(body.answers) - {question.key for question in asking.questions})
        if unknown:
            raise InvalidParam(
                f"the task does not ask {unknown[0]!r}; read what it asks", param=f"answers.{unknown[0]}"
            )
        for key, given in body.answers.items():
            asking.give(key, given)
        if isinstance(asking.way, Standing):
            asking.way.tell()
        unfit = sorted(set(body.answers) & {question.key for question in asking.questions})
        if unfit:
            words = f"the answer to {unfit[0]!r} is not what was asked for; read what it asks and answer again"
            raise InvalidParam(words, param=f"answers.{unfit[0]}")
        return self._shown(found)

    @marked(
        Described(
            keys=("bak", "oag"),
            parameters=(
                header("Last-Event-ID", "go on after this event", Annotated[str, Meta(pattern=r"^[0-9]{1,15}$")]),
            ),
            others={200: Answers("events until the task's end", {EVENTS: CallEvent})},
            enveloped=False,
        )
    )
    async def events(self, request: Request) -> Response:
        """What happens to a task, as an event stream; `Last-Event-ID` goes on where a reader left off."""
        found = await self._task(request)
        sent = request.headers.get("last-event-id", "0")
        if not (sent.isascii() and sent.isdigit() and len(sent) < 16):
            raise InvalidParam(f"Last-Event-ID is a number that this stream gave, not {sent!r}", param="Last-Event-ID")
        return self._stream(self._may_call(request)[0], found, int(sent))

    @described(
        "bak oag",
        History,
        parameters=(
            query("since", "only messages after this offset", Annotated[int, Meta(ge=0, le=MAX_OFFSET)]),
            query("limit", "how many", Annotated[int, Meta(ge=1, le=MAX_HISTORY)]),
        ),
    )
    async def messages(self, request: Request) -> Response:
        """What the gateway and the agent have said to each other about a task, in order."""
        call = (await self._task(request)).call
        since = query_number(request, "since", 0, 0, MAX_OFFSET)
        limit = query_number(request, "limit", 100, 1, MAX_HISTORY)
        channel = await self._channels.fetch(call.context_id or "")
        found: list[Message] = []
        while channel is not None:
            page = await self._channels.history(channel, since, MAX_HISTORY)
            asked = message_id_of(call.id)
            found += [row for row in page.messages if asked in (row.message_id, row.in_reply_to)]
            if len(found) >= limit or page.latest_offset == since:
                break
            since = page.latest_offset
        found = found[:limit]
        latest = found[-1].offset if found else since
        return answer({"messages": [message_shown(row) for row in found], "latest_offset": latest})

    def _shown(self, found: Found, status: int = 200) -> Response:
        return answer(shown_task(found, self._is_waiting), status)

    def _may_call_now(self, request: Request) -> tuple[Identity, AgentRecord]:
        """As `_may_call`, for a call that counts.

        Raises:
            RateLimited: the credential has called too often.
        """
        identity, agent = self._may_call(request)
        pace = self._rates.of(identity.key_id, identity.kind, agent.agent_id)
        if pace is not None:
            pace.take()
        return identity, agent

    def _may_call(self, request: Request) -> tuple[Identity, AgentRecord]:
        identity = self._reader.identify(request, "bak", "oag")
        agent = self._reader.agent(request, identity)
        check_may_call(identity, agent, agent.agent_id)
        return identity, agent

    async def _task(self, request: Request) -> Found:
        """The task in the path, if it is the caller's.

        Raises:
            CallNotFound: the caller has none of that id with this agent.
        """
        identity, agent = self._may_call(request)
        task_id = str(request.path_params["task"])
        stored: Found | None = None
        found: Found | None = self._engine.find(task_id)
        if found is None:
            stored = await self._engine.load(identity.owner, task_id)
            found = self._engine.find(task_id) or stored
        if found is None or not _is_task_of(found, identity, agent):
            raise CallNotFound(f"no task {task_id!r} of yours with this agent; it may have been forgotten since")
        return found

    def _stream(self, identity: Identity, found: Found, after: int | None = None, *, cancels: bool = False) -> Response:
        """The events of a call, or of a task after the one with the number `after`.

        Who leaves the stream of a call that nobody else wants ends it, if `cancels`.
        """
        owner, is_task = found.call.caller.owner, after is not None
        follower = Follower(self._engine, owner, found.call.id, after or 0, recalls=is_task)

        async def next_frame() -> bytes | None:
            stamped = await follower.next()
            return None if stamped is None else _frame(found, stamped)

        def left() -> None:
            if cancels and not found.call.outlives_request:
                self._engine.cancel(found.call.id, "who asked has gone")

        return EventStream(next_frame, on_left=left, hold=self._reader.hold(identity))


def _is_task_of(found: Found, identity: Identity, agent: AgentRecord) -> bool:
    caller, call = found.call.caller, found.call
    mine = (caller.principal, caller.owner) == (identity.principal, identity.owner)
    return mine and call.agent_id == agent.agent_id and call.outlives_request


def _frame(found: Found, stamped: Stamped) -> bytes:
    """One event, with what it is in its `type`."""
    happened = stamped.event
    shown: JsonObject
    if isinstance(happened, Progress):
        shown = {"type": "progress", **shown_progress(happened)}
    elif isinstance(happened, Log):
        shown = {"type": "log", "level": happened.level, "text": happened.text}
    elif isinstance(happened, Finished):
        shown = _last(found, happened)
    elif isinstance(happened, Asks):
        shown = {"type": "input_required", "questions": msgspec.to_builtins(happened.questions)}
    elif isinstance(happened, Answered):
        shown = {"type": "answered", "outcomes": happened.outcomes}
    else:
        shown = {"type": type(happened).__name__.lower()}
    return event(msgspec.json.encode({**shown, "at": rfc3339(stamped.at)}), str(stamped.seq))


def _last(found: Found, finished: Finished) -> JsonObject:
    try:
        return {"type": "result", "result": shown_result(found.call, finished.result)}
    except ToolwireError as error:
        return {"type": "error", "error": msgspec.json.decode(failure(error)[1])["error"]}


def _marked(response: Response, submission: Submission) -> Response:
    """The answer of a call that was there already says so (gateway.md 27)."""
    if submission.replayed:
        response.headers["idempotency-replayed"] = "true"
    return response
