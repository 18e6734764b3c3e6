"""An agent that is a process of its own, and how it ends; gateway.md §3 (drain on SIGTERM)."""

import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
from anyio.abc import Process
from anyio.streams.text import TextReceiveStream

from tests.unit.agent.websocket_gateway import KEY, FakeGateway, running_gateway

pytestmark = pytest.mark.e2e

PROGRAM = """
    import threading, time
    from toolwire.agent import Agent

    agent = Agent("program")

    @agent.tool
    async def work() -> str:
        return "done"

    @agent.tool
    def block() -> str:
        time.sleep(60)
        return "late"

    agent.run(grace_s={grace}, journal={journal!r})
"""


@asynccontextmanager
async def program(
    gateway: FakeGateway, tmp_path: Path, grace: float = 30, journal: str | None = None
) -> AsyncGenerator[Process]:
    """An agent in a process of its own."""
    path = tmp_path / "program.py"
    path.write_text(textwrap.dedent(PROGRAM.format(grace=grace, journal=journal)))
    environment = {**os.environ, "TOOLWIRE_AGENT_KEY": KEY, "TOOLWIRE_URL": gateway.url}
    command = [sys.executable, str(path)]
    async with await anyio.open_process(command, env=environment, stdout=None, stderr=subprocess.PIPE) as process:
        try:
            yield process
        finally:
            if process.returncode is None:
                process.kill()


async def ended(process: Process) -> tuple[int, str]:
    assert process.stderr is not None
    with anyio.fail_after(20):
        errors = "".join([text async for text in TextReceiveStream(process.stderr)])
        return await process.wait(), errors


@pytest.mark.parametrize("signal_number", [signal.SIGTERM, signal.SIGINT])
async def test_a_process_that_is_told_to_stop_ends_well(tmp_path: Path, signal_number: signal.Signals) -> None:
    async with running_gateway() as gateway, program(gateway, tmp_path) as process:
        await gateway.deliver("msg_1")
        await gateway.until(lambda: len(gateway.replies()) == 1)
        process.send_signal(signal_number)
        code, errors = await ended(process)
        assert code == 0
        assert "attached to" in errors
        assert "Traceback" not in errors


async def test_a_second_ctrl_c_ends_a_process_that_still_has_work(tmp_path: Path) -> None:
    async with running_gateway() as gateway, program(gateway, tmp_path) as process:
        await gateway.deliver("msg_1", tool="block")
        await gateway.deliver("msg_2")
        await gateway.until(lambda: len(gateway.replies()) == 1)
        seen = gateway.messages
        process.send_signal(signal.SIGINT)
        await gateway.until(lambda: gateway.messages > seen)
        process.send_signal(signal.SIGINT)
        code, _ = await ended(process)
        assert code == 130


async def test_a_process_whose_thread_blocks_ends_when_its_grace_is_over(tmp_path: Path) -> None:
    async with running_gateway() as gateway, program(gateway, tmp_path, grace=0.2) as process:
        await gateway.deliver("msg_1", tool="block")
        await gateway.deliver("msg_2")
        await gateway.until(lambda: len(gateway.replies()) == 1)
        process.send_signal(signal.SIGTERM)
        code, errors = await ended(process)
        assert code == 1
        assert "1 messages were not finished" in errors


async def test_a_process_with_a_wrong_key_says_so_and_ends(tmp_path: Path) -> None:
    async with running_gateway() as gateway:
        gateway.status = 401
        async with program(gateway, tmp_path) as process:
            code, errors = await ended(process)
    assert code == 1
    assert "does not know this agent's key" in errors
    assert "Traceback" not in errors


async def test_a_process_that_cannot_reach_its_gateway_stops_when_told(tmp_path: Path) -> None:
    gateway = FakeGateway()
    server = await gateway.start()
    server.close()
    await server.wait_closed()
    async with program(gateway, tmp_path) as process:
        assert process.stderr is not None
        with anyio.fail_after(20):
            assert "no link to" in await TextReceiveStream(process.stderr).receive()
        process.send_signal(signal.SIGTERM)
        code, _ = await ended(process)
        assert code == 0


async def test_a_process_that_is_killed_at_work_leaves_word_of_it_in_its_journal(tmp_path: Path) -> None:
    journal = str(tmp_path / "journal")
    async with running_gateway() as gateway:
        async with program(gateway, tmp_path, journal=journal) as process:
            await gateway.deliver("msg_1", tool="block")
            await gateway.deliver("msg_2")
            await gateway.until(lambda: len(gateway.replies()) == 1)
            process.kill()
            await process.wait()
        await gateway.until(lambda: gateway.connection is None)
        async with program(gateway, tmp_path, journal=journal) as process:
            await gateway.deliver("msg_1", tool="block")
            await gateway.deliver("msg_2")
            await gateway.until(lambda: len(gateway.replies()) == 3)
            process.send_signal(signal.SIGTERM)
            assert (await ended(process))[0] == 0
    replies = {reply.in_reply_to: reply.payload for reply in gateway.replies()}
    assert replies["msg_1"]["code"] == "outcome_unknown"
    assert replies["msg_2"] == {"text": "done"}
    assert gateway.hellos[0].journal == gateway.hellos[1].journal
