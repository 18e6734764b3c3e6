"""Built-in tools that go through an arrow, as calls of cards do: found by it, told of on it, kept in its log.

What a tool does is its family's business. A call whose arrow or card is removed ends at once (cards.md 5, 15-17, 61,
63-65, decisions 14, 15, 25).
"""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import TypeAlias

import anyio
from msgspec import Struct

from toolwire.canvas.arrow_log import ArrowLog, Place
from toolwire.canvas.copies import Copy, is_granted, picked, reached
from toolwire.canvas.errands import STOPPED, Errands
from toolwire.canvas.identity import AgentInfo
from toolwire.canvas.progress import Progressing
from toolwire.canvas.workspaces import Workspace, Workspaces
from toolwire.core.call import Call
from toolwire.core.confidential import keep_confidential
from toolwire.core.errors import ToolwireError
from toolwire.core.event import Progress
from toolwire.core.handler import Emit, Handler
from toolwire.core.jsontypes import JsonObject
from toolwire.core.result import Result, failed
from toolwire.core.tool import Tool
from toolwire.engine.deadline import Timekeeper
from toolwire.providers.function import LocalTool
from toolwire.wire.card_messages import AgentRef

SOURCE = "canvas"
CARD: JsonObject = {
    "type": "string",
    "maxLength": 128,
    "description": "Which card, by id or name; needed when several that fit are connected to you.",
}


class BuiltIn(Struct, frozen=True):
    """A tool of our own; see `providers.function.LocalTool`. `by_arrow` says that its calls go through one."""

    tool: Tool
    handler: Handler
    by_arrow: bool = False


class Passage(Struct, frozen=True):
    """A call on its way through an arrow. `say` tells how far it is, in a line."""

    call: Call
    agent: AgentInfo
    copy: Copy
    say: Callable[[str], None]

    @property
    def arguments(self) -> JsonObject:
        """What the call gives to the tool."""
        return self.call.arguments


Body: TypeAlias = Callable[[Passage], Awaitable[Result]]


class Offer(Struct, frozen=True):
    """A tool that some cards are good for. `state` says how one does, for an agent that has to choose."""

    tool: Tool
    fits: Callable[[Copy], bool]
    body: Body
    state: Callable[[Copy], str] = lambda _: "there"


def card_tool(name: str, title: str, description: str, read_only: bool = False, **more: JsonObject) -> Tool:
    """A tool with the parameter `card`, and those in `more`, each with its schema; `required` in one is not JSON's."""
    required = [key for key, schema in more.items() if schema.get("required") is True]
    own = {key: {word: value for word, value in schema.items() if word != "required"} for key, schema in more.items()}
    schema: JsonObject = {"type": "object", "properties": {**own, "card": CARD}, "additionalProperties": False}
    if required:
        schema["required"] = required
    return Tool(
        name,
        description,
        schema,
        title=title,
        annotations={"readOnlyHint": True} if read_only else None,
        source=SOURCE,
    )


class _Flight:
    """A call under way."""

    def __init__(self, copy: Copy, tool: str) -> None:
        self.copy = copy
        self.tool = tool
        self.scope = anyio.CancelScope()
        self.told: Result | None = None

    def stop(self, words: str, code: str) -> None:
        """It ends now, with these words for the agent."""
        self.told = failed(words, code)
        self.scope.cancel()


class ArrowCalls:
    """Runs the calls of all offers.

    Args:
        workspaces: where cards stand.
        log: is told of every call.
        timekeeper: times progress.
        errands: the calls that owners make.
    """

    def __init__(self, workspaces: Workspaces, log: ArrowLog, timekeeper: Timekeeper, errands: Errands) -> None:
        self._workspaces = workspaces
        self._log = log
        self._timekeeper = timekeeper
        self._errands = errands
        self._flights: set[_Flight] = set()
        workspaces.on_changed(self._on_workspace)

    def granted(self, agent: AgentInfo, found: Sequence[Copy], offers: Sequence[Offer]) -> Iterator[LocalTool]:
        """The tools among `offers` that an agent has through the cards that it reaches."""
        for offer in offers:
            if any(_lets(copy, offer) for copy in found):
                yield BuiltIn(offer.tool, self._handler(agent, offer), by_arrow=True)

    def _handler(self, agent: AgentInfo, offer: Offer) -> Handler:
        def handle(call: Call, emit: Emit) -> Awaitable[Result]:
            return self._call(agent, offer, call, emit)

        return handle

    async def _call(self, agent: AgentInfo, offer: Offer, call: Call, emit: Emit) -> Result:
        found = self._errands.copies(call, reached(self._workspaces, agent.owner, agent.agent_id))
        fitting = list({copy.card.id: copy for copy in found if _lets(copy, offer)}.values())
        copy = picked(fitting, call.arguments.get("card"), [offer.state(one) for one in fitting])
        if isinstance(copy, Result):
            return copy
        place = Place(agent.owner, copy.workspace.id, copy.arrow)
        if not copy.arrow.recorded:
            keep_confidential(emit)
        caller = self._errands.caller(call, AgentRef(agent.agent_id, copy.agent_card.title))
        running = self._log.begin(place, call.id, call.tool, caller, call.arguments, offer.tool.input_schema)
        steps = 0

        def tell(line: str) -> None:
            nonlocal steps
            steps += 1
            running.progress(line)
            emit(Progress(steps, message=line))

        progress, flight, result = Progressing(self._timekeeper, tell), _Flight(copy, offer.tool.name), None
        self._flights.add(flight)
        running.stop = lambda: flight.stop(STOPPED, "cancelled")
        try:
            result = await self._run(flight, offer, Passage(call, agent, copy, progress.say))
            return result
        finally:
            self._flights.discard(flight)
            progress.end()
            running.end(result or failed("cancelled: the agent gave up", "cancelled"))

    async def _run(self, flight: _Flight, offer: Offer, passage: Passage) -> Result:
        if not passage.copy.workspace.is_open:
            return _closed(passage.copy)
        result: Result | None = None
        try:
            with flight.scope:
                result = await offer.body(passage)
        except ToolwireError as error:
            return failed(error.told, error.code)
        result = result or flight.told
        assert result is not None
        return result

    def _on_workspace(self, before: Workspace | None, after: Workspace | None) -> None:
        """End what has lost its arrow or its card (decision 25)."""
        for flight in tuple(self._flights):
            copy = flight.copy
            if before is None or copy.workspace.id != before.id:
                continue
            if after is None or copy.card.id not in after.board.cards:
                flight.stop("the card was removed while it ran this", "agent_lost")
            elif not is_granted(after.board, copy, flight.tool):
                flight.stop("the arrow to this card was removed; ask the user to draw it again", "forbidden")


def _lets(copy: Copy, offer: Offer) -> bool:
    """Whether a card is good for a tool, and its arrow lets it through."""
    return offer.fits(copy) and (copy.arrow.tools is None or offer.tool.name in copy.arrow.tools)


def _closed(copy: Copy) -> Result:
    words = f"open the workspace {copy.workspace.name!r}, which contains the card {copy.card.title!r}, then try again"
    return failed(f"the card's workspace is not open: ask the user to {words}", "forbidden")
