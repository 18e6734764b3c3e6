"""`Server`: what an author offers over MCP, tools, resources, prompts and completions, in one object.

It knows no wire: `toolwire tools serve` and `Server.open` serve it, on both revisions and every transport alike.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import NamedTuple

from toolwire.compose import ToolServer, open_tool_server
from toolwire.core.change import Change, ListChanged, ResourceUpdated
from toolwire.core.jsontypes import JsonObject
from toolwire.core.prompt import PromptMessage
from toolwire.engine.ending import TaskLimits
from toolwire.sdk.home_loop import HomeLoop
from toolwire.sdk.offer import Offer
from toolwire.sdk.prompt import from_assistant, from_user
from toolwire.surfaces.changes import Changes
from toolwire.surfaces.endpoint import Library
from toolwire.surfaces.limits import Guard
from toolwire.surfaces.mcp_http import HttpSettings

__all__ = [
    "ListChanged",
    "ParamHeader",
    "PromptMessage",
    "ResourceUpdated",
    "Server",
    "TaskLimits",
    "from_assistant",
    "from_user",
]


class ParamHeader:
    """In `Annotated[str, ParamHeader("Region")]`: clients of 2026-07-28 repeat the argument in `Mcp-Param-Region`.

    A proxy can route by it. The hint must be `str`, `int` or `bool`; an optional one has a default.
    """

    def __init__(self, name: str) -> None:
        self.extra_json_schema: JsonObject = {"x-mcp-header": name}


class Server(Offer):
    """An MCP server as its author writes it.

    Args:
        name: shown to clients.
        version: shown to clients.
        title: a name for people.
        instructions: words for the model that will use it.

    Raises:
        ValueError: `name` or `version` is empty.
    """

    def __init__(
        self, name: str, version: str = "1.0.0", *, title: str | None = None, instructions: str | None = None
    ) -> None:
        if not name or not version:
            raise ValueError("a Server needs a name and a version that are not empty")
        super().__init__()
        self.name = name
        self.version = version
        self.title = title
        self.instructions = instructions
        self._opened: list[_Opened] = []

    @asynccontextmanager
    async def open(
        self, guard: Guard | None = None, settings: HttpSettings | None = None, tasks: TaskLimits | None = None
    ) -> AsyncGenerator[ToolServer]:
        """Run the server until the block ends: `app` of what comes is an ASGI app, `serve_stdio` serves stdio.

        Args:
            guard: tells our own Host and Origin from others'; by default loopback only.
            settings: limits of the HTTP surface.
            tasks: how long tasks may take and are known.

        Raises:
            InvalidParam: a tool's schema cannot be used.
        """
        changes = Changes()
        library = self._library(changes)
        async with open_tool_server(
            self.tools,
            self.name,
            self.version,
            guard,
            settings,
            library=library,
            title=self.title,
            instructions=self.instructions,
        ) as served:
            if tasks is not None:
                served.limit_tasks(tasks)
            opened = _Opened(served, changes, HomeLoop())
            self._opened.append(opened)
            try:
                yield served
            finally:
                self._opened.remove(opened)

    def _library(self, changes: Changes) -> Library:
        return Library(self.resources, self.prompts, self.completions, changes)

    def _offer_anew(self) -> None:
        for opened in tuple(self._opened):
            library = self._library(opened.changes)
            opened.home.run(lambda opened=opened, library=library: opened.served.offer(self.tools, library))

    def _tell_here(self, change: Change) -> None:
        for opened in tuple(self._opened):
            opened.home.run(lambda opened=opened: opened.changes.tell(change))

    def __repr__(self) -> str:
        return f"<Server {self.name!r} version={self.version!r}>"


class _Opened(NamedTuple):
    """A server that is open, who listens to it, and the event loop that it is open on."""

    served: ToolServer
    changes: Changes
    home: HomeLoop
