"""`toolwire calls tail` and `show` against a gateway on a socket (docs/reference/cli.md)."""

import io
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import anyio
import anyio.lowlevel
import httpx2
import pytest
from rich.console import Console

from tests.interaction.gateways import OWNER, Attached, gateway_with
from tests.unit.providers.remote_rig import serving
from toolwire.agent import Agent, Ctx
from toolwire.cli.call_lines import LiveLines, PlainLines, duration
from toolwire.cli.main import execute
from toolwire.client import RecordedCall
from toolwire.wire.answers.calls import TaskFailure, TaskProgress
from toolwire.wire.answers.records import CallCaller

pytestmark = pytest.mark.anyio


class Site:
    """A gateway on a socket, with an agent that can add and fail."""

    def __init__(self, there: Attached, url: str, key_id: str, key: str) -> None:
        self.there = there
        self.url = url
        self.key_id = key_id
        self.key = key

    async def call(self, tool: str, **arguments: Any) -> None:
        async with httpx2.AsyncClient(base_url=self.url, headers={"authorization": f"Bearer {self.there.bak}"}) as http:
            body = {"tool": tool, "arguments": arguments}
            await http.post(f"/api/v1/agents/{self.there.agent_id}/invoke", json=body)

    async def run(self, *words: str) -> int:
        return await anyio.to_thread.run_sync(partial(execute, ["calls", *words, "--url", self.url, "--key", self.key]))


@asynccontextmanager
async def open_site() -> AsyncGenerator[Site]:
    agent = Agent("worker")

    @agent.tool
    async def add(a: int, b: int, ctx: Ctx) -> str:
        await ctx.progress("adding\x1b[31m", 1, 2)
        return str(a + b)

    @agent.tool
    async def fail(why: str) -> str:
        raise RuntimeError(why)

    async with gateway_with(agent) as there, serving(there.gateway.app) as url:
        await there.gateway.keys.create("oag", OWNER)  # the last key of an owner is not revoked
        record, key = await there.gateway.keys.create("oag", OWNER)
        yield Site(there, url, record.key_id, key)


def lines(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


async def test_the_latest_calls_are_printed_the_oldest_first(capsys: pytest.CaptureFixture[str]):
    async with open_site() as site:
        for number in range(3):
            await site.call("add", a=number, b=0)
            await anyio.sleep(0.002)  # calls of one millisecond are in no order
        await site.call("fail", why="no paper")
        assert await site.run("tail", "--no-follow", "--json", "--lines", "3") == 0
        told = lines(capsys)
        assert [(one["tool"], one["status"]) for one in told] == [
            ("add", "completed"),
            ("add", "completed"),
            ("fail", "failed"),
        ]
        assert [one["result"] for one in told][:2] == ["1", "2"]
        assert await site.run("tail", "--no-follow", "--status", "failed") == 0
        (line,) = capsys.readouterr().out.splitlines()
        words = ("✗", "failed", "worker/fail", "(rest)", "tool_failed", told[-1]["call_id"])
        assert all(word in line for word in words)
        since = ("--since", told[1]["started_at"])
        assert await site.run("tail", "--no-follow", "--json", "--tool", "add", *since) == 0
        assert lines(capsys)[-1]["call_id"] == told[1]["call_id"]


async def test_calls_to_come_are_printed_as_they_happen_until_the_host_ends_the_stream(
    capsys: pytest.CaptureFixture[str],
):
    async with open_site() as site:
        codes: list[int] = []
        printed = ""
        observers = site.there.gateway.engine.observers
        before = len(observers)

        async def follow() -> None:
            codes.append(await site.run("tail", "--json", "--agent", "worker", "--lines", "0"))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(follow)
            with anyio.fail_after(10):
                while len(observers) == before:
                    await anyio.lowlevel.checkpoint()
                await site.call("add", a=1, b=2)
                while "completed" not in printed:
                    printed += capsys.readouterr().out
                    await anyio.lowlevel.checkpoint()
            await site.there.gateway.keys.revoke(OWNER, site.key_id)
            await site.call("add", a=3, b=4)
        assert codes == [3]
        told = [json.loads(line) for line in printed.splitlines()]
        *_, refused = lines(capsys)
        assert [(one["status"], one["result"]) for one in told] == [
            ("running", None),
            ("running", None),
            ("completed", "3"),
        ]
        assert told[1]["progress"]["progress"] == 1
        assert refused["error"]["code"] == "unauthorized"


async def test_a_call_is_shown_with_its_arguments_progress_result_and_timing(capsys: pytest.CaptureFixture[str]):
    async with open_site() as site:
        await site.call("add", a=1, b=2)
        await site.run("tail", "--no-follow", "--json")
        (call,) = lines(capsys)
        assert await site.run("show", call["call_id"]) == 0
        shown = capsys.readouterr().out
        for words in ("completed", "worker", call["call_id"], '"a": 1', "1/2  adding", "took", "\nresult\n3\n"):
            assert words in shown
        assert "\x1b" not in shown
        assert await site.run("show", call["call_id"], "--json") == 0
        (whole,) = lines(capsys)
        assert (whole["sent"], whole["answer"]["text"]) == ({"a": 1, "b": 2}, "3")
        assert await site.run("show", "call_gone") == 3
        assert "no call 'call_gone' of yours" in capsys.readouterr().err


async def test_a_command_that_cannot_be_meant_is_refused(capsys: pytest.CaptureFixture[str]):
    async with open_site() as site:
        assert await site.run("tail", "--lines", "-1") == 2
        assert await site.run("tail", "--status", "done") == 2
        assert await site.run("tail", "--no-follow", "--since", "yesterday") == 3
        assert "since is a time such as" in capsys.readouterr().err


def call(call_id: str = "call_1", status: Any = "running", **more: Any) -> RecordedCall:
    fields: dict[str, Any] = {
        "agent_id": "agent_1",
        "agent_name": "worker",
        "tool": "add",
        "caller": CallCaller("key", "key_1", "ci"),
        "surface": "gateway",
        "started_at": "2026-01-31T12:00:00.000Z",
        "ended_at": None if status == "running" else "2026-01-31T12:00:01.500Z",
        "duration_ms": 1500.0,
        "progress": None,
        "arguments": '{"a":1}',
        "result": None,
        "error": None,
        "withheld": False,
        "task_id": None,
        "keyed": False,
        "parent": None,
    }
    return RecordedCall(call_id=call_id, status=status, **{**fields, **more})


def test_on_a_terminal_what_runs_stands_below_and_goes_up_in_colour_when_it_ends():
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, color_system="standard", width=160)
    with LiveLines(console).shown() as screen:
        screen.show(call(progress=TaskProgress(1, 2, "half way")))
        assert "half way" in out.getvalue()
        screen.show(call("call_2"))
        screen.show(call("call_1", "failed", error=TaskFailure("tool_failed", "no paper", False)))
        screen.show(call("call_1"))
    shown = out.getvalue()
    assert "\x1b[31m✗ failed" in shown
    assert "tool_failed: no paper" in shown
    assert shown.rstrip().splitlines()[-1].count("call_2") == 1


def test_in_a_pipe_a_call_has_one_line_when_it_has_ended():
    out = io.StringIO()
    screen = PlainLines(out)
    for one in (call(), call("call_1", "completed", result="3"), call("call_1", "completed", result="3")):
        screen.show(one)
    (line,) = out.getvalue().splitlines()
    assert line.split("  ")[1:] == ["✓", "completed", "1.5 s", "ci (gateway)", "worker/add", '{"a":1} → 3', "call_1"]


@pytest.mark.parametrize(("ms", "words"), [(0.4, "0 ms"), (999, "999 ms"), (1500, "1.5 s"), (90_000, "1 min 30 s")])
def test_durations_are_for_people(ms: float, words: str):
    assert duration(ms) == words
