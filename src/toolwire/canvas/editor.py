"""Edits asked for over REST: in the version that the editor has seen, with the present state where that is stale."""

from collections.abc import Awaitable, Callable

from starlette.requests import Request

from toolwire.canvas.history import Direction
from toolwire.canvas.identity import Visitor
from toolwire.canvas.rest import expected_version, path_param
from toolwire.canvas.shown import Shown
from toolwire.canvas.workspaces import Workspace, Workspaces
from toolwire.core.board import Board, Edit
from toolwire.core.errors import Conflict


class Editor:
    """Edits workspaces for the routes.

    Args:
        workspaces: all workspaces.
        shown: how a workspace is shown.
    """

    def __init__(self, workspaces: Workspaces, shown: Shown) -> None:
        self._workspaces = workspaces
        self._shown = shown

    async def check(self, request: Request, visitor: Visitor) -> None:
        """Whether an edit could come in time, before anything is made for it.

        Raises:
            WorkspaceNotFound, Conflict: as `edit`.
        """
        workspace_id = path_param(request, "w")

        async def look() -> Workspace:
            return self._workspaces.at_version(visitor.owner, workspace_id, expected_version(request))

        await self._or_present(visitor, workspace_id, look())

    async def edit(self, request: Request, visitor: Visitor, make: Callable[[Board], Edit]) -> Workspace:
        """Change the board in the path.

        Raises:
            WorkspaceNotFound: the owner has none of that id.
            Conflict: as `Workspaces.edit`; `present` in its data is the workspace as it is now.
        """
        workspace_id = path_param(request, "w")
        edited = self._workspaces.edit(visitor.owner, workspace_id, make, expected_version(request))
        return await self._or_present(visitor, workspace_id, edited)

    async def step(self, request: Request, visitor: Visitor, direction: Direction) -> Workspace:
        """Undo or redo in the workspace in the path.

        Raises:
            WorkspaceNotFound, Conflict: as `edit`.
        """
        workspace_id = path_param(request, "w")
        stepped = self._workspaces.step(visitor.owner, workspace_id, direction, expected_version(request))
        return await self._or_present(visitor, workspace_id, stepped)

    async def _or_present(self, visitor: Visitor, workspace_id: str, edited: Awaitable[Workspace]) -> Workspace:
        try:
            return await edited
        except Conflict as error:
            error.data["present"] = self._shown.workspace(self._workspaces.get(visitor.owner, workspace_id))
            raise
