"""Clients that take nothing of their answers, on sockets: they are given up, and their calls go by the revision's rule.

mcp.md S12, S14; gateway.md D21.
"""

from typing import Any

import anyio
import pytest

from tests.interaction.bench import BOTH, ERAS, JSON_ONLY, NEW, OLD, Gate
from tests.interaction.requirements import proves
from tests.interaction.sockets import SERVERS, Wire, place
from toolwire.sdk import ToolContext
from toolwire.server import Server

TIMEOUT_S = 0.2


def talkative(gate: Gate) -> Server:
    """A server whose tools have more to say than a connection holds."""
    server = Server("bench", "1.0")

    @server.tool
    async def talk(ctx: ToolContext) -> str:
        """Talk until it is let go."""
        async with anyio.create_task_group() as tasks:

            async def go_on() -> None:
                number = 0
                while True:
                    number += 1
                    await ctx.progress("x" * 60_000, number)

            tasks.start_soon(go_on)
            await gate.hold()
            tasks.cancel_scope.cancel()
        return "done"

    @server.tool
    async def large() -> str:
        """Say much at once."""
        gate.release.set()
        await gate.hold()
        return "x" * 16_000_000

    return server


@proves("unread.dropped")
@pytest.mark.parametrize("kind", SERVERS)
@pytest.mark.parametrize("era", ERAS)
async def test_a_client_that_does_not_read_its_stream_is_given_up(
    kind: Any, era: str, caplog: pytest.LogCaptureFixture
):
    async with place(kind, talkative, TIMEOUT_S) as site:
        wire = Wire(site.port, 4096)
        wire.call(era, "talk", BOTH)
        await site.gate.until(entered=1)
        await site.until_dropped()
        if era == NEW:
            await site.gate.until(cancelled=1)
        else:
            assert site.gate.cancelled == 0
            site.gate.release.set()
            await site.gate.until(finished=1)
        wire.socket.close()
    assert caplog.text == ""


@proves("unread.dropped")
@pytest.mark.parametrize("kind", SERVERS)
@pytest.mark.parametrize("era", ERAS)
async def test_a_client_that_does_not_read_its_json_is_given_up(kind: Any, era: str, caplog: pytest.LogCaptureFixture):
    async with place(kind, talkative, TIMEOUT_S) as site:
        wire = Wire(site.port, 4096)
        wire.call(era, "large", JSON_ONLY)
        await site.gate.until(finished=1)
        await site.until_dropped()
        wire.socket.close()
    assert caplog.text == ""


@proves("unread.dropped")
@pytest.mark.parametrize("kind", SERVERS)
async def test_a_client_that_reads_slowly_is_not_given_up(kind: Any):
    async with place(kind, talkative, 1.0) as site:
        wire = Wire(site.port, 64 * 1024)
        wire.call(OLD, "large", JSON_ONLY)
        size = 0
        with anyio.fail_after(30):
            while size < 16_000_000:
                await anyio.wait_readable(wire.socket)
                size += len(wire.socket.recv(60_000))
                await anyio.sleep(0.005)  # so that all of it takes longer than a client may take nothing
        wire.socket.close()
