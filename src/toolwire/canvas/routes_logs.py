"""The route of what cards have logged (cards.md, section 7); it keeps nothing."""

from collections.abc import Sequence

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from toolwire.canvas.card_log import CardLog, shown_line
from toolwire.canvas.rest import OwnerReader, path_param
from toolwire.canvas.workspaces import Workspaces
from toolwire.surfaces.described import described
from toolwire.surfaces.rest import answer
from toolwire.wire.answers.boards import CardLines


class LogRoutes:
    """The routes.

    Args:
        reader: reads requests.
        workspaces: where cards are.
        cards: the lines of cards.
    """

    def __init__(self, reader: OwnerReader, workspaces: Workspaces, cards: CardLog) -> None:
        self._reader = reader
        self._workspaces = workspaces
        self._cards = cards

    def routes(self) -> Sequence[Route]:
        """What to mount."""
        return (Route("/api/v1/workspaces/{w}/cards/{c}/log", self.card, methods=["GET"]),)

    @described("oag", CardLines)
    async def card(self, request: Request) -> Response:
        """What a card has logged, and what was logged of its package; the oldest first."""
        owner = self._reader.owner(request).owner
        card = self._workspaces.get(owner, path_param(request, "w")).card(path_param(request, "c"))
        about = (card.id,) if card.package is None else (card.id, card.package)
        return answer({"lines": [shown_line(line) for line in self._cards.read(*about)]})
