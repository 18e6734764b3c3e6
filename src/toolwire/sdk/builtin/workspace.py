"""The directory an agent works in: where relative paths start and where writes must stay; it opens no files."""

import os

from toolwire.core.errors import Forbidden
from toolwire.sdk.result import ToolError

MAX_SHOWN = 200
"""Characters of a path that an error repeats."""


class WorkspaceEscape(Forbidden):
    """A path that is outside the workspace, or a workspace that is not there."""


class Workspace:
    """A directory, with its real path.

    Attributes:
        root: the absolute path, without symbolic links.
    """

    def __init__(self, root: str | os.PathLike[str]) -> None:
        """Take `root` as it is now; a link that is changed later does not move the workspace.

        Raises:
            WorkspaceEscape: there is no such directory.
        """
        named = os.fspath(root)
        self.root = os.path.realpath(named)
        if not os.path.isdir(self.root):
            raise WorkspaceEscape(f"the workspace {named!r} is not a directory; create it or name another one")

    def locate(self, path: str) -> str:
        """The absolute path that `path` names, links and `..` still in it.

        Raises:
            ToolError: no path can be written so.
        """
        if not path.strip():
            raise ToolError("the path is empty; name a file, relative to the workspace or absolute")
        if "\0" in path:
            raise ToolError(f"the path {shortened(path)} has a NUL character in it; remove it")
        try:
            os.fsencode(path)
        except UnicodeEncodeError:
            raise ToolError(f"the path {shortened(path)} has characters that no file name can have") from None
        if path.startswith("~/") or path == "~":
            path = os.path.expanduser(path)
        return os.path.join(self.root, path)

    def contains(self, real: str) -> bool:
        """Whether a path without links is the root or below it."""
        return real == self.root or real.startswith(self.root.rstrip(os.sep) + os.sep)

    def shown(self, path: str) -> str:
        """An absolute path as the model knows it: relative to the root where it is below, with `/` between parts."""
        if path == self.root:
            return "."
        if self.contains(path):
            return os.path.relpath(path, self.root).replace(os.sep, "/")
        return path


def shortened(path: str) -> str:
    """`path` for an error: quoted, and cut where it is very long."""
    return repr(path) if len(path) <= MAX_SHOWN else f"{path[:MAX_SHOWN]!r}…"
