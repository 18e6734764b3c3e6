"""Puts the canvas together on ports that are open already; it decides nothing by itself."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from msgspec import Struct
from starlette.routing import BaseRoute
from starlette.types import ASGIApp

from toolwire.canvas.editor import Editor
from toolwire.canvas.feed import Feed
from toolwire.canvas.identity import Directory
from toolwire.canvas.packages import Packages
from toolwire.canvas.rest import OwnerReader
from toolwire.canvas.routes_board import BoardRoutes
from toolwire.canvas.routes_packages import PackageRoutes
from toolwire.canvas.routes_workspaces import WorkspaceRoutes
from toolwire.canvas.shown import Shown
from toolwire.canvas.told import tell_of_boards
from toolwire.canvas.workspaces import Workspace, Workspaces
from toolwire.compose import Opened
from toolwire.config import Config
from toolwire.core.board import Card
from toolwire.surfaces.limits import Guard
from toolwire.surfaces.rest import RestApp

PREFIXES = ("/api/v1/workspaces", "/api/v1/card-packages", "/api/v1/terminals")
"""REST paths of the canvas, and what lies below them."""


class Canvas(Struct, frozen=True):
    """A canvas that serves: `app` answers the paths that `serves` names."""

    app: ASGIApp
    workspaces: Workspaces
    packages: Packages
    feed: Feed

    def serves(self, path: str) -> bool:
        """Whether a path is the canvas' own."""
        return any(path == prefix or path.startswith(f"{prefix}/") for prefix in PREFIXES)


@asynccontextmanager
async def canvas_on(config: Config, opened: Opened, directory: Directory) -> AsyncGenerator[Canvas]:
    """A canvas until the block ends. The engine has to run already.

    Args:
        config: all settings.
        opened: the ports.
        directory: keys and agents.
    """
    feed = Feed()
    workspaces = Workspaces(opened.store, opened.clock, feed)
    packages = Packages(opened.store, opened.clock, Path(config.data) / "packages", directory.trusts)
    reader = OwnerReader(directory, config.request_limit_bytes)

    def state_of(workspace: Workspace, card: Card) -> str:
        if card.agent_id is None:
            return "idle"
        return "online" if directory.agent(workspace.owner, card.agent_id).online else "offline"

    shown = Shown(workspaces, state_of)
    tell_of_boards(workspaces, feed, shown)
    editor = Editor(workspaces, shown)
    boards = BoardRoutes(
        reader,
        workspaces,
        editor,
        shown,
        directory,
        packages,
        lambda agent_id: f"{config.public_url or ''}/{agent_id}/toolbox/mcp",
    )
    routes: Sequence[BaseRoute] = [
        *WorkspaceRoutes(reader, workspaces, editor, shown, feed, boards.check_card).routes(),
        *boards.routes(),
        *PackageRoutes(reader, packages, workspaces).routes(),
    ]
    guard = Guard(config.allowed_hosts, config.allowed_origins, config.public_url)
    await workspaces.load()
    await packages.load()
    yield Canvas(RestApp(routes, guard, lambda: 'Bearer realm="canvas"'), workspaces, packages, feed)
