"""The canvas as data: cards, arrows between them, and edits that can be taken back; it knows no store and no user.

An arrow between an agent and something else is its user's consent: what stands at its other end is there for the
agent (cards.md 2, 4, decision 17: in either direction).
"""

from collections.abc import Iterable, Mapping
from typing import Literal, TypeAlias, TypeVar

from msgspec import Struct

from toolwire.core.errors import Conflict
from toolwire.core.jsontypes import JsonObject

_T = TypeVar("_T")

CardKind: TypeAlias = Literal["agent", "terminal", "card", "note", "group"]
"""A group is a frame around other cards, by where it stands alone: it is named and moved, and no arrow touches it."""

MAX_CARDS = 2_000
MAX_ARROWS = 8_000


class Card(Struct, frozen=True, omit_defaults=True):
    """Something that stands on a board.

    `package` is the installed package (`pkg_…`) that a card of kind "card" is a copy of; `agent_id` the agent that one
    of kind "agent" stands for. `x`, `y`, `width` and `height` are the canvas' units; a size of 0 is the kind's own.
    `content` is what a note says and what a card keeps for people to see, such as settings; it is never a secret.
    """

    id: str
    kind: CardKind
    title: str
    x: float = 0.0
    y: float = 0.0
    width: float = 0.0
    height: float = 0.0
    package: str | None = None
    agent_id: str | None = None
    content: JsonObject = {}


class Arrow(Struct, frozen=True, omit_defaults=True):
    """A connection between two cards. `tools`, if given, are the only ones (manifest names) that it grants.

    `recorded` false keeps what its calls hold out of the log: who, what and when remain (cards.md decision 38).
    """

    id: str
    source: str
    target: str
    tools: tuple[str, ...] | None = None
    recorded: bool = True

    def other_end(self, card_id: str) -> str | None:
        """The card at the other end, or `None` when the arrow does not touch `card_id`."""
        if card_id == self.source:
            return self.target
        return self.source if card_id == self.target else None


class Board(Struct, frozen=True, omit_defaults=True):
    """All cards and arrows of a workspace, by id, in the order in which they came."""

    cards: Mapping[str, Card] = {}
    arrows: Mapping[str, Arrow] = {}


class PutCard(Struct, frozen=True, tag="put_card"):
    """The card is there, as given: added, or changed."""

    card: Card


class RemoveCard(Struct, frozen=True, tag="remove_card"):
    """The card is gone. Its arrows must be gone first; `removal` takes care of that."""

    card_id: str


class PutArrow(Struct, frozen=True, tag="put_arrow"):
    """The arrow is there, as given: drawn, or changed."""

    arrow: Arrow


class RemoveArrow(Struct, frozen=True, tag="remove_arrow"):
    """The arrow is gone."""

    arrow_id: str


Change: TypeAlias = PutCard | RemoveCard | PutArrow | RemoveArrow
Edit: TypeAlias = tuple[Change, ...]
"""What happens in one step, and is taken back in one."""


class Edited(Struct, frozen=True):
    """A board after an edit, and the edit that takes it back."""

    board: Board
    inverse: Edit


def apply(board: Board, edit: Edit) -> Edited:
    """The board after `edit`, or none of it.

    Raises:
        Conflict: what it changes is not there, an arrow would have no end, join a card to itself or double another, or
            the board would be too large.
    """
    cards, arrows = dict(board.cards), dict(board.arrows)
    inverse: list[Change] = []
    for change in edit:
        match change:
            case PutCard(card):
                before = cards.get(card.id)
                inverse.append(RemoveCard(card.id) if before is None else PutCard(before))
                cards[card.id] = card
            case RemoveCard(card_id):
                inverse.append(PutCard(_taken(cards, card_id, "card")))
            case PutArrow(arrow):
                drawn = arrows.get(arrow.id)
                inverse.append(RemoveArrow(arrow.id) if drawn is None else PutArrow(drawn))
                arrows[arrow.id] = arrow
            case RemoveArrow(arrow_id):
                inverse.append(PutArrow(_taken(arrows, arrow_id, "arrow")))
    _check(cards, arrows)
    return Edited(Board(cards, arrows), tuple(reversed(inverse)))


def removal(board: Board, card_ids: Iterable[str]) -> Edit:
    """The edit that removes cards together with every arrow that touches one of them."""
    gone = dict.fromkeys(card_ids)
    loose = [arrow.id for arrow in board.arrows.values() if arrow.source in gone or arrow.target in gone]
    return (*(RemoveArrow(arrow_id) for arrow_id in loose), *(RemoveCard(card_id) for card_id in gone))


def arrows_of(board: Board, card_id: str) -> tuple[Arrow, ...]:
    """The arrows that touch a card, in the order in which they were drawn."""
    return tuple(arrow for arrow in board.arrows.values() if card_id in (arrow.source, arrow.target))


class Grant(Struct, frozen=True):
    """What one arrow gives one agent: the card at its other end."""

    card: Card
    arrow: Arrow

    def allows(self, tool: str) -> bool:
        """Whether the arrow lets a tool (its manifest name) through."""
        return self.arrow.tools is None or tool in self.arrow.tools


def grants(board: Board, agent_card_id: str) -> tuple[Grant, ...]:
    """What an agent's card may reach, one for each arrow, in the order in which they were drawn."""
    found: list[Grant] = []
    for arrow in board.arrows.values():
        other = arrow.other_end(agent_card_id)
        if other is not None:
            found.append(Grant(board.cards[other], arrow))
    return tuple(found)


def difference(before: Board, after: Board) -> Edit:
    """What a reader of `before` has to do to see `after`: put what is new or changed, remove what is gone."""
    gone_arrows = tuple(RemoveArrow(arrow_id) for arrow_id in before.arrows if arrow_id not in after.arrows)
    gone_cards = tuple(RemoveCard(card_id) for card_id in before.cards if card_id not in after.cards)
    cards = tuple(PutCard(card) for card_id, card in after.cards.items() if before.cards.get(card_id) != card)
    arrows = tuple(PutArrow(arrow) for arrow_id, arrow in after.arrows.items() if before.arrows.get(arrow_id) != arrow)
    return (*gone_arrows, *gone_cards, *cards, *arrows)


def _taken(known: dict[str, _T], id_: str, what: str) -> _T:
    found = known.pop(id_, None)
    if found is None:
        raise Conflict(f"there is no {what} {id_!r} on this board any more; read the board again")
    return found


def _check(cards: dict[str, Card], arrows: dict[str, Arrow]) -> None:
    if len(cards) > MAX_CARDS or len(arrows) > MAX_ARROWS:
        raise Conflict(f"a board holds {MAX_CARDS} cards and {MAX_ARROWS} arrows; use another workspace")
    pairs: set[frozenset[str]] = set()
    for arrow in arrows.values():
        for end in (arrow.source, arrow.target):
            if end not in cards:
                raise Conflict(f"arrow {arrow.id!r} would end at {end!r}, which is not on this board")
            if cards[end].kind == "group":
                raise Conflict(f"arrow {arrow.id!r} would end at the group {end!r}; draw it to a card in it")
        pair = frozenset((arrow.source, arrow.target))
        if len(pair) == 1:
            raise Conflict(f"arrow {arrow.id!r} would join {arrow.source!r} to itself; draw it to another card")
        if pair in pairs:
            raise Conflict(f"there is an arrow between {arrow.source!r} and {arrow.target!r} already")
        pairs.add(pair)
