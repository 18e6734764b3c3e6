"""A stdio server in a process of its own: nothing reaches the client but messages, and signals end it (mcp.md S33)."""

import os
import signal
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.abc import Process

from tests.interaction.bench import ERAS, NEW, OLD, body
from tests.interaction.requirements import STDIO_2025, STDIO_2026, proves
from tests.interaction.stdio import Lines

pytestmark = pytest.mark.e2e

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
NOISY = (sys.executable, "-m", "tests.interaction.noisy")
PATIENCE_S = 20.0
"""Processes start slowly where the machine is busy."""


class Server:
    """A server's process and the client of it."""

    def __init__(self, lines: Lines, process: Process) -> None:
        self.lines = lines
        self.process = process
        self.said = ""
        self._more_said = anyio.Event()

    async def call(self, era: str, name: str, id_: Any = 1, **arguments: Any) -> Any:
        """Call a tool and return the next message."""
        await self.lines.ask("tools/call", {"name": name, "arguments": arguments}, id_, era)
        return await self.lines.message()

    async def ended(self) -> int:
        """Wait for the end of the process and return its code."""
        with anyio.fail_after(PATIENCE_S):
            return await self.process.wait()

    async def until_said(self, words: str) -> None:
        """Wait until the process has written `words` to standard error."""
        with anyio.fail_after(PATIENCE_S):
            while words not in self.said:
                await self._more_said.wait()

    async def hear(self, source: int) -> None:
        """Collect what the process writes to standard error."""
        while True:
            await anyio.wait_readable(source)
            data = os.read(source, 1 << 16)
            if not data:
                return
            self.said += data.decode()
            self._more_said.set()
            self._more_said = anyio.Event()


@asynccontextmanager
async def running(command: Sequence[str] = NOISY) -> AsyncGenerator[Server]:
    pipes = [os.pipe() for _ in range(3)]
    (their_source, our_sink), (our_source, their_sink), (said, their_errors) = pipes
    process = await anyio.open_process(command, stdin=their_source, stdout=their_sink, stderr=their_errors, cwd=ROOT)
    for theirs in (their_source, their_sink, their_errors):
        os.close(theirs)
    server = Server(Lines(our_source, our_sink, PATIENCE_S), process)
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(server.hear, said)
            yield server
            tasks.cancel_scope.cancel()
    finally:
        server.lines.leave()
        os.close(said)
        if process.returncode is None:
            process.kill()
        with anyio.CancelScope(shield=True):
            await process.wait()


def text(message: Any) -> str:
    return message["result"]["content"][0]["text"]


@proves("stdio.private")
@pytest.mark.parametrize("era", ERAS)
async def test_whatever_tools_and_children_print_the_client_reads_messages_alone(era: str):
    async with running() as served:
        assert text(await served.call(era, "noise", 1)) == "quiet"
        assert text(await served.call(era, "greedy", 2)) == "nothing to read"
        assert text(await served.call(era, "noise", 3)) == "quiet"
        assert text(await served.call(era, "held_back", 4)) == "ok"
        served.lines.end()
        assert await served.lines.messages() == []
        assert await served.ended() == 0
        for words in ("printed and flushed", "written", "a child printed", "held back"):
            await served.until_said(words)


@proves("stdio.lines")
@pytest.mark.parametrize("era", ERAS)
async def test_bad_bytes_cost_their_line_alone(era: str):
    async with running() as served:
        await served.lines.send(b"\xff\xfe\x80\n\x00\n")
        for _ in range(2):
            assert (await served.lines.message())["error"]["code"] == -32700
        assert text(await served.call(era, "large", size=3)) == "xxx"


@proves("stdio.large")
@pytest.mark.parametrize("era", ERAS)
async def test_an_answer_of_ten_megabytes_is_one_line(era: str):
    async with running() as served:
        assert len(text(await served.call(era, "large", size=10_000_000))) == 10_000_000


@proves("stdio.eof")
@pytest.mark.parametrize("era", ERAS)
async def test_at_the_end_of_input_all_is_answered_and_the_process_ends(era: str):
    async with running() as served:
        for id_ in range(20):
            await served.lines.ask("tools/call", {"name": "large", "arguments": {"size": 100_000}}, id_, era)
        served.lines.end()
        assert sorted(message["id"] for message in await served.lines.messages()) == list(range(20))
        assert await served.ended() == 0


@proves("stop.answered", STDIO_2025, STDIO_2026)
@pytest.mark.parametrize("era", ERAS)
async def test_a_signal_to_end_cancels_what_is_under_way_and_says_so(era: str):
    async with running() as served:
        await served.lines.ask("tools/call", {"name": "slow", "_meta": {"progressToken": 1}}, 1, era)
        assert (await served.lines.message())["method"] == "notifications/progress"
        served.process.send_signal(signal.SIGTERM)
        assert (await served.lines.message())["result"]["isError"] is True
        assert await served.lines.messages() == []
        assert await served.ended() == 0
        await served.until_said("cleaned up")
        assert "Traceback" not in served.said


@proves("stdio.unread")
@pytest.mark.parametrize("era", ERAS)
async def test_a_signal_ends_it_whatever_a_tool_or_the_client_is_doing(era: str):
    async with running() as served:
        await served.lines.ask("tools/call", {"name": "large", "arguments": {"size": 1_000_000}}, 1, era)
        await served.lines.ask("tools/call", {"name": "stuck"}, 2, era)
        await served.until_said("stuck")
        served.process.send_signal(signal.SIGTERM)
        assert await served.ended() == 0


@proves("stdio.era")
@pytest.mark.parametrize("era", ERAS)
async def test_the_command_that_serves_a_module_speaks_both_wires(era: str):
    toolwire = str(Path(sys.executable).with_name("toolwire"))
    async with running([toolwire, "tools", "serve", "tests.conformance.everything:server"]) as served:
        await served.lines.send(body("server/discover", id_="probe", era=NEW) + b"\n")
        assert "result" in await served.lines.message()
        if era == OLD:
            await served.lines.ask("initialize", {"protocolVersion": OLD, "capabilities": {}, "clientInfo": {}})
            assert (await served.lines.message())["result"]["protocolVersion"] == OLD
        assert text(await served.call(era, "test_simple_text")).startswith("This is a simple text")
        served.lines.end()
        assert await served.ended() == 0
