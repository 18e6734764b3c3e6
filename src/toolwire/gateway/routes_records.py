"""REST: the record of an owner's calls: which there were, one in full, and as they happen; it makes and ends none.

These are the calls of everybody who calls by the owner's keys, grants and arrows, over whichever surface.
"""

from collections.abc import Mapping, Sequence
from contextlib import aclosing, suppress
from datetime import datetime
from typing import Annotated, Any, Final, get_args

import msgspec
from msgspec import Meta, Struct
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from toolwire.core.errors import AgentNotFound, CallNotFound, InvalidParam
from toolwire.core.ids import first_id
from toolwire.core.jsontypes import JsonObject
from toolwire.engine.engine import Engine
from toolwire.engine.history import Found, latest_calls
from toolwire.gateway.agents import Agents
from toolwire.gateway.call_feed import CALL, CallFeed
from toolwire.gateway.rest import Reader
from toolwire.gateway.shown_calls import ShownCalls, status_shown
from toolwire.surfaces.described import described, event_stream, query
from toolwire.surfaces.event_stream import EventStream
from toolwire.surfaces.rest import answer, query_number
from toolwire.wire.answers.calls import TaskStatus
from toolwire.wire.answers.records import CallNews, CallPage, WholeCall
from toolwire.wire.answers.times import Time

MAX_CALLS: Final = 200
USUAL_CALLS: Final = 50
MAX_LOOKED_AT: Final = 20_000
"""Records that one request reads at most; where few of them are wanted, its page is shorter."""
ID_AHEAD_S: Final = 60.0
"""How much earlier than the call begins its id may have been made, which is what calls are found by."""
STATUSES: Final = get_args(TaskStatus)

_FILTERS: Final = (
    query("agent", "only calls of this agent's tools, or by this agent: its id or name"),
    query("tool", "only calls of the tool with this name"),
    query("status", "only calls with this status; may be repeated", TaskStatus, many=True),
    query("surface", "only calls that came in by this surface, such as gateway, rest or toolbox"),
    query("caller", "only calls by the caller with this id"),
)


class Wanted(Struct, frozen=True):
    """Which calls are wanted; what is `None` or empty does not matter."""

    agent: str | None
    tool: str | None
    surface: str | None
    caller: str | None
    statuses: frozenset[str]

    def fits(self, found: Found) -> bool:
        """Whether a call is one of them."""
        call = found.call
        return self.fits_fields(
            call.agent_id, call.caller.principal, call.tool, call.caller.surface, status_shown(found)
        )

    def fits_shown(self, shown: Mapping[str, Any]) -> bool:
        """The same of a call as it is shown."""
        return self.fits_fields(
            shown["agent_id"], shown["caller"]["id"], shown["tool"], shown["surface"], shown["status"]
        )

    def fits_fields(self, agent_id: str | None, caller_id: str, tool: str, surface: str, status: str) -> bool:
        """The same of what it goes by."""
        return (
            self.agent in (None, agent_id, caller_id)
            and self.tool in (None, tool)
            and self.surface in (None, surface)
            and self.caller in (None, caller_id)
            and (not self.statuses or status in self.statuses)
        )


class RecordRoutes:
    """The routes.

    Args:
        reader: reads requests.
        engine: has the records.
        agents: have names.
        shown: shows calls.
    """

    def __init__(self, reader: Reader, engine: Engine, agents: Agents, shown: ShownCalls) -> None:
        self._reader = reader
        self._engine = engine
        self._agents = agents
        self._shown = shown
        self._feed = CallFeed(engine, shown)

    def routes(self) -> Sequence[Route]:
        """What to mount."""
        return (
            Route("/api/v1/calls", self.list, methods=["GET"]),
            Route("/api/v1/calls/events", self.events, methods=["GET"]),
            Route("/api/v1/calls/{call}", self.show, methods=["GET"]),
        )

    @described(
        "oag",
        CallPage,
        parameters=(
            *_FILTERS,
            query("since", "only calls that began at this time or later", Time),
            query("until", "only calls that began before this time", Time),
            query("before", "the `next` of the page before"),
            query("limit", "how many", Annotated[int, Meta(ge=1, le=MAX_CALLS)]),
        ),
    )
    async def list(self, request: Request) -> Response:
        """The owner's calls, the latest first: those that run, and those that have ended while they are kept."""
        owner = self._reader.identify(request, "oag").owner
        wanted = self._wanted(request, owner)
        limit = query_number(request, "limit", USUAL_CALLS, 1, MAX_CALLS)
        since, until = _time(request, "since") or 0.0, _time(request, "until")
        ends = [request.query_params.get("before", ""), "" if until is None else first_id("call", until)]
        before = min((end for end in ends if end), default=first_id("call", self._engine.clock.now() + 1))
        calls: list[JsonObject] = []
        looked_at, last, now = 0, "", self._feed.position(owner)
        async with aclosing(latest_calls(self._engine, owner, before, max(0.0, since - ID_AHEAD_S))) as known:
            async for found in known:
                if len(calls) == limit or looked_at == MAX_LOOKED_AT:
                    return answer({"calls": calls, "next": last, "after": now})
                looked_at, last = looked_at + 1, found.call.id
                if found.created_at >= since and wanted.fits(found):
                    calls.append(self._shown.summary(found))
        return answer({"calls": calls, "next": None, "after": now})

    @described("oag", WholeCall, errors="task_not_found")
    async def show(self, request: Request) -> Response:
        """A call in full, with its arguments and its end."""
        owner, call_id = self._reader.identify(request, "oag").owner, str(request.path_params["call"])
        found: Found | None = self._engine.find(call_id)
        if found is None:
            stored = await self._engine.load(owner, call_id)
            found = self._engine.find(call_id) or stored
        if found is None or found.call.caller.owner != owner:
            raise CallNotFound(f"no call {call_id!r} of yours; it may have been forgotten since")
        return answer(self._shown.whole(found))

    @event_stream("oag", CallNews, _FILTERS)
    async def events(self, request: Request) -> Response:
        """The owner's calls as they begin, go on and end; `Last-Event-ID` goes on where a reader left off."""
        identity = self._reader.identify(request, "oag")
        wanted = self._wanted(request, identity.owner)
        after = request.headers.get("last-event-id") or request.query_params.get("after")
        follower = self._feed.follow(identity.owner, after)

        async def next_frame() -> bytes | None:
            while (moment := await follower.next()) is not None:
                if moment.kind != CALL or wanted.fits_shown(moment.data):
                    return moment.frame()
            return None

        return EventStream(next_frame, hold=self._reader.hold(identity))

    def _wanted(self, request: Request, owner: str) -> Wanted:
        """What the query says is wanted.

        Raises:
            InvalidParam: there is no such status.
        """
        asked = request.query_params
        statuses = frozenset(asked.getlist("status"))
        if unknown := sorted(statuses - set(STATUSES)):
            raise InvalidParam(f"status is one of {', '.join(STATUSES)}, not {unknown[0]!r}", param="status")
        agent = asked.get("agent")
        if agent is not None:
            with suppress(AgentNotFound):  # it may have been removed since, and its calls are still known
                agent = self._agents.find(owner, agent).agent_id
        return Wanted(agent, asked.get("tool"), asked.get("surface"), asked.get("caller"), statuses)


def _time(request: Request, name: str) -> float | None:
    """A time of the query string, in Unix seconds.

    Raises:
        InvalidParam: it is no time with its offset.
    """
    text = request.query_params.get(name)
    if text is None:
        return None
    try:
        at = msgspec.convert(text, datetime)
    except msgspec.ValidationError:
        at = None
    if at is None or at.tzinfo is None:
        raise InvalidParam(f"{name} is a time such as 2026-01-31T12:00:00.000Z, not {text!r}", param=name)
    return at.timestamp()
