"""Connections that break, and streams that are closed, on sockets of two servers (mcp.md 1.2, resumability)."""

from typing import Any

import anyio
import pytest

from tests.interaction.bench import OLD, SSE_ONLY, Gate, headers
from tests.interaction.requirements import HTTP_2025, proves
from tests.interaction.sockets import SERVERS, Kind, Wire, last_id, place
from tests.interaction.transport import PATIENCE_S
from toolwire.sdk import ToolContext
from toolwire.server import Server

END = "\r\n0\r\n\r\n"
"""How a stream ends on HTTP/1.1."""


def offer(gate: Gate) -> Server:
    server = Server("bench", "1.0")

    @server.tool
    async def tell_and_hold(ctx: ToolContext) -> str:
        """Tell, wait, tell again."""
        await ctx.progress("begun", 1, 2)
        await gate.hold()
        await ctx.progress("ended", 2, 2)
        return "done"

    @server.tool
    async def close_and_hold(ctx: ToolContext) -> str:
        """Close the stream, then wait."""
        await ctx.close_stream(retry_after_s=0)
        await gate.hold()
        return "done"

    @server.tool
    async def quick() -> str:
        """Be done."""
        return "quick"

    return server


def coming_back(id_: str) -> dict[str, Any]:
    return {**headers(OLD), "accept": SSE_ONLY, "last-event-id": id_}


@proves("resume.rest")
@pytest.mark.parametrize("kind", SERVERS)
async def test_an_answer_is_there_for_who_comes_back_on_another_connection(kind: Kind):
    async with place(kind, offer) as site:
        wire = Wire(site.port)
        wire.call(OLD, "tell_and_hold")
        said = await wire.until('"begun"}}\n\n')
        wire.reset()
        site.gate.release.set()
        await site.gate.until(finished=1)
        again = Wire(site.port)
        again.send("GET", coming_back(last_id(said)))
        rest = await again.until(END)
        assert '"ended"' in rest
        assert '"begun"' not in rest
        assert rest.count('"result"') == 1
        again.socket.close()


@proves("stream.closed", HTTP_2025)
@pytest.mark.parametrize("kind", SERVERS)
async def test_a_connection_whose_stream_was_closed_is_used_again_while_the_call_goes_on(kind: Kind):
    async with place(kind, offer) as site:
        wire = Wire(site.port)
        for _ in range(2):  # a head that is known goes another way than one that is new
            wire.call(OLD, "quick")
            assert '"quick"' in await wire.whole()
        wire.call(OLD, "close_and_hold")
        said = await wire.until(END)
        assert "retry: 0\n" in said
        wire.call(OLD, "quick")
        assert '"quick"' in await wire.whole()
        wire.send("GET", coming_back(last_id(said)))
        await wire.until("retry: 1000\ndata:\n\n")
        site.gate.release.set()
        assert '"done"' in await wire.until(END)
        wire.socket.close()


@proves("resume.rest")
@pytest.mark.parametrize("kind", SERVERS)
async def test_many_clients_come_back_at_once_and_each_to_its_own_call(kind: Kind):
    async with place(kind, offer) as site:
        said: list[str] = []
        for number in range(20):
            wire = Wire(site.port)
            wire.call(OLD, "tell_and_hold")
            said.append(await wire.until('"begun"}}\n\n'))
            wire.reset()
            assert len(said) == number + 1
        ends: list[str] = []

        async def come_back(id_: str) -> None:
            again = Wire(site.port)
            again.send("GET", coming_back(id_))
            await again.until("data:\n\n")
            ends.append(await again.until(END))
            again.socket.close()

        with anyio.fail_after(PATIENCE_S):
            async with anyio.create_task_group() as tasks:
                for text in said:
                    tasks.start_soon(come_back, last_id(text))
                await anyio.wait_all_tasks_blocked()
                site.gate.release.set()
        assert [end.count('"result"') for end in ends] == [1] * 20
        assert site.gate.entered == 20
