"""`canvas_*`: what an agent may do with the board that it stands on, where its user has let it.

An agent has these tools only while its own card's content has `{"canvas": true}`. It may place cards, and remove those
that it has placed; the arrows to anything that can do harm are the user's to draw (cards.md 4).
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final

import msgspec
from msgspec import Struct

from toolwire.canvas.copies import Copy
from toolwire.canvas.families.arrows import SOURCE, BuiltIn
from toolwire.canvas.identity import AgentInfo
from toolwire.canvas.workspaces import Workspace, Workspaces
from toolwire.core.board import Arrow, Board, Card, Edit, PutArrow, PutCard, arrows_of, removal
from toolwire.core.call import Call
from toolwire.core.errors import CardNotFound, Conflict, Forbidden, InvalidParam, ToolwireError
from toolwire.core.handler import Emit, Handler
from toolwire.core.ids import new_id
from toolwire.core.jsontypes import JsonObject
from toolwire.core.result import Result, Text, failed
from toolwire.core.tool import Tool
from toolwire.providers.function import LocalTool

ALLOWED: Final = "canvas"
"""The key in an agent's card's content by which its user lets it change the board."""
SPAWNED_BY: Final = "spawned_by"
MAX_SPAWNED: Final = 50
"""Cards that an agent has placed on one board, at a time."""
BESIDE: Final = 360.0
"""How far from the agent's card a new one is put, in the canvas' units."""

_WORKSPACE: Final[JsonObject] = {
    "type": "string",
    "maxLength": 128,
    "description": "Which workspace, by id or name; needed when you stand in several.",
}

LIST: Final = Tool(
    "canvas_list",
    "Lists all cards of the workspace that you stand in, with their ids, kinds and names, and which of them are"
    " connected to you.",
    {"type": "object", "properties": {"workspace": _WORKSPACE}, "additionalProperties": False},
    title="List the canvas",
    annotations={"readOnlyHint": True},
    source=SOURCE,
)
SPAWN: Final = Tool(
    "canvas_spawn_card",
    "Places a new card on the canvas beside you: a note, a to-do list, a terminal, or a copy of an installed card."
    " A note or to-do list is connected to you at once; ask the user to draw an arrow to anything else."
    " Returns its id.",
    {
        "type": "object",
        "properties": {
            "kind": {"enum": ["note", "todo", "terminal", "card"]},
            "title": {"type": "string", "minLength": 1, "maxLength": 128},
            "text": {"type": "string", "maxLength": 100_000, "description": "What a note says."},
            "package": {"type": "string", "maxLength": 64, "description": "For kind card: the package's id."},
            "workspace": _WORKSPACE,
        },
        "required": ["kind"],
        "additionalProperties": False,
    },
    title="Place a card",
    source=SOURCE,
)
REMOVE: Final = Tool(
    "canvas_remove_card",
    "Removes a card that you have placed yourself, with its arrows. The user can undo it.",
    {
        "type": "object",
        "properties": {"card": {"type": "string", "maxLength": 128, "description": "The card's id."}},
        "required": ["card"],
        "additionalProperties": False,
    },
    title="Remove a card",
    annotations={"destructiveHint": True},
    source=SOURCE,
)

Check = Callable[[str, Card], None]
"""Whether a card may stand on a board of an owner; see `routes_board.BoardRoutes.check_card`."""
TitleOf = Callable[[str, str], str]
"""The name that a new copy of a package begins with; see `routes_board.Placeable.title_of`."""


class Standing(Struct, frozen=True):
    """Where an agent stands that may change the board."""

    workspace: Workspace
    card: Card


class CanvasFamily:
    """The tools of the board; see `granted.Family`.

    Args:
        workspaces: the boards.
        check: says what may be placed.
        title_of: names copies of packages.
    """

    def __init__(self, workspaces: Workspaces, check: Check, title_of: TitleOf) -> None:
        self._workspaces = workspaces
        self._check = check
        self._title_of = title_of

    def __call__(self, agent: AgentInfo, found: Sequence[Copy]) -> Sequence[LocalTool]:
        """What an agent may do; what it reaches does not matter here."""
        if not self._standing(agent):
            return ()
        bodies = ((LIST, self._list), (SPAWN, self._spawn), (REMOVE, self._remove))
        return [BuiltIn(tool, _handler(agent, body)) for tool, body in bodies]

    async def _list(self, agent: AgentInfo, arguments: JsonObject) -> Result:
        here = self._here(agent, arguments.get("workspace"))
        joined = {arrow.other_end(here.card.id) for arrow in arrows_of(here.workspace.board, here.card.id)}
        shown = [
            {
                "card": card.id,
                "name": card.title,
                "kind": card.kind,
                "connected": card.id in joined,
                "yours": card.content.get(SPAWNED_BY) == agent.agent_id,
            }
            for card in here.workspace.board.cards.values()
            if card.id != here.card.id
        ]
        return Result((Text(_json(shown)),), {"workspace": here.workspace.name, "cards": shown})

    async def _spawn(self, agent: AgentInfo, arguments: JsonObject) -> Result:
        here = self._here(agent, arguments.get("workspace"))
        card = self._new_card(agent, here, arguments)
        self._check(agent.owner, card)
        joined = card.kind == "note"
        changes: list[PutCard | PutArrow] = [PutCard(card)]
        if joined:
            changes.append(PutArrow(Arrow(new_id("arw"), here.card.id, card.id)))

        def make(board: Board) -> Edit:
            _check_allowed(board, here.card.id)
            placed = _placed(board, agent)
            if placed >= MAX_SPAWNED:
                words = f"{placed} cards here are yours, and more may not be; remove some with canvas_remove_card"
                raise Conflict(words)
            return tuple(changes)

        await self._workspaces.edit(agent.owner, here.workspace.id, make)
        more = "It is connected to you." if joined else "Ask the user to draw an arrow from you to it."
        return Result(
            (Text(f"Placed {card.title!r} with the id {card.id}. {more}"),), {"card": card.id, "connected": joined}
        )

    def _new_card(self, agent: AgentInfo, here: Standing, arguments: JsonObject) -> Card:
        kind, package, text = (arguments.get(name) for name in ("kind", "package", "text"))
        if (kind == "card") is (package is None):
            raise InvalidParam("a card of kind 'card' is a copy of a package, and no other is", param="package")
        if text is not None and kind not in ("note", "todo"):
            raise InvalidParam("only a note says a text", param="text")
        content: JsonObject = {SPAWNED_BY: agent.agent_id}
        if text is not None:
            content["text"] = text
        if kind == "todo":
            content["todos"] = []
        title = arguments.get("title") or (str(kind) if package is None else self._title_of(agent.owner, package))
        return Card(
            new_id("card"),
            "note" if kind == "todo" else arguments["kind"],
            title,
            here.card.x + BESIDE,
            here.card.y + 40.0 * (_placed(here.workspace.board, agent) % 20),
            package=package,
            content=content,
        )

    async def _remove(self, agent: AgentInfo, arguments: JsonObject) -> Result:
        wanted = arguments["card"]
        for here in self._standing(agent):
            card = here.workspace.board.cards.get(wanted)
            if card is None:
                continue
            if card.content.get(SPAWNED_BY) != agent.agent_id:
                raise Forbidden("you may remove only cards that you have placed yourself; ask the user to remove this")
            _check_open(here.workspace)

            def make(board: Board, here: Standing = here) -> Edit:
                _check_allowed(board, here.card.id)
                return _removal(board, wanted)

            await self._workspaces.edit(agent.owner, here.workspace.id, make)
            return Result((Text(f"Removed {card.title!r}."),), {"card": card.id})
        raise CardNotFound(f"there is no card {wanted!r} where you stand; look with canvas_list")

    def _standing(self, agent: AgentInfo) -> list[Standing]:
        found = self._workspaces.standing(agent.owner, agent.agent_id)
        return [Standing(workspace, card) for workspace, card in found if card.content.get(ALLOWED) is True]

    def _here(self, agent: AgentInfo, named: str | None) -> Standing:
        """The one place that is meant.

        Raises:
            InvalidParam: it is not told which.
            Forbidden: its workspace is not open.
        """
        places = self._standing(agent)
        if named is not None:
            places = [one for one in places if named in (one.workspace.id, one.workspace.name)]
        if len(places) != 1:
            listed = "; ".join(f"{one.workspace.id} ({one.workspace.name!r})" for one in self._standing(agent))
            raise InvalidParam(f"say in 'workspace' which one is meant: {listed or 'none is yours'}", param="workspace")
        _check_open(places[0].workspace)
        return places[0]


def _handler(agent: AgentInfo, body: Callable[[AgentInfo, JsonObject], Awaitable[Result]]) -> Handler:
    async def handle(call: Call, emit: Emit) -> Result:
        try:
            return await body(agent, call.arguments)
        except ToolwireError as error:
            return failed(error.told, error.code)

    return handle


def _check_open(workspace: Workspace) -> None:
    if not workspace.is_open:
        raise Forbidden(f"ask the user to open the workspace {workspace.name!r}, then try again")


def _check_allowed(board: Board, card_id: str) -> None:
    """Refuse an edit of an agent whose card is gone, or may not change the board any more."""
    card = board.cards.get(card_id)
    if card is None or card.content.get(ALLOWED) is not True:
        raise Forbidden("you may not change this board any more; ask the user to let you")


def _placed(board: Board, agent: AgentInfo) -> int:
    """How many cards of a board an agent has placed."""
    return sum(card.content.get(SPAWNED_BY) == agent.agent_id for card in board.cards.values())


def _removal(board: Board, card_id: str) -> Edit:
    if card_id not in board.cards:
        raise CardNotFound("the card was just removed")
    return removal(board, [card_id])


def _json(value: Any) -> str:
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
