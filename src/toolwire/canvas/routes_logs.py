"""The routes of what happened: the calls of an arrow, the lines of a card (cards.md, section 7); it keeps nothing."""

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from toolwire.canvas.arrow_log import KEPT_CALLS, ArrowLog, shown_call
from toolwire.canvas.card_log import CardLog, shown_line
from toolwire.canvas.rest import OwnerReader, path_param
from toolwire.canvas.workspaces import Workspaces
from toolwire.core.errors import ArrowNotFound
from toolwire.surfaces.described import described, query
from toolwire.surfaces.rest import answer, query_number
from toolwire.wire.answers.boards import ArrowCalls, CardLines

USUAL_CALLS = 50


class LogRoutes:
    """The routes of logs.

    Args:
        reader: reads requests.
        workspaces: where arrows and cards are.
        arrows: the calls of arrows.
        cards: the lines of cards.
    """

    def __init__(self, reader: OwnerReader, workspaces: Workspaces, arrows: ArrowLog, cards: CardLog) -> None:
        self._reader = reader
        self._workspaces = workspaces
        self._arrows = arrows
        self._cards = cards

    def routes(self) -> Sequence[Route]:
        """What to mount."""
        one = "/api/v1/workspaces/{w}"
        return (
            Route(one + "/arrows/{a}/log", self.arrow, methods=["GET"]),
            Route(one + "/cards/{c}/log", self.card, methods=["GET"]),
        )

    @described(
        "oag",
        ArrowCalls,
        parameters=(
            query("limit", "how many", Annotated[int, Meta(ge=1, le=KEPT_CALLS)]),
            query("after", "only calls after this one"),
        ),
    )
    async def arrow(self, request: Request) -> Response:
        """The latest `limit` calls of an arrow, or those after the call `after`; the oldest first."""
        owner = self._reader.owner(request).owner
        workspace, arrow_id = self._workspaces.get(owner, path_param(request, "w")), path_param(request, "a")
        if arrow_id not in workspace.board.arrows:
            raise ArrowNotFound(f"there is no arrow {arrow_id!r} in this workspace")
        limit = query_number(request, "limit", USUAL_CALLS, 1, KEPT_CALLS)
        calls = await self._arrows.read(owner, arrow_id, limit, request.query_params.get("after"))
        return answer({"calls": [shown_call(call) for call in calls]})

    @described("oag", CardLines)
    async def card(self, request: Request) -> Response:
        """What a card has logged, and what was logged of its package; the oldest first."""
        owner = self._reader.owner(request).owner
        card = self._workspaces.get(owner, path_param(request, "w")).card(path_param(request, "c"))
        about = (card.id,) if card.package is None else (card.id, card.package)
        return answer({"lines": [shown_line(line) for line in self._cards.read(*about)]})
