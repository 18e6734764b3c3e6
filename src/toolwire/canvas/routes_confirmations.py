"""The routes of what cards ask the user; they keep nothing."""

from collections.abc import Sequence

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from toolwire.canvas.confirmations import Confirmations
from toolwire.canvas.rest import OwnerReader, path_param
from toolwire.canvas.workspaces import Workspaces
from toolwire.surfaces.described import described
from toolwire.surfaces.rest import answer, done
from toolwire.wire.answers.boards import WaitingQuestions


class ConfirmationAnswer(Struct, frozen=True, forbid_unknown_fields=True):
    """The body of `POST …/confirmations/{id}`."""

    confirmed: bool


class ConfirmationRoutes:
    """The routes.

    Args:
        reader: reads requests.
        workspaces: where cards are.
        confirmations: what they ask.
    """

    def __init__(self, reader: OwnerReader, workspaces: Workspaces, confirmations: Confirmations) -> None:
        self._reader = reader
        self._workspaces = workspaces
        self._confirmations = confirmations

    def routes(self) -> Sequence[Route]:
        """What to mount."""
        base = "/api/v1/workspaces/{w}/confirmations"
        return (
            Route(base, self.list, methods=["GET"]),
            Route(base + "/{confirmation}", self.answer, methods=["POST"]),
        )

    @described("oag", WaitingQuestions)
    async def list(self, request: Request) -> Response:
        """The questions that wait in a workspace."""
        workspace = self._workspaces.get(self._reader.owner(request).owner, path_param(request, "w"))
        waiting = self._confirmations.of_workspace(workspace.id)
        return answer({"confirmations": [self._confirmations.shown(one) for one in waiting]})

    @described("oag", body=ConfirmationAnswer, errors="conflict")
    async def answer(self, request: Request) -> Response:
        """The user's answer."""
        workspace = self._workspaces.get(self._reader.owner(request).owner, path_param(request, "w"))
        body = await self._reader.body(request, ConfirmationAnswer)
        self._confirmations.answer(workspace.id, path_param(request, "confirmation"), body.confirmed)
        return done()
