"""Shows the gateway's calls to agents on the boards where those stand: moments of the feed, kept nowhere.

A caller may be anybody whom the owner lets call the agent, so what it sends and gets is not shown: which tool, how far
it is and how it ended are. The engine is asked for its calls while some agent stands on some board, and only then.
"""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager

from msgspec import Struct
from msgspec.structs import replace

from toolwire.canvas.arrow_log import LoggedCall, ended_as, shown_call
from toolwire.canvas.progress import Progressing
from toolwire.canvas.workspaces import Workspace, Workspaces
from toolwire.core.event import Answered, Asks, Finished, Progress, Stamped
from toolwire.core.result import Result
from toolwire.engine.engine import Engine
from toolwire.engine.record import Record
from toolwire.surfaces.feed import Feed
from toolwire.wire.card_messages import AgentRef


class Standing(Struct, frozen=True):
    """A card that an agent stands on a board as."""

    workspace: str
    card: str


class GatewayCalls:
    """Tells the feeds of boards of the calls to agents on them.

    Args:
        workspaces: where agents stand.
        feed: is told.
        engine: runs the calls.
    """

    def __init__(self, workspaces: Workspaces, feed: Feed, engine: Engine) -> None:
        self._workspaces = workspaces
        self._feed = feed
        self._engine = engine
        self._standing: Mapping[str, Sequence[Standing]] = {}
        self._is_running = False
        workspaces.on_changed(self._on_workspace)

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Look at calls until the block ends. The workspaces have to be loaded already."""
        self._is_running = True
        self._refresh()
        try:
            yield
        finally:
            self._is_running = False
            self._refresh()

    def _on_workspace(self, before: Workspace | None, after: Workspace | None) -> None:
        if self._is_running and _agents_on(before) != _agents_on(after):
            self._refresh()

    def _refresh(self) -> None:
        standing: dict[str, list[Standing]] = {}
        for workspace in self._workspaces.all():
            for agent_id, card_id in _agents_on(workspace):
                standing.setdefault(agent_id, []).append(Standing(workspace.id, card_id))
        self._standing = standing
        observers, is_wanted = self._engine.observers, self._is_running and bool(standing)
        if is_wanted and self._observe not in observers:
            observers.append(self._observe)
        elif not is_wanted and self._observe in observers:
            observers.remove(self._observe)

    def _observe(self, record: Record) -> None:
        standing = self._standing.get(record.call.agent_id)
        if standing:
            _ShownCall(record, standing, self._feed, self._engine).begin()


class _ShownCall:
    """One call, from its beginning to its end, on each card that its agent stands as."""

    def __init__(self, record: Record, standing: Sequence[Standing], feed: Feed, engine: Engine) -> None:
        call = record.call
        self._record = record
        self._standing = standing
        self._feed = feed
        caller = AgentRef(call.caller.principal, call.caller.surface)
        self._shown = LoggedCall(call.id, call.tool, caller, record.created_at)
        self._asked: set[str] = set()
        self._progressing = Progressing(engine.timekeeper, lambda line: self._tell(replace(self._shown, progress=line)))

    def begin(self) -> None:
        self._record.listen(self._hear)
        self._tell(self._shown)

    def _hear(self, stamped: Stamped) -> None:
        match stamped.event:
            case Progress(message=str(message)):
                self._progressing.say(message)
            case Asks(questions):
                self._asked.update(question.key for question in questions)
                self._tell(self._shown)
            case Answered(outcomes):
                self._asked.difference_update(outcomes)
                self._tell(self._shown)
            case Finished(result):
                self._asked.clear()
                self._progressing.end()
                self._end(result, stamped.at)
            case _:
                return

    def _end(self, result: Result, at: float) -> None:
        error = None if result.error is None else result.error.code
        self._tell(replace(self._shown, status=ended_as(result), ended_at=at, error=error))

    def _tell(self, shown: LoggedCall) -> None:
        self._shown = shown
        for place in self._standing:
            moment = {"card": place.card, **shown_call(shown), "asks": bool(self._asked)}
            self._feed.tell(place.workspace, "call", moment)


def _agents_on(workspace: Workspace | None) -> list[tuple[str, str]]:
    """The agents on a board, each with its card."""
    cards = () if workspace is None else workspace.board.cards.values()
    return [(card.agent_id, card.id) for card in cards if card.kind == "agent" and card.agent_id is not None]
