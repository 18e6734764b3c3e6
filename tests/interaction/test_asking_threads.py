"""Bodies on threads that ask: whatever becomes of their call, they are not left to wait for ever (mcp.md S20)."""

from typing import Any

import anyio
import anyio.from_thread
import anyio.lowlevel
import pytest

from tests.interaction.answering import ABLE, Asked, by_method
from tests.interaction.bench import NEW, Gate
from tests.interaction.cells import CELLS, Talk, talking
from tests.interaction.requirements import HTTP_2026, Cell, proves
from tests.interaction.transport import PATIENCE_S
from toolwire.sdk import ToolContext
from toolwire.server import Server

REQUESTS: list[tuple[str, dict[str, Any]]] = [
    ("tools/call", {"name": "ask"}),
    ("tools/call", {"name": "ask", "_meta": {"toolwire/idempotency_key": "k1"}}),
    ("prompts/get", {"name": "about"}),
]


class Bodies:
    """A server of bodies on threads, and what they came to."""

    def __init__(self) -> None:
        self.ended = anyio.Event()
        self.errors: list[str] = []
        self._token = anyio.lowlevel.current_token()

    def offer(self, gate: Gate) -> Server:
        server = Server("bench")

        @server.tool
        def ask(ctx: ToolContext) -> str:
            """Ask from a thread."""
            return self._ask(ctx)

        @server.prompt
        def about(ctx: ToolContext) -> str:
            """Ask from a thread."""
            return self._ask(ctx)

        return server

    def _ask(self, ctx: ToolContext) -> str:
        try:
            return str(ctx.wait(ctx.roots()))
        except Exception as error:
            self.errors.append(str(error))
            # Whoever asks once more after the end is told at once.
            with pytest.raises(type(error)):
                ctx.wait(ctx.roots(key="once more"))
            raise
        finally:
            anyio.from_thread.run_sync(self.ended.set, token=self._token)

    async def until_ended(self) -> None:
        with anyio.fail_after(PATIENCE_S):
            await self.ended.wait()


async def asked(talk: Talk, method: str, params: dict[str, Any]) -> None:
    """Send a request and read on until the question is there."""
    client = Asked(talk, by_method())
    answer = await talk.begin(method, client.enveloped(params))
    if answer is None:
        assert talk.lines is not None
        assert await talk.lines.message()
        return
    with anyio.fail_after(PATIENCE_S):
        await answer.started.wait()
    assert await (answer.json() if talk.era == NEW else answer.frame())


@proves("asking.thread")
@pytest.mark.parametrize("cell", [cell for cell in CELLS if cell not in (HTTP_2026, Cell.STDIO_2026)])
@pytest.mark.parametrize(("method", "params"), [REQUESTS[0], REQUESTS[2]])
async def test_a_body_on_a_thread_hears_that_its_call_was_cancelled(cell: Cell, method: str, params: dict[str, Any]):
    bodies = Bodies()
    async with talking(cell, bodies.offer, ABLE) as talk:
        await asked(talk, method, params)
        await talk.tell("notifications/cancelled", {"requestId": 1})
        await bodies.until_ended()
        assert bodies.errors == ["the call is over"]


@proves("asking.thread")
@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize(("method", "params"), REQUESTS)
async def test_a_body_on_a_thread_is_let_go_when_the_server_ends(cell: Cell, method: str, params: dict[str, Any]):
    bodies = Bodies()
    async with talking(cell, bodies.offer, ABLE) as talk:
        await asked(talk, method, params)
    await bodies.until_ended()
    assert bodies.errors == ["the call is over"]
