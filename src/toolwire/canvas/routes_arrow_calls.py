"""The routes of an arrow's calls: which there were, one in full, and those that its owner makes or ends; it runs none.

Spec: cards.md, section 7 and "call replay from the log".
"""

import heapq
from collections.abc import Sequence
from typing import Annotated

from msgspec import UNSET, Meta, Struct
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from toolwire.canvas.arrow_log import KEPT_CALLS, ArrowLog, LoggedCall, shown_call
from toolwire.canvas.copy_argument import CARD_ARGUMENT
from toolwire.canvas.own_calls import OwnCalls
from toolwire.canvas.rest import OwnerReader, path_param
from toolwire.canvas.whole_calls import WholeCall
from toolwire.canvas.workspaces import Workspaces
from toolwire.core.errors import ArrowNotFound, CallNotFound, Conflict
from toolwire.core.jsontypes import JsonObject, as_object
from toolwire.core.tool import Tool
from toolwire.surfaces.described import described, query
from toolwire.surfaces.rest import answer, done, query_number
from toolwire.wire.answers.boards import ArrowCalls, ArrowTools, BegunCall, CallsOfWorkspace, WholeArrowCall
from toolwire.wire.rest import rfc3339

USUAL_CALLS = 50

_AGENT = query("agent", "in whose place, where two agents are joined; the one it was drawn from by default")


class OwnCall(Struct, frozen=True, forbid_unknown_fields=True):
    """The body of `POST …/calls`. `agent` is in whose place it is made, where the arrow joins two agents."""

    tool: str
    arguments: JsonObject = {}
    agent: str | None = None


class ArrowCallRoutes:
    """The routes.

    Args:
        reader: reads requests.
        workspaces: where arrows are.
        log: their calls.
        calls: makes those of owners.
    """

    def __init__(self, reader: OwnerReader, workspaces: Workspaces, log: ArrowLog, calls: OwnCalls) -> None:
        self._reader = reader
        self._workspaces = workspaces
        self._log = log
        self._calls = calls

    def routes(self) -> Sequence[Route]:
        """What to mount."""
        one = "/api/v1/workspaces/{w}/arrows/{a}"
        return (
            Route("/api/v1/workspaces/{w}/calls", self.of_workspace, methods=["GET"]),
            Route(one + "/log", self.list, methods=["GET"]),
            Route(one + "/log/{call}", self.whole, methods=["GET"]),
            Route(one + "/tools", self.tools, methods=["GET"]),
            Route(one + "/calls", self.begin, methods=["POST"]),
            Route(one + "/calls/{call}/cancel", self.cancel, methods=["POST"]),
        )

    @described(
        "oag",
        ArrowCalls,
        parameters=(
            query("limit", "how many", Annotated[int, Meta(ge=1, le=KEPT_CALLS)]),
            query("after", "only calls after this one"),
            query("before", "only calls before this one"),
        ),
    )
    async def list(self, request: Request) -> Response:
        """The latest `limit` calls of an arrow, or those after the call `after`; the oldest first."""
        owner, arrow_id = self._arrow(request)
        limit = query_number(request, "limit", USUAL_CALLS, 1, KEPT_CALLS)
        given = request.query_params
        calls = await self._log.read(owner, arrow_id, limit, given.get("after"), given.get("before"))
        return answer({"calls": [shown_call(call) for call in calls]})

    @described(
        "oag", CallsOfWorkspace, parameters=(query("limit", "how many", Annotated[int, Meta(ge=1, le=KEPT_CALLS)]),)
    )
    async def of_workspace(self, request: Request) -> Response:
        """The latest `limit` calls of all arrows of a workspace, those that run before others; the oldest first."""
        owner = self._reader.owner(request).owner
        workspace = self._workspaces.get(owner, path_param(request, "w"))
        limit = query_number(request, "limit", USUAL_CALLS, 1, KEPT_CALLS)
        found: list[tuple[bool, float, JsonObject]] = []
        for arrow_id in workspace.board.arrows:
            calls = await self._log.read(owner, arrow_id, limit)
            found += [
                (call.status == "running", call.started_at, {"arrow": arrow_id, **shown_call(call)}) for call in calls
            ]
        latest = heapq.nlargest(limit, found, key=lambda one: one[:2])
        return answer({"calls": [call for _, _, call in sorted(latest, key=lambda one: one[1])]})

    @described("oag", WholeArrowCall, errors="task_not_found")
    async def whole(self, request: Request) -> Response:
        """One call of an arrow, in full where it is one of the latest."""
        owner, arrow_id = self._arrow(request)
        logged = await self._find(owner, arrow_id, path_param(request, "call"))
        return answer(_shown(logged, self._log.whole(arrow_id, logged.call_id)))

    @described("oag", ArrowTools, parameters=(_AGENT,), errors="agent_not_found")
    async def tools(self, request: Request) -> Response:
        """The tools that an arrow lets through, with what they take."""
        owner, arrow_id = self._arrow(request)
        agent = request.query_params.get("agent")
        tools = self._calls.tools(owner, path_param(request, "w"), arrow_id, agent)
        return answer({"tools": [_shown_tool(tool) for tool in tools]})

    @described("oag", BegunCall, 202, body=OwnCall, errors="tool_not_found agent_not_found agent_service_unavailable")
    async def begin(self, request: Request) -> Response:
        """Call a tool that an arrow lets through, as the agent at its end would; the arrow tells how it goes on."""
        owner, arrow_id = self._arrow(request)
        body = await self._reader.body(request, OwnCall)
        workspace = path_param(request, "w")
        call_id = await self._calls.begin(owner, workspace, arrow_id, body.tool, body.arguments, body.agent)
        return answer({"call_id": call_id}, 202)

    @described("oag", errors="conflict task_not_found")
    async def cancel(self, request: Request) -> Response:
        """End a call that runs, whoever made it."""
        owner, arrow_id = self._arrow(request)
        call_id = path_param(request, "call")
        running = self._log.running(arrow_id, call_id)
        if running is None or running.stop is None:
            await self._find(owner, arrow_id, call_id)
            raise Conflict("this call has ended already")
        running.stop()
        return done()

    def _arrow(self, request: Request) -> tuple[str, str]:
        """Whose arrow a request is about, and its id."""
        owner = self._reader.owner(request).owner
        workspace, arrow_id = self._workspaces.get(owner, path_param(request, "w")), path_param(request, "a")
        if arrow_id not in workspace.board.arrows:
            raise ArrowNotFound(f"there is no arrow {arrow_id!r} in this workspace")
        return owner, arrow_id

    async def _find(self, owner: str, arrow_id: str, call_id: str) -> LoggedCall:
        logged = await self._log.find(owner, arrow_id, call_id)
        if logged is None:
            raise CallNotFound(f"there is no call {call_id!r} in the log of this arrow")
        return logged


def _shown(logged: LoggedCall, whole: WholeCall | None) -> JsonObject:
    shown = shown_call(logged)
    if whole is None:
        return {**shown, "sent": None, "hidden": [], "lines": [], "content": None}
    lines = [{"at": rfc3339(line.at), "text": line.text} for line in whole.progress]
    shown |= {"sent": whole.arguments, "hidden": list(whole.hidden), "lines": lines, "content": None}
    if whole.result is None:
        return shown
    shown["content"] = whole.result.content
    return shown if whole.result.structured is UNSET else {**shown, "structured": whole.result.structured}


def _shown_tool(tool: Tool) -> JsonObject:
    """A tool without the parameter that says which copy is meant: the arrow says that."""
    properties = as_object(tool.input_schema.get("properties")) or {}
    own = {name: schema for name, schema in properties.items() if name != CARD_ARGUMENT}
    read_only = (tool.annotations or {}).get("readOnlyHint") is True
    return {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "input_schema": {**tool.input_schema, "properties": own},
        "read_only": read_only,
    }
