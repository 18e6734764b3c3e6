"""Faults that were reported of other servers, wherever else they could be (mcp.md 5); see reported_faults.py."""

import gc
import json
from typing import Any

import anyio
import pytest

from tests.interaction.bench import BOTH, NEW, OLD, Gate, body, headers, open_bench
from tests.interaction.cells import CELLS, EVERY_CELL, Talk, notes, talking
from tests.interaction.requirements import (
    ALL,
    GATEWAY,
    GATEWAY_2025,
    GATEWAY_2026,
    HTTP_2025,
    STDIO_2025,
    STDIO_2026,
    Cell,
    proves,
)
from tests.interaction.stdio import open_pipes
from tests.interaction.transport import PATIENCE_S
from toolwire.sdk import ToolContext
from toolwire.server import Server
from toolwire.surfaces.sessions import Session

GATEWAY_CELLS = [cell for cell in EVERY_CELL if cell in GATEWAY]
VANISHED = 2000
HELLO: dict[str, Any] = {"protocolVersion": OLD, "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}


def work(gate: Gate) -> Server:
    """Tools, a resource and a prompt that are held at `gate`."""
    server = Server("bench", "1.0")

    @server.tool
    async def hold(ctx: ToolContext, text: str = "held") -> str:
        """Wait until it is let go."""
        await ctx.progress("begun", 1, 2)
        await gate.hold()
        return text

    @server.tool
    async def say(number: int, text: str = "") -> str:
        """Say what came."""
        return json.dumps([number, text])

    @server.resource("work://held")
    async def held() -> str:
        """What is held."""
        await gate.hold()
        return "held"

    @server.prompt
    async def wait() -> str:
        """Wait until it is let go."""
        await gate.hold()
        return "held"

    return server


def sessions_held() -> int:
    """How many sessions this process holds in memory."""
    gc.collect()
    return sum(1 for found in gc.get_objects() if isinstance(found, Session))


ASKED: list[tuple[str, dict[str, Any], str]] = [
    ("tools/call", {"name": "hold", "arguments": {"text": "one"}}, "content"),
    ("resources/read", {"uri": "work://held"}, "contents"),
    ("prompts/get", {"name": "wait"}, "messages"),
    ("tools/call", {"name": "hold", "arguments": {"text": "two"}}, "content"),
]


async def all_under_one_id(talk: Talk) -> list[Any]:
    """The results of all of `ASKED`, which were under way at once under the id 1."""
    answers = [await talk.begin(method, params, 1) for method, params, _ in ASKED]
    await talk.gate.until(entered=len(ASKED))
    talk.gate.release.set()
    return [(await talk.rest(answer, 1))[-1]["result"] for answer in answers]


@proves("ids.doubled")
@proves("gateway.reported", *GATEWAY)
@pytest.mark.parametrize("cell", EVERY_CELL)
async def test_requests_of_different_methods_under_one_id_get_each_its_own_result(cell: Cell):
    """mcp.md S7: whatever they ask for, over every transport, and on an agent's endpoint."""
    async with talking(cell, work) as talk:
        results = await all_under_one_id(talk)
        keys = [key for _, _, key in ASKED]
        if talk.lines is None:
            assert [key in result for key, result in zip(keys, results, strict=True)] == [True] * len(keys)
            assert [results[n]["content"][0]["text"] for n in (0, 3)] == ["one", "two"]
        else:  # one pipe carries them all, in the order in which they ended
            assert sorted(key for result in results for key in result if key in keys) == sorted(keys)


@proves("stop.answered", HTTP_2025)
@pytest.mark.parametrize("in_session", [False, True])
async def test_two_requests_under_one_id_hold_up_no_stop_and_both_are_told(in_session: bool):
    """mcp.md S8."""
    async with open_bench() as bench:
        peer = await bench.peer(OLD).session() if in_session else bench.peer(OLD)
        answers = [peer.start("tools/call", {"name": "hold"}, 1) for _ in range(2)]
        await bench.gate.until(entered=2)
        for answer in answers:
            answer.cut()
        with anyio.fail_after(PATIENCE_S):
            for answer in answers:
                await answer.ended.wait()
                assert (await answer.json())["error"]["data"]["code"] == "agent_service_unavailable"


@proves("stop.answered", STDIO_2025, STDIO_2026)
@pytest.mark.parametrize("era", [OLD, NEW])
async def test_two_requests_under_one_id_hold_up_no_stop_on_stdio_either(era: str):
    """mcp.md S8."""
    async with open_pipes(work) as piped:
        for _ in range(2):
            await piped.lines.ask("tools/call", {"name": "hold"}, 1, era)
        await piped.gate.until(entered=2)
        piped.stop.set()
        await piped.until_ended()
        messages = await piped.lines.messages()
        said = [message["result"]["content"][0]["text"] for message in messages]
        assert said == ["cancelled: the server is stopping"] * 2


@proves("memory.released", HTTP_2025)
async def test_sessions_that_vanish_cost_nothing_that_stays():
    """mcp.md S3, S6: neither the ones that were only begun nor those that were used once, and none is refused."""
    before = sessions_held()
    async with open_bench() as bench:
        sent = headers(OLD, accept=BOTH)
        for number in range(VANISHED):
            begun = await bench.client.ask("POST", "/mcp", sent, body("initialize", HELLO, number))
            assert begun.status == 200
        await bench.client.ask("POST", "/mcp", sent, body("ping"))  # the latest session is what the surface held last
        assert sessions_held() <= before


@proves("session.refused", HTTP_2025)
@pytest.mark.parametrize("era", [OLD, NEW])
async def test_refusals_by_the_thousand_leave_nothing_behind(era: str):
    """mcp.md S6."""
    before = sessions_held()
    async with open_bench() as bench:
        bad: list[dict[str, Any]] = [
            {"accept": "text/html"},
            {"host": "evil.example.com"},
            {"content_type": "text/plain"},
            {"origin": "https://evil.example.com"},
        ]
        for number in range(400):
            sent = headers(era, "initialize", **bad[number % len(bad)])
            answer = await bench.client.ask("POST", "/mcp", sent, body("initialize", HELLO, number, era))
            assert answer.status >= 400
            assert "mcp-session-id" not in answer.headers
        assert sessions_held() <= before


@proves("tools.unknown", *ALL)
@pytest.mark.parametrize("cell", CELLS)
async def test_names_that_are_not_there_are_bad_params_for_whatever_is_named(cell: Cell):
    """mcp.md S21, S22: prompts, completions and resources have the same kind of name; only methods are -32601."""
    async with talking(cell, notes) as talk:
        unknown: list[tuple[str, dict[str, Any]]] = [
            ("tools/call", {"name": "nothing"}),
            ("prompts/get", {"name": "nothing"}),
            (
                "completion/complete",
                {"ref": {"type": "ref/prompt", "name": "x"}, "argument": {"name": "a", "value": ""}},
            ),
        ]
        for method, params in unknown:
            assert (await talk.error(method, params))["code"] == -32602
        missing = await talk.error("resources/read", {"uri": "nothing://here"})
        assert missing["code"] == (-32602 if talk.era == NEW else -32002)
        for method in ("tool/call", "prompts/gets", "resources/write"):
            assert (await talk.error(method))["code"] == -32601


@proves("gateway.reported")
@pytest.mark.parametrize("cell", GATEWAY_CELLS)
async def test_what_was_reported_is_right_on_an_agents_endpoint_too(cell: Cell):
    """mcp.md S11, S21, S22, S27; the codes are gateway.md X8's, D17's, and what is missing is told by its own word."""
    async with talking(cell, work) as talk:
        talk.gate.release.set()
        told = await talk.say("tools/call", {"name": "hold", "_meta": {"progressToken": "t"}}, 7)
        assert [message["params"]["progressToken"] for message in told[:-1]] == ["t"]
        assert told[-1]["result"]["content"][0]["text"] == "held"
        said = (await talk.say("tools/call", {"name": "say", "arguments": {"number": "3", "text": "[1]"}}))[-1]
        assert json.loads(said["result"]["content"][0]["text"]) == [3, "[1]"]
        refused = [
            await talk.error("tools/call", {"name": "nothing"}),
            await talk.error("tools/calls", {"name": "say"}),
            await talk.error("tools/call", {"name": "say", "arguments": {"number": "x"}}),
        ]
        assert [error["code"] for error in refused] == [-32601, -32601, -32602]
        tokens = [error["data"]["code"] for error in refused]
        assert tokens == ["tool_not_found", "method_not_found", "invalid_param"]


@proves("gateway.reported", GATEWAY_2026)
@pytest.mark.parametrize(("method", "params"), [(method, params) for method, params, _ in ASKED[:3]])
async def test_a_client_of_an_agent_that_goes_away_cancels_what_it_asked_for(method: str, params: Any):
    """mcp.md S12: the agent itself is told."""
    async with talking(GATEWAY_2026, work) as talk:
        answer = await talk.begin(method, params)
        assert answer is not None
        await talk.gate.until(entered=1)
        answer.leave()
        await talk.gate.until(cancelled=1)


@proves("gateway.reported", GATEWAY_2025)
async def test_telling_a_client_of_an_agent_that_is_gone_is_no_fault(caplog: pytest.LogCaptureFixture):
    """mcp.md S12, S14: on the older wire the call goes on, and its client may come back."""
    async with talking(GATEWAY_2025, work) as talk:
        answer = await talk.begin("tools/call", {"name": "hold", "_meta": {"progressToken": "t"}})
        assert answer is not None
        await talk.gate.until(entered=1)
        answer.leave()
        talk.gate.release.set()
        await talk.gate.until(finished=1)
        await answer.body()
        said = (await talk.say("tools/call", {"name": "say", "arguments": {"number": 1}}, 2))[-1]
        assert json.loads(said["result"]["content"][0]["text"]) == [1, ""]
    assert [record for record in caplog.records if record.levelname == "ERROR"] == []


@proves("gateway.reported")
@pytest.mark.parametrize("cell", GATEWAY_CELLS)
async def test_what_an_agents_endpoint_advertises_it_answers_and_the_rest_it_does_not_know(cell: Cell):
    """mcp.md S36."""
    async with talking(cell, work) as talk:
        method = "initialize" if talk.era == OLD else "server/discover"
        offered = (await talk.say(method, HELLO if talk.era == OLD else {}, 9))[-1]["result"]["capabilities"]
        lists = {"tools": "tools/list", "resources": "resources/list", "prompts": "prompts/list"}
        for capability, listing in lists.items():
            answer = (await talk.say(listing))[-1]
            assert ("result" in answer) == (capability in offered), (capability, answer)
        ask = {"ref": {"type": "ref/prompt", "name": "wait"}, "argument": {"name": "a", "value": ""}}
        completed = (await talk.say("completion/complete", ask))[-1]
        assert (completed["error"]["code"] == -32601) == ("completions" not in offered)
