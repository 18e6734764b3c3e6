"""Pages of other origins: whom browsers let ask, what they may send and read (mcp.md S30)."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tests.interaction.bench import ERAS, NEW, OLD, Bench, Gate, body, headers, tools
from tests.interaction.requirements import HTTP_2025, proves
from tests.interaction.transport import Answer, connect
from toolwire.compose import open_tool_server
from toolwire.surfaces.cors import REQUEST_HEADERS
from toolwire.surfaces.limits import Guard

PAGE = "https://app.example.com"
OTHER = "https://evil.example.com"
SENT = {"content-type", "mcp-protocol-version", "mcp-session-id", "mcp-method", "mcp-name", "last-event-id"}


@asynccontextmanager
async def open_to(*origins: str) -> AsyncGenerator[Bench]:
    gate = Gate()
    async with (
        open_tool_server(tools(gate), "bench", "1.0", Guard(origins=origins)) as server,
        connect(server.app) as client,
    ):
        yield Bench(server, client, gate)


async def preflight(bench: Bench, origin: str, method: str = "POST", *names: str, **more: Any) -> Answer:
    asked: dict[str, Any] = {"origin": origin, "access-control-request-method": method, **more}
    if names:
        asked["access-control-request-headers"] = ",".join(names)
    return await bench.client.ask("OPTIONS", "/mcp", asked)


def listed(answer: Answer, header: str) -> set[str]:
    return {value.strip().lower() for value in answer.headers.get(header, "").split(",")}


def of_cors(answer: Answer) -> Sequence[str]:
    return [name for name in answer.headers if name.startswith("access-control-")]


@proves("pages.preflight")
async def test_a_named_page_is_told_that_it_may_send_every_header_of_mcp():
    async with open_to(PAGE) as bench:
        names = [*sorted(SENT), "mcp-param-region", "Mcp-Param-Shard", "authorization", "x-other"]
        answer = await preflight(bench, PAGE, "POST", *names)
        assert (answer.status, await answer.body()) == (204, b"")
        assert answer.headers["access-control-allow-origin"] == PAGE
        assert {"get", "post", "delete"} <= listed(answer, "access-control-allow-methods")
        allowed = listed(answer, "access-control-allow-headers")
        assert SENT | {"mcp-param-region", "mcp-param-shard", "authorization"} <= allowed
        assert allowed == {*REQUEST_HEADERS, "mcp-param-region", "mcp-param-shard"}
        assert "origin" in listed(answer, "vary")
        assert "access-control-allow-credentials" not in answer.headers


@proves("pages.preflight")
@pytest.mark.parametrize("asked", ["mcp-param-a b", "mcp-param-é", "mcp-param-a:b", ",,,", "x" * 5000])
async def test_what_is_no_header_is_allowed_to_nobody(asked: str):
    async with open_to(PAGE) as bench:
        answer = await preflight(bench, PAGE, "POST", asked)
        assert listed(answer, "access-control-allow-headers") == {*REQUEST_HEADERS}


@proves("pages.preflight")
async def test_a_page_on_the_network_outside_may_reach_a_server_inside_only_when_named():
    inside = {"access-control-request-private-network": "true"}
    async with open_to(PAGE) as bench:
        named = await preflight(bench, PAGE, **inside)
        assert named.headers["access-control-allow-private-network"] == "true"
        assert of_cors(await preflight(bench, OTHER, **inside)) == []


@proves("pages.others")
@pytest.mark.parametrize("origins", [(), (PAGE,)])
@pytest.mark.parametrize("era", ERAS)
async def test_other_pages_are_told_nothing_and_by_default_all_are_others(origins: Sequence[str], era: str):
    async with open_to(*origins) as bench:
        asked = await preflight(bench, OTHER)
        refused = await bench.peer(era, origin=OTHER).ask("tools/list")
        assert (asked.status, refused.status) == (403, 403)
        assert of_cors(asked) == of_cors(refused) == []
        own = await bench.peer(era, origin="http://localhost:8095").ask("tools/list")
        assert (own.status, of_cors(own)) == (200, [])


@proves("pages.others")
async def test_a_preflight_for_a_name_that_is_not_ours_is_refused_as_ever():
    async with open_to(PAGE) as bench:
        answer = await preflight(bench, PAGE, host="rebound.example.com")
        assert answer.status == 421
        assert "access-control-allow-headers" not in answer.headers


@proves("pages.read")
@pytest.mark.parametrize("origins", [(PAGE,), ("https://APP.example.com/",), ("*",)])
@pytest.mark.parametrize("era", ERAS)
async def test_a_named_page_reads_every_kind_of_answer(origins: Sequence[str], era: str):
    async with open_to(*origins) as bench:
        peer = bench.peer(era, origin=PAGE)
        answers = [
            await peer.ask("tools/list"),
            await peer.ask("tools/call", {"name": "steps", "_meta": {"progressToken": 1}}),
            await peer.ask("tools/call", {"name": "nothing"}),
            await peer.ask("tools/list", accept="text/html"),
            await bench.client.ask("POST", "/mcp", headers(era, origin=PAGE), b"no JSON"),
            await bench.client.ask("POST", "/elsewhere", headers(era, origin=PAGE), body("ping")),
            await peer.ask("notifications/initialized", id_=None),
        ]
        assert answers[1].headers["content-type"] == "text/event-stream"
        assert {400, 404, 406, 202} <= {answer.status for answer in answers}
        for answer in answers:
            assert answer.headers["access-control-allow-origin"] == PAGE
            assert "mcp-session-id" in listed(answer, "access-control-expose-headers")
            assert "origin" in listed(answer, "vary")


@proves("pages.others")
async def test_a_request_of_two_pages_is_of_none():
    async with open_to(PAGE) as bench:
        for second in (PAGE, OTHER):
            asked: dict[str, Any] = {"origin": [PAGE, second], "access-control-request-method": "POST"}
            answer = await bench.client.ask("OPTIONS", "/mcp", asked)
            assert (answer.status, of_cors(answer)) == (403, [])


@proves("pages.read", HTTP_2025)
async def test_a_named_page_may_keep_a_session_and_end_it():
    async with open_to(PAGE) as bench:
        peer = await bench.peer(OLD, origin=PAGE).session()
        ended = await bench.client.ask("DELETE", "/mcp", headers(OLD, **peer.more))
        assert (ended.status, ended.headers["access-control-allow-origin"]) == (200, PAGE)


@proves("pages.others")
async def test_programs_see_nothing_of_it():
    async with open_to(PAGE) as bench:
        for era in (OLD, NEW):
            assert of_cors(await bench.peer(era).ask("tools/list")) == []
