"""The routes of workspaces: to make, show, open, undo and watch them (cards.md, section 7); it keeps nothing."""

from collections.abc import Callable, Sequence

import msgspec
from msgspec import Struct
from msgspec.structs import replace
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from toolwire.canvas.card_settings import CardSettings
from toolwire.canvas.card_storage import CardStorage
from toolwire.canvas.editor import Editor
from toolwire.canvas.history import Direction
from toolwire.canvas.identity import Visitor
from toolwire.canvas.rest import OwnerReader, path_param
from toolwire.canvas.shown import Shown
from toolwire.canvas.workspaces import Workspace, Workspaces
from toolwire.core.board import Arrow, Board, Card, PutArrow, PutCard, apply
from toolwire.core.ids import new_id
from toolwire.surfaces.described import described, event_stream, header
from toolwire.surfaces.event_stream import EventStream
from toolwire.surfaces.feed import Feed
from toolwire.surfaces.rest import answer, done
from toolwire.wire.answers.boards import BoardMoment, WorkspaceExport, WorkspaceList, WorkspaceSummary
from toolwire.wire.answers.boards import Workspace as ShownWorkspace

SEEN = header("If-Match", 'refuse when the workspace has another version than this, such as "3"')


class NewWorkspace(Struct, frozen=True, forbid_unknown_fields=True):
    """The body of `POST /workspaces`; with `board`, as an export has it, the workspace is not empty."""

    name: str
    board: Board | None = None


class WorkspacePatch(Struct, frozen=True, forbid_unknown_fields=True):
    """The body of `PATCH /workspaces/{w}`."""

    name: str


class WorkspaceRoutes:
    """The routes of workspaces.

    Args:
        reader: reads requests.
        workspaces: all workspaces.
        editor: undoes and redoes.
        shown: how a workspace is shown.
        feed: what has happened.
        check_card: whether a card of an import may stand on a board of this owner.
        storage: what cards keep.
        settings: what they are set to.
    """

    def __init__(
        self,
        reader: OwnerReader,
        workspaces: Workspaces,
        editor: Editor,
        shown: Shown,
        feed: Feed,
        check_card: Callable[[str, Card], None],
        storage: CardStorage,
        settings: CardSettings,
    ) -> None:
        self._reader = reader
        self._workspaces = workspaces
        self._editor = editor
        self._shown = shown
        self._feed = feed
        self._check_card = check_card
        self._storage = storage
        self._settings = settings

    def routes(self) -> Sequence[Route]:
        """What to mount."""
        base = "/api/v1/workspaces"
        one = base + "/{w}"
        return (
            Route(base, self.create, methods=["POST"]),
            Route(base, self.list, methods=["GET"]),
            Route(one, self.show, methods=["GET"]),
            Route(one, self.rename, methods=["PATCH"]),
            Route(one, self.remove, methods=["DELETE"]),
            Route(one + "/export", self.export, methods=["GET"]),
            Route(one + "/open", self.open, methods=["POST"]),
            Route(one + "/close", self.close, methods=["POST"]),
            Route(one + "/undo", self.undo, methods=["POST"]),
            Route(one + "/redo", self.redo, methods=["POST"]),
            Route(one + "/events", self.events, methods=["GET"]),
        )

    @described(
        "oag",
        ShownWorkspace,
        201,
        body=NewWorkspace,
        errors="agent_not_found package_not_found consent_required conflict",
    )
    async def create(self, request: Request) -> Response:
        """Make a workspace."""
        owner = self._reader.owner(request).owner
        body = await self._reader.body(request, NewWorkspace)
        board = None if body.board is None else _as_new(body.board)
        if board is not None:
            for card in board.cards.values():
                self._check_card(owner, card)
        return answer(self._shown.workspace(await self._workspaces.create(owner, body.name, board)), 201)

    @described("oag", WorkspaceList)
    async def list(self, request: Request) -> Response:
        """The owner's workspaces, without their boards."""
        owner = self._reader.owner(request).owner
        return answer({"workspaces": [self._shown.summary(found) for found in self._workspaces.of_owner(owner)]})

    @described("oag", ShownWorkspace)
    async def show(self, request: Request) -> Response:
        """A workspace with its board."""
        return answer(self._shown.workspace(self._workspace(request, self._reader.owner(request))))

    @described("oag", WorkspaceExport)
    async def export(self, request: Request) -> Response:
        """A workspace as `create` takes it: names and boards, no keys."""
        workspace = self._workspace(request, self._reader.owner(request))
        return answer({"name": workspace.name, "board": msgspec.to_builtins(workspace.board)})

    @described("oag", WorkspaceSummary, body=WorkspacePatch)
    async def rename(self, request: Request) -> Response:
        """Give a workspace another name."""
        owner = self._reader.owner(request).owner
        body = await self._reader.body(request, WorkspacePatch)
        return answer(self._shown.summary(await self._workspaces.rename(owner, path_param(request, "w"), body.name)))

    @described("oag")
    async def remove(self, request: Request) -> Response:
        """Remove a workspace, with what its cards have kept."""
        owner, workspace_id = self._reader.owner(request).owner, path_param(request, "w")
        await self._workspaces.remove(owner, workspace_id)
        await self._storage.clear_workspace(owner, workspace_id)
        await self._settings.clear_workspace(owner, workspace_id)
        return done()

    @described("oag", WorkspaceSummary)
    async def open(self, request: Request) -> Response:
        """Let agents call the cards of a workspace."""
        return await self._set_open(request, is_open=True)

    @described("oag", WorkspaceSummary)
    async def close(self, request: Request) -> Response:
        """Let no agent call the cards of a workspace (cards.md 61)."""
        return await self._set_open(request, is_open=False)

    @described("oag", ShownWorkspace, errors="conflict", parameters=(SEEN,))
    async def undo(self, request: Request) -> Response:
        """Take back the latest edit."""
        return await self._step(request, "undo")

    @described("oag", ShownWorkspace, errors="conflict", parameters=(SEEN,))
    async def redo(self, request: Request) -> Response:
        """Do again what was taken back last."""
        return await self._step(request, "redo")

    @event_stream("oag", BoardMoment)
    async def events(self, request: Request) -> Response:
        """What happens in a workspace, as an event stream; `Last-Event-ID` goes on where a reader left off."""
        workspace = self._workspace(request, self._reader.owner(request))
        after = request.headers.get("last-event-id") or request.query_params.get("after")
        follower = self._feed.follow(workspace.id, after)

        async def next_frame() -> bytes | None:
            moment = await follower.next()
            return None if moment is None else moment.frame()

        return EventStream(next_frame, hold=self._reader.hold(request))

    def _workspace(self, request: Request, visitor: Visitor) -> Workspace:
        return self._workspaces.get(visitor.owner, path_param(request, "w"))

    async def _set_open(self, request: Request, *, is_open: bool) -> Response:
        owner = self._reader.owner(request).owner
        return answer(self._shown.summary(await self._workspaces.set_open(owner, path_param(request, "w"), is_open)))

    async def _step(self, request: Request, direction: Direction) -> Response:
        visitor = self._reader.owner(request)
        return answer(self._shown.workspace(await self._editor.step(request, visitor, direction)))


def _as_new(board: Board) -> Board:
    """A board's copy, whose cards and arrows have ids of their own; its agents and packages are the importer's."""
    ids = {card_id: new_id("card") for card_id in board.cards}
    cards = {ids[card_id]: replace(card, id=ids[card_id]) for card_id, card in board.cards.items()}
    arrows: list[Arrow] = []
    for arrow in board.arrows.values():
        source, target = ids.get(arrow.source, arrow.source), ids.get(arrow.target, arrow.target)
        arrows.append(replace(arrow, id=new_id("arw"), source=source, target=target))
    made = (*map(PutCard, cards.values()), *map(PutArrow, arrows))
    return apply(Board(), made).board
