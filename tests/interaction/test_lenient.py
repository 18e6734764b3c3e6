"""Bodies of the newer wire under a header of an older one, and a server that lets them be (mcp.md S28)."""

from typing import Any

import pytest

from tests.interaction.bench import BOTH, NEW, OLD, body, headers, open_bench
from tests.interaction.requirements import HTTP_2025, proves
from toolwire.surfaces.mcp_http import HttpSettings

LENIENT = HttpSettings(lenient_versions=True)
CALL: dict[str, Any] = {"name": "steps", "_meta": {"progressToken": "t"}}


@proves("ladder.lenient")
@pytest.mark.parametrize("version", [OLD, "2025-03-26", ""])
async def test_a_lenient_server_answers_such_a_body_as_its_wire_does(version: str):
    """mcp.md S28."""
    async with open_bench(LENIENT) as bench:
        sent = headers(OLD, mcp_protocol_version=version, accept=BOTH)
        listed = await bench.client.ask("POST", "/mcp", sent, body("tools/list", era=NEW))
        assert (await listed.json())["result"]["resultType"] == "complete"
        called = await bench.client.ask("POST", "/mcp", sent, body("tools/call", CALL, 2, NEW))
        frames = await called.frames()
        assert [frame["params"]["progress"] for frame in frames[:-1]] == [1, 2, 3]
        assert frames[-1]["result"]["resultType"] == "complete"
        lost = await bench.client.ask("POST", "/mcp", sent, body("ping", era=NEW))
        assert (await lost.json())["error"]["code"] == -32601


@proves("ladder.lenient")
async def test_a_lenient_server_still_serves_the_older_wire_in_sessions():
    async with open_bench(LENIENT) as bench:
        peer = await bench.peer(OLD).session()
        assert (await (await peer.ask("ping")).json())["result"] == {}
        assert (await peer.call("add", {"a": 1}))["result"]["structuredContent"] == {"sum": 2}


@proves("ladder.lenient")
async def test_a_lenient_server_takes_neither_unknown_versions_nor_half_an_envelope():
    async with open_bench(LENIENT) as bench:
        unknown = body("tools/list", era=NEW).replace(NEW.encode(), b"v999.0.0")
        answer = await bench.client.ask("POST", "/mcp", headers(OLD), unknown)
        error = (await answer.json())["error"]
        assert (error["code"], "v999.0.0" in error["message"]) == (-32020, True)
        half = body("tools/list", {"_meta": {"io.modelcontextprotocol/protocolVersion": NEW}})
        answer = await bench.client.ask("POST", "/mcp", headers(OLD), half)
        assert (await answer.json())["error"]["code"] == -32602


@proves("ladder.lenient")
async def test_a_lenient_server_holds_headers_of_the_newer_wire_against_the_body():
    async with open_bench(LENIENT) as bench:
        answer = await bench.client.ask("POST", "/mcp", headers(NEW, "tools/call", "echo"), body("tools/list", era=NEW))
        assert (await answer.json())["error"]["code"] == -32020


@proves("ladder.wrong-wire", HTTP_2025)
@pytest.mark.parametrize("method", ["tools/list", "tools/call", "resources/list", "initialize", "ping", "nonsense"])
async def test_by_default_every_such_request_is_refused_with_both_values(method: str):
    """mcp.md S28, for every method and before any of them is looked at."""
    async with open_bench() as bench:
        session = await bench.peer(OLD).session()
        for peer in (bench.peer(OLD), session):
            sent = headers(OLD, **peer.more)
            answer = await bench.client.ask("POST", "/mcp", sent, body(method, {"name": "hold"}, 7, NEW))
            message = await answer.json()
            assert (answer.status, message["id"], message["error"]["code"]) == (400, 7, -32020)
            assert OLD in message["error"]["message"]
            assert NEW in message["error"]["message"]
        assert bench.gate.entered == 0
