"""The routes of what stands on a board, cards and arrows (cards.md, section 7); it keeps nothing."""

from collections.abc import Callable, Sequence
from typing import Protocol

import msgspec
from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from toolwire.canvas.editor import Editor
from toolwire.canvas.identity import AgentInfo, Directory, Visitor, check_trust
from toolwire.canvas.rest import OwnerReader, path_param
from toolwire.canvas.shown import Shown, shown_arrow
from toolwire.canvas.workspaces import Workspace, Workspaces
from toolwire.core.board import Arrow, Board, Card, CardKind, PutArrow, PutCard, RemoveArrow, removal
from toolwire.core.errors import ArrowNotFound, CardNotFound, InvalidParam
from toolwire.core.ids import new_id
from toolwire.core.jsontypes import JsonObject
from toolwire.surfaces.described import described, header
from toolwire.surfaces.rest import answer, done
from toolwire.wire.answers.boards import AddedCard, BoardArrow, BoardCard

MAX_TITLE_CHARS = 128
MAX_COORDINATE = 1e6
MAX_SIZE = 1e4


SEEN = header("If-Match", 'refuse when the workspace has another version than this, such as "3"')


class Placeable(Protocol):
    """Says whether a package may be put on a board."""

    def title_of(self, owner: str, package: str) -> str:
        """The name that a new copy begins with.

        Raises:
            PackageNotFound: the owner has not installed it.
            ConsentRequired: it waits for the owner's consent.
        """
        ...


class NewCard(Struct, frozen=True, forbid_unknown_fields=True):
    """The body of `POST …/cards`. An agent's card without `agent_id` makes the agent, too."""

    kind: CardKind
    title: str | None = None
    package: str | None = None
    agent_id: str | None = None
    x: float = 0.0
    y: float = 0.0
    width: float = 0.0
    height: float = 0.0
    content: JsonObject = {}


class CardPatch(Struct, frozen=True, forbid_unknown_fields=True):
    """The body of `PATCH …/cards/{c}`; what is left out stays."""

    title: str | UnsetType = UNSET
    x: float | UnsetType = UNSET
    y: float | UnsetType = UNSET
    width: float | UnsetType = UNSET
    height: float | UnsetType = UNSET
    content: JsonObject | UnsetType = UNSET


class NewArrow(Struct, frozen=True, forbid_unknown_fields=True):
    """The body of `POST …/arrows`."""

    source: str
    target: str
    tools: tuple[str, ...] | None = None
    recorded: bool = True


class ArrowPatch(Struct, frozen=True, forbid_unknown_fields=True):
    """The body of `PATCH …/arrows/{a}`; what is left out stays."""

    source: str | UnsetType = UNSET
    target: str | UnsetType = UNSET
    tools: tuple[str, ...] | UnsetType | None = UNSET
    recorded: bool | UnsetType = UNSET


class BoardRoutes:
    """The routes of cards and arrows.

    Args:
        reader: reads requests.
        workspaces: all workspaces.
        editor: edits them.
        shown: how a card is shown.
        directory: the agents.
        packages: what may be placed.
        toolbox_url: the address of an agent's toolbox.
    """

    def __init__(
        self,
        reader: OwnerReader,
        workspaces: Workspaces,
        editor: Editor,
        shown: Shown,
        directory: Directory,
        packages: Placeable,
        toolbox_url: Callable[[str], str],
    ) -> None:
        self._reader = reader
        self._workspaces = workspaces
        self._editor = editor
        self._shown = shown
        self._directory = directory
        self._packages = packages
        self._toolbox_url = toolbox_url

    def routes(self) -> Sequence[Route]:
        """What to mount."""
        one = "/api/v1/workspaces/{w}"
        return (
            Route(one + "/cards", self.add_card, methods=["POST"]),
            Route(one + "/cards/{c}", self.change_card, methods=["PATCH"]),
            Route(one + "/cards/{c}", self.remove_card, methods=["DELETE"]),
            Route(one + "/arrows", self.draw, methods=["POST"]),
            Route(one + "/arrows/{a}", self.change_arrow, methods=["PATCH"]),
            Route(one + "/arrows/{a}", self.remove_arrow, methods=["DELETE"]),
        )

    @described(
        "oag",
        AddedCard,
        201,
        body=NewCard,
        errors="agent_not_found package_not_found consent_required conflict",
        parameters=(SEEN,),
    )
    async def add_card(self, request: Request) -> Response:
        """Put a card on the board."""
        visitor = self._reader.owner(request)
        await self._editor.check(request, visitor)
        body = await self._reader.body(request, NewCard)
        card, agent = await self._new_card(visitor.owner, body)
        self.check_card(visitor.owner, card)
        workspace = await self._editor.edit(request, visitor, lambda _: (PutCard(card),))
        shown = self._shown.card(workspace, card)
        if agent is not None:
            key = await self._directory.new_agent_key(visitor.owner, agent.agent_id)
            shown |= {"toolbox_url": self._toolbox_url(agent.agent_id), "agent_key": key}
        return answer(shown, 201)

    @described("oag", BoardCard, body=CardPatch, errors="conflict", parameters=(SEEN,))
    async def change_card(self, request: Request) -> Response:
        """Move, resize or rename a card, or change what it says."""
        visitor = self._reader.owner(request)
        body = await self._reader.body(request, CardPatch)
        changes = {name: value for name, value in msgspec.structs.asdict(body).items() if value is not UNSET}
        card_id = path_param(request, "c")
        workspace = self._workspace(request, visitor)
        self.check_changed(visitor.owner, replace(workspace.card(card_id), **changes))
        workspace = await self._editor.edit(
            request, visitor, lambda board: (PutCard(replace(_card(board, card_id), **changes)),)
        )
        card = workspace.card(card_id)
        return answer(self._shown.card(workspace, card))

    @described("oag", errors="conflict", parameters=(SEEN,))
    async def remove_card(self, request: Request) -> Response:
        """Remove a card and its arrows."""
        visitor = self._reader.owner(request)
        card_id = path_param(request, "c")
        self._workspace(request, visitor)
        await self._editor.edit(request, visitor, lambda board: removal(board, [_card(board, card_id).id]))
        return done()

    @described("oag", BoardArrow, 201, body=NewArrow, errors="card_not_found conflict", parameters=(SEEN,))
    async def draw(self, request: Request) -> Response:
        """Draw an arrow: what it joins may be used by the agent at its end from now on."""
        visitor = self._reader.owner(request)
        body = await self._reader.body(request, NewArrow)
        workspace = self._workspace(request, visitor)
        arrow = Arrow(new_id("arw"), body.source, body.target, body.tools, body.recorded)
        for end in (arrow.source, arrow.target):
            workspace.card(end)
        await self._editor.edit(request, visitor, lambda _: (PutArrow(arrow),))
        return answer(shown_arrow(arrow), 201)

    @described("oag", BoardArrow, body=ArrowPatch, errors="card_not_found conflict", parameters=(SEEN,))
    async def change_arrow(self, request: Request) -> Response:
        """Join an arrow to another card, or change what it lets through and keeps."""
        visitor = self._reader.owner(request)
        body = await self._reader.body(request, ArrowPatch)
        changes = {name: value for name, value in msgspec.structs.asdict(body).items() if value is not UNSET}
        arrow_id = path_param(request, "a")
        workspace = self._workspace(request, visitor)
        changed = replace(_arrow(workspace.board, arrow_id), **changes)
        for end in (changed.source, changed.target):
            workspace.card(end)
        workspace = await self._editor.edit(
            request, visitor, lambda board: (PutArrow(replace(_arrow(board, arrow_id), **changes)),)
        )
        return answer(shown_arrow(workspace.board.arrows[arrow_id]))

    @described("oag", errors="conflict", parameters=(SEEN,))
    async def remove_arrow(self, request: Request) -> Response:
        """Remove an arrow, and with it what it granted."""
        visitor = self._reader.owner(request)
        arrow_id = path_param(request, "a")
        self._workspace(request, visitor)
        await self._editor.edit(request, visitor, lambda board: (RemoveArrow(_arrow(board, arrow_id).id),))
        return done()

    def _workspace(self, request: Request, visitor: Visitor) -> Workspace:
        return self._workspaces.get(visitor.owner, path_param(request, "w"))

    async def _new_card(self, owner: str, body: NewCard) -> tuple[Card, AgentInfo | None]:
        agent: AgentInfo | None = None
        title = body.title
        if (body.package is None) is (body.kind == "card"):
            raise InvalidParam("a card of kind 'card' is a copy of a package, and no other is", param="package")
        if body.agent_id is not None and body.kind != "agent":
            raise InvalidParam("only a card of kind 'agent' stands for an agent", param="agent_id")
        if body.package is not None:
            title = title or self._packages.title_of(owner, body.package)
        if body.kind == "agent":
            if body.agent_id is None:
                looks = Card("", body.kind, title or "agent", body.x, body.y, body.width, body.height)
                self.check_changed(owner, replace(looks, content=body.content))  # before an agent is made for it
                agent = await self._directory.new_agent(owner, title or "agent")
            else:
                agent = self._directory.agent(owner, body.agent_id)
            title = title or agent.name
        card = Card(
            new_id("card"),
            body.kind,
            title or body.kind,
            body.x,
            body.y,
            body.width,
            body.height,
            body.package,
            None if agent is None else agent.agent_id,
            body.content,
        )
        return card, agent

    def check_card(self, owner: str, card: Card) -> None:
        """Whether a card may be put on a board of this owner.

        Raises:
            InvalidParam: a text is too long or a number out of bounds, or it stands for what its kind does not.
            PackageNotFound, ConsentRequired: as `Placeable.title_of`.
            AgentNotFound: it stands for an agent that the owner has not.
            Forbidden: it would run programs, and the host does not trust the owner with that.
        """
        self.check_changed(owner, card)
        if (card.package is None) is (card.kind == "card"):
            raise InvalidParam("a card of kind 'card' is a copy of a package, and no other is", param="package")
        if (card.agent_id is None) is (card.kind == "agent"):
            raise InvalidParam("a card of kind 'agent' stands for an agent, and no other does", param="agent_id")
        if card.package is not None:
            self._packages.title_of(owner, card.package)
        if card.agent_id is not None and self._directory.agent(owner, card.agent_id).agent_id != card.agent_id:
            raise InvalidParam("a card names its agent by the id, agent_…", param="agent_id")

    def check_changed(self, owner: str, card: Card) -> None:
        """Whether a card may be as it is now; what it stands for may be gone by now, and it can be moved all the same.

        Raises:
            InvalidParam, Forbidden: as `check_card`.
        """
        if not card.title.strip() or len(card.title) > MAX_TITLE_CHARS or not card.title.isprintable():
            raise InvalidParam(f"a title has 1 to {MAX_TITLE_CHARS} printable characters", param="title")
        if not all(-MAX_COORDINATE <= number <= MAX_COORDINATE for number in (card.x, card.y)):
            raise InvalidParam("x and y must be numbers on the canvas", param="x")
        if not all(0 <= number <= MAX_SIZE for number in (card.width, card.height)):
            raise InvalidParam(f"width and height go from 0 to {MAX_SIZE:.0f}", param="width")
        if card.kind == "terminal" or (card.kind == "agent" and "command" in card.content):
            check_trust(self._directory, owner)


def _card(board: Board, card_id: str) -> Card:
    found = board.cards.get(card_id)
    if found is None:
        raise CardNotFound(f"there is no card {card_id!r} in this workspace")
    return found


def _arrow(board: Board, arrow_id: str) -> Arrow:
    found = board.arrows.get(arrow_id)
    if found is None:
        raise ArrowNotFound(f"there is no arrow {arrow_id!r} in this workspace")
    return found
