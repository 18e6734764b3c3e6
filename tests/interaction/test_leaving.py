"""Clients that go away or cancel, and a server that stops: who is told what, and what becomes of the call.

gateway.md D21; mcp.md S7, S8, S10, S12, S14, S16.
"""

import gc
from typing import Any

import anyio
import pytest

from tests.interaction.bench import (
    BOTH,
    ERAS,
    JSON_ONLY,
    NEW,
    OLD,
    SSE_ONLY,
    Bench,
    Gate,
    Peer,
    body,
    headers,
    open_bench,
    tools,
)
from tests.interaction.requirements import HTTP_2025, HTTP_2026, proves
from tests.interaction.transport import PATIENCE_S, connect
from toolwire.compose import ToolServer, open_tool_server
from toolwire.surfaces.asked import Asked
from toolwire.surfaces.exchange import Exchange

TELLING: dict[str, Any] = {"name": "tell_and_hold", "_meta": {"progressToken": "t"}}
ACCEPTS = [JSON_ONLY, BOTH, SSE_ONLY]


@proves("gone.cancels")
@pytest.mark.parametrize("accept", ACCEPTS)
@pytest.mark.parametrize("params", [{"name": "hold"}, TELLING], ids=["silent", "telling"])
async def test_on_the_newer_wire_a_client_that_goes_away_cancels_its_call(accept: str, params: Any):
    async with open_bench() as bench:
        answer = bench.peer(NEW, accept=accept).start("tools/call", params)
        await bench.gate.until(entered=1)
        answer.leave()
        await bench.gate.until(cancelled=1)
        with anyio.fail_after(PATIENCE_S):
            await answer.ended.wait()
        assert bench.gate.finished == 0


@proves("gone.keeps")
@pytest.mark.virtual_time
@pytest.mark.parametrize("accept", ACCEPTS)
@pytest.mark.parametrize("in_session", [False, True])
async def test_on_the_older_wire_a_client_that_goes_away_cancels_nothing(accept: str, in_session: bool):
    async with open_bench(patience_s=100) as bench:
        peer = bench.peer(OLD, accept=accept)
        peer = await peer.session() if in_session else peer
        answer = peer.start("tools/call", TELLING)
        await bench.gate.until(entered=1)
        answer.leave()
        await anyio.sleep(40)
        assert bench.gate.cancelled == 0
        bench.gate.release.set()
        await bench.gate.until(finished=1)
        await answer.ended.wait()


@proves("gone.keyed")
@pytest.mark.virtual_time
@pytest.mark.parametrize("accept", ACCEPTS)
async def test_a_call_under_a_key_goes_on_without_its_client(accept: str):
    async with open_bench(patience_s=100) as bench:
        peer = bench.peer(NEW, accept=accept, idempotency_key="order-7")
        answer = peer.start("tools/call", {"name": "hold"})
        await bench.gate.until(entered=1)
        answer.leave()
        await anyio.sleep(10)
        assert bench.gate.cancelled == 0
        bench.gate.release.set()
        await answer.ended.wait()
        again = await peer.call("hold", id_=2)
        assert again["result"]["content"][0]["text"] == "held"
        assert bench.gate.entered == 1


@proves("gone.harmless")
@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("accept", ACCEPTS)
@pytest.mark.parametrize("gone_raises", [False, True])
@pytest.mark.parametrize("reads", [True, False])
async def test_telling_a_client_that_is_gone_is_no_fault(
    era: str, accept: str, gone_raises: bool, reads: bool, caplog: pytest.LogCaptureFixture
):
    async with open_bench(gone_raises=gone_raises) as bench:
        answer = bench.peer(era, accept=accept).start("tools/call", TELLING)
        await bench.gate.until(entered=1)
        if not reads:
            answer.stop_reading()
        answer.leave()
        bench.gate.release.set()
        with anyio.fail_after(PATIENCE_S):
            await answer.ended.wait()
        assert "result" in await bench.peer(era).call("echo", {"text": "others are served"})
    assert caplog.text == ""


@proves("gone.harmless")
@pytest.mark.parametrize("era", ERAS)
async def test_a_client_that_goes_away_before_all_is_said_is_not_answered(era: str):
    async with open_bench() as bench:
        answer = bench.client.start("POST", "/mcp", headers(era, "tools/list"), b'{"jsonrpc":', whole=False)
        await anyio.wait_all_tasks_blocked()
        answer.leave()
        with anyio.fail_after(PATIENCE_S):
            await answer.ended.wait()
        assert not answer.started.is_set()


async def cancelled(peer: Peer, id_: Any) -> None:
    answer = await peer.ask("notifications/cancelled", {"requestId": id_, "reason": "enough"}, id_=None)
    assert (answer.status, await answer.body()) == (202, b"")


@proves("cancel.silence", HTTP_2025)
@pytest.mark.parametrize("accept", ACCEPTS)
@pytest.mark.parametrize("id_", [7, "seven", "é"])
async def test_a_cancelled_call_stops_and_nothing_more_is_said_of_it(accept: str, id_: Any):
    async with open_bench() as bench:
        peer = await bench.peer(OLD, accept=accept).session()
        answer = peer.start("tools/call", TELLING, id_)
        await bench.gate.until(entered=1)
        await cancelled(peer, id_)
        await bench.gate.until(cancelled=1)
        said = await answer.body()
        assert b"result" not in said
        assert b"error" not in said
        assert (answer.status, said) == (202, b"") or answer.headers["content-type"] == SSE_ONLY


@proves("cancel.silence", HTTP_2025)
async def test_a_call_under_a_key_goes_on_when_its_request_is_cancelled():
    async with open_bench() as bench:
        peer = await bench.peer(OLD, idempotency_key="order-7").session()
        answer = peer.start("tools/call", {"name": "hold"}, 7)
        await bench.gate.until(entered=1)
        await cancelled(peer, 7)
        assert await answer.body() == b""
        bench.gate.release.set()
        assert (await peer.call("hold", id_=8))["result"]["content"][0]["text"] == "held"
        assert (bench.gate.entered, bench.gate.cancelled) == (1, 0)


@proves("cancel.own", HTTP_2025)
async def test_only_the_session_itself_can_cancel_by_an_id_that_names_one_request():
    async with open_bench() as bench:
        mine, other = await bench.peer(OLD).session(), await bench.peer(OLD).session()
        doubled = [mine.start("tools/call", {"name": "hold"}, "doubled") for _ in range(2)]
        single = mine.start("tools/call", {"name": "hold"}, 7)
        await bench.gate.until(entered=3)
        for peer, id_ in [
            (other, 7),
            (bench.peer(OLD), 7),
            (bench.peer(NEW), 7),
            (mine, "7"),
            (mine, "doubled"),
            (mine, None),
            (mine, [7]),
        ]:
            await cancelled(peer, id_)
        await anyio.wait_all_tasks_blocked()
        assert bench.gate.cancelled == 0
        bench.gate.release.set()
        for answer in (*doubled, single):
            await answer.body()
            assert "result" in await answer.message()
        await cancelled(mine, 7)  # it has ended: that is fine


@proves("stop.answered", HTTP_2025, HTTP_2026)
@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("accept", ACCEPTS)
@pytest.mark.parametrize("key", ["", "order-7"])
async def test_who_still_waits_when_the_server_stops_is_told(era: str, accept: str, key: str):
    async with open_bench() as bench:
        answer = bench.peer(era, accept=accept, idempotency_key=key).start("tools/call", TELLING, "id")
        await bench.gate.until(entered=1)
        answer.cut()
        with anyio.fail_after(PATIENCE_S):
            await answer.ended.wait()
        last = await answer.json() if accept == JSON_ONLY else (await answer.frames())[-1]
        assert (last["id"], last["error"]["data"]["code"]) == ("id", "agent_service_unavailable")
        assert last["error"]["data"]["retryable"] is True
        assert bench.gate.cancelled == (0 if key else 1)


@proves("stop.answered", HTTP_2025, HTTP_2026)
@pytest.mark.parametrize("era", ERAS)
async def test_a_client_that_does_not_read_holds_up_no_stop(era: str):
    async with open_bench() as bench:
        answer = bench.peer(era, accept=SSE_ONLY).start("tools/call", TELLING)
        await bench.gate.until(entered=1)
        answer.stop_reading()
        answer.cut()
        with anyio.fail_after(PATIENCE_S):
            await answer.ended.wait()


@proves("stop.answered", HTTP_2025, HTTP_2026)
@pytest.mark.parametrize("era", ERAS)
async def test_a_request_that_outlasts_its_server_ends_and_a_later_one_is_told(era: str):
    opened, stop, stopped = anyio.Event(), anyio.Event(), anyio.Event()
    gate = Gate()
    servers: list[ToolServer] = []

    async def serve() -> None:
        async with open_tool_server(tools(gate), "bench") as server:
            servers.append(server)
            opened.set()
            await stop.wait()
        stopped.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(serve)
        await opened.wait()
        async with connect(servers[0].app) as client:
            bench = Bench(servers[0], client, gate)
            before = [bench.peer(era, accept=accept).start("tools/call", TELLING) for accept in ACCEPTS]
            await gate.until(entered=3)
            stop.set()
            with anyio.fail_after(PATIENCE_S):
                await stopped.wait()
                gate.release.set()
                for answer in before:
                    await answer.ended.wait()
            late = await bench.peer(era).ask("tools/list", id_="late")
            error = await late.json()
            assert (error["id"], error["error"]["data"]["code"]) == ("late", "agent_service_unavailable")


@proves("memory.released")
@pytest.mark.parametrize("era", ERAS)
async def test_nothing_is_kept_of_requests_that_have_ended(era: str):
    async with open_bench() as bench:
        peer = await bench.peer(OLD).session() if era == OLD else bench.peer(NEW)
        left = peer.start("tools/call", TELLING, 1)
        stopped = peer.start("tools/call", TELLING, 2)
        named = peer.start("tools/call", TELLING, 3)
        await bench.gate.until(entered=3)
        left.leave()
        stopped.cut()
        await cancelled(peer, 3)
        bench.gate.release.set()
        for answer in (left, stopped, named):
            with anyio.fail_after(PATIENCE_S):
                await answer.ended.wait()
        await peer.call("fail")
        await bench.client.ask("POST", "/mcp", headers(era, "tools/list"), body("tools/list", id_=True, era=era))
        await anyio.sleep(0.1)  # the engine's next look at what is new
        gc.collect()
        assert [found for found in gc.get_objects() if isinstance(found, Asked | Exchange)] == []
