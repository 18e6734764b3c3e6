"""A server that lives as long as its process, for inputs by the thousand; it asserts nothing.

Its event loop runs in a thread of its own, because who makes inputs (libFuzzer, hypothesis) wants a plain function.
"""

import logging
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import anyio
import anyio.from_thread
from anyio.from_thread import BlockingPortal
from msgspec import Struct

from tests.interaction.bench import OLD, Bench, Gate, Peer
from tests.interaction.cells import notes
from tests.interaction.transport import Client, connect
from toolwire.cli.listening import bind, serving
from toolwire.compose import ToolServer
from toolwire.sdk import ToolContext
from toolwire.surfaces.limits import Guard

PAGE = "https://app.example.com"
PATIENCE_S = 10.0
"""How long any step may take before it counts as a hang."""


class Mistakes(logging.Handler):
    """Collects what the server logs as its own mistakes."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.found: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep it when it is about surfaces or the engine."""
        if record.name.startswith(("toolwire.surfaces", "toolwire.engine")):
            self.found.append(record.getMessage())


class Site(Struct, frozen=True):
    """The server, a client of it, the id of a session that goes on, and the port on which it listens, too."""

    served: ToolServer
    client: Client
    session: str
    port: int
    mistakes: Mistakes
    portal: BlockingPortal

    def run(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Await `function(*arguments)` on the server's event loop."""
        return self.portal.call(function, *arguments)


@asynccontextmanager
async def _open(portal: BlockingPortal) -> AsyncGenerator[Site]:
    gate = Gate()
    gate.release.set()
    server = notes(gate)

    @server.tool
    async def steps(ctx: ToolContext, count: int = 3) -> dict[str, int]:
        """Tell how far it is, step by step."""
        for done in range(1, min(count, 10) + 1):
            await ctx.progress(f"step {done}", done, count)
        return {"count": count}

    @server.tool
    async def ask(ctx: ToolContext) -> str:
        """Ask the person for a name."""
        form = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
        answer = await ctx.elicit("Who are you?", form)
        return f"{answer.action} {answer.content}"

    @server.tool(task="optional")
    async def later(text: str = "later") -> str:
        """Be a task, where the client knows them."""
        return text

    mistakes = Mistakes()
    logging.getLogger().addHandler(mistakes)
    try:
        bound = bind("127.0.0.1", 0)
        async with (
            server.open(Guard(origins=[PAGE])) as served,
            serving(served.app, bound),
            connect(served.app, PATIENCE_S) as client,
        ):
            peer: Peer = await Bench(served, client, gate).peer(OLD).session()
            yield Site(served, client, peer.more["mcp_session_id"], bound.getsockname()[1], mistakes, portal)
    finally:
        logging.getLogger().removeHandler(mistakes)


@contextmanager
def open_site() -> Generator[Site]:
    """The site, until the block ends."""
    with anyio.from_thread.start_blocking_portal() as portal, portal.wrap_async_context_manager(_open(portal)) as site:
        yield site
