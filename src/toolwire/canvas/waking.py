"""Brings cards to life: a Python card by a process, a web card by a page of the canvas that somebody has open."""

from toolwire.canvas.packages import Package
from toolwire.canvas.workspaces import Workspaces
from toolwire.core.errors import CardNotFound
from toolwire.surfaces.feed import Feed
from toolwire.wire.card_messages import CardRef


class PageWaker:
    """Asks the pages that show a workspace to bring a web card to life; see `card_connections.Waker`.

    Args:
        workspaces: where cards stand.
        feed: reaches the pages: a moment `wake` with the `card`.
    """

    def __init__(self, workspaces: Workspaces, feed: Feed) -> None:
        self._workspaces = workspaces
        self._feed = feed

    def wake(self, package: Package, card: CardRef) -> None:
        """Ask the pages."""
        try:
            workspace, _ = self._workspaces.find_card(package.owner, card.id)
        except CardNotFound:
            return  # it has just been removed, which ends whatever waits for it
        self._feed.tell(workspace.id, "wake", {"card": card.id, "package": package.id})

    def why_not(self, package: Package) -> str | None:
        """What to do about a web card that is not there."""
        return "open its workspace in a browser, where it can run, or run it with `toolwire card dev`"
