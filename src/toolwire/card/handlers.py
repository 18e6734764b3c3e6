"""The handlers of a card's tools, which may come and go while calls wait for them; it calls none of them.

Contract: cards.md 39, 59, decision 23.
"""

import logging
from collections.abc import Callable
from typing import Any, Final, TypeAlias

import anyio

from toolwire.card.call import ToolCall

logger = logging.getLogger("toolwire.card")

Handler: TypeAlias = Callable[[dict[str, Any], ToolCall], Any]
"""Answers calls of a tool: an async function, or a plain one, which runs in a thread."""

GONE_HANDLER_S: Final = 5.0
"""How long a call waits for a handler that was there and was taken away (decision 23)."""


class Handlers:
    """Finds the handler of a tool, as soon as there is one."""

    def __init__(self) -> None:
        self._known: dict[str, Handler] = {}
        self._gone: set[str] = set()
        self._waiting: set[anyio.Event] = set()

    def put(self, tool: str, handler: Handler) -> None:
        """A tool is answered by `handler` from now on.

        Raises:
            ValueError: it has a handler already.
        """
        if tool in self._known:
            raise ValueError(f"tool {tool!r} has a handler already; remove that first")
        self._known[tool] = handler
        self._tell()

    def remove(self, tool: str, handler: Handler) -> None:
        """A handler is gone; fine if it is not the tool's."""
        if self._known.get(tool) is handler:
            del self._known[tool]
            self._gone.add(tool)
            self._tell()

    async def find(self, tool: str) -> Handler | None:
        """The handler of a tool, when it comes; `None` if it was there and does not come back soon."""
        with anyio.move_on_after(GONE_HANDLER_S):
            await self._arrival(tool)
        if tool not in self._known and tool not in self._gone:
            there = ", ".join(sorted(self._known)) or "no tool"
            logger.warning("a call waits for a handler of %r; there are handlers of %s", tool, there)
            await self._arrival(tool)
        return self._known.get(tool)

    async def _arrival(self, tool: str) -> None:
        while tool not in self._known:
            await self._news()

    async def _news(self) -> None:
        """Wait until a handler has come or gone."""
        news = anyio.Event()  # one for each who waits: a card may be served by another event loop later
        self._waiting.add(news)
        try:
            await news.wait()
        finally:
            self._waiting.discard(news)

    def _tell(self) -> None:
        for news in tuple(self._waiting):
            news.set()
