"""The route of edits that change many things on a board in one step, such as a paste; single ones are `routes_board`'s.

What it takes is checked as there. Nothing is made beside the board: an agent's card stands for an agent that is there.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import msgspec
from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from toolwire.canvas.editor import Editor
from toolwire.canvas.rest import OwnerReader
from toolwire.canvas.routes_board import SEEN, CardPatch, NewArrow, NewCard
from toolwire.canvas.shown import Shown, shown_arrow
from toolwire.core.board import Arrow, Board, Card, Change, Edit, PutArrow, PutCard, RemoveArrow, RemoveCard
from toolwire.core.errors import ArrowNotFound, CardNotFound, InvalidParam
from toolwire.core.ids import new_id
from toolwire.surfaces.described import described
from toolwire.surfaces.rest import answer
from toolwire.wire.answers.boards import EditedBoard

MAX_CHANGES = 2_000
"""Of one edit."""


class AddCard(NewCard, frozen=True, forbid_unknown_fields=True, kw_only=True, tag="add_card", tag_field="change"):
    """A card that is new. `ref` is a name for it within this edit, where an arrow is to touch it."""

    ref: str | None = None


class ChangeCard(CardPatch, frozen=True, forbid_unknown_fields=True, kw_only=True, tag="put_card", tag_field="change"):
    """A card as it is to be; what is left out stays."""

    id: str


class TakeCard(Struct, frozen=True, forbid_unknown_fields=True, tag="remove_card", tag_field="change"):
    """A card that is to go, with its arrows."""

    id: str


class AddArrow(NewArrow, frozen=True, forbid_unknown_fields=True, kw_only=True, tag="add_arrow", tag_field="change"):
    """An arrow that is new; an end is the id of a card, or the `ref` of one that this edit adds."""

    ref: str | None = None


class ChangeArrow(Struct, frozen=True, forbid_unknown_fields=True, tag="put_arrow", tag_field="change"):
    """An arrow as it is to be; what is left out stays."""

    id: str
    source: str | UnsetType = UNSET
    target: str | UnsetType = UNSET
    tools: tuple[str, ...] | UnsetType | None = UNSET
    recorded: bool | UnsetType = UNSET


class TakeArrow(Struct, frozen=True, forbid_unknown_fields=True, tag="remove_arrow", tag_field="change"):
    """An arrow that is to go."""

    id: str


Wanted: TypeAlias = AddCard | ChangeCard | TakeCard | AddArrow | ChangeArrow | TakeArrow


class NewEdit(Struct, frozen=True, forbid_unknown_fields=True):
    """The body of `POST …/edits`: changes in order, which count together or not at all."""

    changes: list[Wanted]


Check: TypeAlias = Callable[[str, Card], None]


class EditRoutes:
    """The route of edits.

    Args:
        reader: reads requests.
        editor: edits boards.
        shown: how a card is shown.
        check_new: whether a new card may stand on a board of this owner; see `routes_board.BoardRoutes.check_card`.
        check_changed: whether a card may be as it is now; see `routes_board.BoardRoutes.check_changed`.
    """

    def __init__(
        self, reader: OwnerReader, editor: Editor, shown: Shown, check_new: Check, check_changed: Check
    ) -> None:
        self._reader = reader
        self._editor = editor
        self._shown = shown
        self._check_new = check_new
        self._check_changed = check_changed

    def routes(self) -> Sequence[Route]:
        """What to mount."""
        return (Route("/api/v1/workspaces/{w}/edits", self.edit, methods=["POST"]),)

    @described(
        "oag",
        EditedBoard,
        body=NewEdit,
        errors="card_not_found arrow_not_found agent_not_found package_not_found consent_required conflict",
        parameters=(SEEN,),
    )
    async def edit(self, request: Request) -> Response:
        """Change many things on a board in one step, which one undo takes back."""
        visitor = self._reader.owner(request)
        body = await self._reader.body(request, NewEdit)
        if not 1 <= len(body.changes) <= MAX_CHANGES:
            raise InvalidParam(f"an edit has 1 to {MAX_CHANGES} changes, not {len(body.changes)}", param="changes")
        drafts: list[_Draft] = []

        def make(board: Board) -> Edit:
            draft = _Draft(board, lambda card: self._check_new(visitor.owner, card), self._checked(visitor.owner))
            for change in body.changes:
                draft.take(change)
            drafts.append(draft)
            return tuple(draft.edit)

        workspace = await self._editor.edit(request, visitor, make)
        made, board = drafts[-1], workspace.board
        cards = [board.cards[card_id] for card_id in made.cards_put if card_id in board.cards]
        arrows = [board.arrows[arrow_id] for arrow_id in made.arrows_put if arrow_id in board.arrows]
        undo, redo = self._shown.depth(workspace)
        return answer(
            {
                "workspace": self._shown.summary(workspace),
                "ids": dict(made.ids),
                "cards": [self._shown.card(workspace, card) for card in cards],
                "arrows": [shown_arrow(arrow) for arrow in arrows],
                "can_undo": undo,
                "can_redo": redo,
            }
        )

    def _checked(self, owner: str) -> Callable[[Card], None]:
        return lambda card: self._check_changed(owner, card)


class _Draft:
    """A board while an edit is made of it: what each change finds is what those before it have left."""

    def __init__(self, board: Board, check_new: Callable[[Card], None], check_changed: Callable[[Card], None]) -> None:
        self._cards = dict(board.cards)
        self._arrows = dict(board.arrows)
        self._check_new = check_new
        self._check_changed = check_changed
        self.edit: list[Change] = []
        self.ids: dict[str, str] = {}
        self.cards_put: dict[str, None] = {}
        self.arrows_put: dict[str, None] = {}

    def take(self, change: Wanted) -> None:
        """Do one change.

        Raises:
            CardNotFound, ArrowNotFound: it names what is not there.
            InvalidParam, Forbidden, PackageNotFound, ConsentRequired, AgentNotFound: a card may not be so.
        """
        match change:
            case AddCard():
                self._add_card(change)
            case ChangeCard():
                card = replace(self._card(change.id), **_given(change))
                self._check_changed(card)
                self._put_card(card)
            case TakeCard(card_id):
                self._remove_card(card_id)
            case AddArrow(source, target, tools, recorded):
                self._put_arrow(Arrow(self._named(change.ref, "arw"), source, target, tools, recorded))
            case ChangeArrow():
                self._put_arrow(replace(self._arrow(change.id), **_given(change)))
            case TakeArrow(arrow_id):
                self._remove_arrow(self._arrow(arrow_id).id)

    def _add_card(self, change: AddCard) -> None:
        card = Card(
            self._named(change.ref, "card"),
            change.kind,
            change.title or change.kind,
            change.x,
            change.y,
            change.width,
            change.height,
            change.package,
            change.agent_id,
            change.content,
        )
        self._check_new(card)
        self._put_card(card)

    def _put_card(self, card: Card) -> None:
        self._cards[card.id] = card
        self.cards_put[card.id] = None
        self.edit.append(PutCard(card))

    def _remove_card(self, card_id: str) -> None:
        card = self._card(card_id)
        loose = [arrow.id for arrow in self._arrows.values() if card.id in (arrow.source, arrow.target)]
        for arrow_id in loose:
            self._remove_arrow(arrow_id)
        del self._cards[card.id]
        self.edit.append(RemoveCard(card.id))

    def _put_arrow(self, arrow: Arrow) -> None:
        arrow = replace(arrow, source=self._card(arrow.source).id, target=self._card(arrow.target).id)
        self._arrows[arrow.id] = arrow
        self.arrows_put[arrow.id] = None
        self.edit.append(PutArrow(arrow))

    def _remove_arrow(self, arrow_id: str) -> None:
        del self._arrows[arrow_id]
        self.edit.append(RemoveArrow(arrow_id))

    def _card(self, named: str) -> Card:
        found = self._cards.get(self.ids.get(named, named))
        if found is None:
            raise CardNotFound(f"there is no card {named!r} in this workspace")
        return found

    def _arrow(self, named: str) -> Arrow:
        found = self._arrows.get(self.ids.get(named, named))
        if found is None:
            raise ArrowNotFound(f"there is no arrow {named!r} in this workspace")
        return found

    def _named(self, ref: str | None, prefix: str) -> str:
        id_ = new_id(prefix)
        if ref is not None:
            if ref in self.ids or ref in self._cards or ref in self._arrows:
                raise InvalidParam(f"two things in this edit are called {ref!r}", param="ref")
            self.ids[ref] = id_
        return id_


def _given(change: Struct) -> Mapping[str, object]:
    return {
        name: value for name, value in msgspec.structs.asdict(change).items() if name != "id" and value is not UNSET
    }
